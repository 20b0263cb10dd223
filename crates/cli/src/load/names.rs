//! Names of commands that tell which process gave them, so that whoever reads the log afterwards knows.

use std::sync::atomic::{AtomicU32, Ordering};

use holdpoint_core::{CommandId, Timestamp};
use holdpoint_engine::clock::{Clock as _, IdSource, SystemClock};
use uuid::{Builder, Uuid};

tokio::task_local! {
    /// The name of the command that this task submits.
    static COMMAND: CommandId;
}

/// Makes names that end in the process's tag.
#[derive(Debug)]
pub struct TaggedIds {
    tag: u32,
    next: AtomicU32,
}

impl TaggedIds {
    /// Names with a tag, which no other process on the home has.
    pub fn new(tag: u32) -> Self {
        Self { tag, next: AtomicU32::new(0) }
    }

    /// A new name.
    pub fn mint(&self) -> Uuid {
        self.at(SystemClock.now())
    }

    /// Submits under a name that is known before.
    pub async fn under<F: Future>(command: CommandId, submit: F) -> F::Output {
        COMMAND.scope(command, submit).await
    }

    fn at(&self, now: Timestamp) -> Uuid {
        let mut rest = [0; 10];
        rest[2..6].copy_from_slice(&self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        rest[6..].copy_from_slice(&self.tag.to_be_bytes());
        Builder::from_unix_timestamp_millis(u64::try_from(now.0 / 1000).unwrap_or(0), &rest).into_uuid()
    }
}

impl IdSource for TaggedIds {
    fn command(&self, now: Timestamp) -> CommandId {
        COMMAND.try_with(|command| *command).unwrap_or_else(|_| CommandId(self.at(now)))
    }
}
