//! The keeper: starts a program that is spoken to on its standard input, and ends all of it when nobody speaks to it
//! any more.
//!
//! It confines nothing: the program is one that the settings name. The kernel closes the pipe of a server that was
//! killed as well, so no program outlives its server, whatever it makes of the end of its input.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, WaitStatus, pidfd_open, set_child_subreaper};

use super::enter::CANNOT_RUN;
use super::watch::{REAPING, poll_again};
use super::{FAILED, sweep};

/// How long a program may take to end by itself when nobody speaks to it any more.
const FAREWELL: Duration = Duration::from_secs(1);

pub(super) fn main(command: &[OsString]) -> ExitCode {
    let [program, args @ ..] = command else { return ExitCode::from(FAILED) };
    match keep(program, args) {
        Ok(status) => {
            let code = status.and_then(WaitStatus::exit_status).and_then(|code| u8::try_from(code).ok());
            ExitCode::from(code.unwrap_or(FAILED))
        }
        Err(error) => {
            drop(writeln!(io::stderr(), "{} cannot be run: {error}", program.display()));
            ExitCode::from(CANNOT_RUN)
        }
    }
}

fn keep(program: &OsString, args: &[OsString]) -> io::Result<Option<WaitStatus>> {
    set_child_subreaper(Pid::from_raw(1))?;
    let mut child = Command::new(program).args(args).stdin(Stdio::piped()).spawn()?;
    let pid =
        Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("a process without a number"))?;
    let mut from = File::from(rustix::stdio::stdin().as_fd().try_clone_to_owned()?);
    let mut to = child.stdin.take();
    // It may wait for ever on a program that does not listen, so nothing waits for it.
    std::thread::spawn(move || to.as_mut().map(|to| io::copy(&mut from, to)));
    let status = wait_end(pid);
    let swept = sweep::sweep(pid);
    Ok(status?.or(swept))
}

/// Waits until the program ended, or nobody has spoken to it for so long that it has to.
fn wait_end(pid: Pid) -> io::Result<Option<WaitStatus>> {
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let input = rustix::stdio::stdin();
    let mut alone_since: Option<Instant> = None;
    loop {
        let (status, _) = sweep::reap(pid);
        if status.is_some() || alone_since.is_some_and(|since| since.elapsed() >= FAREWELL) {
            return Ok(status);
        }
        let ended = PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN);
        if alone_since.is_some() {
            poll_again(&mut [ended], Some(&REAPING))?;
            continue;
        }
        // What is said is for the other thread; that nobody can say anything any more is always told.
        let mut fds = [ended, PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
        poll_again(&mut fds, Some(&REAPING))?;
        if !fds[1].revents().is_empty() {
            alone_since = Some(Instant::now());
        }
    }
}
