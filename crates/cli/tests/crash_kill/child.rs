//! A process of the real binary under load, and everything that it told before it died.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use holdpoint_core::{CommandId, Digest};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How a process is started.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub seed: u64,
    pub clients: u32,
    pub lease_ms: u64,
    pub nap_ms: u64,
    pub requests: Option<u64>,
    pub die_after: Option<u64>,
    pub pipelines: bool,
}

/// A command that a process was about to send.
#[derive(Clone, Debug)]
pub struct Try {
    pub key: String,
    pub op: String,
    pub request: Digest,
    pub command: CommandId,
}

/// Where an acknowledged command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub first: u64,
    pub last: u64,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Done(Place),
    Refused(String),
}

/// Everything that a process told.
#[derive(Debug, Default)]
pub struct Told {
    pub tries: BTreeMap<u64, Try>,
    pub answers: BTreeMap<u64, Answer>,
    pub violations: Vec<String>,
}

impl Told {
    pub fn acknowledged(&self) -> usize {
        self.answers.values().filter(|answer| matches!(answer, Answer::Done(_))).count()
    }

    fn hear(&mut self, line: &str) {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            self.violations.push(format!("not a line of the load: {line}"));
            return;
        };
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(n) = number("try") {
            let request = text("request").parse().expect("a digest");
            let command = text("command").parse().expect("a command's name");
            self.tries.insert(n, Try { key: text("key"), op: text("op"), request, command });
        } else if let (Some(n), Some(first), Some(last)) = (number("ack"), number("first"), number("last")) {
            self.answers.insert(n, Answer::Done(Place { first, last }));
        } else if let Some(n) = number("ack") {
            self.answers.insert(n, Answer::Refused(text("refused")));
        } else if value.get("listening").is_none() {
            self.violations.push(line.to_owned());
        }
    }
}

/// A running process.
pub struct Load {
    child: Child,
    lines: Receiver<String>,
    pub told: Told,
    /// How the process names itself in the log.
    pub tag: u32,
}

impl Load {
    pub fn start(home: &Path, stderr: &Path, start: Start) -> Self {
        let mut command = binary("load", home);
        command.args(["--seed", &start.seed.to_string(), "--clients", &start.clients.to_string()]);
        command.args(["--lease-ms", &start.lease_ms.to_string(), "--nap-ms", &start.nap_ms.to_string()]);
        if let Some(n) = start.requests {
            command.args(["--requests", &n.to_string()]);
        }
        if start.pipelines {
            command.arg("--pipelines");
        }
        if let Some(n) = start.die_after {
            command.args(["--die-after", &n.to_string()]);
        }
        Self::spawn(command, stderr, start.seed as u32)
    }

    /// The server, which does the same work and tells only where it listens.
    pub fn serve(home: &Path, stderr: &Path) -> Self {
        let mut command = binary("serve", home);
        command.args(["--port", "0", "--json"]);
        Self::spawn(command, stderr, 0)
    }

    fn spawn(mut command: Command, stderr: &Path, tag: u32) -> Self {
        let stderr = File::options().create(true).append(true).open(stderr).expect("a file for its talk");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("the binary starts");
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            // A line that was cut off was not told.
            while out.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, told: Told::default(), tag }
    }

    /// Listens until so many commands were acknowledged, the time is over, or the process has ended; false
    /// when it has.
    pub fn listen(&mut self, acknowledged: usize, time: Duration) -> bool {
        self.listen_until(|told| told.acknowledged() >= acknowledged, time)
    }

    /// Listens until so many commands were answered, in whatever way; whether they were.
    pub fn answers(&mut self, count: usize, time: Duration) -> bool {
        self.listen_until(|told| told.answers.len() >= count, time) && self.told.answers.len() >= count
    }

    fn listen_until(&mut self, enough: impl Fn(&Told) -> bool, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !enough(&self.told) && self.told.violations.is_empty() {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.told.hear(&line),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    pub fn signal(&self, signal: Signal) {
        // A process that has ended by itself cannot be told anything.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Kills the process and hears what it had told before.
    pub fn kill(mut self) -> Told {
        self.signal(Signal::KILL);
        self.end();
        std::mem::take(&mut self.told)
    }

    /// Waits until the process has ended by itself, for at most this long.
    pub fn wait(mut self, time: Duration) -> (Option<ExitStatus>, Told) {
        let ended = !self.listen(usize::MAX, time);
        if !ended {
            return (None, self.kill());
        }
        let status = self.child.wait().expect("a child");
        (Some(status), std::mem::take(&mut self.told))
    }

    fn end(&mut self) {
        self.child.wait().expect("a child");
        while let Ok(line) = self.lines.recv() {
            self.told.hear(&line);
        }
    }
}

impl Drop for Load {
    /// A test that fails leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn binary(command: &str, home: &Path) -> Command {
    let binary = std::env::var_os("HOLDPOINT_KILL_BINARY");
    let mut started = Command::new(binary.unwrap_or_else(|| env!("CARGO_BIN_EXE_holdpoint").into()));
    started.arg(command).arg("--home").arg(home);
    started
}
