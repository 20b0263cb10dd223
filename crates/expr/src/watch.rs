//! An answer in time, whatever the engine is busy with, where there is no worker to ask.
//!
//! The engine counts steps in loops, calls and regular expressions, but some of its built-in functions work
//! on for hours without counting. Such work cannot be stopped from outside the thread. It is left behind, and only so
//! many may be left behind before nothing more is begun.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::{ExprError, Limit};

/// How many may be left behind.
const MAX_LEFT: usize = 2;

/// Room for the engine's own stack and what stands below it.
const STACK: usize = 2 << 20;

static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Does something on a thread of its own and waits so long for it.
pub fn in_time<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> Result<T, ExprError> + Send + 'static,
) -> Result<T, ExprError> {
    if LEFT.load(Ordering::SeqCst) >= MAX_LEFT {
        return Err(ExprError::Limit(Limit::Busy));
    }
    // Without room in between: what is sent is either received or comes back.
    let (sender, receiver) = mpsc::sync_channel(0);
    let begun = thread::Builder::new().name("expression".to_owned()).stack_size(STACK).spawn(move || {
        // Nobody listens any more when the time is over: then the place is free again.
        if sender.send(work()).is_err() {
            LEFT.fetch_sub(1, Ordering::SeqCst);
        }
    });
    if begun.is_err() {
        return Err(ExprError::Limit(Limit::Busy));
    }
    match receiver.recv_timeout(time) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            LEFT.fetch_add(1, Ordering::SeqCst);
            drop(receiver);
            Err(ExprError::Limit(Limit::Time))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(ExprError::NoValue("a fault of the engine".into())),
    }
}
