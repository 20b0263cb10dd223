//! Power cuts, failing disks and flipped bits: what was acknowledged stays, the rest is whole or absent.
//!
//! Every test plays a history against a simulated disk and then looks at what is left with the same
//! [`World::check`]. `HOLDPOINT_SEEDS` says how many histories are played, `HOLDPOINT_SEED` plays just one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use holdpoint_core::chain::{Header, link};
use holdpoint_core::rows::{Cell, RowChange, Table};
use holdpoint_core::{Actor, CommandId, Digest, RunId, Seq, StreamId, Timestamp, Version};
use holdpoint_fault_vfs::{Fault, FaultDisk, Image};
use holdpoint_store::conformance::kit::{
    Numbers, append, as_stored, chained, patch, patch_where, pipeline, put, reply, row_of, run, session,
};
use holdpoint_store::{
    Append, EventFilter, EventLog as _, Key, NewRow, Query, Receipt, Refused, Row, SavedFold, SmallBlob,
    StoreError, WorkChange,
};
use holdpoint_store_sqlite::{Options, SqliteLog};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use uuid::Uuid;

const FILE: &str = "state.db";
/// How many histories are played when nobody says otherwise.
const SEEDS: u64 = 40;
/// How often a seed is played again on its own: threads do not meet in the same way twice.
const REPLAYS: u64 = 25;
const EVERYTHING: u32 = u32::MAX;
/// Longer than this takes no history, however busy the machine: something waits for ever.
const NO_END: Duration = Duration::from_mins(1);

/// What is wrong, in words.
type Verdict = Result<(), String>;

/// Fails with words unless something holds.
macro_rules! hold {
    ($holds:expr, $($words:tt)*) => { if !$holds { return Err(format!($($words)*)); } };
}

// ---- histories -----------------------------------------------------------------------------------------

/// What the sender of an append knows of it.
#[derive(Debug)]
enum Fate {
    /// It was acknowledged.
    Sure(Receipt),
    /// It was refused: nothing of it may be found.
    Never(Refused),
    /// All of it or nothing may be found.
    Open(String),
}

#[derive(Debug)]
struct Sent {
    append: Append,
    fate: Fate,
}

impl Sent {
    fn of(append: Append, answer: Result<Receipt, Refused>) -> Self {
        let fate = match answer {
            Ok(receipt) => Fate::Sure(receipt),
            Err(Refused::Unknown(words)) => Fate::Open(words),
            Err(refused) => Fate::Never(refused),
        };
        Self { append, fate }
    }
}

/// One task of a program: it alone writes to its streams, so it knows where they stand.
struct Hand {
    id: u64,
    numbers: Numbers,
    commands: u64,
    streams: Vec<(StreamId, u64, Digest)>,
    folds: Vec<(SavedFold, bool)>,
}

impl Hand {
    fn new(id: u64, seed: u64) -> Self {
        let n = u128::from(id) * 10;
        let streams = [run(n + 1), run(n + 2), pipeline(n + 3)].map(|stream| (stream, 0, Digest::ZERO));
        Self {
            id,
            numbers: Numbers(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ id),
            commands: 0,
            streams: streams.to_vec(),
            folds: Vec::new(),
        }
    }

    /// Appends, now and then saves a fold, and ends with the first refusal.
    async fn work(mut self, log: Arc<SqliteLog>, count: u64) -> (Self, Vec<Sent>) {
        let mut all = Vec::new();
        for _ in 0..count {
            let append = self.some_append();
            let sent = Sent::of(append.clone(), log.append(append).await);
            let done = matches!(sent.fate, Fate::Sure(_));
            if done {
                self.wrote(&sent.append);
            }
            all.push(sent);
            if !done || self.numbers.below(6) == 0 && !self.save_fold(&log).await {
                break;
            }
        }
        (self, all)
    }

    fn wrote(&mut self, append: &Append) {
        for row in &append.rows {
            let at = self.streams.iter_mut().find(|(stream, ..)| *stream == row.stream);
            *at.expect("a stream of the hand") =
                (row.stream, row.first.0 + u64::from(row.count) - 1, row.hash);
        }
    }

    async fn save_fold(&mut self, log: &SqliteLog) -> bool {
        let (stream, version, hash) = self.streams[self.numbers.below(3) as usize];
        let bytes = vec![b'f'; self.numbers.below(3000) as usize];
        let fold = SavedFold { stream, version: Version(version), hash, code: 1, bytes };
        let saved = log.save_fold(fold.clone()).await.is_ok();
        self.folds.push((fold, saved));
        saved
    }

