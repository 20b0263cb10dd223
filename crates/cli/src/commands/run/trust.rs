//! Whether a run needs settings that nobody has trusted.

use holdpoint_core::definition::TOOLS;
use serde_json::Value;

use crate::context::Context;
use crate::problem::Problem;
use crate::table::text_of;

/// Refuses a run that would miss a setting, before anything starts.
pub fn check(checkpoints: &[Value], context: &Context<'_, '_>) -> Result<(), Problem> {
    // A server has settings of its own.
    if context.server().is_some() {
        return Ok(());
    }
    let untrusted = context.settings(&context.home()?, &[])?.untrusted;
    let mut names = untrusted.iter().flat_map(|one| &one.entries).map(|entry| entry.name.as_str());
    let needed = names.find(|name| checkpoints.iter().any(|checkpoint| needs(checkpoint, name)));
    let Some(name) = needed else { return Ok(()) };
    let message = format!("the run needs `{name}`, and nobody has trusted the settings of this folder");
    Err(Problem::failed("settings_untrusted", message, "look at them: `holdpoint config trust`"))
}

fn needs(checkpoint: &Value, name: &str) -> bool {
    let execution = &checkpoint["execution"];
    let mode = text_of(&execution["mode"]);
    let config = &execution["agent_config"];
    let agents = config["agents"].as_array().into_iter().flatten();
    let lists = std::iter::once(&config["tools"]).chain(agents.map(|agent| &agent["tools"]));
    let tools: Vec<String> = lists.filter_map(Value::as_array).flatten().map(text_of).collect();
    match name.split('.').next() {
        Some("mcp" | "tools") => tools.iter().any(|tool| !TOOLS.contains(&tool.as_str())),
        Some("llm" | "agents") => mode == "agentic",
        _ if name == "execution.sandbox" => {
            mode == "script" || tools.iter().any(|tool| tool == "code_execution")
        }
        _ => mode == "script",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_uses_a_setting_needs_it() {
        let all = ["mcp.x.command", "llm.openai.base_url", "execution.sandbox", "execution.script_folders"];
        let needed = |execution: Value| {
            let checkpoint = json!({ "execution": execution });
            all.into_iter().filter(|name| needs(&checkpoint, name)).collect::<Vec<_>>()
        };
        assert_eq!(needed(json!({"mode": "human_only"})), Vec::<&str>::new());
        assert_eq!(needed(json!({"mode": "script"})), ["execution.sandbox", "execution.script_folders"]);
        assert_eq!(needed(json!({"mode": "agentic"})), ["llm.openai.base_url"]);
        let tools = json!({"mode": "agentic", "agent_config": {"agents": [{"tools": ["code_execution", "look_up"]}]}});
        assert_eq!(needed(tools), ["mcp.x.command", "llm.openai.base_url", "execution.sandbox"]);
    }
}
