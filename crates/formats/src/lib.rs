//! Every way to write work down, and how it becomes definitions and plans.
//!
//! Today: a pipeline as one YAML or JSON file, node lists that compile to DAGs and templates, and the JSON
//! Schemas of definitions. What is wrong with a file is said with its place, all of it at once where that is
//! possible, and nothing is guessed.

// Snapshots are written by their tool, which always uses raw strings.
#![cfg_attr(test, allow(clippy::needless_raw_string_hashes))]

pub mod dag;
mod explain;
pub mod objects;
mod pipeline;
mod problem;
mod schema;
mod tree;
mod yaml;

pub use explain::{explain, suggest_unknown_keys, unknown_key};
pub use pipeline::{Change, PipelineFile, export, parse, plan_changes};
pub use problem::Problem;
pub use schema::{checkpoint_schema, json_schema, pipeline_file_schema};
pub use tree::Syntax;
