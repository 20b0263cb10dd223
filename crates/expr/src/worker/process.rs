//! One worker, seen from the server.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::wire::{self, MAX_REPLY, Reply};
use super::{HELPER_COMMAND, Lost};

/// How long a worker may take until it is ready, on a machine that has much else to do.
const START: Duration = Duration::from_secs(10);

/// A worker. It is dead and forgotten by the system when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Process {
    /// Starts one and waits until it is ready.
    pub fn start(program: &Path) -> Result<Self, Lost> {
        let mut process = Self::spawn(program).map_err(|error| cannot_start(&error.to_string()))?;
        match process.hear(Instant::now() + START) {
            Ok(Reply::Ready) => Ok(process),
            Ok(Reply::Expression(_) | Reply::Schema(_)) => Err(cannot_start("it says something else")),
            Err(Lost::Gone(why)) => Err(cannot_start(&format!("it {why}"))),
            Err(Lost::Busy | Lost::Late) => Err(cannot_start("it does not become ready")),
        }
    }

    /// It has a group of its own: Ctrl-C at a terminal is for the server, which may have questions still.
    fn spawn(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(HELPER_COMMAND)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let process =
            Self { child, input: input.expect("it was piped"), output: output.expect("it was piped") };
        unblock(&process.input)?;
        unblock(&process.output)?;
        Ok(process)
    }

    /// Asks it. After anything but a reply it is of no use any more.
    pub fn ask(&mut self, question: &[u8], deadline: Instant) -> Result<Reply, Lost> {
        self.tell(question, deadline)?;
        self.hear(deadline)
    }

    fn tell(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), Lost> {
        while !bytes.is_empty() {
            match self.input.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.input, PollFlags::OUT, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(ended()),
            }
        }
        Ok(())
    }

    fn hear(&mut self, deadline: Instant) -> Result<Reply, Lost> {
        let nonsense = |_| Lost::Gone("said something that is no answer".to_owned());
        let mut head = [0; 4];
        self.fill(&mut head, deadline)?;
        let mut body = vec![0; wire::length(head, MAX_REPLY).map_err(nonsense)?];
        self.fill(&mut body, deadline)?;
        serde_json::from_slice(&body).map_err(|error| nonsense(error.into()))
    }

    fn fill(&mut self, mut room: &mut [u8], deadline: Instant) -> Result<(), Lost> {
        while !room.is_empty() {
            match self.output.read(room) {
                Ok(0) => return Err(ended()),
                Ok(count) => room = &mut room[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.output, PollFlags::IN, deadline)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(ended()),
            }
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that is dead already cannot be killed, and is waited for all the same.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn ended() -> Lost {
    Lost::Gone("ended while it worked".to_owned())
}

fn cannot_start(why: &str) -> Lost {
    Lost::Gone(format!("cannot be started: {why}"))
}

/// Only this side: the worker's end of a pipe has flags of its own.
fn unblock(end: &impl AsFd) -> io::Result<()> {
    Ok(fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?)
}

/// Waits until something can be done, or the time is over.
fn wait(end: &impl AsFd, what: PollFlags, deadline: Instant) -> Result<(), Lost> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Lost::Late);
    }
    let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
    match poll(&mut [PollFd::new(end, what)], Some(&left)) {
        // Whoever waits tries again, and comes back here.
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(Lost::Gone(format!("cannot be waited for: {error}"))),
    }
}
