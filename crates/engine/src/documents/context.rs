//! What the agents of an execution are told: as it was sent, or as it would be.

use holdpoint_core::ExecutionId;
use holdpoint_core::event::{Entry, Event};
use holdpoint_core::{StreamId, Version};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::inputs::InputsDocument;
use crate::work::agents::CONTEXT;
use crate::{Engine, SubmitError};

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
        let inputs = self.execution_document(id).await?.inputs;
        let rendered = self.told(id).await?;
        if !rendered.is_empty() {
            return Ok(ContextDocument { inputs, rendered, sent: true });
        }
        let rendered = self.would_tell(id).await?;
        Ok(ContextDocument { inputs, rendered, sent: false })
    }

    /// What the last attempt's agents were told.
    async fn told(&self, id: ExecutionId) -> Result<Vec<RenderedContext>, SubmitError> {
        let (mut after, mut all) = (Version(0), Vec::new());
        loop {
            let rows = self.log().read(StreamId::Journal(id), after, 500).await?;
            for row in &rows {
                after = row.last();
                for recorded in crate::live::recorded(row)? {
                    match recorded.event {
                        Event::Journal(Entry::Began { check: false, .. }) => all.clear(),
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
                return Ok(all);
            }
        }
    }
}

/// One agent's context, as it was or would be told.
pub(crate) fn rendered(agent: &str, told: &Value) -> RenderedContext {
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
