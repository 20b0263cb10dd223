//! A few workers for everybody.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::process::Process;
use super::wire::{self, MAX_QUESTION};
use super::{Lost, Reply, Request};

/// The most workers at once.
const MAX_WORKERS: usize = 2;

/// How many times as long as a question may take somebody waits for a free worker: others may need all of
/// their time before.
const PATIENCE: u32 = 2;

/// The workers of a program. They are started when they are needed.
#[derive(Debug)]
pub struct Pool {
    program: PathBuf,
    state: Mutex<State>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Process>,
    busy: usize,
}

impl Pool {
    /// `program` calls [`helper_main`](super::helper_main) when its argument is
    /// [`HELPER_COMMAND`](super::HELPER_COMMAND).
    pub fn new(program: PathBuf) -> Self {
        Self { program, state: Mutex::default(), free: Condvar::new() }
    }

    /// Asks a worker, which has so much time from when it is ready.
    pub fn ask(&self, request: &Request, time: Duration) -> Result<Reply, Lost> {
        let frame = wire::frame(request, MAX_QUESTION)
            .map_err(|error| Lost::Gone(format!("cannot be asked: {error}")))?;
        let mut place = self.place(time)?;
        let first = place.ask(&frame, time);
        // It may have died of something else, or before it was asked.
        if matches!(first, Err(Lost::Gone(_))) { place.ask(&frame, time) } else { first }
    }

    fn place(&self, time: Duration) -> Result<Place<'_>, Lost> {
        let full = |state: &mut State| state.busy >= MAX_WORKERS;
        let waited = self.free.wait_timeout_while(self.state(), time * PATIENCE, full);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if full(&mut state) {
            return Err(Lost::Busy);
        }
        state.busy += 1;
        Ok(Place { pool: self, process: state.idle.pop() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to one worker.
struct Place<'p> {
    pool: &'p Pool,
    process: Option<Process>,
}

impl Place<'_> {
    fn ask(&mut self, frame: &[u8], time: Duration) -> Result<Reply, Lost> {
        // Whatever goes wrong, it is killed before somebody else has the place.
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.pool.program)?,
        };
        let reply = process.ask(frame, Instant::now() + time)?;
        self.process = Some(process);
        Ok(reply)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        state.busy -= 1;
        state.idle.extend(self.process.take());
        drop(state);
        self.pool.free.notify_one();
    }
}
