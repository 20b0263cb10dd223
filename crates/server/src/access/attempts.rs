//! How often an address was wrong. Who guesses is told to wait; a right token is never kept waiting, since
//! guessing one of 256 bits is hopeless and all callers on one machine share an address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

/// How many wrong attempts an address has in each window.
const FREE: u32 = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// How many addresses are remembered.
const MOST: usize = 1_024;

/// Wrong attempts by address, in the window that began then.
#[derive(Debug, Default)]
pub struct Attempts(HashMap<Option<IpAddr>, (Instant, u32)>);

impl Attempts {
    /// Counts a wrong attempt; answers for how many seconds the address has to wait, if it has.
    pub fn count(&mut self, peer: Option<IpAddr>) -> Option<u32> {
        if self.0.len() >= MOST && !self.0.contains_key(&peer) {
            self.0.retain(|_, (since, _)| since.elapsed() < WINDOW);
            if self.0.len() >= MOST {
                return Some(WINDOW.as_secs() as u32);
            }
        }
        let (since, wrong) = self.0.entry(peer).or_insert_with(|| (Instant::now(), 0));
        if since.elapsed() >= WINDOW {
            (*since, *wrong) = (Instant::now(), 0);
        }
        *wrong = wrong.saturating_add(1);
        let left = WINDOW.saturating_sub(since.elapsed()).as_secs() as u32;
        (*wrong > FREE).then_some(left.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_is_wrong_too_often_waits_and_others_do_not() {
        let mut attempts = Attempts::default();
        let (one, two) = (Some([127, 0, 0, 1].into()), Some([127, 0, 0, 2].into()));
        for _ in 0..FREE {
            assert_eq!(attempts.count(one), None);
        }
        assert_eq!(attempts.count(one), Some(60));
        assert_eq!(attempts.count(two), None);
        tokio::time::advance(WINDOW).await;
        assert_eq!(attempts.count(one), None);
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_take_no_more_room() {
        let mut attempts = Attempts::default();
        for n in 0..2 * MOST as u32 {
            attempts.count(Some(IpAddr::from(n.to_be_bytes())));
        }
        assert_eq!(attempts.0.len(), MOST);
    }
}
