//! The program itself: how soon it answers, how little it needs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{BenchError, Figure, Goal, Report};

/// Starts the server on empty homes and asks it at once.
pub fn measure(folder: &Path, report: &mut Report<'_>) -> Result<(), BenchError> {
    let mut times = Vec::new();
    let mut memory = 0;
    for _ in 0..7 {
        let home = tempfile::tempdir_in(folder)?;
        let begin = Instant::now();
        let mut server = Server::start(&home.path().join("home"))?;
        server.ask()?;
        times.push(begin.elapsed());
        memory = server.memory()?;
    }
    let figure = Figure::from_times("start.cold", &mut times);
    let value = figure.p50_us.unwrap_or(f64::NAN);
    report.add(Figure { per_s: None, ..figure }.judged(value, Goal::AtMost(50_000.0)));
    let figure = Figure { bytes: Some(memory), ..Figure::named("memory.idle") };
    report.add(figure.judged(memory as f64, Goal::AtMost(40.0 * 1024.0 * 1024.0)));
    Ok(())
}

/// A server of our own, ended when dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(home: &Path) -> Result<Self, BenchError> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", "--port", "0", "--json", "--home"])
            .arg(home)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let told: serde_json::Value = serde_json::from_str(&line)?;
        let address = told["listening"].as_str().ok_or("the server did not say where it listens")?;
        let address = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self { child, address })
    }

    fn ask(&mut self) -> Result<(), BenchError> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET /api/health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 200") {
            return Ok(());
        }
        Err(format!("the server answered: {}", answer.lines().next().unwrap_or_default()).into())
    }

    /// Resident memory in bytes.
    fn memory(&self) -> Result<u64, BenchError> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no memory figure")?;
        let kib: u64 = line.split_whitespace().nth(1).ok_or("no memory figure")?.parse()?;
        Ok(kib * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
