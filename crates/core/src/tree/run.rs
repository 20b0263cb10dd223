//! What a run of a pipeline wants on disk.

use super::{Document, Entry, Keep, Key, Wanted};
use crate::ExecNo;
use crate::places::{
    archived_beside, archived_checkpoint, own_folder, promoted_file, run_place, staged_file, unpromoted,
    work_folder,
};
use crate::state::PipelineState;
use crate::state::run::{Execution, ExecutionState, RunState};

/// What a run wants on disk; nothing, if it is no run of a pipeline or its archive's time is over.
pub fn run(pipeline: &PipelineState, state: &RunState, keep: Keep) -> Wanted {
    let mut wanted = Wanted::default();
    let Some((number, _)) = state.number() else { return wanted };
    if let Some(place) = run_place(pipeline, state) {
        wanted.folders.insert(Key::Run, place.folder.clone());
        wanted.add(&format!("{}/run_info.json", place.folder), Entry::Document(Document::Run));
        let begun = last_begun(state);
        for (x, execution) in state.executions() {
            let folder = own_folder(execution).map(|own| format!("{}/{own}", place.folder));
            let beside = |path: &str| match &place.archive {
                Some(archive) => archived_beside(archive, path),
                None => path.to_owned(),
            };
            let clean = keep.clean_up && is_over(state, execution, begun);
            let stand = Stand { x, execution, number, folder, beside: &beside, clean, keep };
            stand.add_to(&mut wanted);
        }
    }
    for (rollback, archive, x, execution) in state.archived() {
        if pipeline.archive_ended(rollback).is_some() {
            continue;
        }
        let folder = Some(archived_checkpoint(archive, number, execution.position));
        let beside = |path: &str| archived_beside(archive, path);
        // What was cleaned up before is not there, and what was not waits for the rollback to be undone.
        let stand = Stand { x, execution, number, folder, beside: &beside, clean: false, keep };
        stand.add_to(&mut wanted);
    }
    wanted
}

/// Whether nobody needs an execution's work folder any more: it is done, and so is the run, or a later checkpoint
/// has begun.
fn is_over(run: &RunState, execution: &Execution, begun: Option<u32>) -> bool {
    execution.state == ExecutionState::Completed
        && (!run.status.is_active() || begun.is_some_and(|position| position > execution.position))
}

/// The highest position of an execution that has begun.
fn last_begun(run: &RunState) -> Option<u32> {
    let begun = run.executions().filter(|(_, execution)| match execution.state {
        ExecutionState::Working(_)
        | ExecutionState::AwaitingComplete
        | ExecutionState::Completed
        | ExecutionState::Failed => true,
        ExecutionState::Pending | ExecutionState::AwaitingStart => false,
    });
    begun.map(|(_, execution)| execution.position).max()
}

/// An execution and where it stands.
struct Stand<'a> {
    x: ExecNo,
    execution: &'a Execution,
    number: u32,
    /// Its folder with its run's outputs.
    folder: Option<String>,
    /// Where what stands beside the runs is.
    beside: &'a dyn Fn(&str) -> String,
    /// Whether its work folder goes.
    clean: bool,
    keep: Keep,
}

impl Stand<'_> {
    fn add_to(&self, wanted: &mut Wanted) {
        self.outputs(wanted);
        let execution = self.execution;
        let work = (self.beside)(&work_folder(execution));
        match execution.state {
            ExecutionState::Completed if self.clean => {
                wanted.gone.insert(Key::Work(execution.id), work);
            }
            // It is left as it is until the next checkpoint begins.
            ExecutionState::Completed => self.stays_in(work, wanted),
            // What stays of it is removed with the rubbish, not by chance.
            ExecutionState::Failed if self.is_forgotten() => self.stays_in(work, wanted),
            ExecutionState::Failed => {
                let error = Entry::Document(Document::Error(self.x));
                wanted.add(&format!("{work}/error_info.json"), error);
                let log = Entry::Document(Document::ErrorLog(execution.id));
                wanted.add(&format!("{work}/error_logs.txt"), log);
                self.works_in(work, false, wanted);
            }
            ExecutionState::Pending
            | ExecutionState::AwaitingStart
            | ExecutionState::Working(_)
            | ExecutionState::AwaitingComplete => self.works_in(work, true, wanted),
        }
    }

    /// The promoted outputs, and their folder as soon as the execution is done.
    fn outputs(&self, wanted: &mut Wanted) {
        let Some(folder) = &self.folder else { return };
        let promoted = self.execution.artifacts.iter().filter(|output| output.promoted_at.is_some());
        let outputs = format!("{folder}/outputs");
        for output in promoted {
            let (digest, size) = (output.made.digest, output.made.size);
            let path = format!("{outputs}/{}", promoted_file(output, self.number));
            wanted.add(&path, Entry::Output { digest, size, shared: false });
        }
        if self.execution.state == ExecutionState::Completed {
            wanted.add(&outputs, Entry::OwnFolder);
            wanted.folders.insert(Key::Checkpoint(self.execution.id), folder.clone());
        }
    }

    /// The folder that it works in, or worked in when it failed, with what it has made so far.
    fn works_in(&self, work: String, shared: bool, wanted: &mut Wanted) {
        let unpromoted = format!("{work}/{}", unpromoted(self.execution));
        wanted.add(&format!("{work}/workspace"), Entry::Folder);
        wanted.add(&unpromoted, Entry::Folder);
        for output in self.execution.artifacts.iter().filter(|output| output.promoted_at.is_none()) {
            let (digest, size) = (output.made.digest, output.made.size);
            let path = format!("{unpromoted}/{}", staged_file(output));
            wanted.add(&path, Entry::Output { digest, size, shared });
            for name in handed_in_as(&output.made.name, &output.made.format) {
                wanted.taken.insert(format!("{unpromoted}/{name}"), digest);
            }
        }
        self.stays_in(work, wanted);
    }

    fn stays_in(&self, work: String, wanted: &mut Wanted) {
        let outputs = format!("{work}/{}", unpromoted(self.execution));
        wanted.folders.insert(Key::Unpromoted(self.execution.id), outputs);
        wanted.folders.insert(Key::Work(self.execution.id), work);
    }

    fn is_forgotten(&self) -> bool {
        self.execution.times.failed.is_some_and(|at| at < self.keep.errors_since)
    }
}

/// The names under which work may have handed an output in. The second is that of a file whose stem is the name of another
/// output.
fn handed_in_as(name: &str, format: &str) -> impl Iterator<Item = String> {
    let stem = name.strip_suffix(format).and_then(|name| name.strip_suffix('_'));
    [Some(name), stem].into_iter().flatten().map(move |name| format!("{name}.{format}"))
}
