//! How old the states may be that rules only peek at.
//!
//! A commit does not check what was peeked at, so this process looks again when others have written, at most a few times
//! a second per stream.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use holdpoint_core::StreamId;
use tokio::time::Instant;

/// How long a stream is not looked at again.
const LOOK: Duration = Duration::from_millis(250);
/// How many streams are remembered; beyond that all are looked at again once.
const MANY: usize = 10_000;

/// When streams were last looked at, and how much others had written by then.
#[derive(Default)]
pub(crate) struct Fresh(Mutex<HashMap<StreamId, (u64, Instant)>>);

impl Fresh {
    /// Whether a stream may be older than it should be, given how many events others have written.
    pub fn is_due(&self, stream: StreamId, others: u64) -> bool {
        let mut looked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.len() > MANY {
            looked.clear();
        }
        let now = Instant::now();
        match looked.get(&stream) {
            Some((seen, _)) if *seen == others => false,
            Some((_, at)) if now.duration_since(*at) < LOOK => false,
            Some(_) | None => {
                looked.insert(stream, (others, now));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use holdpoint_core::StreamId;

    use super::{Fresh, LOOK};

    #[tokio::test(start_paused = true)]
    async fn a_stream_is_looked_at_again_when_others_wrote_and_not_all_the_time() {
        let fresh = Fresh::default();
        assert!(fresh.is_due(StreamId::Home, 0));
        assert!(!fresh.is_due(StreamId::Home, 0));
        assert!(!fresh.is_due(StreamId::Home, 1));
        tokio::time::advance(LOOK).await;
        assert!(fresh.is_due(StreamId::Home, 1));
        assert!(!fresh.is_due(StreamId::Home, 1));
    }
}
