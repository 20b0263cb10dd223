//! Which events change an output or a folder outside `.temp/`. Whoever caused one of these finds the files as they are
//! meant to be when the answer comes; documents such as `run_info.json` follow.

use crate::event::{Event, PipelineEvent, RunEvent};

/// Whether an event changes an output, a definition, or a folder outside `.temp/`.
pub fn touches(event: &Event) -> bool {
    match event {
        Event::Pipeline(event) => pipeline(event),
        Event::Run(event) => run(event),
        Event::Home(_) | Event::Journal(_) => false,
    }
}

fn pipeline(event: &PipelineEvent) -> bool {
    match event {
        PipelineEvent::Made { .. }
        | PipelineEvent::Changed { .. }
        | PipelineEvent::Deleted { .. }
        | PipelineEvent::Restored { .. }
        | PipelineEvent::CheckpointAdded { .. }
        | PipelineEvent::CheckpointChanged { .. }
        | PipelineEvent::CheckpointRemoved { .. }
        | PipelineEvent::Reordered { .. }
        | PipelineEvent::RunOpened { .. }
        | PipelineEvent::RolledBack(_)
        | PipelineEvent::RollbackUndone { .. }
        | PipelineEvent::ArchiveEnded { .. } => true,
        PipelineEvent::RunClosed { .. }
        | PipelineEvent::RunReopened { .. }
        | PipelineEvent::BudgetRaised { .. }
        | PipelineEvent::DriftRepaired { .. } => false,
    }
}

fn run(event: &RunEvent) -> bool {
    match event {
        // The outputs of the attempt or revision before stand in the folder that it begins in.
        RunEvent::AttemptBegan { revision, attempt, .. } => *revision > 0 || *attempt > 1,
        RunEvent::Made { .. }
        | RunEvent::ArtifactMade { .. }
        | RunEvent::ArtifactPromoted { .. }
        | RunEvent::RevisionAsked { .. }
        | RunEvent::ExecutionCompleted { .. }
        | RunEvent::ExecutionFailed { .. }
        | RunEvent::PassedOver { .. }
        | RunEvent::RetryGranted { .. }
        | RunEvent::Forked { .. }
        | RunEvent::RolledBack { .. }
        | RunEvent::Recovered { .. }
        | RunEvent::Undone { .. }
        | RunEvent::RunRemoved { .. }
        | RunEvent::RunRestored { .. } => true,
        RunEvent::Began { .. }
        | RunEvent::ExecutionMade { .. }
        | RunEvent::StepSkipped { .. }
        | RunEvent::Asked { .. }
        | RunEvent::Approved { .. }
        | RunEvent::Rejected { .. }
        | RunEvent::AttemptRestarted { .. }
        | RunEvent::Submitted { .. }
        | RunEvent::WorkDone { .. }
        | RunEvent::Checked { .. }
        | RunEvent::BudgetRaised { .. }
        | RunEvent::ApprovalGiven { .. }
        | RunEvent::AttemptFailed { .. }
        | RunEvent::NoteQueued { .. }
        | RunEvent::GateAsked { .. }
        | RunEvent::GateAnswered { .. }
        | RunEvent::FrontMoved { .. }
        | RunEvent::LoopEnded { .. }
        | RunEvent::Warned { .. }
        | RunEvent::HandedIn { .. }
        | RunEvent::Blocked { .. }
        | RunEvent::SnapshotTaken { .. }
        | RunEvent::Reopened { .. }
        | RunEvent::PauseAsked { .. }
        | RunEvent::PauseDropped { .. }
        | RunEvent::Paused { .. }
        | RunEvent::Resumed { .. }
        | RunEvent::Completed { .. }
        | RunEvent::Failed { .. }
        | RunEvent::Aborted { .. } => false,
    }
}
