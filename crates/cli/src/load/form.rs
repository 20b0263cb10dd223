//! Filling in forms: an answer, and a file where one is asked for, which may be too large for the database.

use std::io::Cursor;

use holdpoint_core::command::Upload;
use holdpoint_core::definition::FieldType;
use holdpoint_core::state::RunState;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{Command, ExecNo, RunCommand, State, StreamId, Target};
use holdpoint_engine::{Engine, SubmitError};
use holdpoint_store::{BlobStore, SMALL_BLOB, Stored};
use serde_json::Value;

use super::numbers::Numbers;

/// The most that a file of the load has.
const LARGEST: usize = 4 * SMALL_BLOB;

/// Fills in a form: its file is stored before the command is sent.
pub async fn fill(
    engine: &Engine,
    blobs: &dyn BlobStore,
    numbers: &mut Numbers,
    command: &mut Command,
) -> Result<(), SubmitError> {
    let Command::Run(run, RunCommand::Answer(form)) = command else { return Ok(()) };
    let (AskKind::Form, Target::Of(x)) = (form.kind, form.target) else { return Ok(()) };
    let answer = format!("answer {}", numbers.next());
    form.fields.insert("answer".to_owned(), Value::String(answer));
    let loaded = engine.view(StreamId::Run(*run)).await?;
    let State::Run(state) = &loaded.state else { return Ok(()) };
    if asks_for_file(engine, state, x).await? {
        let bytes = content(numbers);
        let size = bytes.len() as u64;
        // Small files are a matter of faces: they would have to travel with the append.
        if let Stored::Durable(digest, _) = blobs.put(Box::new(Cursor::new(bytes)), size).await? {
            let (field, filename) = ("doc".into(), "doc.bin".into());
            form.files.push(Upload { field, filename, digest, size });
        }
    }
    Ok(())
}

async fn asks_for_file(engine: &Engine, state: &RunState, x: ExecNo) -> Result<bool, SubmitError> {
    let body = state.execution(x).and_then(|execution| execution.body);
    let (Some(pipeline), Some(body)) = (state.pipeline(), body) else { return Ok(false) };
    let loaded = engine.view(StreamId::Pipeline(pipeline)).await?;
    let State::Pipeline(pipeline) = &loaded.state else { return Ok(false) };
    let form = pipeline.bodies.get(&body).and_then(|compiled| compiled.body().form());
    Ok(form.is_some_and(|form| form.fields.iter().any(|f| f.kind == FieldType::File)))
}

/// Bytes that do not compress to nothing, above the limit of small blobs.
fn content(numbers: &mut Numbers) -> Vec<u8> {
    let size = SMALL_BLOB + 1 + numbers.below((LARGEST - SMALL_BLOB) as u64) as usize;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        bytes.extend(numbers.next().to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}
