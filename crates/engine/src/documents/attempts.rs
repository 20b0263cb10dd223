//! All attempts of an execution, at all revisions, as the log tells them.

use std::collections::BTreeMap;

use holdpoint_core::event::{Entry, Event, Failure, RunEvent, Usage};
use holdpoint_core::{ExecNo, ExecutionId, StreamId, Version};
use serde::Serialize;
use utoipa::ToSchema;

use super::artifact::ArtifactDocument;
use super::execution::{CheckResult, LastError};
use super::{Time, UsageDocument};
use crate::live::{Recorded, recorded};
use crate::{Engine, SubmitError};

/// How many rows are read at once.
const PAGE: u32 = 500;

/// One attempt of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct AttemptDocument {
    /// The revision.
    pub revision_iteration: u32,
    /// The attempt at that revision, from 1.
    pub attempt_number: u32,
    /// When it began.
    pub started_at: Time,
    /// When its work came to an end.
    pub ended_at: Option<Time>,
    /// How it stands: `working`, `done`, `approved`, `revision_requested` or `failed`.
    pub outcome: &'static str,
    /// Whether it was begun again after a crash.
    pub restarted: bool,
    /// Why it failed.
    pub error: Option<LastError>,
    /// What a judge said.
    pub check: Option<CheckResult>,
    /// What a person wanted changed afterwards.
    pub feedback: Option<String>,
    /// What it cost.
    pub usage: UsageDocument,
    /// What it made.
    pub artifacts: Vec<ArtifactDocument>,
}

impl Engine {
    /// All attempts of an execution that was not rolled back, oldest first.
    pub async fn attempt_documents(&self, id: ExecutionId) -> Result<Vec<AttemptDocument>, SubmitError> {
        let (source, x) = self.present_execution(id).await?;
        let run = source.id;
        let mut attempts = Vec::new();
        let mut after = Version(0);
        loop {
            let rows = self.log().read(StreamId::Run(run), after, PAGE).await?;
            for row in &rows {
                after = row.last();
                for each in recorded(row)? {
                    note(&mut attempts, x, &each);
                }
            }
            if rows.len() < PAGE as usize {
                break;
            }
        }
        for ((revision, number), usage) in self.spent_by_attempt(id).await? {
            let spent_in = attempts.iter_mut().find(|attempt: &&mut AttemptDocument| {
                (attempt.revision_iteration, attempt.attempt_number) == (revision, number)
            });
            if let Some(attempt) = spent_in {
                attempt.usage = usage.into();
            }
        }
        for artifact in self.artifacts_of(&source, id).await? {
            let made_by = attempts.iter_mut().find(|attempt: &&mut AttemptDocument| {
                attempt.revision_iteration == artifact.revision_iteration
                    && attempt.attempt_number == artifact.attempt_number
            });
            if let Some(attempt) = made_by {
                attempt.artifacts.push(artifact);
            }
        }
        Ok(attempts)
    }

    /// What each attempt has cost with its check, whatever came of it: the journal has every call.
    async fn spent_by_attempt(&self, id: ExecutionId) -> Result<BTreeMap<(u32, u32), Usage>, SubmitError> {
        let mut spent: BTreeMap<(u32, u32), Usage> = BTreeMap::new();
        let (mut after, mut current) = (Version(0), None);
        loop {
            let rows = self.log().read(StreamId::Journal(id), after, PAGE).await?;
            for row in &rows {
                after = row.last();
                for each in recorded(row)? {
                    match each.event {
                        Event::Journal(Entry::Began { revision, attempt, .. }) => {
                            current = Some((revision, attempt));
                        }
                        Event::Journal(Entry::Message { usage, .. }) => {
                            if let Some(current) = current {
                                let sum = spent.entry(current).or_default();
                                *sum = sum.plus(usage);
                            }
                        }
                        _ => {}
                    }
                }
            }
            if rows.len() < PAGE as usize {
                return Ok(spent);
            }
        }
    }
}

/// What an event says about the attempts of one execution.
fn note(attempts: &mut Vec<AttemptDocument>, wanted: ExecNo, recorded: &Recorded) {
    let Event::Run(event) = &recorded.event else { return };
    let at = Time(recorded.at);
    if let RunEvent::AttemptBegan { x, revision, attempt, .. } = event {
        if *x == wanted {
            attempts.push(AttemptDocument {
                revision_iteration: *revision,
                attempt_number: *attempt,
                started_at: at,
                ended_at: None,
                outcome: "working",
                restarted: false,
                error: None,
                check: None,
                feedback: None,
                usage: UsageDocument::default(),
                artifacts: Vec::new(),
            });
        }
        return;
    }
    let Some(last) = attempts.last_mut() else { return };
    match event {
        RunEvent::AttemptRestarted { x } if *x == wanted => last.restarted = true,
        RunEvent::WorkDone { x, .. } if *x == wanted => {
            (last.outcome, last.ended_at) = ("done", Some(at));
        }
        RunEvent::Checked { x, passed, reasons, .. } if *x == wanted => {
            let reasons = reasons.iter().map(ToString::to_string).collect();
            last.check = Some(CheckResult { passed: *passed, reasons });
        }
        RunEvent::AttemptFailed { x, failure, .. } | RunEvent::ExecutionFailed { x, failure, .. }
            if *x == wanted =>
        {
            (last.outcome, last.ended_at) = ("failed", Some(at));
            last.error = Some(error(at, failure));
        }
        RunEvent::RevisionAsked { x, feedback, .. } if *x == wanted => {
            last.outcome = "revision_requested";
            last.feedback = Some(feedback.to_string());
        }
        RunEvent::Submitted { x, text: Some(text), .. } if *x == wanted => {
            last.feedback = Some(text.to_string());
        }
        RunEvent::ExecutionCompleted { x, .. } if *x == wanted => {
            last.outcome = "approved";
            last.ended_at = last.ended_at.or(Some(at));
        }
        _ => {}
    }
}

fn error(at: Time, failure: &Failure) -> LastError {
    LastError {
        timestamp: at,
        error_type: failure.kind.to_string(),
        error_message: failure.message.to_string(),
        stack_trace: failure.trace.as_ref().map(ToString::to_string),
    }
}
