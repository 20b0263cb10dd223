//! The watcher: starts the program and ends everything when it ends, when the server says so, or when the server
//! is gone.
//!
//! The server says so by closing the socket, which the kernel also does for a server that was killed. So there is
//! one way to end, and it needs nobody's help.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitStatus, pidfd_open, set_child_subreaper};

use super::{ENTER, FAILED, HELPER_COMMAND, control, limits, sweep, user};
use crate::bwrap;
use crate::plan::Plan;
use crate::wire::{self, Report};

/// How often orphans that ended are taken note of; until then they count as processes.
pub(super) const REAPING: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// `bwrap` exits with this and the signal's number when a signal ended the program.
const SIGNAL_BASE: i32 = 128;
const LAST_SIGNAL: i32 = 64;

pub(super) fn main() -> ExitCode {
    let Ok(control) = control() else { return ExitCode::from(FAILED) };
    let (Ok(mut plan), Ok(input)) = (wire::read_json::<Plan>(&control), wire::read(&control)) else {
        return ExitCode::from(FAILED);
    };
    plan.user = user::pick(&plan);
    plan.others = limits::others(&plan);
    let report = watch(&plan, &input, &control).unwrap_or_else(|error| Report::Failed(error.to_string()));
    // Made by the program's user, so it may hold anything; links in it are not followed.
    drop(fs::remove_dir_all(&plan.scratch));
    // A server that is gone needs no report.
    drop(wire::report(&control, &report));
    ExitCode::SUCCESS
}

fn watch(plan: &Plan, input: &[u8], control: &UnixStream) -> io::Result<Report> {
    fs::DirBuilder::new().mode(0o700).create(&plan.scratch)?;
    set_child_subreaper(Pid::from_raw(1))?;
    let (ours, theirs) = UnixStream::pair()?;
    let pid = start(plan, theirs.into())?;
    let ready = send(plan, input, &ours).and_then(|()| wait_ready(&ours, control));
    match ready {
        Ok(Report::Ready) => wire::report(control, &Report::Ready)?,
        Ok(failed) => {
            sweep::sweep(pid);
            return Ok(failed);
        }
        Err(error) => {
            sweep::sweep(pid);
            return Ok(Report::Failed(format!("it ended before it was confined ({error})")));
        }
    }
    let status = wait_end(pid, control)?;
    let status = sweep::sweep(pid).or(status);
    Ok(ended(plan, status))
}

/// Starts the entrance, inside `bwrap` where that is the level. Neither sees the program's variables: a library
/// named in one would be loaded before anything is confined.
fn start(plan: &Plan, socket: OwnedFd) -> io::Result<Pid> {
    let helper = std::env::current_exe()?;
    let mut command = match plan.bwrap.as_deref().filter(|_| plan.namespaces()) {
        Some(program) => bwrap::command(program, plan, &helper, &[HELPER_COMMAND, ENTER]),
        None => plain(&helper),
    };
    let child = command.env_clear().current_dir("/").stdin(Stdio::from(socket)).process_group(0).spawn()?;
    Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("a process without a number"))
}

fn plain(helper: &Path) -> Command {
    let mut command = Command::new(helper);
    command.args([HELPER_COMMAND, ENTER]);
    command
}

fn send(plan: &Plan, input: &[u8], mut entrance: &UnixStream) -> io::Result<()> {
    entrance.write_all(&wire::frame_json(plan)?)?;
    entrance.write_all(&wire::frame(input))
}

/// What the entrance says, unless the server goes first.
fn wait_ready(entrance: &UnixStream, control: &UnixStream) -> io::Result<Report> {
    loop {
        let mut fds = [PollFd::new(entrance, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
        poll_again(&mut fds, None)?;
        if !fds[1].revents().is_empty() {
            return Err(io::Error::other("the server ended it"));
        }
        if !fds[0].revents().is_empty() {
            return wire::read_json(entrance);
        }
    }
}

/// Waits until the program ended or has to.
fn wait_end(pid: Pid, control: &UnixStream) -> io::Result<Option<WaitStatus>> {
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let mut fds =
            [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN), PollFd::new(control, PollFlags::IN)];
        poll_again(&mut fds, Some(&REAPING))?;
        let server_is_done = !fds[1].revents().is_empty();
        let (status, _) = sweep::reap(pid);
        if status.is_some() || server_is_done {
            return Ok(status);
        }
    }
}

pub(super) fn poll_again(fds: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<()> {
    match poll(fds, timeout) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn ended(plan: &Plan, status: Option<WaitStatus>) -> Report {
    let code = status.and_then(WaitStatus::exit_status);
    let signal = status.and_then(WaitStatus::terminating_signal);
    match code {
        Some(code) if plan.namespaces() && (SIGNAL_BASE + 1..=SIGNAL_BASE + LAST_SIGNAL).contains(&code) => {
            Report::Ended { code: None, signal: Some(code - SIGNAL_BASE) }
        }
        _ => Report::Ended { code, signal },
    }
}
