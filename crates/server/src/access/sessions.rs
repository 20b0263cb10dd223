//! Sessions of browsers, and the one-time tickets that open them. Both end with the process.

use std::collections::HashMap;
use std::time::Duration;

use holdpoint_core::{Digest, TokenId};
use tokio::time::Instant;

use super::Secret;

/// How long a session lasts without a request.
pub const IDLE: Duration = Duration::from_hours(12);
/// How long a ticket is good.
const TICKET: Duration = Duration::from_mins(10);
/// How many sessions, and how many tickets, there are at once; the oldest gives way.
const MOST: usize = 1_000;

/// By the hash of each word: whose it is, and since when.
#[derive(Debug, Default)]
pub struct Sessions {
    sessions: HashMap<Digest, (TokenId, Instant)>,
    tickets: HashMap<Digest, (TokenId, Instant)>,
}

impl Sessions {
    /// Makes a ticket.
    pub fn ticket(&mut self, token: TokenId) -> String {
        keep(&mut self.tickets, token, TICKET)
    }

    /// Uses a ticket up.
    pub fn redeem(&mut self, ticket: &str) -> Option<TokenId> {
        let (token, made) = self.tickets.remove(&Digest::of(ticket.as_bytes()))?;
        (made.elapsed() < TICKET).then_some(token)
    }

    /// Opens a session.
    pub fn open(&mut self, token: TokenId) -> String {
        keep(&mut self.sessions, token, IDLE)
    }

    /// Whose session it is; it lasts on from now.
    pub fn find(&mut self, session: &str) -> Option<TokenId> {
        let (token, used) = self.sessions.get_mut(&Digest::of(session.as_bytes()))?;
        if used.elapsed() >= IDLE {
            return None;
        }
        *used = Instant::now();
        Some(*token)
    }

    /// Ends a session.
    pub fn close(&mut self, session: &str) {
        self.sessions.remove(&Digest::of(session.as_bytes()));
    }
}

fn keep(words: &mut HashMap<Digest, (TokenId, Instant)>, token: TokenId, lasts: Duration) -> String {
    words.retain(|_, (_, since)| since.elapsed() < lasts);
    if words.len() >= MOST {
        let oldest = words.iter().min_by_key(|(_, (_, since))| *since).map(|(word, _)| *word);
        oldest.and_then(|word| words.remove(&word));
    }
    let secret = Secret::word();
    words.insert(secret.digest(), (token, Instant::now()));
    secret.reveal().to_owned()
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;
    use uuid::Uuid;

    use super::*;

    const ANN: TokenId = TokenId(Uuid::nil());

    #[tokio::test(start_paused = true)]
    async fn a_ticket_is_good_once_and_for_ten_minutes() {
        let mut sessions = Sessions::default();
        let (used, late) = (sessions.ticket(ANN), sessions.ticket(ANN));
        assert_eq!(sessions.redeem(&used), Some(ANN));
        assert_eq!(sessions.redeem(&used), None);
        advance(TICKET).await;
        assert_eq!(sessions.redeem(&late), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_lasts_while_it_is_used() {
        let mut sessions = Sessions::default();
        let session = sessions.open(ANN);
        for _ in 0..3 {
            advance(IDLE / 2).await;
            assert_eq!(sessions.find(&session), Some(ANN));
        }
        advance(IDLE).await;
        assert_eq!(sessions.find(&session), None);
        let session = sessions.open(ANN);
        sessions.close(&session);
        assert_eq!(sessions.find(&session), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_gives_way() {
        let mut sessions = Sessions::default();
        let first = sessions.open(ANN);
        advance(Duration::from_secs(1)).await;
        for _ in 0..MOST {
            sessions.open(ANN);
        }
        assert_eq!((sessions.find(&first), sessions.sessions.len()), (None, MOST));
    }
}
