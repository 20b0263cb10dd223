//! What a pipeline file would change. The rules themselves are asked, so that what is shown is what happens.

use std::fmt;

use holdpoint_core::event::PipelineEvent;
use holdpoint_core::facts::{Evaluator, Facts, Offers};
use holdpoint_core::state::PipelineState;
use holdpoint_core::{
    Actor, Assurance, CheckpointId, Command, CommandId, Envelope, Event, PipelineCommand, PipelineId,
    Rejection, State, StreamId, Timestamp, World, decide,
};
use serde::Serialize;
use uuid::Uuid;

use super::PipelineFile;

/// One thing that a file changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// The pipeline is made.
    Created {
        /// Its name.
        pipeline_name: String,
    },
    /// Its name, description or settings change.
    Described {
        /// Its name from now on.
        pipeline_name: String,
    },
    /// A checkpoint is taken out.
    Removed {
        /// Which.
        checkpoint_id: CheckpointId,
        /// Its name.
        checkpoint_name: String,
    },
    /// Those that stay stand in another order.
    Reordered {
        /// Their names in the new order.
        order: Vec<String>,
    },
    /// A checkpoint is put in.
    Added {
        /// Its name.
        checkpoint_name: String,
        /// Its place, from 0.
        position: u32,
    },
    /// A checkpoint's definition changes.
    Edited {
        /// Which.
        checkpoint_id: CheckpointId,
        /// Its name from now on.
        checkpoint_name: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created { pipeline_name } => write!(f, "create pipeline `{pipeline_name}`"),
            Self::Described { pipeline_name } => write!(f, "change pipeline `{pipeline_name}`"),
            Self::Removed { checkpoint_name, .. } => write!(f, "remove checkpoint `{checkpoint_name}`"),
            Self::Reordered { order } => write!(f, "reorder checkpoints: {}", order.join(", ")),
            Self::Added { checkpoint_name, position } => {
                write!(f, "add checkpoint `{checkpoint_name}` at {position}")
            }
            Self::Edited { checkpoint_name, .. } => write!(f, "change checkpoint `{checkpoint_name}`"),
        }
    }
}

/// What applying a file to a pipeline would change, in order; nothing when all is as the file says. Without
/// a pipeline one would be made.
pub fn plan_changes(
    file: &PipelineFile,
    present: Option<&PipelineState>,
    evaluator: &dyn Evaluator,
    offers: &dyn Offers,
) -> Result<Vec<Change>, Rejection> {
    let id = file.pipeline_id.unwrap_or(PipelineId(Uuid::nil()));
    let stream = StreamId::Pipeline(id);
    let state = present.map_or_else(|| State::empty(stream), |present| State::Pipeline(present.clone()));
    let mut world = World::default();
    world.insert(stream, &state);
    // Nothing of this is kept: any name and any time will do.
    let envelope = Envelope {
        id: CommandId(Uuid::nil()),
        at: Timestamp(0),
        actor: Actor::system(),
        assurance: Assurance::default(),
        command: Command::Pipeline(id, PipelineCommand::Apply(file.content.clone())),
    };
    let decision = decide(&world, &envelope, Facts { evaluator, offers })?;
    let before = present.cloned().unwrap_or_default();
    let events = decision.writes.iter().flat_map(|write| &write.events);
    Ok(events.filter_map(|event| change(event, &before)).collect())
}

fn change(event: &Event, before: &PipelineState) -> Option<Change> {
    let Event::Pipeline(event) = event else { return None };
    let name =
        |id: &CheckpointId| before.definition(*id).map(|d| d.checkpoint_name.clone()).unwrap_or_default();
    Some(match event {
        PipelineEvent::Made { name, .. } => Change::Created { pipeline_name: name.to_string() },
        PipelineEvent::Changed { name, .. } => Change::Described { pipeline_name: name.to_string() },
        PipelineEvent::CheckpointAdded { position, definition, .. } => {
            Change::Added { checkpoint_name: definition.checkpoint_name.clone(), position: *position }
        }
        PipelineEvent::CheckpointChanged { checkpoint, definition, .. } => {
            Change::Edited { checkpoint_id: *checkpoint, checkpoint_name: definition.checkpoint_name.clone() }
        }
        PipelineEvent::CheckpointRemoved { checkpoint } => {
            Change::Removed { checkpoint_id: *checkpoint, checkpoint_name: name(checkpoint) }
        }
        PipelineEvent::Reordered { order } => Change::Reordered { order: order.iter().map(name).collect() },
        PipelineEvent::Deleted {}
        | PipelineEvent::Restored {}
        | PipelineEvent::RunOpened { .. }
        | PipelineEvent::RunClosed { .. }
        | PipelineEvent::RunReopened { .. }
        | PipelineEvent::RolledBack(_)
        | PipelineEvent::RollbackUndone { .. }
        | PipelineEvent::ArchiveEnded { .. }
        | PipelineEvent::BudgetRaised { .. }
        | PipelineEvent::DriftRepaired { .. } => return None,
    })
}