    /// One to three streams, often a key, work or a blob.
    fn some_append(&mut self) -> Append {
        self.commands += 1;
        let command = (u128::from(self.id) << 64) | u128::from(self.commands);
        let mut streams = self.streams.clone();
        streams.rotate_left(self.numbers.below(3) as usize);
        streams.truncate(1 + self.numbers.below(3) as usize);
        let rows: Vec<NewRow> = streams
            .into_iter()
            .map(|(stream, version, hash)| self.some_row(command, stream, version, hash))
            .collect();
        let mut append = append(rows);
        if self.numbers.below(2) == 0 {
            let scope = Digest::of(&command.to_be_bytes());
            let (request, at) = (Digest::of(b"request"), append.rows[0].at);
            append.key = Some(Key { scope, request, at, reply: reply(&scope.0) });
        }
        for run in append.rows.iter().filter_map(|row| run_of(row.stream)).collect::<Vec<_>>() {
            if self.numbers.below(2) == 0 {
                let due = (self.numbers.below(3) > 0).then(|| Timestamp(self.numbers.below(100) as i64));
                append.work.push(WorkChange { run, due, take: self.numbers.below(2) == 0 });
            }
        }
        if self.numbers.below(3) == 0 {
            let length = self.numbers.below(9000) as usize;
            let bytes: Vec<u8> = (0..length).map(|_| self.numbers.below(256) as u8).collect();
            let bytes: Arc<[u8]> = [&command.to_be_bytes(), &*bytes].concat().into();
            append.blobs.push(SmallBlob { digest: Digest::of(&bytes), bytes });
        }
        append
    }

    fn some_row(&mut self, command: u128, stream: StreamId, version: u64, prev: Digest) -> NewRow {
        let count = 1 + self.numbers.below(2);
        let kinds: Vec<_> =
            (0..count).map(|_| ["happened", "changed"][self.numbers.below(2) as usize]).collect();
        let versions = version + 1..=version + count;
        let changes = versions.map(|version| self.some_changes(stream, version as u32)).collect();
        let mut row = row_of(stream, version + 1, changes);
        let length = if self.numbers.below(8) == 0 { 9000 } else { 300 };
        let text = "x".repeat(self.numbers.below(length) as usize);
        row.bytes = events(&kinds, &text);
        row.shape = kinds.join(",");
        row.command = CommandId(Uuid::from_u128(command));
        row.at = Timestamp(1_700_000_000_000_000 + self.numbers.below(1000) as i64);
        row.actor = Actor::person(["ada", "bob"][self.numbers.below(2) as usize]);
        chained(row, prev)
    }

    fn some_changes(&mut self, stream: StreamId, version: u32) -> Vec<RowChange> {
        let table = Table::Gate;
        let mut status = || Cell::from(["pending", "active", "completed"][self.numbers.below(3) as usize]);
        let (first, second) = (status(), status());
        let id = Uuid::from_u128((stream.uuid().as_u128() << 16) | u128::from(version));
        let earlier = version.saturating_sub(self.numbers.below(4) as u32);
        match self.numbers.below(4) {
            0 => vec![put(table, version, vec![("id", id.into()), ("answer", first)])],
            1 => vec![put(Table::Execution, version, vec![("step", first)])],
            2 => vec![
                patch(table, earlier, vec![("opened_at", Cell::Int(7)), ("answer", first)]),
                patch(Table::Execution, earlier, vec![("status", second)]),
            ],
            _ => vec![
                patch_where(table, "answer", first, vec![("answer", second)]),
                put(Table::Interaction, version, vec![]),
            ],
        }
    }
}

