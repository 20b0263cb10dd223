//! One file per command: what it asks for, the rule, its tests.

pub mod abort_run;
pub mod add_checkpoint;
pub mod advance;
pub mod answer;
pub mod apply_pipeline;
pub mod begin_run;
pub mod cancel_execution;
pub mod complete_run;
pub mod create_home;
pub mod create_pipeline;
pub mod delete_pipeline;
pub mod end_archive;
pub mod fail_run;
pub mod fire_timer;
pub mod issue_token;
pub mod mark_critical;
pub mod pause_run;
pub mod queue_note;
pub mod record_drift;
pub mod record_outcome;
pub mod recover;
pub mod remove_checkpoint;
pub mod reorder_checkpoints;
pub mod restart_attempt;
pub mod restore_pipeline;
pub mod resume_run;
pub mod revoke_token;
pub mod roll_back;
pub mod seal_heads;
pub mod start_run;
pub mod take_snapshot;
pub mod undo_rollback;
pub mod update_checkpoint;
pub mod update_pipeline;
pub mod write_journal;

use crate::advance::begin_queued;
use crate::command::{Command, Envelope, HomeCommand, PipelineCommand, RunCommand};
use crate::decision::{Decision, Draft, World};
use crate::facts::Facts;
use crate::state::RunState;
use crate::state::run::{ExecutionState, RunStatus};
use crate::{ExecNo, PipelineId, Rejection, RunId, StreamId};

/// Decides what a command makes happen, or refuses it.
pub fn decide(world: &World<'_>, envelope: &Envelope, facts: Facts<'_>) -> Result<Decision, Rejection> {
    let mut draft = Draft::new(world, envelope, facts);
    match &envelope.command {
        Command::Home(command) => home(&mut draft, command)?,
        Command::Pipeline(id, command) => pipeline(&mut draft, *id, command)?,
        Command::StartRun(command) => start_run::decide(&mut draft, command)?,
        Command::Run(id, command) => run(&mut draft, *id, command)?,
        Command::RollBack(command) => roll_back::decide(&mut draft, command)?,
        Command::UndoRollback { pipeline, rollback } => {
            undo_rollback::decide(&mut draft, *pipeline, *rollback)?;
        }
        Command::WriteJournal { run, execution, effect, entries } => {
            write_journal::decide(&mut draft, *run, *execution, *effect, entries)?;
        }
    }
    Ok(draft.finish())
}

fn home(draft: &mut Draft<'_>, command: &HomeCommand) -> Result<(), Rejection> {
    match command {
        HomeCommand::Create => create_home::decide(draft),
        HomeCommand::IssueToken(command) => issue_token::decide(draft, command)?,
        HomeCommand::RevokeToken(token) => revoke_token::decide(draft, *token)?,
        HomeCommand::SealHeads(command) => seal_heads::decide(draft, command),
    }
    Ok(())
}

fn pipeline(draft: &mut Draft<'_>, id: PipelineId, command: &PipelineCommand) -> Result<(), Rejection> {
    draft.reply.pipeline = Some(id);
    match command {
        PipelineCommand::Create(command) => create_pipeline::decide(draft, id, command),
        PipelineCommand::Apply(command) => apply_pipeline::decide(draft, id, command),
        PipelineCommand::Update(command) => update_pipeline::decide(draft, id, command),
        PipelineCommand::Delete => delete_pipeline::decide(draft, id),
        PipelineCommand::Restore => restore_pipeline::decide(draft, id),
        PipelineCommand::AddCheckpoint(command) => add_checkpoint::decide(draft, id, command),
        PipelineCommand::UpdateCheckpoint(command) => update_checkpoint::decide(draft, id, command),
        PipelineCommand::RemoveCheckpoint(checkpoint) => remove_checkpoint::decide(draft, id, *checkpoint),
        PipelineCommand::Reorder(order) => reorder_checkpoints::decide(draft, id, order),
        PipelineCommand::EndArchive(rollback) => end_archive::decide(draft, id, *rollback),
        PipelineCommand::RecordDrift(command) => record_drift::decide(draft, id, command),
    }
}

