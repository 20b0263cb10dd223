//! The program itself: how soon it answers, how little it needs.

use std::path::Path;
use std::time::Instant;

use super::server::Server;
use super::{BenchError, Figure, Goal, Report};

/// Starts the server on empty homes and asks it at once.
pub fn measure(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let mut times = Vec::new();
    let mut memory = 0;
    for _ in 0..7 {
        let home = tempfile::tempdir_in(folder)?;
        let begin = Instant::now();
        let mut server = Server::start(&home.path().join("home"))?;
        server.get("/api/health")?;
        times.push(begin.elapsed());
        (memory, _) = server.memory()?;
    }
    let figure = Figure::from_times("start.cold", &mut times);
    let value = figure.p50_us.unwrap_or(f64::NAN);
    report.add(Figure { per_s: None, ..figure }.judged(value, Goal::AtMost(50_000.0)));
    let figure = Figure { bytes: Some(memory), ..Figure::named("memory.idle") };
    report.add(figure.judged(memory as f64, Goal::AtMost(40.0 * 1024.0 * 1024.0)));
    Ok(())
}
