//! Where the files of an execution stand, by the state of its run: what tables record, documents tell and the
//! tree on disk holds, said once.
//!
//! All paths are relative to the pipeline's folder. What a rollback took out stands in its archive as it stood
//! before, so undoing it only moves it back.

use crate::event::Text;
use crate::paths::{
    checkpoint_folder, definition_folder, errored_folder, promoted_name, run_folder, staged_name, temp_folder,
};
use crate::state::PipelineState;
use crate::state::run::{Execution, ExecutionState, Gone, Output, RunState};

/// The folder that an execution works in, or that keeps what is left of one that failed for good.
pub fn work_folder(execution: &Execution) -> String {
    match (execution.state, execution.times.failed) {
        (ExecutionState::Failed, Some(at)) => errored_folder(execution.id, at),
        (_, _) => temp_folder(execution.id),
    }
}

/// The folder, in the folder that it works in, of what an execution has made and nobody has promoted.
pub fn unpromoted(execution: &Execution) -> &'static str {
    match (execution.state, execution.times.failed) {
        (ExecutionState::Failed, Some(_)) => "failed_artifacts",
        (_, _) => "artifacts_staging",
    }
}

/// The folder of an execution's promoted outputs, while its run stands among the runs.
pub fn output_folder(run: &RunState, execution: &Execution) -> Option<String> {
    let (number, _) = run.number()?;
    Some(format!("{}/{}/outputs/", run_folder(number), own_folder(execution)?))
}

/// The folder of an execution inside its run's.
pub fn own_folder(execution: &Execution) -> Option<String> {
    Some(checkpoint_folder(execution.position, execution.name.as_deref()?))
}

/// Where an output stands, while its run stands among the runs.
pub fn output_file(run: &RunState, execution: &Execution, output: &Output) -> String {
    match output.promoted_at.and_then(|_| output_folder(run, execution).zip(run.number())) {
        Some((folder, (number, _))) => format!("{folder}{}", promoted_file(output, number)),
        None => {
            format!("{}/{}/{}", work_folder(execution), unpromoted(execution), staged_file(output))
        }
    }
}

/// The name of an output before it is promoted.
pub fn staged_file(output: &Output) -> String {
    staged_name(&output.made.name, output.made.artifact, &output.made.format)
}

/// The name of an output after it is promoted.
pub fn promoted_file(output: &Output, number: u32) -> String {
    promoted_name(&output.made.name, output.made.artifact, number, &output.made.format)
}

/// Where a whole run stands that a rollback took out.
pub fn archived_run(archive: &str, number: u32) -> String {
    format!("{archive}archived_data/v{number}")
}

/// Where one checkpoint stands that a rollback took out of a run.
pub fn archived_checkpoint(archive: &str, number: u32, position: u32) -> String {
    format!("{archive}archived_data/v{number}_checkpoint_{position}")
}

/// Where something stands that a rollback took out and that is no part of a run's folder.
pub fn archived_beside(archive: &str, path: &str) -> String {
    format!("{archive}archived_data/{path}")
}

/// Where a run stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// Its folder.
    pub folder: String,
    /// The archive that it stands in as a whole.
    pub archive: Option<Text>,
}

/// Where a file of a run is now, from where it was recorded: folders of runs move as a whole.
pub fn on_disk(pipeline: &PipelineState, run: &RunState, recorded: String) -> String {
    let Some((place, (number, _))) = run_place(pipeline, run).zip(run.number()) else { return recorded };
    match recorded.strip_prefix(&format!("{}/", run_folder(number))) {
        Some(inside) => format!("{}/{inside}", place.folder),
        None => recorded,
    }
}

/// Where a run stands now: among the runs, among those of an earlier definition, or in an archive. Nowhere, if it
/// is no run of a pipeline, or if the time of its archive is over.
pub fn run_place(pipeline: &PipelineState, run: &RunState) -> Option<RunPlace> {
    let (number, version) = run.number()?;
    if let Some(Gone { rollback, archive }) = run.gone.clone() {
        return pipeline
            .archive_ended(rollback)
            .is_none()
            .then(|| RunPlace { folder: archived_run(&archive, number), archive: Some(archive) });
    }
    let earlier = pipeline.earlier.iter().find(|earlier| earlier.version == version);
    let inside = earlier.map(|earlier| definition_folder(version, earlier.until)).unwrap_or_default();
    Some(RunPlace { folder: format!("{inside}{}", run_folder(number)), archive: None })
}