/// Events as they are stored: their kinds can be read from them.
fn events(kinds: &[&str], text: &str) -> Vec<u8> {
    let events: Vec<String> =
        kinds.iter().map(|kind| format!(r#"{{"{kind}":{{"text":"{text}"}}}}"#)).collect();
    format!("[{}]", events.join(",")).into_bytes()
}

fn run_of(stream: StreamId) -> Option<RunId> {
    match stream {
        StreamId::Run(run) => Some(run),
        _ => None,
    }
}

// ---- what is left --------------------------------------------------------------------------------------

/// A home on a simulated disk, and everything that its users know.
struct World {
    disk: FaultDisk,
    /// Locks between processes are real files.
    home: TempDir,
    numbers: Numbers,
    hands: Vec<Hand>,
    sent: Vec<Sent>,
    /// The highest epoch that was ever answered for a run.
    epochs: BTreeMap<RunId, u64>,
}

impl World {
    fn new(seed: u64, image: &Image, hands: u64) -> Self {
        Self {
            disk: FaultDisk::holding(seed, image),
            home: in_memory().expect("a folder"),
            numbers: Numbers(seed),
            hands: (1..=hands).map(|id| Hand::new(id, seed)).collect(),
            sent: Vec::new(),
            epochs: BTreeMap::new(),
        }
    }

    fn open(&self, short: bool) -> Result<Arc<SqliteLog>, StoreError> {
        let vfs = Some(self.disk.vfs_name().to_owned());
        let options = Options { readers: 1, short, vfs, ..Options::default() };
        SqliteLog::open(self.home.path(), options).map(Arc::new)
    }

    /// Another program on the same file.
    fn foreign(&self) -> rusqlite::Result<Connection> {
        let conn = self.disk.connect(FILE)?;
        conn.pragma_update(None, "synchronous", 2)?;
        Ok(conn)
    }

    /// All hands work at once, on one handle or on two, until they are done or refused.
    async fn work(&mut self, logs: &[Arc<SqliteLog>], count: u64) {
        let mut tasks = JoinSet::new();
        for (at, hand) in self.hands.drain(..).enumerate() {
            tasks.spawn(hand.work(Arc::clone(&logs[at % logs.len()]), count));
        }
        let mut done = tasks.join_all().await;
        done.sort_by_key(|(hand, _)| hand.id);
        for (hand, sent) in done {
            self.hands.push(hand);
            self.sent.extend(sent);
        }
    }

    /// Whether anything was refused.
    fn refusal(&self) -> Option<&Fate> {
        self.sent.iter().map(|sent| &sent.fate).find(|fate| !matches!(fate, Fate::Sure(_)))
    }

    /// Looks at everything that is left, and learns from it what became of open cases.
    async fn check(&mut self) -> Verdict {
        let short = self.numbers.below(2) == 0;
        let log = self.open(short).map_err(in_words("it does not open"))?;
        let conn = self.foreign().map_err(in_words("it does not open"))?;
        check_pages(&conn)?;
        let rows = log.read_all(Seq(0), EVERYTHING).await.map_err(in_words("the log"))?;
        verify(&rows)?;
        self.check_rows(&rows)?;
        self.check_projections(&log, &rows).await?;
        self.check_blobs(&log).await?;
        self.check_folds(&log).await?;
        self.check_work(&log).await?;
        self.check_keys(&log).await
    }

    /// Every row is one that was sent, and all rows of an append stand together or none does.
    fn check_rows(&mut self, rows: &[Row]) -> Verdict {
        let mut found: BTreeMap<CommandId, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            found.entry(row.command).or_default().push(row);
        }
        for sent in &mut self.sent {
            let first = sent.append.rows[0].command;
            let there = found.remove(&first).unwrap_or_default();
            if there.is_empty() {
                hold!(!matches!(sent.fate, Fate::Sure(_)), "{} was acknowledged and is lost", words(sent));
                continue;
            }
            hold!(!matches!(sent.fate, Fate::Never(_)), "{} was refused and is there", words(sent));
            let mut seq = there[0].seq;
            for (row, stored) in sent.append.rows.iter().zip(&there) {
                hold!(**stored == as_stored(row, seq), "{} differs: {stored:?}", words(sent));
                seq.0 += u64::from(row.count);
            }
            hold!(there.len() == sent.append.rows.len(), "{} is there in part", words(sent));
            let (from, to) = (there[0].seq, Seq(seq.0 - 1));
            match &sent.fate {
                Fate::Sure(receipt) => {
                    hold!((receipt.first, receipt.last) == (from, to), "{} has moved", words(sent));
                }
                // What was seen once may never go again.
                _ => sent.fate = Fate::Sure(Receipt { first: from, last: to, leases: Vec::new() }),
            }
        }
        hold!(found.is_empty(), "rows that nobody sent: {found:?}");
        self.sent.retain(|sent| matches!(sent.fate, Fate::Sure(_)) || sent.append.key.is_some());
        for hand in &mut self.hands {
            for (stream, version, hash) in &mut hand.streams {
                let last = rows.iter().rfind(|row| row.stream == *stream);
                (*version, *hash) = last.map_or((0, Digest::ZERO), |row| (row.last().0, row.hash));
            }
        }
        Ok(())
    }

    /// What is in the log, in its order.
    fn present(&self) -> Vec<(&Append, &Receipt)> {
        let mut present: Vec<_> = self
            .sent
            .iter()
            .filter_map(|sent| match &sent.fate {
                Fate::Sure(receipt) => Some((&sent.append, receipt)),
                _ => None,
            })
            .collect();
        present.sort_by_key(|(_, receipt)| receipt.first);
        present
    }

    async fn check_projections(&self, log: &SqliteLog, rows: &[Row]) -> Verdict {
        let mut changes: BTreeMap<StreamId, Vec<(Seq, Vec<RowChange>)>> = BTreeMap::new();
        for (append, receipt) in self.present() {
            let mut seq = receipt.first;
            for row in &append.rows {
                for each in &row.changes {
                    changes.entry(row.stream).or_default().push((seq, each.clone()));
                    seq.0 += 1;
                }
            }
        }
        for (stream, changes) in changes {
            let diff = log.rebuild(stream, changes, false).await.map_err(in_words("a comparison"))?;
            hold!(diff.wrong.is_empty(), "tables of {stream} differ: {:?}", diff.wrong);
            let found = log.read(stream, Version(0), EVERYTHING).await.map_err(in_words("a stream"))?;
            let right: Vec<_> = rows.iter().filter(|row| row.stream == stream).collect();
            hold!(found.iter().eq(right.iter().copied()), "{stream} reads in another way");
            let filter =
                EventFilter { session: Some(session(stream.uuid().as_u128())), ..EventFilter::default() };
            let query = Query::Events { filter, before: None, limit: EVERYTHING };
            let listed = log.query(query).await.map_err(in_words("a list"))?.rows;
            hold!(listed.iter().rev().eq(right.iter().copied()), "{stream} is listed in another way");
        }
        Ok(())
    }

    async fn check_blobs(&self, log: &SqliteLog) -> Verdict {
        for sent in &self.sent {
            for blob in &sent.append.blobs {
                let found = log.small_blob(blob.digest).await.map_err(in_words("a blob"))?;
                let right = matches!(sent.fate, Fate::Sure(_)).then_some(&*blob.bytes);
                hold!(found.as_deref() == right, "the blob of {} is wrong", words(sent));
            }
        }
        Ok(())
    }

    /// A fold is the last one that was saved, or one that was sent after it.
    async fn check_folds(&self, log: &SqliteLog) -> Verdict {
        for hand in &self.hands {
            for (stream, ..) in &hand.streams {
                let of_stream: Vec<_> =
                    hand.folds.iter().filter(|(fold, _)| fold.stream == *stream).collect();
                let sure = of_stream.iter().rposition(|(_, saved)| *saved);
                let found = log.fold(*stream).await.map_err(in_words("a fold"))?;
                let fits = match &found {
                    None => sure.is_none(),
                    Some(found) => of_stream[sure.unwrap_or(0)..].iter().any(|(fold, _)| fold == found),
                };
                hold!(fits, "the fold of {stream} is {found:?}");
            }
        }
        Ok(())
    }

    /// What is due is due, nothing else is, and epochs have only grown.
    async fn check_work(&mut self, log: &SqliteLog) -> Verdict {
        let mut due: BTreeSet<RunId> = BTreeSet::new();
        let mut epochs = std::mem::take(&mut self.epochs);
        for (append, receipt) in self.present() {
            for change in &append.work {
                due.remove(&change.run);
                due.extend(change.due.map(|_| change.run));
            }
            for lease in &receipt.leases {
                let epoch = epochs.entry(lease.run).or_default();
                *epoch = lease.epoch.max(*epoch);
            }
        }
        let claimed = log.claim(Timestamp(i64::MAX), EVERYTHING, None).await.map_err(in_words("a claim"))?;
        let claimed: Vec<_> = claimed.into_iter().map(|claimed| claimed.lease).collect();
        let runs: BTreeSet<RunId> = claimed.iter().map(|lease| lease.run).collect();
        hold!(runs == due, "work is due for {runs:?}, should be for {due:?}");
        for lease in &claimed {
            let before = epochs.insert(lease.run, lease.epoch).unwrap_or(0);
            hold!(lease.epoch > before, "the epoch of {:?} was {before}", lease);
        }
        self.epochs = epochs;
        Ok(())
    }

    /// A request that is sent again is answered as before, or done now if it was not done then.
    async fn check_keys(&mut self, log: &SqliteLog) -> Verdict {
        let mut late = Vec::new();
        for sent in self.sent.iter_mut().filter(|sent| sent.append.key.is_some()) {
            let again = log.append(sent.append.clone()).await;
            match (&sent.fate, again) {
                (Fate::Sure(right), Err(Refused::Replayed(found))) => {
                    let same = (right.first, right.last) == (found.first, found.last);
                    hold!(same, "{} is replayed as {found:?}", words(sent));
                    let key = sent.append.key.as_ref().ok_or("only appends with a key are looked at")?;
                    let page = log.query(Query::Reply(key.scope)).await.map_err(|error| error.to_string())?;
                    let told = page.reply.map(|used| used.reply);
                    hold!(told.as_ref() == Some(&key.reply), "{} was told {told:?}", words(sent));
                }
                (Fate::Never(_) | Fate::Open(_), Ok(receipt)) => {
                    sent.fate = Fate::Sure(receipt);
                    late.push(sent.append.clone());
                }
                (_, again) => return Err(format!("{} sent again: {again:?}", words(sent))),
            }
        }
        for append in late {
            let id = (append.rows[0].command.0.as_u128() >> 64) as u64;
            self.hands.iter_mut().filter(|hand| hand.id == id).for_each(|hand| hand.wrote(&append));
        }
        Ok(())
    }
}

fn in_words<E: Debug>(what: &str) -> impl Fn(E) -> String {
    move |error| format!("{what}: {error:?}")
}

fn words(sent: &Sent) -> String {
    let streams: Vec<String> =
        sent.append.rows.iter().map(|row| format!("{} from {}", row.stream, row.first.0)).collect();
    let fate = match &sent.fate {
        Fate::Sure(receipt) => format!("acknowledged from {} to {}", receipt.first.0, receipt.last.0),
        Fate::Never(refused) => format!("refused, since {refused}"),
        Fate::Open(words) => format!("unknown, since {words}"),
    };
    format!("an append ({}; {fate})", streams.join(", "))
}

fn check_pages(conn: &Connection) -> Verdict {
    let told = conn
        .prepare("PRAGMA integrity_check")
        .and_then(|mut check| {
            check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
        })
        .map_err(in_words("integrity_check"))?;
    hold!(told == ["ok"], "integrity_check: {told:?}");
    Ok(())
}

/// What anybody can see of rows without knowing what was sent: positions and versions without gaps, the
/// chain, and that the columns beside the events tell what the events tell.
fn verify(rows: &[Row]) -> Verdict {
    let mut next = 1;
    let mut ends: BTreeMap<StreamId, (u64, Digest)> = BTreeMap::new();
    for row in rows {
        hold!(row.seq == Seq(next), "a gap before {row:?}");
        next += u64::from(row.count);
        let (version, prev) = ends.get(&row.stream).copied().unwrap_or((0, Digest::ZERO));
        hold!(row.first.0 == version + 1, "a gap in {}: {row:?}", row.stream);
        let header = Header {
            stream: row.stream,
            first: row.first,
            count: row.count,
            at: row.at,
            actor: &row.actor,
            command: row.command,
        };
        let fits = row.prev == prev && row.hash == link(prev, &header, &row.bytes);
        hold!(fits, "the chain breaks at {row:?}");
        let kinds: Vec<&str> = row.shape.split(',').collect();
        let text = String::from_utf8_lossy(&row.bytes);
        let told: Vec<&str> =
            text.split(r#"{""#).skip(1).step_by(2).filter_map(|part| part.split('"').next()).collect();
        hold!(kinds == told, "the shape {kinds:?} is not that of {told:?}");
        hold!(row.session == session(row.stream.uuid().as_u128()), "the session of {row:?}");
        ends.insert(row.stream, (row.last().0, row.hash));
    }
    Ok(())
}

// ---- power cuts ----------------------------------------------------------------------------------------

/// A folder that costs no real syncs, where the machine has one.
fn in_memory() -> std::io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// An empty home.
fn founded() -> Image {
    let world = World::new(0, &Image::default(), 0);
    drop(world.open(false).expect("the store opens"));
    world.disk.snapshot()
}

fn runtime() -> Arc<Runtime> {
    Arc::new(tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime"))
}

/// Does something on a thread of its own. What never ends is named, instead of holding up all that is behind it.
fn to_the_end<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = channel();
    let thread = std::thread::spawn(move || {
        let _ = tell.send(work());
    });
    match told.recv_timeout(NO_END) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: no end after {NO_END:?}"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("it ends with an answer or a panic"),
        },
    }
}

