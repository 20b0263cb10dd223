//! How much work a schema makes with a value.
//!
//! References that meet twice at every level cost twice as much with every level, and a schema that refers
//! to itself in place never ends. The checker has no limit of its own. So the same way is walked here
//! beforehand, in the widest reading, and only its steps are counted.

use serde_json::{Map, Value};

use super::shape::target;

/// The most steps.
const MAX_STEPS: u32 = 200_000;

/// The most schemas inside each other on the way to one place of the value.
const MAX_DEPTH: u32 = 512;

/// Counts, and refuses what is too much.
pub fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let mut scale = Scale { root: schema, steps: 0 };
    scale.apply(schema, value, 0).map_err(|Heavy| "the schema makes too much work".to_owned())
}

struct Heavy;

struct Scale<'s> {
    root: &'s Value,
    steps: u32,
}

impl<'s> Scale<'s> {
    fn apply(&mut self, schema: &'s Value, value: &Value, depth: u32) -> Result<(), Heavy> {
        self.steps += 1;
        if self.steps > MAX_STEPS || depth > MAX_DEPTH {
            return Err(Heavy);
        }
        let Value::Object(keywords) = schema else { return Ok(()) };
        for (keyword, argument) in keywords {
            self.keyword(keywords, keyword, argument, value, depth + 1)?;
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        siblings: &'s Map<String, Value>,
        keyword: &str,
        argument: &'s Value,
        value: &Value,
        depth: u32,
    ) -> Result<(), Heavy> {
        match keyword {
            "$ref" => match argument.as_str().and_then(|reference| target(self.root, reference)) {
                Some(schema) => self.apply(schema, value, depth),
                None => Ok(()),
            },
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => self.each(argument, value, depth),
            "dependentSchemas" | "dependencies" => self.members(argument, value, depth),
            "properties" => self.properties(argument, value, depth),
            "patternProperties" => {
                for schema in argument.as_object().into_iter().flat_map(Map::values) {
                    self.inside(schema, value, depth)?;
                }
                Ok(())
            }
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains" => self.inside(argument, value, depth),
            "propertyNames" => {
                let names = value.as_object().map_or(0, Map::len);
                (0..names).try_for_each(|_| self.apply(argument, &Value::Null, depth))
            }
            "enum" => self.step(argument.as_array().map_or(0, Vec::len)),
            "uniqueItems" => {
                self.step(value.as_array().map_or(0, |items| items.len().saturating_pow(2) / 16))
            }
            "minContains" | "maxContains" if siblings.contains_key("contains") => self.step(1),
            _ => Ok(()),
        }
    }

    fn step(&mut self, steps: usize) -> Result<(), Heavy> {
        self.steps = self.steps.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps > MAX_STEPS { Err(Heavy) } else { Ok(()) }
    }

    /// One schema, or a list of them, at the same place.
    fn each(&mut self, argument: &'s Value, value: &Value, depth: u32) -> Result<(), Heavy> {
        match argument {
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.apply(schema, value, depth)),
            schema => self.apply(schema, value, depth),
        }
    }

    /// Every schema of an object, at the same place.
    fn members(&mut self, argument: &'s Value, value: &Value, depth: u32) -> Result<(), Heavy> {
        let schemas = argument.as_object().into_iter().flat_map(Map::values);
        for schema in schemas {
            self.apply(schema, value, depth)?;
        }
        Ok(())
    }

    /// Each schema at the member of its name.
    fn properties(&mut self, argument: &'s Value, value: &Value, depth: u32) -> Result<(), Heavy> {
        let (Value::Object(schemas), Value::Object(members)) = (argument, value) else { return Ok(()) };
        for (name, schema) in schemas {
            self.step(1)?;
            if let Some(member) = members.get(name) {
                self.apply(schema, member, depth)?;
            }
        }
        Ok(())
    }

    /// One schema, or a list of them, at everything inside.
    fn inside(&mut self, argument: &'s Value, value: &Value, depth: u32) -> Result<(), Heavy> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.each(argument, item, depth)),
            Value::Object(members) => members.values().try_for_each(|item| self.each(argument, item, depth)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }
}
