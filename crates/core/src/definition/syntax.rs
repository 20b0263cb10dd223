//! What is wrong with the rules and schemas inside a definition, as far as it can be told before they are used.

use super::{CheckpointDefinition, Fault, Format};
use crate::facts::Evaluator;

/// Reads every rule of a form's field and every schema of a JSON artifact.
pub fn examine_syntax(definition: &CheckpointDefinition, evaluator: &dyn Evaluator) -> Vec<Fault> {
    let mut faults = Vec::new();
    let form = definition.execution.human_only_config.as_ref();
    for (i, field) in form.iter().flat_map(|form| form.input_fields.iter().enumerate()) {
        let rule = field.validation.as_deref().filter(|rule| !rule.trim().is_empty());
        if let Some(Err(why)) = rule.map(|rule| evaluator.field_syntax(rule)) {
            let pointer = format!("/execution/human_only_config/input_fields/{i}/validation");
            faults.push(Fault::at(pointer, why));
        }
    }
    for (i, artifact) in definition.output.artifacts.iter().enumerate() {
        let schema = artifact.schema.as_ref().filter(|s| artifact.format == Format::Json && s.is_object());
        if let Some(Err(why)) = schema.map(|schema| evaluator.schema_syntax(schema)) {
            faults.push(Fault::at(format!("/output/artifacts/{i}/schema"), why));
        }
    }
    faults
}
