//! Sessions of browsers, and the one-time tickets that open them. Tickets end with the process; sessions outlast it
//! where there is a file for them, which holds their hashes alone.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdpoint_core::{Digest, TokenId};

use super::Secret;

/// How long a session lasts without a request.
const IDLE: Duration = Duration::from_hours(12);
/// How long a ticket is good.
const TICKET: Duration = Duration::from_mins(10);
/// How often it is written down that sessions are used.
const NOTED: Duration = Duration::from_mins(10);
/// How many sessions, and how many tickets, there are at once; the oldest gives way.
const MOST: usize = 1_000;

/// A point in time, counted from 1970.
pub type Moment = Duration;

/// The present.
pub fn now() -> Moment {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// By the hash of each word: whose it is, and since when.
type Words = HashMap<Digest, (TokenId, Moment)>;

#[derive(Debug, Default)]
pub struct Sessions {
    open: Words,
    tickets: Words,
    file: Option<PathBuf>,
    written: Moment,
}

impl Sessions {
    /// Takes up the sessions of a file, and keeps them there from now on.
    pub fn keep_in(&mut self, file: PathBuf, now: Moment) {
        match read(&file) {
            Ok(known) => self.open.extend(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(%error, "sessions of browsers cannot be read, and have ended"),
        }
        drop_old(&mut self.open, now, IDLE);
        (self.file, self.written) = (Some(file), now);
    }

    /// Makes a ticket.
    pub fn ticket(&mut self, token: TokenId, now: Moment) -> String {
        add(&mut self.tickets, token, now, TICKET)
    }

    /// Uses a ticket up.
    pub fn redeem(&mut self, ticket: &str, now: Moment) -> Option<TokenId> {
        let (token, made) = self.tickets.remove(&Digest::of(ticket.as_bytes()))?;
        (now.saturating_sub(made) < TICKET).then_some(token)
    }

    /// Opens a session.
    pub fn open(&mut self, token: TokenId, now: Moment) -> String {
        let session = add(&mut self.open, token, now, IDLE);
        self.write(now);
        session
    }

    /// Whose session it is; it lasts on from now.
    pub fn find(&mut self, session: &str, now: Moment) -> Option<TokenId> {
        let (token, used) = self.open.get_mut(&Digest::of(session.as_bytes()))?;
        if now.saturating_sub(*used) >= IDLE {
            return None;
        }
        let token = *token;
        *used = now;
        if now.saturating_sub(self.written) >= NOTED {
            self.write(now);
        }
        Some(token)
    }

    /// Ends a session.
    pub fn close(&mut self, session: &str, now: Moment) {
        self.open.remove(&Digest::of(session.as_bytes()));
        self.write(now);
    }

    fn write(&mut self, now: Moment) {
        let Some(file) = &self.file else { return };
        self.written = now;
        if let Err(error) = write(file, &self.open) {
            tracing::warn!(%error, "sessions of browsers cannot be kept, and end with this process");
        }
    }
}

fn drop_old(words: &mut Words, now: Moment, lasts: Duration) {
    words.retain(|_, (_, since)| now.saturating_sub(*since) < lasts);
}

fn add(words: &mut Words, token: TokenId, now: Moment, lasts: Duration) -> String {
    drop_old(words, now, lasts);
    if words.len() >= MOST {
        let oldest = words.iter().min_by_key(|(_, (_, since))| *since).map(|(word, _)| *word);
        oldest.and_then(|word| words.remove(&word));
    }
    let secret = Secret::word();
    words.insert(secret.digest(), (token, now));
    secret.reveal().to_owned()
}

fn read(file: &Path) -> io::Result<Words> {
    let all: Vec<(Digest, TokenId, u64)> = serde_json::from_slice(&fs::read(file)?)?;
    Ok(all.into_iter().map(|(word, token, used)| (word, (token, Duration::from_secs(used)))).collect())
}

/// The file appears whole, and only its owner can read it.
fn write(file: &Path, words: &Words) -> io::Result<()> {
    let all: Vec<(&Digest, TokenId, u64)> =
        words.iter().map(|(word, (token, used))| (word, *token, used.as_secs())).collect();
    let aside = file.with_extension("new");
    let mut opened = OpenOptions::new();
    let mut written = opened.write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    written.write_all(&serde_json::to_vec(&all)?)?;
    fs::rename(aside, file)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ANN: TokenId = TokenId(Uuid::nil());
    const START: Moment = Duration::from_secs(1_700_000_000);

    #[test]
    fn a_ticket_is_good_once_and_for_ten_minutes() {
        let mut sessions = Sessions::default();
        let (used, late) = (sessions.ticket(ANN, START), sessions.ticket(ANN, START));
        assert_eq!(sessions.redeem(&used, START), Some(ANN));
        assert_eq!(sessions.redeem(&used, START), None);
        assert_eq!(sessions.redeem(&late, START + TICKET), None);
    }

    #[test]
    fn a_session_lasts_while_it_is_used() {
        let mut sessions = Sessions::default();
        let session = sessions.open(ANN, START);
        for halves in 1..4 {
            assert_eq!(sessions.find(&session, START + IDLE / 2 * halves), Some(ANN));
        }
        assert_eq!(sessions.find(&session, START + IDLE * 3), None);
        let session = sessions.open(ANN, START);
        sessions.close(&session, START);
        assert_eq!(sessions.find(&session, START), None);
    }

    #[test]
    fn the_oldest_gives_way() {
        let mut sessions = Sessions::default();
        let first = sessions.open(ANN, START);
        for _ in 0..MOST {
            sessions.open(ANN, START + Duration::from_secs(1));
        }
        assert_eq!((sessions.find(&first, START), sessions.open.len()), (None, MOST));
    }

    #[test]
    fn a_session_outlasts_the_process_and_not_its_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sessions.json");
        let restarted = |now| {
            let mut sessions = Sessions::default();
            sessions.keep_in(file.clone(), now);
            sessions
        };
        let mut sessions = restarted(START);
        let (session, closed) = (sessions.open(ANN, START), sessions.open(ANN, START));
        sessions.close(&closed, START);
        // That it was used is noted from time to time.
        assert_eq!(sessions.find(&session, START + IDLE / 2), Some(ANN));
        let kept = fs::read_to_string(&file).expect("a file");
        assert!(!kept.contains(&session), "only hashes are kept");
        assert_eq!(restarted(START + IDLE).find(&session, START + IDLE), Some(ANN));
        assert_eq!(restarted(START).find(&closed, START), None);
        assert_eq!(restarted(START + IDLE * 2).find(&session, START + IDLE * 2), None);
        fs::write(&file, "[[1").expect("written");
        assert_eq!(restarted(START).find(&session, START), None);
    }
}