/// Plays one history: a few lives, each ended by a power cut.
fn play(runtime: &Runtime, seed: u64, image: &Image, lies: bool) -> Verdict {
    let mut numbers = Numbers(seed ^ 0x5eed);
    // Every second history has one task and is the same every time.
    let hands = if seed.is_multiple_of(2) { 1 } else { 2 + numbers.below(3) };
    let none = Image::default();
    let mut world = World::new(seed, if numbers.below(4) == 0 { &none } else { image }, hands);
    world.disk.lying_sync(lies);
    for life in 1..=1 + numbers.below(3) {
        live(runtime, &mut world, &mut numbers).map_err(|what| format!("life {life}: {what}"))?;
        world.disk.power_cut(numbers.below(u64::MAX));
        runtime.block_on(world.check()).map_err(|what| format!("after life {life}: {what}"))?;
    }
    Ok(())
}

/// One life: handles open, tasks work, somebody moves the WAL, handles close; the power ends in between.
fn live(runtime: &Runtime, world: &mut World, numbers: &mut Numbers) -> Verdict {
    match numbers.below(4) {
        0 => world.disk.cut_at(1 + numbers.below(60)),
        1 => world.disk.cut_at_sync(1 + numbers.below(20)),
        _ => world.disk.cut_at(1 + numbers.below(600)),
    }
    for _ in 0..=numbers.below(3) {
        let mut logs = Vec::new();
        for _ in 0..=u64::from(numbers.below(3) == 0) {
            match world.open(numbers.below(3) == 0) {
                Ok(log) => logs.push(log),
                Err(error) => {
                    hold!(world.disk.struck(), "it does not open: {error}");
                    return Ok(());
                }
            }
        }
        let mode = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][numbers.below(4) as usize];
        let times = numbers.below(4);
        let checkpoints = world.foreign().ok().map(|conn| {
            std::thread::spawn(move || {
                for _ in 0..times {
                    let _ = conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
                }
            })
        });
        runtime.block_on(world.work(&logs, 2 + numbers.below(12)));
        if let Some(thread) = checkpoints {
            thread.join().expect("it ends");
        }
        drop(logs);
        if world.disk.struck() {
            return Ok(());
        }
        hold!(world.refusal().is_none(), "refused without a reason: {:?}", world.refusal());
    }
    Ok(())
}

fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn crash_power_cuts_lose_nothing_that_was_acknowledged() {
    let (runtime, image) = (runtime(), Arc::new(founded()));
    let one = number_from("HOLDPOINT_SEED");
    let seeds = match one {
        Some(seed) => std::iter::repeat_n(seed, REPLAYS as usize).collect::<Vec<_>>(),
        None => (0..number_from("HOLDPOINT_SEEDS").unwrap_or(SEEDS)).collect(),
    };
    for seed in seeds {
        let (runtime, image) = (Arc::clone(&runtime), Arc::clone(&image));
        let history = move || play(&runtime, seed, &image, false);
        if let Err(what) = to_the_end(&format!("seed {seed}"), history) {
            panic!(
                "seed {seed}, {what}\nto play it again: HOLDPOINT_SEED={seed} cargo nextest run \
                 -p holdpoint-store-sqlite --test power_cut crash_power_cuts"
            );
        }
    }
}

#[test]
fn crash_a_disk_that_lies_about_syncs_is_noticed() {
    let (runtime, image) = (runtime(), founded());
    let noticed = (0..200).filter(|seed| play(&runtime, *seed, &image, true).is_err()).take(3);
    assert_eq!(noticed.count(), 3, "the histories would not notice a store that does not sync");
}

// ---- failing operations --------------------------------------------------------------------------------

