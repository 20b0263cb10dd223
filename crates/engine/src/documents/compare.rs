//! Two runs, executions or attempts side by side.

use std::collections::BTreeMap;

use holdpoint_core::{ArtifactRecordId, CheckpointId, Digest, ExecNo, ExecutionId, Rejection, RunId};
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;
use tokio::io::AsyncReadExt;
use utoipa::ToSchema;
use uuid::Uuid;

use super::artifact::ArtifactDocument;
use super::execution::ExecutionAnswer;
use super::interactions::Interaction;
use super::sources::{RunSource, pinned};
use super::{Bounds, Time, UsageDocument};
use crate::{Engine, SubmitError};

/// The largest text that is compared line by line.
const TEXT: u64 = 1024 * 1024;

/// Names one side: a run, an execution, or one attempt of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The run or execution.
    pub id: Uuid,
    /// The revision and attempt, where one is named.
    pub attempt: Option<(u32, u32)>,
}

/// Two sides and how they differ.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ComparisonDocument {
    /// The first.
    pub a: SideDocument,
    /// The second.
    pub b: SideDocument,
    /// Whether no checkpoint differs in outputs or definition.
    pub same: bool,
    /// Checkpoint by checkpoint.
    pub checkpoints: Vec<CheckpointComparison>,
}

/// One side.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SideDocument {
    /// `run`, `execution` or `attempt`.
    pub kind: &'static str,
    /// The run.
    pub run_id: RunId,
    /// Its version.
    pub run_version: Option<u32>,
    /// The execution, where one was named.
    pub execution_id: Option<ExecutionId>,
    /// The revision, where one was named.
    pub revision_iteration: Option<u32>,
    /// The attempt, where one was named.
    pub attempt_number: Option<u32>,
    /// Where it stands.
    pub status: &'static str,
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub completed_at: Option<Time>,
    /// Seconds between.
    pub seconds: Option<f64>,
    /// What it cost.
    pub usage: UsageDocument,
}

/// One checkpoint on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CheckpointComparison {
    /// The checkpoint.
    pub checkpoint_id: Option<CheckpointId>,
    /// What it is called.
    pub checkpoint_name: Option<String>,
    /// Its place.
    pub checkpoint_position: u32,
    /// Where it stands on the first side.
    pub status_a: Option<&'static str>,
    /// Where it stands on the second.
    pub status_b: Option<&'static str>,
    /// How the definitions differ, as a unified diff; none: they do not.
    pub definition_diff: Option<String>,
    /// Output by output.
    pub artifacts: Vec<ArtifactComparison>,
    /// What people decided on the first side.
    pub decisions_a: Vec<Interaction>,
    /// And on the second.
    pub decisions_b: Vec<Interaction>,
    /// What the first cost.
    pub usage_a: Option<UsageDocument>,
    /// What the second cost.
    pub usage_b: Option<UsageDocument>,
    /// Seconds on the first side.
    pub seconds_a: Option<f64>,
    /// Seconds on the second.
    pub seconds_b: Option<f64>,
}

/// One output on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ArtifactComparison {
    /// Its name.
    pub artifact_name: String,
    /// `same`, `changed`, `only_a` or `only_b`.
    pub change: &'static str,
    /// On the first side.
    pub a: Option<ArtifactDocument>,
    /// On the second.
    pub b: Option<ArtifactDocument>,
    /// A unified diff of the texts; none where they are the same, too large, or no text.
    pub diff: Option<String>,
    /// Why there is no diff of something that changed.
    pub no_diff: Option<&'static str>,
}

/// What is compared of one side.
struct Shown {
    side: SideDocument,
    steps: Vec<Step>,
}

/// The same checkpoint on both sides.
type Pair<'a> = (Option<&'a Step>, Option<&'a Step>);

struct Step {
    standing: ExecutionAnswer,
    usage: UsageDocument,
    decisions: Vec<Interaction>,
    definition: Option<Value>,
    artifacts: Vec<ArtifactDocument>,
}

