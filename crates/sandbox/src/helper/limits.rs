//! The resource limits of the kernel.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Limits;
use crate::plan::Plan;

/// Enough for any script, too few to hold much memory in pipes.
const OPEN_FILES: u64 = 1024;

/// Sets them on this process. `others` is how many processes of the same user there are already.
pub(super) fn set(limits: &Limits, others: u64) -> io::Result<()> {
    let cpu = limits.cpu.as_secs().max(1);
    lower(Resource::Core, 0, 0)?;
    // At the first limit it is told, at the second it is killed.
    lower(Resource::Cpu, cpu, cpu + 1)?;
    lower(Resource::Fsize, limits.file_bytes, limits.file_bytes)?;
    lower(Resource::Nofile, OPEN_FILES, OPEN_FILES)?;
    lower(Resource::Nproc, others + limits.processes, others + limits.processes)?;
    lower(Resource::Memlock, 0, 0)?;
    lower(Resource::As, limits.memory_bytes, limits.memory_bytes)
}

/// A limit that stands already and is lower, stays.
fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let stands = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit { current: Some(soft.min(stands)), maximum: Some(hard.min(stands)) };
    Ok(setrlimit(resource, limit)?)
}

/// How many threads the program's user has already, as far as the kernel counts them with the program's own.
pub(super) fn others(plan: &Plan) -> u64 {
    if let Some(user) = plan.user {
        tasks_of(user)
    } else if plan.namespaces() {
        // A new user namespace counts from nothing.
        0
    } else {
        tasks_of(rustix::process::getuid().as_raw())
    }
}

fn tasks_of(uid: u32) -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    processes
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter(|entry| entry.metadata().is_ok_and(|about| about.uid() == uid))
        .map(|entry| fs::read_dir(entry.path().join("task")).map_or(1, |tasks| tasks.count() as u64))
        .sum()
}
