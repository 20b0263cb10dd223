//! Through the API: an approval, a large file, a large rollback.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use holdpoint_core::commands::record_outcome::{Collected, Outcome, RecordOutcome};
use holdpoint_core::event::Usage;
use holdpoint_core::state::run::{EffectId, Part};
use holdpoint_core::{Actor, Command, ExecNo, RunCommand, RunId};
use serde_json::{Value, json};

use super::home::{self, Kind};
use super::server::Server;
use super::{BenchError, Figure, Goal, Report};

const APPROVALS: usize = 500;
const GIB: u64 = 1 << 30;

/// An approval over HTTP, beside the bare durable step.
pub fn approve(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let home = tempfile::tempdir_in(folder)?;
    let mut server = Server::start(&home.path().join("home"))?;
    let pipeline = pipeline(&mut server, &home::definition(Kind::Asks))?;
    let mut times = Vec::new();
    for _ in 0..APPROVALS {
        let run = server.post("/api/runs", &json!({"pipeline_id": pipeline}))?;
        let path = format!("/api/executions/{}/approve-start", execution(&run)?);
        let begin = Instant::now();
        server.post(&path, &json!({}))?;
        times.push(begin.elapsed());
    }
    // The first ones fill the database's log.
    let figure = Figure::from_times("rest.approve", &mut times[APPROVALS / 5..]);
    let ratio = figure.p50_us.unwrap_or(f64::NAN) / report.p50("step.alone");
    report.add(figure.beside("step.alone", ratio, Some(Goal::AtMost(3.0))));
    Ok(())
}

/// A file of one GiB in and out again.
pub fn stream(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let temp = tempfile::tempdir_in(folder)?;
    let home = temp.path().join("home");
    std::fs::create_dir_all(&home)?;
    std::fs::write(home.join("config.toml"), "[limits]\nmax_file_size_mb = 2048\n")?;
    let mut server = Server::start(&home)?;
    let pipeline = pipeline(&mut server, &home::definition(Kind::Upload))?;
    let run = server.post("/api/runs", &json!({"pipeline_id": pipeline}))?;
    let path = format!("/api/executions/{}/submit", execution(&run)?);
    let begin = "--edge\r\nContent-Disposition: form-data; name=\"doc\"; filename=\"large.bin\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n";
    let end = "\r\n--edge--\r\n";
    let length = begin.len() as u64 + GIB + end.len() as u64;
    let started = Instant::now();
    let stream = server.head("POST", &path, "multipart/form-data; boundary=edge", length)?;
    stream.write_all(begin.as_bytes())?;
    let mut block = vec![0u8; 1 << 20];
    for n in 0..GIB / block.len() as u64 {
        scramble(&mut block, n);
        stream.write_all(&block)?;
    }
    stream.write_all(end.as_bytes())?;
    let mut answer = Vec::new();
    let status = server.answer(&mut answer)?;
    let shown: Value = serde_json::from_slice(&answer)?;
    if status != 200 {
        return Err(format!("the file was not taken: {shown}").into());
    }
    let artifact = shown["artifacts_generated"][0]["artifact_record_id"].as_str().ok_or("no artifact")?;
    server.head("GET", &format!("/api/artifacts/{artifact}/download"), "text/plain", 0)?;
    let mut count = Count(0);
    let status = server.answer(&mut count)?;
    if status != 200 || count.0 != GIB {
        return Err(format!("{} bytes came back with {status}", count.0).into());
    }
    let took = started.elapsed();
    let (_, most) = server.memory()?;
    let figure = Figure { bytes: Some(most), ..Figure::from_rate("memory.stream1g", 2 * GIB, took) };
    report.add(figure.judged(most as f64, Goal::AtMost(200.0 * 1024.0 * 1024.0)));
    Ok(())
}

/// Bytes that do not compress well, other ones for every block.
fn scramble(block: &mut [u8], n: u64) {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for eight in block.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        eight.copy_from_slice(&state.to_le_bytes()[..eight.len()]);
    }
}

/// Counts what is written to it.
struct Count(u64);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ten runs with ten thousand outputs go back to the run before them.
pub async fn rollback(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let temp = tempfile::tempdir_in(folder)?;
    let path = temp.path().join("home");
    let (first, last) = runs_with_outputs(&path, 10, 1_000).await?;
    let mut server = Server::start(&path)?;
    let body = json!({
        "rollback_type": "run_level",
        "source_run_id": last,
        "target_run_id": first,
        "target_checkpoint_position": 0,
    });
    let begin = Instant::now();
    let done = server.post("/api/rollback", &body)?;
    let took = begin.elapsed();
    let went = done["rolled_back_items"]["archived_artifacts"].as_array().map_or(0, Vec::len);
    if went != 10_000 {
        return Err(format!("{went} artifacts were archived: {done}").into());
    }
    let figure = Figure { per_s: None, ..Figure::from_times("rollback.artifacts10k", &mut [took]) };
    let value = figure.p50_us.unwrap_or(f64::NAN);
    report.add(figure.judged(value, Goal::AtMost(1_000_000.0)));
    Ok(())
}

/// Runs of one script, each with so many outputs, behind a first one; the first and the last.
async fn runs_with_outputs(path: &Path, runs: u32, outputs: u32) -> Result<(RunId, RunId), BenchError> {
    let made = home::open(path, false, true)?;
    let engine = &made.engine;
    let pipeline = home::pipeline(engine, Kind::Script).await?;
    let (mut first, mut last) = (None, None);
    for n in 0..=runs {
        let run = home::run(engine, pipeline).await?;
        let mut artifacts = Vec::new();
        for i in 0..if n == 0 { 1 } else { outputs } {
            let text = format!("output {i} of run {n}\n");
            let (digest, size) = engine.keep(Box::new(io::Cursor::new(text.into_bytes())), GIB).await?;
            artifacts.push(Collected {
                name: format!("out{i}").as_str().into(),
                format: "txt".into(),
                digest,
                size,
                bytes: None,
            });
        }
        let outcome = Outcome::done(None, artifacts, Usage::default());
        let effect = EffectId { x: ExecNo(1), revision: 0, attempt: 1, part: Part::Work };
        let command = RunCommand::RecordOutcome(RecordOutcome { effect, outcome, entries: Vec::new() });
        engine.submit(Actor::system(), None, Command::Run(run, command)).await?;
        first.get_or_insert(run);
        last = Some(run);
    }
    made.settle().await;
    Ok(first.zip(last).ok_or("no runs")?)
}

fn pipeline(server: &mut Server, definition: &Value) -> Result<Value, BenchError> {
    let made = server.post("/api/pipelines", &json!({"pipeline_name": "Bench"}))?;
    let id = made["pipeline_id"].as_str().ok_or("no pipeline")?;
    server.post(&format!("/api/pipelines/{id}/checkpoints"), definition)?;
    Ok(made["pipeline_id"].clone())
}

fn execution(run: &Value) -> Result<&str, BenchError> {
    Ok(run["current_execution"]["execution_id"].as_str().ok_or("the run has no execution")?)
}