fn run(draft: &mut Draft<'_>, id: RunId, command: &RunCommand) -> Result<(), Rejection> {
    draft.reply.run = Some(id);
    match command {
        RunCommand::Begin => begin_run::decide(draft, id),
        RunCommand::Answer(command) => answer::decide(draft, id, command),
        RunCommand::Pause => pause_run::decide(draft, id),
        RunCommand::Resume { decides, max } => resume_run::decide(draft, id, *decides, *max),
        RunCommand::Abort(reason) => abort_run::decide(draft, id, reason.as_ref()),
        RunCommand::Complete => complete_run::decide(draft, id),
        RunCommand::Fail(reason) => fail_run::decide(draft, id, reason.as_ref()),
        RunCommand::Cancel(x) => cancel_execution::decide(draft, id, *x),
        RunCommand::QueueNote { x, text } => queue_note::decide(draft, id, *x, text),
        RunCommand::RecordOutcome(command) => record_outcome::decide(draft, id, command),
        RunCommand::RestartAttempt(effect) => restart_attempt::decide(draft, id, *effect),
        RunCommand::FireTimer(timer) => fire_timer::decide(draft, id, *timer),
        RunCommand::Advance(command) => advance::decide(draft, id, command),
        RunCommand::TakeSnapshot(command) => take_snapshot::decide(draft, id, command),
        RunCommand::MarkCritical { node, keys } => mark_critical::decide(draft, id, *node, keys),
        RunCommand::Recover(node) => recover::decide(draft, id, *node),
        RunCommand::UndoRecovery(rollback) => recover::undo(draft, id, *rollback),
    }?;
    // Whatever ended work has made room.
    begin_queued(draft, id)
}

/// The streams that a command must be decided on and that were not read yet. To be asked again after they
/// were read: what a stream says may lead to more.
pub fn needs(command: &Command, world: &World<'_>) -> Vec<StreamId> {
    let mut wanted = Vec::new();
    match command {
        Command::Home(_) => wanted.push(StreamId::Home),
        Command::Pipeline(id, _) => wanted.push(StreamId::Pipeline(*id)),
        Command::StartRun(command) => start_run::needs(command, &mut wanted),
        Command::Run(id, command) => {
            wanted.push(StreamId::Run(*id));
            wanted.extend(world.run(*id).and_then(RunState::pipeline).map(StreamId::Pipeline));
            if let RunCommand::RecordOutcome(record) = command {
                wanted.extend(record.journal(*id));
            }
        }
        Command::RollBack(command) => roll_back::needs(command, world, &mut wanted),
        Command::UndoRollback { pipeline, rollback } => {
            undo_rollback::needs(*pipeline, *rollback, world, &mut wanted);
        }
        Command::WriteJournal { run, execution, .. } => {
            wanted.extend([StreamId::Run(*run), StreamId::Journal(*execution)]);
        }
    }
    wanted.retain(|stream| world.get(*stream).is_none());
    wanted
}

/// What can be done with an execution, by the states that its run and it stand at.
pub(crate) fn possible(run: RunStatus, state: ExecutionState) -> Vec<&'static str> {
    if !run.is_active() {
        return vec!["rollback"];
    }
    match state {
        ExecutionState::Pending if run == RunStatus::Paused => vec!["resume"],
        ExecutionState::AwaitingStart if run == RunStatus::Paused => vec!["resume", "reject"],
        ExecutionState::Pending => vec!["start"],
        ExecutionState::AwaitingStart => vec!["approve-start", "reject"],
        ExecutionState::Working(at) => match at {
            crate::state::run::Stage::Form
            | crate::state::run::Stage::Input
            | crate::state::run::Stage::Guidance
            | crate::state::run::Stage::Budget => vec!["submit", "cancel"],
            crate::state::run::Stage::Client => vec!["cancel"],
            crate::state::run::Stage::Work
            | crate::state::run::Stage::Check
            | crate::state::run::Stage::Retry => vec!["cancel", "note"],
        },
        ExecutionState::AwaitingComplete => vec!["approve-complete", "reject"],
        ExecutionState::Completed => vec!["rollback"],
        ExecutionState::Failed => vec!["retry", "rollback"],
    }
}

/// Refuses an action on an execution because of its state.
pub(crate) fn wrong_execution(
    draft: &Draft<'_>,
    run: RunId,
    x: ExecNo,
    action: &'static str,
) -> Result<Rejection, Rejection> {
    let execution = draft.execution(run, x)?;
    Ok(Rejection::WrongState {
        action,
        what: "execution",
        id: execution.id.to_string(),
        state: execution.state.name(),
        possible: possible(draft.run(run)?.status, execution.state),
    })
}

/// Refuses an action on a run because of its state.
pub(crate) fn wrong_run(draft: &Draft<'_>, run: RunId, action: &'static str) -> Result<Rejection, Rejection> {
    let state = draft.run(run)?;
    let possible = match state.status {
        RunStatus::NotStarted => vec!["start", "abort"],
        RunStatus::InProgress if state.failed > 0 => vec!["retry", "abort", "fail", "rollback"],
        RunStatus::InProgress => vec!["pause", "abort", "fail", "rollback"],
        RunStatus::Paused if state.failed > 0 => vec!["retry", "rollback", "fail", "abort"],
        RunStatus::Paused => vec!["resume", "abort", "fail", "rollback"],
        RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted => vec!["rollback"],
    };
    let (id, status) = (run.to_string(), state.status.name());
    Ok(Rejection::WrongState { action, what: "run", id, state: status, possible })
}
