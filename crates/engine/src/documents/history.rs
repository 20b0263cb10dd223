//! The history of a pipeline's definition, as the log tells it.

use holdpoint_core::event::{Event, PipelineEvent};
use holdpoint_core::{ActorKind, PipelineId, State, StreamId, Version};
use holdpoint_store::Row;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;
use utoipa::ToSchema;

use super::Time;
use super::pipeline::PipelineDocument;
use crate::load::Loaded;
use crate::{Engine, SubmitError};

/// How many rows are read at once.
const PAGE: u32 = 500;

/// One change of a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RevisionDocument {
    /// Its number, which only grows.
    pub revision: u64,
    /// When.
    pub timestamp: Time,
    /// Who.
    pub actor: ActorDocument,
    /// What changed, in a sentence.
    pub description: String,
    /// The definition version afterwards.
    pub pipeline_definition_version: u32,
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ActorDocument {
    /// `person`, `agent` or `system`.
    pub kind: &'static str,
    /// A name that people recognise.
    pub name: String,
}

impl From<&holdpoint_core::Actor> for ActorDocument {
    fn from(actor: &holdpoint_core::Actor) -> Self {
        let kind = match actor.kind {
            ActorKind::Person => "person",
            ActorKind::Agent => "agent",
            ActorKind::System => "system",
        };
        Self { kind, name: actor.name.to_string() }
    }
}

/// How two revisions differ.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DefinitionDiff {
    /// The earlier revision.
    pub from: u64,
    /// The later one.
    pub to: u64,
    /// A unified diff of the definitions; empty: they are the same.
    pub diff: String,
}

impl Engine {
    /// All revisions of a pipeline's definition, newest first.
    pub async fn definition_history(&self, id: PipelineId) -> Result<Vec<RevisionDocument>, SubmitError> {
        self.pipeline_source(id).await?;
        let mut revisions = Vec::new();
        self.each_row(id, |row, loaded, events| {
            let version = version_of(loaded);
            for (revision, event) in events {
                revisions.extend(describe(event).map(|description| RevisionDocument {
                    revision: revision.0,
                    timestamp: row.at.into(),
                    actor: (&row.actor).into(),
                    description,
                    pipeline_definition_version: version,
                }));
            }
        })
        .await?;
        revisions.reverse();
        Ok(revisions)
    }

    /// How two revisions differ, if both exist.
    pub async fn definition_diff(
        &self,
        id: PipelineId,
        from: u64,
        to: u64,
    ) -> Result<Option<DefinitionDiff>, SubmitError> {
        self.pipeline_source(id).await?;
        let (mut old, mut new) = (None, None);
        self.each_row(id, |_, loaded, events| {
            for (version, event) in events {
                if describe(event).is_none() {
                    continue;
                }
                if version.0 == from {
                    old = Some(text_of(id, loaded));
                }
                if version.0 == to {
                    new = Some(text_of(id, loaded));
                }
            }
        })
        .await?;
        let (Some(old), Some(new)) = (old, new) else { return Ok(None) };
        let diff = TextDiff::from_lines(&old, &new);
        let names = (format!("revision {from}"), format!("revision {to}"));
        let diff = diff.unified_diff().context_radius(3).header(&names.0, &names.1).to_string();
        Ok(Some(DefinitionDiff { from, to, diff }))
    }

    /// Shows each row of a pipeline's stream with the state after it, and its events with their versions.
    async fn each_row(
        &self,
        id: PipelineId,
        mut seen: impl FnMut(&Row, &Loaded, &[(Version, Event)]),
    ) -> Result<(), SubmitError> {
        let stream = StreamId::Pipeline(id);
        let mut loaded = Loaded::empty(stream);
        loop {
            let rows = self.log().read(stream, loaded.version, PAGE).await?;
            for row in &rows {
                loaded.fold(row)?;
                let events: Vec<(Version, Event)> =
                    crate::live::recorded(row)?.into_iter().map(|each| (each.version, each.event)).collect();
                seen(row, &loaded, &events);
            }
            if rows.len() < PAGE as usize {
                return Ok(());
            }
        }
    }
}

fn version_of(loaded: &Loaded) -> u32 {
    match &loaded.state {
        State::Pipeline(state) => state.definition_version,
        State::Home(_) | State::Run(_) | State::Journal(_) => 0,
    }
}

/// The definition as text, without what is not of the definition.
fn text_of(id: PipelineId, loaded: &Loaded) -> String {
    let State::Pipeline(state) = &loaded.state else { return String::new() };
    let mut document = serde_json::to_value(PipelineDocument::of(id, state)).unwrap_or(Value::Null);
    if let Some(document) = document.as_object_mut() {
        for name in ["runs", "next_run", "updated_at", "created_at", "warnings", "deleted_at"] {
            document.remove(name);
        }
    }
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// What an event changed about the definition, in a sentence.
fn describe(event: &Event) -> Option<String> {
    let Event::Pipeline(event) = event else { return None };
    match event {
        PipelineEvent::Made { name, .. } => Some(format!("made as “{name}”")),
        PipelineEvent::Changed { name, .. } => {
            Some(format!("name, description or settings changed: “{name}”"))
        }
        PipelineEvent::CheckpointAdded { position, definition, .. } => {
            Some(format!("“{}” added at position {position}", definition.checkpoint_name))
        }
        PipelineEvent::CheckpointChanged { definition, .. } => {
            Some(format!("“{}” changed", definition.checkpoint_name))
        }
        PipelineEvent::CheckpointRemoved { checkpoint } => Some(format!("checkpoint {checkpoint} taken out")),
        PipelineEvent::Reordered { .. } => Some("the order changed".to_owned()),
        PipelineEvent::Deleted {} => Some("put away".to_owned()),
        PipelineEvent::Restored {} => Some("brought back".to_owned()),
        _ => None,
    }
}
