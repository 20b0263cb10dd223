//! What is wrong with the rules, schemas and tools inside a definition, as far as it can be told before they are used.

use super::{CheckpointDefinition, Fault, Format};
use crate::facts::Evaluator;

/// Reads every rule of a form's field and every schema of a JSON artifact, and asks whether a model can search.
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
    let agents = definition.execution.agent_config.as_ref();
    let tools = agents.iter().flat_map(|agents| agents.tools.iter().enumerate());
    for (i, _) in tools.filter(|(_, tool)| *tool == "web_search") {
        let model = agents.and_then(|agents| agents.model.as_deref());
        if !evaluator.can_search(model) {
            let named = model.map_or_else(|| "the default model".to_owned(), |model| format!("`{model}`"));
            let message =
                format!("{named} has no web search of its own; leave the tool out or use another model");
            faults.push(Fault::at(format!("/execution/agent_config/tools/{i}"), message));
        }
    }
    faults
}
