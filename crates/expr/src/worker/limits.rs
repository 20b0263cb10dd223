//! What the kernel holds a worker to.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Enough for the largest value and its text, and for what the program itself takes up.
const MEMORY: u64 = 2 << 30;

/// Only the pipes that it began with.
const OPEN_FILES: u64 = 3;

/// What a worker may take beyond its time: the server kills it first, if it lives.
const SPARE_SECONDS: u64 = 2;

/// Sets what holds for ever: no memory without end, and nothing that is opened or written.
pub fn set() -> io::Result<()> {
    for (resource, limit) in
        [(Resource::Core, 0), (Resource::Fsize, 0), (Resource::Nofile, OPEN_FILES), (Resource::As, MEMORY)]
    {
        let limit = limit.min(getrlimit(resource).maximum.unwrap_or(u64::MAX));
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    work(0)
}

/// Lets it work so many seconds from now. A worker whose server was killed does not notice while it is busy.
pub fn work(seconds: u64) -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec as u64;
    let maximum = getrlimit(Resource::Cpu).maximum;
    let limit = (used + seconds + SPARE_SECONDS).min(maximum.unwrap_or(u64::MAX));
    Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(limit), maximum })?)
}