impl Engine {
    /// Compares two sides.
    pub async fn compare(&self, a: Side, b: Side) -> Result<ComparisonDocument, SubmitError> {
        let (a, b) = (self.shown(a).await?, self.shown(b).await?);
        let runs = a.side.kind == "run" && b.side.kind == "run";
        let mut pairs: BTreeMap<(u32, Option<CheckpointId>), Pair<'_>> = BTreeMap::new();
        // Two executions are compared whatever their places.
        let place = |step: &Step| {
            if runs { (step.standing.checkpoint_position, step.standing.checkpoint_id) } else { (0, None) }
        };
        for step in &a.steps {
            pairs.entry(place(step)).or_default().0 = Some(step);
        }
        for step in &b.steps {
            pairs.entry(place(step)).or_default().1 = Some(step);
        }
        let mut checkpoints = Vec::with_capacity(pairs.len());
        for (a, b) in pairs.into_values() {
            checkpoints.extend(self.compare_steps(a, b).await?);
        }
        let same = checkpoints.iter().all(|checkpoint| {
            checkpoint.definition_diff.is_none()
                && checkpoint.artifacts.iter().all(|artifact| artifact.change == "same")
        });
        Ok(ComparisonDocument { a: a.side, b: b.side, same, checkpoints })
    }

    async fn shown(&self, side: Side) -> Result<Shown, SubmitError> {
        if side.attempt.is_none() && self.run(RunId(side.id)).await?.is_some() {
            return self.shown_run(RunId(side.id)).await;
        }
        self.shown_execution(ExecutionId(side.id), side.attempt).await
    }

    async fn shown_run(&self, id: RunId) -> Result<Shown, SubmitError> {
        let run = self.run_document(id).await?;
        let mut steps = Vec::new();
        let source = self.run_source(id).await?;
        for (x, _) in source.state().executions() {
            steps.push(self.step(&source, x).await?);
        }
        let side = SideDocument {
            kind: "run",
            run_id: id,
            run_version: run.standing.run_version,
            execution_id: None,
            revision_iteration: None,
            attempt_number: None,
            status: run.standing.status,
            started_at: run.standing.started_at,
            completed_at: run.standing.completed_at,
            seconds: seconds(run.standing.started_at, run.standing.completed_at),
            usage: run.standing.usage,
        };
        Ok(Shown { side, steps })
    }

    async fn shown_execution(
        &self,
        id: ExecutionId,
        attempt: Option<(u32, u32)>,
    ) -> Result<Shown, SubmitError> {
        let (source, x) = self.present_execution(id).await?;
        let step = self.step(&source, x).await?;
        let standing = &step.standing;
        let mut side = SideDocument {
            kind: "execution",
            run_id: standing.run_id,
            run_version: standing.run_version,
            execution_id: Some(id),
            revision_iteration: None,
            attempt_number: None,
            status: standing.status,
            started_at: standing.started_at,
            completed_at: standing.completed_at,
            seconds: seconds(standing.started_at, standing.completed_at),
            usage: step.usage,
        };
        if let Some((revision, number)) = attempt {
            let attempts = self.attempt_documents(id).await?;
            let found = attempts
                .into_iter()
                .find(|each| (each.revision_iteration, each.attempt_number) == (revision, number));
            let missing = || Rejection::NotFound {
                what: "attempt",
                id: format!("{revision}.{number} of execution {id}"),
            };
            let found = found.ok_or_else(missing)?;
            side.kind = "attempt";
            (side.revision_iteration, side.attempt_number) = (Some(revision), Some(number));
            side.status = found.outcome;
            (side.started_at, side.completed_at) = (Some(found.started_at), found.ended_at);
            side.seconds = seconds(side.started_at, side.completed_at);
            side.usage = found.usage;
            let step = Step { artifacts: found.artifacts, ..step };
            return Ok(Shown { side, steps: vec![step] });
        }
        Ok(Shown { side, steps: vec![step] })
    }

    async fn step(&self, source: &RunSource, x: ExecNo) -> Result<Step, SubmitError> {
        let (standing, usage) = self.standing_of(source, x).await?;
        let definition = match standing.pipeline_id {
            Some(pipeline) => {
                let pipeline = self.pipeline_source(pipeline).await?;
                let execution = source.state().execution(x);
                execution
                    .and_then(|execution| pinned(Some(pipeline.state()), execution))
                    .and_then(|compiled| serde_json::to_value(compiled).ok())
            }
            None => None,
        };
        let all = Bounds { after: None, limit: u32::MAX };
        let mut decisions = self.interactions(standing.execution_id, all).await?.items;
        decisions.reverse();
        let artifacts = standing.artifacts_generated.clone();
        Ok(Step { standing, usage: usage.into(), decisions, definition, artifacts })
    }

