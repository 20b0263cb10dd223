//! JavaScript expressions and JSON Schemas: deterministic, with limits, fresh for every question.
