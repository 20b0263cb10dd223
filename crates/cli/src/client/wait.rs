//! Waiting for something to happen: a change in the log, a line at the terminal, a signal.

use std::time::Duration;

use holdpoint_core::Seq;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Api, Way, not_started};
use crate::problem::Problem;
use crate::signals::Signals;
use crate::terminal::next_line;

/// How often a home is looked at when nothing happens, so that people see that time passes.
const TICK: Duration = Duration::from_secs(1);
/// How soon after a look there may be another one.
const APART: Duration = Duration::from_millis(100);
/// How often a server is asked.
const POLL: Duration = Duration::from_millis(300);

/// Waits for one command.
pub struct Waiter {
    signals: Signals,
    head: Option<watch::Receiver<Seq>>,
    looked: Instant,
}

/// Why a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something may have changed.
    Changed,
    /// Somebody typed a line; none when the input has ended.
    Line(Option<String>),
    /// Somebody wants the command to end.
    Interrupted,
}

impl Api {
    /// From now on a signal ends a wait, and not the process.
    pub fn waiter(&self) -> Result<Waiter, Problem> {
        let _guard = self.runtime.enter();
        let signals = Signals::new().map_err(not_started)?;
        let head = match &self.way {
            Way::Home(local) => Some(local.engine().watch_head()),
            Way::Server(_) => None,
        };
        Ok(Waiter { signals, head, looked: Instant::now() })
    }

    /// Waits until it is worth looking again; for a line as well, when somebody is asked for one.
    pub fn wait(&self, waiter: &mut Waiter, asking: bool) -> Woken {
        self.runtime.block_on(waiter.next(asking))
    }

    /// Lets time pass; false when somebody wants the command to end.
    pub fn pass(&self, waiter: &mut Waiter, time: Duration) -> bool {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = waiter.signals.next() => false,
                () = sleep(time) => true,
            }
        })
    }
}

impl Waiter {
    async fn next(&mut self, asking: bool) -> Woken {
        let Self { signals, head, looked } = self;
        let line = async { if asking { next_line().await } else { std::future::pending().await } };
        let woken = tokio::select! {
            biased;
            () = signals.next() => Woken::Interrupted,
            line = line => Woken::Line(line),
            () = change(head.as_mut(), *looked) => Woken::Changed,
        };
        self.looked = Instant::now();
        woken
    }
}

async fn change(head: Option<&mut watch::Receiver<Seq>>, looked: Instant) {
    let Some(head) = head else { return sleep(POLL).await };
    tokio::select! {
        // A store that closes says nothing any more.
        changed = head.changed() => if changed.is_err() { sleep(TICK).await },
        () = sleep(TICK) => {}
    }
    sleep_until(looked + APART).await;
}
