//! What must hold on a home whatever was killed: nothing acknowledged is lost, nothing happens twice.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::{Actor, CommandId, Digest, Seq};
use holdpoint_engine::{audit, doctor};
use holdpoint_store::{BlobStore as _, EventLog as _, Query};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};
use tokio::io::AsyncReadExt as _;

use crate::child::{Answer, Place, Told, Try};
use crate::seen::Seen;

/// How many rows are read at once.
const PAGE: u32 = 2_000;

/// One home and what is known of it.
pub struct Checker {
    pub home: PathBuf,
    pub seen: Seen,
    rows: BTreeMap<u64, (u64, CommandId)>,
    keys: Vec<(Try, Place)>,
    whole: HashSet<Digest>,
}

impl Checker {
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            seen: Seen::default(),
            rows: BTreeMap::new(),
            keys: Vec::new(),
            whole: HashSet::new(),
        }
    }

    /// Checks what is new; with `all`, everything again.
    pub async fn check(&mut self, told: &[Told], all: bool) -> Result<(), String> {
        if let Some(violation) = told.iter().flat_map(|told| &told.violations).next() {
            return Err(format!("a process found: {violation}"));
        }
        if !self.home.join("db/state.db").exists() {
            return match told.iter().map(Told::acknowledged).sum() {
                0 => Ok(()),
                n => Err(format!("{n} commands were acknowledged, and there is no database")),
            };
        }
        let log = self.open()?;
        self.read(&log).await?;
        for told in told {
            self.answered(&log, told).await?;
        }
        self.blobs(&log).await?;
        if all {
            self.everything(&log).await?;
        }
        Ok(())
    }

    /// Opens the home as another process would.
    pub fn open(&self) -> Result<Arc<SqliteLog>, String> {
        let log = SqliteLog::open(&self.home.join("db"), Options::default());
        log.map(Arc::new).map_err(|error| format!("the home does not open: {error}"))
    }

    /// Reads on in the log.
    pub async fn read(&mut self, log: &SqliteLog) -> Result<(), String> {
        loop {
            let rows = log.read_all(Seq(self.seen.last), PAGE).await.map_err(|error| error.to_string())?;
            for row in &rows {
                self.seen.row(row)?;
                self.rows.insert(row.seq.0, (row.last_seq().0, row.command));
            }
            if rows.len() < PAGE as usize {
                return Ok(());
            }
        }
    }

    /// Waits until no run owes anything.
    pub async fn until_quiet(&mut self, time: Duration) -> Result<(), String> {
        let log = self.open()?;
        let mut head = log.head();
        let quiet = async {
            loop {
                head.mark_unchanged();
                self.read(&log).await?;
                if self.seen.busy() == 0 {
                    return Ok(());
                }
                if head.changed().await.is_err() {
                    return Err("the log was closed".to_owned());
                }
            }
        };
        match tokio::time::timeout(time, quiet).await {
            Ok(quiet) => quiet,
            Err(_) => Err(format!("{} runs still owe work, and nobody does it", self.seen.busy())),
        }
    }

    /// Every answer stands in the log, and every command that was sent is there whole or not at all.
    async fn answered(&mut self, log: &SqliteLog, told: &Told) -> Result<(), String> {
        for (n, tried) in &told.tries {
            let at = ask(log, tried).await.map_err(|what| format!("try {n} ({tried:?}): {what}"))?;
            match (told.answers.get(n), at) {
                (Some(Answer::Done(place)), at) => {
                    self.stands(tried, *place).map_err(|what| format!("try {n} ({tried:?}): {what}"))?;
                    if at != Some(*place) {
                        return Err(format!(
                            "try {n} ({tried:?}) was acknowledged at {place:?}; its key says {at:?}"
                        ));
                    }
                }
                (Some(Answer::Refused(code)), Some(at)) => {
                    return Err(format!("try {n} ({tried:?}) was refused ({code}) and stands at {at:?}"));
                }
                // Nobody was answered: either is right.
                (None, Some(at)) => {
                    self.stands(tried, at).map_err(|what| format!("try {n} ({tried:?}): {what}"))?;
                }
                (Some(Answer::Refused(_)) | None, None) => {}
            }
            self.keys.extend(at.map(|at| (tried.clone(), at)));
        }
        Ok(())
    }

    /// The rows of a command stand where they were said to stand, and are its own.
    fn stands(&self, tried: &Try, place: Place) -> Result<(), String> {
        let mut next = place.first;
        let mut by = HashSet::new();
        for (seq, (last, command)) in self.rows.range(place.first..=place.last) {
            if *seq != next {
                return Err(format!("position {next} is not the begin of a row"));
            }
            by.insert(*command);
            next = last + 1;
        }
        if next != place.last + 1 {
            return Err(format!("said to stand at {place:?}, of which {next} is missing"));
        }
        // Of two requests that were sent at once, either may have been carried out: the names differ then.
        if by.len() != 1 || by.iter().any(|c| crate::seen::process(*c) != crate::seen::process(tried.command))
        {
            return Err(format!("at {place:?} stands what {by:?} wrote"));
        }
        Ok(())
    }

    /// Every blob that an event names is there, and is what its name says.
    async fn blobs(&mut self, log: &Arc<SqliteLog>) -> Result<(), String> {
        let blobs = LocalBlobs::open(&self.home.join("blobs"), log.clone()).map_err(|e| e.to_string())?;
        for digest in std::mem::take(&mut self.seen.blobs) {
            if self.whole.contains(&digest) {
                continue;
            }
            whole(&blobs, digest).await?;
            self.whole.insert(digest);
        }
        Ok(())
    }

    /// The chain, the tables, the keys and the blobs of all that ever was.
    async fn everything(&self, log: &Arc<SqliteLog>) -> Result<(), String> {
        let report = audit::verify(&**log, &|_| {}).await.map_err(|error| error.to_string())?;
        if !report.wrong.is_empty() {
            return Err(format!("the chain does not hold: {:#?}", report.wrong));
        }
        let tables = doctor::check_tables(&**log, false, &|_| {}).await.map_err(|error| error.to_string())?;
        if !tables.wrong.is_empty() {
            return Err(format!("the tables differ from the log: {:#?}", tables.wrong));
        }
        for (tried, place) in &self.keys {
            let at = ask(log, tried).await?;
            if at != Some(*place) {
                return Err(format!("{tried:?} stood at {place:?}; its key says {at:?}"));
            }
        }
        let blobs = LocalBlobs::open(&self.home.join("blobs"), log.clone()).map_err(|e| e.to_string())?;
        for digest in &self.whole {
            whole(&blobs, *digest).await?;
        }
        Ok(())
    }
}

/// Asks where a request stands, as a sender does who sends it again; nothing is written.
async fn ask(log: &SqliteLog, tried: &Try) -> Result<Option<Place>, String> {
    let scope = Digest::of_json(&(Actor::person("load"), &tried.op, &tried.key));
    let page = log.query(Query::Reply(scope)).await.map_err(|e| e.to_string())?;
    match page.reply {
        Some(used) if used.request != tried.request => {
            Err(format!("its key was used for {:?}", used.request))
        }
        // What was in effect already wrote nothing.
        used => {
            Ok(used.and_then(|used| used.wrote).map(|(first, last)| Place { first: first.0, last: last.0 }))
        }
    }
}

async fn whole(blobs: &LocalBlobs, digest: Digest) -> Result<(), String> {
    let mut bytes = Vec::new();
    let mut content = blobs.get(digest).await.map_err(|error| format!("an event names {digest}: {error}"))?;
    content.read_to_end(&mut bytes).await.map_err(|error| format!("an event names {digest}: {error}"))?;
    if Digest::of(&bytes) == digest {
        Ok(())
    } else {
        Err(format!("blob {digest} is not what its name says"))
    }
}
