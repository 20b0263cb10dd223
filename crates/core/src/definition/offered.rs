//! What is wrong with the tools, the time and the retries that a definition wants, as far as it is known what there is.

use super::{AgentConfig, CheckpointDefinition, Fault, Findings};
use crate::facts::{Offers, ToolServer};

/// The tools that are built in.
pub const TOOLS: [&str; 3] = ["web_search", "code_execution", "file_operations"];

/// Looks up every tool, the time and the retries. A name that nothing stands behind is an error where it is known what there is, and
/// else a warning: the tool must then come from a server that is configured where the work is done.
pub fn examine_offered(definition: &CheckpointDefinition, offers: &dyn Offers) -> Findings {
    let mut found = Findings::default();
    let timeout = &definition.execution.timeout_config;
    if let (true, Some(minutes), Some(most)) =
        (timeout.enabled, timeout.timeout_minutes, offers.longest_minutes())
        && u64::from(minutes) > most
    {
        let message = format!("at most {most}, as limits.max_checkpoint_timeout_minutes says");
        found.errors.push(Fault::at("/execution/timeout_config/timeout_minutes", message));
    }
    let retries = definition.execution.retry_config.max_auto_retries;
    if let Some(most) = offers.most_retries().filter(|most| u64::from(retries) > *most) {
        let message = format!("at most {most}, as limits.max_retry_attempts says");
        found.errors.push(Fault::at("/execution/retry_config/max_auto_retries", message));
    }
    let Some(config) = &definition.execution.agent_config else { return found };
    for (i, tool) in config.tools.iter().enumerate().filter(|(_, tool)| !tool.trim().is_empty()) {
        let pointer = format!("/execution/agent_config/tools/{i}");
        match fault(config, tool, offers) {
            Some(Known::Not(message)) => found.errors.push(Fault::at(pointer, message)),
            Some(Known::Perhaps(message)) => found.warnings.push(Fault::at(pointer, message)),
            None => {}
        }
    }
    found
}

enum Known {
    Not(String),
    Perhaps(String),
}

fn fault(config: &AgentConfig, tool: &str, offers: &dyn Offers) -> Option<Known> {
    if tool == "web_search" && offers.searches(config.model.as_deref()) == Some(false) {
        let model = config.model.as_deref().unwrap_or("the model of llm.default_model");
        let message = format!(
            "`{model}` has no web search of its own, or none that keeps to llm.search_domains; leave the tool out or \
             use another model"
        );
        return Some(Known::Not(message));
    }
    if TOOLS.contains(&tool) {
        return None;
    }
    let Some(servers) = offers.servers() else {
        let message = format!("`{tool}` is not built in ({}), so a server must offer it", TOOLS.join(", "));
        return Some(Known::Perhaps(message));
    };
    let (name, inside) = match tool.split_once('/') {
        Some((server, inside)) => (server, Some(inside)),
        None => (tool, None),
    };
    match (servers.iter().find(|server| server.name == name), inside) {
        (None, _) => Some(Known::Not(unknown(tool, &servers))),
        (Some(ToolServer { tools: Some(known), .. }), Some(inside)) if !known.iter().any(|t| t == inside) => {
            let all = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let meant = nearest(inside, known.iter().map(String::as_str))
                .map_or_else(String::new, |meant| format!("; did you mean `{name}/{meant}`?"));
            Some(Known::Not(format!(
                "the server `{name}` has no tool `{inside}` to use (there is {all}){meant}"
            )))
        }
        (Some(_), _) => None,
    }
}

fn unknown(tool: &str, servers: &[ToolServer]) -> String {
    let names = || TOOLS.into_iter().chain(servers.iter().map(|server| server.name.as_str()));
    let meant = nearest(tool, names()).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    let all = names().collect::<Vec<_>>().join(", ");
    format!("there is no tool `{tool}`: built in, or configured as servers, are {all}{meant}")
}

/// The name that somebody probably meant.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let far = |name: &str| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    let (distance, name) = names.map(|name| (far(name), name)).min()?;
    (distance <= name.chars().count().max(3) / 3).then_some(name)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::facts::NothingKnown;

    struct Here;

    impl Offers for Here {
        fn servers(&self) -> Option<Vec<ToolServer>> {
            let seen = Some(vec!["search".to_owned(), "issues".to_owned()]);
            Some(vec![
                ToolServer { name: "github".into(), tools: seen },
                ToolServer { name: "notes".into(), tools: None },
            ])
        }

        fn searches(&self, model: Option<&str>) -> Option<bool> {
            Some(model.is_none())
        }

        fn longest_minutes(&self) -> Option<u64> {
            Some(480)
        }
    }

    #[test]
    fn nothing_takes_longer_than_the_settings_allow() {
        let mut definition = crate::testing::script("A", 0);
        definition.execution.timeout_config.enabled = true;
        for (minutes, faults) in [(480, 0), (481, 1)] {
            definition.execution.timeout_config.timeout_minutes = Some(minutes);
            let Findings { errors, .. } = examine_offered(&definition, &Here);
            assert_eq!(errors.len(), faults, "{minutes}");
            assert!(examine_offered(&definition, &NothingKnown).errors.is_empty());
        }
    }

    fn check(tools: &[&str], model: Option<&str>, offers: &dyn Offers, expected: &Expect) {
        let mut definition = crate::testing::script("A", 0);
        let agent = json!({"name": "A", "system_prompt": "s", "task_prompt": "t"});
        let config = json!({"creation_mode": "single", "agent": agent, "tools": tools, "model": model});
        definition.execution.agent_config = serde_json::from_value(config).expect("a config");
        let Findings { errors, warnings } = examine_offered(&definition, offers);
        let line = |kind: &str, fault: &Fault| format!("{kind} {}: {}\n", fault.pointer, fault.message);
        let errors = errors.iter().map(|fault| line("error", fault));
        let told: String = errors.chain(warnings.iter().map(|fault| line("warning", fault))).collect();
        expected.assert_eq(&told);
    }

    #[test]
    fn what_is_there_is_taken() {
        let all = ["web_search", "code_execution", "github", "github/issues", "notes/anything"];
        check(&all, None, &Here, &expect![[""]]);
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        check(
            &["githob", "file_operation", "github/isues", "github/", "x/y", "web_search"],
            Some("openai/gpt"),
            &Here,
            &expect![[r#"
                error /execution/agent_config/tools/0: there is no tool `githob`: built in, or configured as servers, are web_search, code_execution, file_operations, github, notes; did you mean `github`?
                error /execution/agent_config/tools/1: there is no tool `file_operation`: built in, or configured as servers, are web_search, code_execution, file_operations, github, notes; did you mean `file_operations`?
                error /execution/agent_config/tools/2: the server `github` has no tool `isues` to use (there is search, issues); did you mean `github/issues`?
                error /execution/agent_config/tools/3: the server `github` has no tool `` to use (there is search, issues)
                error /execution/agent_config/tools/4: there is no tool `x/y`: built in, or configured as servers, are web_search, code_execution, file_operations, github, notes
                error /execution/agent_config/tools/5: `openai/gpt` has no web search of its own, or none that keeps to llm.search_domains; leave the tool out or use another model
            "#]],
        );
    }

    #[test]
    fn where_nothing_is_known_somebody_is_told() {
        check(
            &["github", "web_search"],
            Some("openai/gpt"),
            &NothingKnown,
            &expect![[r#"
            warning /execution/agent_config/tools/0: `github` is not built in (web_search, code_execution, file_operations), so a server must offer it
        "#]],
        );
    }
}
