//! Time and new ids, as things that can be replaced by simulated ones.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdpoint_core::{CommandId, Timestamp};
use holdpoint_store::BoxFuture;
use uuid::Uuid;

/// Tells the time and waits for it.
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Comes back at or after a time.
    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'static, ()>;
}

/// Names commands.
pub trait IdSource: Send + Sync {
    /// A name that no command had before, with the time in its front.
    fn command(&self, now: Timestamp) -> CommandId;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        let wait = at.0.saturating_sub(self.now().0).max(0);
        // Long waits are cut short: a clock that is set forward is noticed within a minute.
        let wait = Duration::from_micros(wait.unsigned_abs()).min(Duration::from_mins(1));
        Box::pin(tokio::time::sleep(wait))
    }
}

/// Random ids with the time in front (UUID version 7).
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn command(&self, now: Timestamp) -> CommandId {
        let random = Uuid::now_v7();
        let millis = u64::try_from(now.0 / 1000).unwrap_or(0).to_be_bytes();
        let mut bytes = *random.as_bytes();
        bytes[..6].copy_from_slice(&millis[2..]);
        CommandId(Uuid::from_bytes(bytes))
    }
}