/// What a fault is tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    /// A store is made where none was.
    Found,
    /// One task appends.
    Append,
    /// Several tasks append at once.
    Batch,
    /// A store opens that another process left in the middle of its work.
    Recover,
    /// A store closes, which moves the WAL into the file, and opens again.
    Close,
    /// Another program moves the WAL, which then starts over.
    Checkpoint,
    /// Everything is read.
    Read,
    /// Work is claimed, a fold is saved and a table is written anew.
    Leases,
}

const SCENES: [Scene; 8] = [
    Scene::Found,
    Scene::Append,
    Scene::Batch,
    Scene::Recover,
    Scene::Close,
    Scene::Checkpoint,
    Scene::Read,
    Scene::Leases,
];

/// Plays a scene with a fault at its `n`-th operation. Answers at which operation there was a fault first, or
/// `n` if the fault did not matter, and nothing when the scene is not as long as that.
async fn stage(
    scene: Scene,
    fault: Fault,
    lasting: bool,
    n: u64,
    image: &Image,
) -> Result<Option<u64>, String> {
    let hands = if scene == Scene::Batch { 4 } else { 1 };
    let none = Image::default();
    let mut world = World::new(n, if scene == Scene::Found { &none } else { image }, hands);
    let mut log = None;
    if scene != Scene::Found {
        let opened = world.open(scene == Scene::Recover).map_err(in_words("before the fault"))?;
        world.work(&[Arc::clone(&opened)], 3).await;
        log = Some(opened).filter(|_| scene != Scene::Recover);
    }
    let before = world.disk.ops();
    if lasting {
        world.disk.fail_from(n, fault);
    } else {
        world.disk.fail_at(n, fault);
    }
    let (log, harmed) = act(scene, &mut world, log).await?;
    let long_enough = world.disk.ops() - before >= n;
    let struck = world.disk.struck_at();
    hold!(struck.is_some() || !harmed, "something failed without a fault: {:?}", world.refusal());
    let unknown = world.sent.iter().any(|sent| matches!(sent.fate, Fate::Open(_)));
    if fault == Fault::Full {
        hold!(!unknown, "a full disk leaves a commit open: {:?}", world.refusal());
        if let Some(log) = &log {
            log.read_all(Seq(0), EVERYTHING).await.map_err(in_words("reading needs no room"))?;
        }
    }
    world.disk.clear();
    if let Some(log) = log {
        again(&mut world, log, fault, harmed).await?;
    }
    if n.is_multiple_of(2) {
        world.disk.power_cut(n);
    }
    world.check().await?;
    Ok(long_enough.then(|| struck.map_or(n, |at| at - before)))
}

