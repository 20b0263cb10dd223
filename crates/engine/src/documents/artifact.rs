//! An output of an execution, with where it comes from.

use holdpoint_core::places::output_file;
use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::state::run::{Execution, Output};
use holdpoint_core::{
    ArtifactId, ArtifactRecordId, CheckpointId, Digest, ExecNo, ExecutionId, PipelineId, Rejection,
    RollbackId, RunId, StreamId,
};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;

use super::rows::Named;
use super::sources::{RunSource, RunView};
use super::{Bounds, Listed, Time, lists, time};
use crate::{Engine, SubmitError};

/// An output as it was made.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ArtifactDocument {
    /// Names this output of this attempt.
    pub artifact_record_id: ArtifactRecordId,
    /// The declared artifact that it is.
    pub artifact_id: ArtifactId,
    /// Its name.
    pub artifact_name: String,
    /// Where it stands, inside the pipeline's folder.
    pub file_path: String,
    /// The file's name there.
    pub file_name: String,
    /// Its format, or an uploaded file's extension.
    pub format: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was promoted.
    pub promoted_to_permanent_at: Option<Time>,
    /// How many bytes.
    pub size_bytes: u64,
    /// `sha256:` and the SHA-256 of its bytes.
    pub checksum: String,
    /// Whether it is the present output: not one of an earlier attempt or revision.
    pub current: bool,
    /// The revision that made it.
    pub revision_iteration: u32,
    /// The attempt that made it.
    pub attempt_number: u32,
    /// The execution that made it.
    pub execution_id: ExecutionId,
    /// The checkpoint of that execution.
    pub checkpoint_id: Option<CheckpointId>,
    /// What that is called.
    pub checkpoint_name: Option<String>,
    /// Its position.
    pub checkpoint_position: Option<u32>,
    /// The run.
    pub run_id: RunId,
    /// The run's version.
    pub run_version: Option<u32>,
    /// The pipeline.
    pub pipeline_id: Option<PipelineId>,
}

/// Which artifacts are wanted; all given conditions hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArtifactFilter {
    /// Of one pipeline.
    pub pipeline: Option<PipelineId>,
    /// Of one run.
    pub run: Option<RunId>,
    /// Of one execution.
    pub execution: Option<ExecutionId>,
    /// Also those of earlier attempts and revisions.
    pub all: bool,
}

impl ArtifactDocument {
    pub(super) fn of(source: &RunSource, record: &Record) -> Option<Self> {
        let row = Named::new(Table::Artifact, record);
        let (source, run) = (source.view(), source.state());
        let x = ExecNo(row.count("x"));
        let execution = run.graph.any_execution(x).map(AsRef::as_ref);
        let file_path = source.on_disk(row.text("path").unwrap_or_default());
        Some(Self {
            artifact_record_id: ArtifactRecordId(row.uuid("id")?),
            artifact_id: ArtifactId(row.uuid("artifact")?),
            artifact_name: row.text("name")?,
            file_name: file_path.rsplit('/').next().unwrap_or_default().to_owned(),
            file_path,
            format: row.text("format")?,
            created_at: row.time("created_at")?.into(),
            promoted_to_permanent_at: time(row.time("promoted_at")),
            size_bytes: row.size("size"),
            checksum: row.digest("digest")?.checksum(),
            current: row.flag("current"),
            revision_iteration: row.count("revision"),
            attempt_number: row.count("attempt"),
            execution_id: ExecutionId(row.uuid("execution")?),
            checkpoint_id: execution.and_then(|e| e.place.step.checkpoint()),
            checkpoint_name: execution.and_then(|e| e.name.as_ref()).map(ToString::to_string),
            checkpoint_position: execution.map(|e| e.position),
            run_id: source.id,
            run_version: run.number().map(|(number, _)| number),
            pipeline_id: run.pipeline(),
        })
    }
}

impl ArtifactDocument {
    /// An output of an execution's present attempt, from the state.
    pub(super) fn present(view: RunView<'_>, execution: &Execution, output: &Output) -> Self {
        let made = &output.made;
        let file_path = view.on_disk(output_file(view.state, execution, output));
        Self {
            artifact_record_id: made.record,
            artifact_id: made.artifact,
            artifact_name: made.name.to_string(),
            file_name: file_path.rsplit('/').next().unwrap_or_default().to_owned(),
            file_path,
            format: made.format.to_string(),
            created_at: output.created_at.into(),
            promoted_to_permanent_at: time(output.promoted_at),
            size_bytes: made.size,
            checksum: made.digest.checksum(),
            current: true,
            revision_iteration: execution.revision,
            attempt_number: execution.attempt,
            execution_id: execution.id,
            checkpoint_id: execution.place.step.checkpoint(),
            checkpoint_name: execution.name.as_ref().map(ToString::to_string),
            checkpoint_position: Some(execution.position),
            run_id: view.id,
            run_version: view.state.number().map(|(number, _)| number),
            pipeline_id: view.state.pipeline(),
        }
    }
}

