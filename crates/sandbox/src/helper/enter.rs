//! The entrance: a process that takes rights away from itself, one after the other, and then becomes the program.
//!
//! Invariant: if anything cannot be taken away, the program is not run. The order matters: what needs a right
//! comes before the loss of that right, and seccomp is last.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::fs::MemfdFlags;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::seccomp::Outside;
use super::{FAILED, control, landlock, limits, seccomp, user};
use crate::Level;
use crate::plan::Plan;
use crate::wire::{self, Report};

/// As a shell answers when it finds a program and cannot run it.
pub(super) const CANNOT_RUN: u8 = 126;

pub(super) fn main() -> ExitCode {
    let Ok(control) = control() else { return ExitCode::from(FAILED) };
    match prepare(&control) {
        Ok(plan) => become_program(&plan, &control),
        Err(error) => {
            // The watcher notices a lost report by the end of this process.
            drop(wire::report(&control, &Report::Failed(error)));
            ExitCode::from(FAILED)
        }
    }
}

fn prepare(control: &UnixStream) -> Result<Plan, String> {
    let plan: Plan = wire::read_json(control).map_err(|error| format!("no plan arrived: {error}"))?;
    let input = wire::read(control).map_err(|error| format!("no input arrived: {error}"))?;
    take_input(&input).map_err(|error| format!("standard input could not be laid: {error}"))?;
    be_killed_first();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    std::env::set_current_dir(&plan.cwd)
        .map_err(|error| format!("the folder {} cannot be entered: {error}", plan.cwd.display()))?;
    confine(&plan)?;
    Ok(plan)
}

/// When the machine runs out of memory, the kernel ends this program and not the one that waits for it. Where it cannot
/// be written, the program is as likely to be ended as any other.
fn be_killed_first() {
    drop(std::fs::write("/proc/self/oom_score_adj", "800"));
}

fn confine(plan: &Plan) -> Result<(), String> {
    let confined = plan.level != Level::External;
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    if confined && plan.layers.landlock {
        landlock::restrict(plan).map_err(|error| format!("Landlock: {error}"))?;
    }
    if let Some(user) = plan.user {
        user::change(plan, user).map_err(|error| format!("change of user: {error}"))?;
    } else if confined && plan.layers.user {
        user::give_up_rights().map_err(|error| format!("capabilities: {error}"))?;
    }
    if plan.layers.limits {
        limits::set(&plan.limits, plan.others).map_err(|error| format!("limits: {error}"))?;
    }
    // After the change of user, which resets it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| format!("death signal: {error}"))?;
    if confined && plan.layers.seccomp {
        let outside = match plan.user {
            _ if plan.namespaces() => Outside::Absent,
            Some(_) => Outside::Foreign,
            None => Outside::Owned,
        };
        seccomp::restrict(plan.network, outside).map_err(|error| format!("seccomp: {error}"))?;
    }
    Ok(())
}

/// Puts the input where the program looks for it: a file in memory, so that no one has to feed a pipe.
fn take_input(input: &[u8]) -> io::Result<()> {
    let file = if input.is_empty() {
        File::open("/dev/null")?
    } else {
        let mut file = File::from(rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?);
        file.write_all(input)?;
        file.rewind()?;
        file
    };
    Ok(rustix::stdio::dup2_stdin(file.as_fd())?)
}

fn become_program(plan: &Plan, control: &UnixStream) -> ExitCode {
    if wire::report(control, &Report::Ready).is_err() {
        return ExitCode::from(FAILED);
    }
    let error = Command::new(&plan.program)
        .args(&plan.args)
        .env_clear()
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .exec();
    // From here on this stream is the program's own.
    drop(writeln!(io::stderr(), "{} cannot be run: {error}", plan.program.display()));
    ExitCode::from(CANNOT_RUN)
}