/// Plays a scene. Answers the handle, if one is open, and whether anything failed.
async fn act(
    scene: Scene,
    world: &mut World,
    mut log: Option<Arc<SqliteLog>>,
) -> Result<(Option<Arc<SqliteLog>>, bool), String> {
    let mut harmed = false;
    if scene == Scene::Checkpoint {
        harmed |= checkpoint(world).is_err();
    }
    if matches!(scene, Scene::Found | Scene::Recover | Scene::Close) {
        drop(log.take());
        match world.open(false) {
            Ok(opened) => log = Some(opened),
            // No answer of another kind is possible: the type says so. It must not be a panic.
            Err(error) => {
                hold!(
                    !matches!(error, StoreError::Corrupt(_)),
                    "a fault of the disk is told as damage: {error}"
                );
                return Ok((None, true));
            }
        }
    }
    let open = log.as_ref().map(Arc::clone).ok_or("no handle")?;
    match scene {
        Scene::Read => harmed |= read(world, &open).await?.is_err(),
        Scene::Leases => harmed |= lease(world, &open).await.is_err(),
        _ => world.work(&[open], 2).await,
    }
    if scene == Scene::Checkpoint {
        harmed |= checkpoint(world).is_err();
    }
    for sent in &world.sent {
        let fits = match &sent.fate {
            Fate::Sure(_) | Fate::Open(_) => true,
            Fate::Never(refused) => {
                matches!(refused, Refused::DiskFull | Refused::Store(StoreError::Io(_) | StoreError::Closed))
            }
        };
        hold!(fits, "a fault of the disk is told as {:?}", sent.fate);
    }
    let mut folds = world.hands.iter().flat_map(|hand| &hand.folds);
    harmed |= world.refusal().is_some() || folds.any(|(_, saved)| !saved);
    Ok((log, harmed))
}