    async fn compare_steps(
        &self,
        a: Option<&Step>,
        b: Option<&Step>,
    ) -> Result<Option<CheckpointComparison>, SubmitError> {
        let Some(either) = b.or(a) else { return Ok(None) };
        let mut names: Vec<&str> = Vec::new();
        for artifact in a.into_iter().chain(b).flat_map(|step| &step.artifacts) {
            if !names.contains(&artifact.artifact_name.as_str()) {
                names.push(&artifact.artifact_name);
            }
        }
        let output_of = |step: Option<&Step>, name: &str| {
            step.and_then(|step| step.artifacts.iter().rfind(|each| each.artifact_name == name)).cloned()
        };
        let mut artifacts = Vec::with_capacity(names.len());
        for name in names {
            artifacts.push(self.compare_artifacts(name, output_of(a, name), output_of(b, name)).await?);
        }
        let took = |step: Option<&Step>| {
            step.and_then(|step| seconds(step.standing.started_at, step.standing.completed_at))
        };
        let said = |step: Option<&Step>| step.map_or_else(Vec::new, |step| step.decisions.clone());
        Ok(Some(CheckpointComparison {
            checkpoint_id: either.standing.checkpoint_id,
            checkpoint_name: either.standing.checkpoint_name.clone(),
            checkpoint_position: either.standing.checkpoint_position,
            status_a: a.map(|step| step.standing.status),
            status_b: b.map(|step| step.standing.status),
            definition_diff: match (a, b) {
                (Some(a), Some(b)) => definition_diff(a, b),
                _ => None,
            },
            artifacts,
            decisions_a: said(a),
            decisions_b: said(b),
            usage_a: a.map(|step| step.usage),
            usage_b: b.map(|step| step.usage),
            seconds_a: took(a),
            seconds_b: took(b),
        }))
    }

    async fn compare_artifacts(
        &self,
        name: &str,
        a: Option<ArtifactDocument>,
        b: Option<ArtifactDocument>,
    ) -> Result<ArtifactComparison, SubmitError> {
        let (change, (diff, no_diff)) = match (&a, &b) {
            (Some(a), Some(b)) if a.checksum == b.checksum => ("same", (None, None)),
            (Some(a), Some(b)) => ("changed", self.text_diff(a, b).await?),
            (Some(_), None) => ("only_a", (None, None)),
            (None, _) => ("only_b", (None, None)),
        };
        Ok(ArtifactComparison { artifact_name: name.to_owned(), change, a, b, diff, no_diff })
    }

    async fn text_diff(
        &self,
        a: &ArtifactDocument,
        b: &ArtifactDocument,
    ) -> Result<(Option<String>, Option<&'static str>), SubmitError> {
        if a.size_bytes.max(b.size_bytes) > TEXT {
            return Ok((None, Some("too_large")));
        }
        let (old, new) =
            (self.text_of(a.artifact_record_id).await?, self.text_of(b.artifact_record_id).await?);
        Ok(match (old, new) {
            (Some(old), Some(new)) => (Some(unified(&old, &new, &a.file_name, &b.file_name)), None),
            _ => (None, Some("not_text")),
        })
    }

    /// The bytes of an output as text, if they are.
    async fn text_of(&self, id: ArtifactRecordId) -> Result<Option<String>, SubmitError> {
        let (_, digest) = self.artifact_document(id).await?;
        Ok(String::from_utf8(self.bytes(digest).await?).ok())
    }

    /// All bytes with a name; only for what is known to be small.
    pub async fn bytes(&self, digest: Digest) -> Result<Vec<u8>, SubmitError> {
        let mut reader = self.inner.parts.blobs.get(digest).await?;
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes).await;
        read.map_err(|cause| holdpoint_store::BlobError::Io(cause.to_string()))?;
        Ok(bytes)
    }
}

fn definition_diff(a: &Step, b: &Step) -> Option<String> {
    if a.standing.definition_digest == b.standing.definition_digest {
        return None;
    }
    let text = |step: &Step| serde_json::to_string_pretty(&step.definition).unwrap_or_default();
    Some(unified(&text(a), &text(b), "definition (a)", "definition (b)"))
}

fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header(old_name, new_name).to_string()
}

fn seconds(from: Option<Time>, to: Option<Time>) -> Option<f64> {
    Some((to?.0.0 - from?.0.0).max(0) as f64 / 1_000_000.0)
}
