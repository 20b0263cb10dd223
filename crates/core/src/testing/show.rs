//! Decisions in words, a line per event.

use std::fmt::Write as _;

use serde_json::Value;
use uuid::Uuid;

use crate::decision::Decision;
use crate::event::{Event, Origin, PipelineEvent, RunEvent};

/// The events of a decision, a line each, in the order of streams and time.
pub(super) fn show(decision: &Decision) -> String {
    let mut text = String::new();
    for write in &decision.writes {
        for event in &write.events {
            let line = match event {
                Event::Run(event) => format!("run R{}: {}", short(write.stream.uuid()), show_run(event)),
                Event::Pipeline(event) => format!("pipeline: {}", show_pipeline(event)),
                other => format!("{other:?}"),
            };
            writeln!(text, "{line}").expect("text grows");
        }
    }
    text
}

fn short(id: Uuid) -> u128 {
    (id.as_u128() >> 32) & 0xfff
}

fn show_pipeline(event: &PipelineEvent) -> String {
    match event {
        PipelineEvent::RunOpened { run, number } => {
            format!("RunOpened {{ run: R{}, number: {number} }}", short(run.0))
        }
        PipelineEvent::RunClosed { run } => format!("RunClosed {{ run: R{} }}", short(run.0)),
        PipelineEvent::RunReopened { run } => format!("RunReopened {{ run: R{} }}", short(run.0)),
        PipelineEvent::ArchiveEnded { .. } => "ArchiveEnded".to_owned(),
        PipelineEvent::RollbackUndone { .. } => "RollbackUndone".to_owned(),
        PipelineEvent::RolledBack(record) => {
            let kept =
                record.checkpoint.map_or(", nothing kept".to_owned(), |(_, p)| format!(" keeping {p}"));
            let removed: Vec<String> = record.removed_runs.iter().map(|(_, n)| format!(" v{n}")).collect();
            let removing =
                if removed.is_empty() { String::new() } else { format!(", removing{}", removed.concat()) };
            format!(
                "RolledBack to R{}{kept}{removing}, by {:?}",
                short(record.target.0.0),
                record.triggered_by
            )
        }
        other => format!("{other:?}"),
    }
}

fn show_run(event: &RunEvent) -> String {
    match event {
        RunEvent::Made { origin: Origin::Pipeline { number, definition_version, previous, .. }, .. } => {
            let extends = previous.map_or(String::new(), |(_, n)| format!(", extends v{n}"));
            format!("Made {{ v{number} of definition {definition_version}{extends} }}")
        }
        RunEvent::ExecutionMade { x, name, position, place, .. } => {
            format!("ExecutionMade {x} {} at {position}", name.as_deref().unwrap_or(&place.step.0))
        }
        RunEvent::AttemptBegan { x, revision, attempt, .. } => {
            format!("AttemptBegan {x} revision {revision} attempt {attempt}")
        }
        RunEvent::Asked { x, ask, .. } => format!("Asked {x} {}", ask.kind().name()),
        RunEvent::Submitted { x, fields, text, .. } => match text {
            Some(text) => format!("Submitted {x} {text}"),
            None => format!("Submitted {x} {}", Value::Object(fields.clone())),
        },
        RunEvent::ArtifactMade { x, made } => {
            format!("ArtifactMade {x} {}.{} ({} bytes)", made.name, made.format, made.size)
        }
        RunEvent::ArtifactPromoted { x, .. } => format!("ArtifactPromoted {x} a"),
        RunEvent::RevisionAsked { x, feedback, .. } => format!("RevisionAsked {x} {feedback}"),
        RunEvent::ExecutionFailed { x, failure, .. } => format!("ExecutionFailed {x} {}", failure.kind),
        RunEvent::AttemptFailed { x, failure, .. } => format!("AttemptFailed {x} {}", failure.kind),
        RunEvent::Paused { reason } => format!("Paused {reason:?}"),
        RunEvent::RolledBack { from, .. } => format!("RolledBack to node {}", from.0),
        other => {
            let shown = format!("{other:?}");
            let name = shown.split([' ', '{']).next().unwrap_or_default().to_owned();
            crate::project::execution_of(other).map_or(name.clone(), |x| format!("{name} {x}"))
        }
    }
}