fn checkpoint(world: &World) -> rusqlite::Result<()> {
    world.foreign()?.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Reads everything: each answer is right or an error.
async fn read(world: &World, log: &SqliteLog) -> Result<Result<(), StoreError>, String> {
    let mut failed = Ok(());
    match log.read_all(Seq(0), EVERYTHING).await {
        Ok(rows) => {
            let right: usize = world.sent.iter().map(|sent| sent.append.rows.len()).sum();
            hold!(rows.len() == right, "{} rows are read, not {right}", rows.len());
            verify(&rows)?;
        }
        Err(error) => failed = Err(error),
    }
    for sent in &world.sent {
        for row in &sent.append.rows {
            match log.read(row.stream, Version(row.first.0 - 1), 1).await {
                Ok(rows) => hold!(rows[0].bytes == row.bytes, "other bytes are read: {:?}", rows[0]),
                Err(error) => failed = Err(error),
            }
        }
        for blob in &sent.append.blobs {
            match log.small_blob(blob.digest).await {
                Ok(found) => hold!(found.as_deref() == Some(&*blob.bytes), "another blob is read"),
                Err(error) => failed = Err(error),
            }
        }
    }
    Ok(failed)
}

/// Everything that writes and is no append.
async fn lease(world: &mut World, log: &SqliteLog) -> Result<(), StoreError> {
    let mut failed = log.claim(Timestamp(i64::MAX), EVERYTHING, None).await.map(|_| ()).err();
    failed = log.beat().await.err().or(failed);
    let hand = &mut world.hands[0];
    if !hand.save_fold(log).await {
        failed = Some(StoreError::Closed);
    }
    let stream = hand.streams[0].0;
    let mut changes = Vec::new();
    for (append, receipt) in world.present() {
        let mut seq = receipt.first;
        for row in &append.rows {
            for each in &row.changes {
                if row.stream == stream {
                    changes.push((seq, each.clone()));
                }
                seq.0 += 1;
            }
        }
    }
    failed = log.rebuild(stream, changes, true).await.err().or(failed);
    failed.map_or(Ok(()), Err)
}

/// The disk works again: so does the handle, unless it has stopped after a commit of which nobody knows.
async fn again(world: &mut World, log: Arc<SqliteLog>, fault: Fault, harmed: bool) -> Verdict {
    let closed = log.read_all(Seq(0), EVERYTHING).await == Err(StoreError::Closed);
    hold!(!closed || harmed && fault == Fault::Eio, "the store has stopped without a reason");
    let before = world.sent.len();
    // A sender that never heard of a fault: the others may not know where their streams stand.
    let others = std::mem::replace(&mut world.hands, vec![Hand::new(9, 0)]);
    world.work(&[log], 1).await;
    world.hands.extend(others);
    for sent in &world.sent[before..] {
        match &sent.fate {
            Fate::Sure(_) => hold!(!closed, "a store that has stopped writes"),
            Fate::Never(Refused::Store(StoreError::Closed)) => {
                hold!(closed, "it stops when the fault is over");
            }
            _ => return Err(format!("the fault is over, but {}", words(sent))),
        }
    }
    Ok(())
}

#[test]
fn crash_every_operation_may_fail() {
    let (runtime, image) = (runtime(), Arc::new(founded()));
    for scene in SCENES {
        for (fault, lasting, step) in [(Fault::Eio, false, 1), (Fault::Eio, true, 3), (Fault::Full, true, 1)]
        {
            let mut n = 1;
            loop {
                let what = format!("{scene:?}, {fault:?} at {n} (lasting: {lasting})");
                let (runtime, image) = (Arc::clone(&runtime), Arc::clone(&image));
                let play = move || runtime.block_on(stage(scene, fault, lasting, n, &image));
                let played = to_the_end(&what, play).unwrap_or_else(|why| panic!("{what}: {why}"));
                // A disk that is full from here on is noticed at the next operation that needs room.
                let Some(at) = played else { break };
                n = at + step;
            }
        }
    }
}

/// A commit fails while others send: each of them is answered, also who comes in the moment in which the writer
/// stops.
#[test]
fn crash_nobody_waits_for_a_writer_that_has_stopped() {
    let (runtime, image) = (runtime(), Arc::new(founded()));
    for seed in 0..25 * number_from("HOLDPOINT_SEEDS").unwrap_or(SEEDS) {
        let (runtime, image) = (Arc::clone(&runtime), Arc::clone(&image));
        to_the_end(&format!("seed {seed}"), move || {
            let world = World::new(seed, &image, 0);
            let log = world.open(true).expect("the store opens");
            world.disk.fail_from(8 + seed % 32, Fault::Eio);
            let senders = (1..=6).map(|id| {
                let log = Arc::clone(&log);
                async move {
                    let (hand, _) = Hand::new(id, seed).work(Arc::clone(&log), u64::MAX).await;
                    // Who has just heard that it stops sends again at once.
                    hand.work(log, 1).await;
                }
            });
            let _guard = runtime.enter();
            runtime.block_on(senders.collect::<JoinSet<_>>().join_all());
        });
    }
}

// ---- flipped bits --------------------------------------------------------------------------------------

/// What a home holds, as a careful reader finds it.
struct Found {
    rows: Vec<Row>,
    blobs: Vec<Option<Vec<u8>>>,
    folds: Vec<Option<SavedFold>>,
}

impl Found {
    /// A fold may be missing, since it can be made again at any time; a wrong one would be believed.
    fn is_right(&self, right: &Self) -> bool {
        let folds =
            self.folds.iter().zip(&right.folds).all(|(found, right)| found.is_none() || found == right);
        folds && self.rows == right.rows && self.blobs == right.blobs
    }
}

/// Reads everything, and finds damage by what is stored alone.
async fn audit(world: &World) -> Result<Found, String> {
    let log = world.open(true).map_err(in_words("it does not open"))?;
    check_pages(&world.foreign().map_err(in_words("it does not open"))?)?;
    let rows = log.read_all(Seq(0), EVERYTHING).await.map_err(in_words("the log"))?;
    verify(&rows)?;
    world.check_projections(&log, &rows).await?;
    let mut found = Found { rows, blobs: Vec::new(), folds: Vec::new() };
    for blob in world.sent.iter().flat_map(|sent| &sent.append.blobs) {
        let bytes = log.small_blob(blob.digest).await.map_err(in_words("a blob"))?;
        hold!(bytes.as_deref().map(Digest::of) == Some(blob.digest), "a blob is damaged");
        found.blobs.push(bytes);
    }
    for (stream, ..) in world.hands.iter().flat_map(|hand| &hand.streams) {
        found.folds.push(log.fold(*stream).await.map_err(in_words("a fold"))?);
    }
    Ok(found)
}

#[test]
fn crash_flipped_bits_are_noticed_or_harmless() {
    let runtime = runtime();
    let mut world = World::new(1, &founded(), 1);
    let log = world.open(false).expect("the store opens");
    runtime.block_on(world.work(&[log], 60));
    let image = world.disk.snapshot();
    let right = runtime.block_on(audit(&world)).expect("nothing is wrong yet");
    let length = image.bytes(FILE).len() as u64;
    let (mut noticed, mut silent) = (0, Vec::new());
    let flips = 5 * number_from("HOLDPOINT_SEEDS").unwrap_or(SEEDS);
    for seed in 0..flips {
        let mut numbers = Numbers(seed);
        let (offset, bits) = (numbers.below(length), 1 << numbers.below(8));
        world.disk = FaultDisk::holding(seed, &image);
        assert!(world.disk.flip(FILE, offset, bits));
        match runtime.block_on(audit(&world)) {
            Err(_) => noticed += 1,
            Ok(found) if !found.is_right(&right) => silent.push((offset, bits)),
            Ok(_) => {}
        }
    }
    assert!(silent.is_empty(), "{silent:?} of {flips} flips give other data without a word");
    assert!(noticed > 0, "none of {flips} flips meets anything");
}
