//! An agent that makes agents: its answer is a list of definitions, checked before any of them works.

use holdpoint_core::event::Usage;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Agent, Asked, Halt, Setting, ask_for};
use crate::model::ToolSpec;

/// A meta-agent is asked once more, and then the attempt has failed.
const TRIES: u32 = 2;

/// An agent as the meta-agent defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// What it is called.
    pub name: String,
    /// What it is there for.
    pub role: String,
    /// Its frame.
    pub system_prompt: String,
    /// Its task.
    pub task_prompt: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agents {
    agents: Vec<Made>,
}

/// Asks the meta-agent for agents: at least one, at most `max`, all with names of their own.
pub async fn make_agents(setting: &Setting<'_>, meta: &Agent, max: u32) -> Result<(Vec<Made>, Usage), Halt> {
    let text = |about: &str| json!({"type": "string", "minLength": 1, "description": about});
    let tool = ToolSpec {
        name: "create_agents".to_owned(),
        description: format!("Defines the agents that will do the task: at least 1, at most {max}."),
        input_schema: json!({
            "type": "object",
            "properties": {
                "agents": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": max,
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": text("a short name of its own"),
                            "role": text("what it is there for"),
                            "system_prompt": text("its frame"),
                            "task_prompt": text("its task"),
                        },
                        "required": ["name", "role", "system_prompt", "task_prompt"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["agents"],
            "additionalProperties": false,
        }),
    };
    let check = move |made: &Agents| check(&made.agents, max);
    let asked: Asked<Agents> = ask_for(setting, meta, &[], "meta", &meta.first, &tool, TRIES, &check).await?;
    Ok((asked.value.agents, asked.usage))
}

fn check(made: &[Made], max: u32) -> Result<(), String> {
    if made.is_empty() || made.len() > max as usize {
        return Err(format!("{} agents were defined; at least 1 and at most {max} are wanted", made.len()));
    }
    for (n, agent) in made.iter().enumerate() {
        if agent.name.trim().is_empty() || agent.task_prompt.trim().is_empty() {
            return Err(format!("agent {} has no name or no task_prompt", n + 1));
        }
        if made[..n].iter().any(|other| other.name == agent.name) {
            return Err(format!("two agents are called `{}`", agent.name));
        }
    }
    Ok(())
}
