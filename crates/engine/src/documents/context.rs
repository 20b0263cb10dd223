//! What the agents of an execution are told: as it was sent, or as it would be.

use std::collections::BTreeMap;

use holdpoint_core::ExecutionId;
use holdpoint_core::budget::tokens;
use holdpoint_core::event::{Entry, Event, MessageRole};
use holdpoint_core::{StreamId, Version};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::inputs::InputsDocument;
use crate::{Engine, SubmitError};

/// The name under which what an agent is told is pinned in the journal, before its own name.
pub const CONTEXT: &str = "context ";

/// What an execution is given, and what its agents are told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct ContextDocument {
    /// What it is given.
    #[serde(flatten)]
    pub inputs: InputsDocument,
    /// What each agent is told at first; empty for steps without agents.
    pub rendered: Vec<RenderedContext>,
    /// Whether it was sent like this; else it is a preview.
    pub sent: bool,
}

/// What one agent is told at first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct RenderedContext {
    /// The agent.
    pub agent_name: String,
    /// The frame.
    pub system: String,
    /// The first message.
    pub user: String,
    /// What it consists of: `{name, layer, tokens, shortened?, would_be?}`, tokens estimated at four
    /// bytes each. `would_be` says in a preview what will be shortened, and how.
    #[schema(value_type = Vec<Object>)]
    pub parts: Value,
    /// About how many tokens in all.
    pub tokens: u64,
}

impl Engine {
    /// What an execution is given, and what its agents are told.
    pub async fn context_document(&self, id: ExecutionId) -> Result<ContextDocument, SubmitError> {
        let inputs = self.inputs_document(id).await?;
        let rendered = self.told(id).await?;
        if !rendered.is_empty() {
            return Ok(ContextDocument { inputs, rendered, sent: true });
        }
        let rendered = self.inner.parts.executor.preview(self.clone(), id).await?;
        Ok(ContextDocument { inputs, rendered, sent: false })
    }

    /// What the last attempt's agents were told.
    async fn told(&self, id: ExecutionId) -> Result<Vec<RenderedContext>, SubmitError> {
        let (mut after, mut all) = (Version(0), Vec::<RenderedContext>::new());
        let (mut checks, mut heard) = (false, BTreeMap::<String, Heard>::new());
        loop {
            let rows = self.log().read(StreamId::Journal(id), after, 500).await?;
            for row in &rows {
                after = row.last();
                for recorded in crate::live::recorded(row)? {
                    match recorded.event {
                        Event::Journal(Entry::Began { check, .. }) => {
                            checks = check;
                            if !check {
                                all.clear();
                                heard.clear();
                            }
                        }
                        Event::Journal(Entry::Message {
                            agent: Some(agent),
                            role: role @ (MessageRole::System | MessageRole::User),
                            content,
                            more,
                            hidden: false,
                            ..
                        }) if !checks => {
                            let heard = heard.entry(agent.to_string()).or_default();
                            let place =
                                if role == MessageRole::System { &mut heard.system } else { &mut heard.user };
                            if place.is_none() {
                                let text = self.whole(content, more).await?;
                                *place = text.as_str().map(str::to_owned);
                            }
                        }
                        Event::Journal(Entry::Pinned { name, digest }) => {
                            if let Some(agent) = name.strip_prefix(CONTEXT) {
                                let told = self.bytes(digest).await?;
                                let told: Value = serde_json::from_slice(&told).unwrap_or_default();
                                all.push(rendered(agent, &told));
                            }
                        }
                        _ => {}
                    }
                }
            }
            if rows.len() < 500 {
                add_heard(&mut all, heard);
                return Ok(all);
            }
        }
    }
}

/// What one agent really heard first.
#[derive(Default)]
struct Heard {
    system: Option<String>,
    user: Option<String>,
}

/// Puts what agents heard in the place of what was prepared for them: others may have spoken before. An agent for which
/// nothing was prepared, such as one that makes agents, stands there as well.
fn add_heard(all: &mut Vec<RenderedContext>, heard: BTreeMap<String, Heard>) {
    for (agent, Heard { system, user }) in heard {
        let Some(user) = user else { continue };
        let known = all.iter_mut().find(|context| context.agent_name == agent);
        match known {
            Some(context) if context.user != user => {
                let more = tokens(&user).saturating_sub(tokens(&context.user));
                let part = json!({"name": "what others said, and what is wanted", "layer": "USEFUL", "tokens": more});
                if let Some(parts) = context.parts.as_array_mut() {
                    parts.push(part);
                }
                context.tokens += more;
                context.user = user;
            }
            Some(_) => {}
            None => {
                let system = system.unwrap_or_default();
                let part = |name: &str, text: &str| json!({"name": name, "layer": "CRITICAL", "tokens": tokens(text)});
                let parts = json!([part("frame", &system), part("task", &user)]);
                let tokens = tokens(&system) + tokens(&user);
                all.push(RenderedContext { agent_name: agent, system, user, parts, tokens });
            }
        }
    }
}

/// One agent's context, as it was or would be told.
pub fn rendered(agent: &str, told: &Value) -> RenderedContext {
    let texts = |value: &Value| -> String {
        let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        all.collect::<Vec<_>>().join("\n\n")
    };
    let parts = told["parts"].clone();
    let tokens = parts.as_array().into_iter().flatten().filter_map(|part| part["tokens"].as_u64()).sum();
    RenderedContext {
        agent_name: agent.to_owned(),
        system: texts(&told["system"]),
        user: told["user"].as_str().unwrap_or_default().to_owned(),
        parts,
        tokens,
    }
}