fn run_of(record: &Record) -> Option<RunId> {
    match record.stream {
        StreamId::Run(run) => Some(run),
        StreamId::Home | StreamId::Pipeline(_) | StreamId::Journal(_) => None,
    }
}

impl Engine {
    /// What an execution last handed in under each name; what was only saved from an attempt that broke off is not that.
    pub async fn last_outputs(&self, id: ExecutionId) -> Result<Vec<(String, Digest)>, SubmitError> {
        let attempts = self.attempt_documents(id).await?;
        let finished =
            attempts.into_iter().filter(|attempt| attempt.error.is_none() || attempt.check.is_some());
        let mut last: Vec<(String, Digest)> = Vec::new();
        for artifact in finished.flat_map(|attempt| attempt.artifacts) {
            let digest = artifact.checksum.strip_prefix("sha256:").and_then(|hex| hex.parse().ok());
            let Some(digest) = digest else { continue };
            last.retain(|(name, _)| *name != artifact.artifact_name);
            last.push((artifact.artifact_name, digest));
        }
        Ok(last)
    }

    /// An output, with the name of its bytes.
    pub async fn artifact_document(
        &self,
        id: ArtifactRecordId,
    ) -> Result<(ArtifactDocument, Digest), SubmitError> {
        let missing = || SubmitError::from(Rejection::NotFound { what: "artifact", id: id.to_string() });
        let record = self.find(Table::Artifact, id.0).await?.ok_or_else(missing)?;
        let row = Named::new(Table::Artifact, &record);
        if let Some(rollback) = row.uuid("rollback").map(RollbackId) {
            return Err(Rejection::Gone { what: "artifact", id: id.to_string(), rollback }.into());
        }
        let source = self.run_source(run_of(&record).ok_or_else(missing)?).await?;
        let digest = row.digest("digest").ok_or_else(missing)?;
        Ok((ArtifactDocument::of(&source, &record).ok_or_else(missing)?, digest))
    }

    /// All outputs of an execution's attempts, oldest first.
    pub(super) async fn artifacts_of(
        &self,
        source: &RunSource,
        execution: ExecutionId,
    ) -> Result<Vec<ArtifactDocument>, SubmitError> {
        let by = Some(("execution", Cell::from(execution.0)));
        let query = Query::List { table: Table::Artifact, by, before: None, limit: u32::MAX };
        let records = self.query(query).await?.records;
        Ok(records.iter().rev().filter_map(|record| ArtifactDocument::of(source, record)).collect())
    }

    /// Outputs that were not rolled back, newest first.
    pub async fn artifact_documents(
        &self,
        filter: ArtifactFilter,
        bounds: Bounds,
    ) -> Result<Listed<ArtifactDocument>, SubmitError> {
        let of_pipeline = match filter.pipeline {
            Some(pipeline) => {
                Some(self.pipeline_source(pipeline).await?.state().every_run().collect::<Vec<_>>())
            }
            None => None,
        };
        if let Some(run) = filter.run {
            self.run_source(run).await?;
        }
        let by = match filter.execution {
            Some(execution) => {
                self.locate_execution(execution).await?;
                Some(("execution", Cell::from(execution.0)))
            }
            None => None,
        };
        let mut sources: std::collections::HashMap<RunId, RunSource> = std::collections::HashMap::new();
        let query = |before, limit| Query::List { table: Table::Artifact, by: by.clone(), before, limit };
        let wanted = |record: &Record| {
            let row = Named::new(Table::Artifact, record);
            row.uuid("rollback").is_none()
                && (filter.all || row.flag("current"))
                && filter.run.is_none_or(|run| run_of(record) == Some(run))
        };
        // The outputs of some runs stand together; others are listed by their execution, or all of them.
        let runs: Option<Vec<RunId>> = match (filter.run, of_pipeline) {
            (Some(run), None) => Some(vec![run]),
            (Some(run), Some(all)) => Some(all.into_iter().filter(|other| *other == run).collect()),
            (None, all) => all,
        };
        let page = match runs.filter(|_| filter.execution.is_none()) {
            Some(runs) => {
                let mut records = Vec::new();
                for run in runs {
                    let stream = StreamId::Run(run);
                    let query = Query::Of { table: Table::Artifact, stream, after: None, limit: u32::MAX };
                    records.extend(self.query(query).await?.records);
                }
                records.retain(wanted);
                lists::page_of(records, bounds)
            }
            None => lists::page(self, bounds, query, wanted).await?,
        };
        let mut items = Vec::with_capacity(page.items.len());
        for record in &page.items {
            let Some(run) = run_of(record) else { continue };
            let source = match sources.get(&run) {
                Some(source) => source.clone(),
                None => self.any_run_source(run).await?,
            };
            if filter.pipeline.is_none_or(|pipeline| source.state().pipeline() == Some(pipeline)) {
                items.extend(ArtifactDocument::of(&source, record));
            }
            sources.insert(run, source);
        }
        Ok(Listed { items, next: page.next })
    }
}
