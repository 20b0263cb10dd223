//! A long made-up history, step by step the same as in the store in memory.
//!
//! The other cases state promises one by one; this one looks for what nobody thought of. It needs no
//! luck: the history is fixed by a seed, which a failure names.

use std::fmt::Debug;
use std::sync::Arc;

use holdpoint_core::rows::Table;
use holdpoint_core::{Digest, RunId, Seq, StreamId, Timestamp, Version};

use super::Bench;
use super::kit::{Numbers, all, all_of, append, one, pipeline, reply, row_of, run, run_id, session, write};
use super::tables::some_changes;
use crate::memory::{LEASE_MS, MemoryDisk, MemoryLog};
use crate::{Append, EventFilter, EventLog, Fence, Key, Query, Receipt, Refused, WorkChange};

const HANDLES: usize = 3;
const RUNS: u64 = 3;

/// A history of conflicts, keys, fences and lists.
pub async fn a_long_history_matches<B: Bench>(bench: &B) {
    play(bench, 1, 300).await;
}

/// Another one.
pub async fn another_long_history_matches<B: Bench>(bench: &B) {
    play(bench, 2, 300).await;
}

/// And one more.
pub async fn a_third_long_history_matches<B: Bench>(bench: &B) {
    play(bench, 3, 300).await;
}

async fn play<B: Bench>(bench: &B, seed: u64, steps: u32) {
    let mut pair = Pair::new(bench, seed).await;
    pair.begin().await;
    for step in 0..steps {
        let what = format!("seed {seed}, step {step}");
        match pair.numbers.below(20) {
            0..9 => pair.append(&what).await,
            9..12 => pair.claim(&what).await,
            12..14 => pair.beat(&what).await,
            14 => pair.kill().await,
            15 => pair.silence(&what).await,
            _ => pair.ask(&what).await,
        }
    }
    assert_eq!(all(&*pair.logs[0]).await, all(&*pair.models[0]).await, "seed {seed}");
}

/// The store under test and its model, with the same handles open on both.
struct Pair<'a, B: Bench> {
    bench: &'a B,
    logs: Vec<Arc<B::Log>>,
    disk: MemoryDisk,
    models: Vec<Arc<MemoryLog>>,
    numbers: Numbers,
}

impl<'a, B: Bench> Pair<'a, B> {
    async fn new(bench: &'a B, seed: u64) -> Self {
        let disk = MemoryDisk::new();
        let (mut logs, mut models) = (Vec::new(), Vec::new());
        for _ in 0..HANDLES {
            logs.push(bench.open().await);
            models.push(Arc::new(disk.open()));
        }
        Self { bench, logs, disk, models, numbers: Numbers(seed) }
    }

    /// Begins all streams, as a run begins with its first work.
    async fn begin(&self) {
        for stream in some_streams(&mut Numbers(0)) {
            write(&*self.logs[0], one(stream, 0)).await;
            write(&*self.models[0], one(stream, 0)).await;
        }
    }

    fn one(&mut self) -> usize {
        self.numbers.below(HANDLES as u64) as usize
    }

    fn run(&mut self) -> RunId {
        run_id(u128::from(self.numbers.below(RUNS)))
    }

    async fn append(&mut self, what: &str) {
        let append = self.some_append().await;
        let which = self.one();
        let (found, right) =
            (self.logs[which].append(append.clone()).await, self.models[which].append(append).await);
        same(what, &outcome(found), &outcome(right));
    }

    async fn claim(&mut self, what: &str) {
        let (now, limit) = (Timestamp(self.numbers.below(12) as i64), self.numbers.below(3) as u32);
        let which = self.one();
        let (found, right) = (
            self.logs[which].claim(now, limit, None).await,
            self.models[which].claim(now, limit, None).await,
        );
        same(what, &found.map(sorted), &right.map(sorted));
    }

    async fn beat(&mut self, what: &str) {
        let which = self.one();
        let (found, right) = (self.logs[which].beat().await, self.models[which].beat().await);
        same(what, &found.map(sorted), &right.map(sorted));
    }

    /// Ends one process and starts another.
    async fn kill(&mut self) {
        let which = self.one();
        self.bench.kill(self.logs.remove(which)).await;
        drop(self.models.remove(which));
        self.logs.push(self.bench.open().await);
        self.models.push(Arc::new(self.disk.open()));
    }

    /// One process stops for longer than a lease while the others go on.
    async fn silence(&mut self, what: &str) {
        if !self.bench.outlast_leases().await {
            return;
        }
        self.disk.advance(LEASE_MS + 1);
        let silent = self.one();
        for which in (0..HANDLES).filter(|which| *which != silent) {
            let (found, right) = (self.logs[which].beat().await, self.models[which].beat().await);
            same(what, &found.map(sorted), &right.map(sorted));
        }
        let other = (silent + 1) % HANDLES;
        for which in [other, silent] {
            let (now, limit) = (Timestamp(20), 2);
            let (found, right) = (
                self.logs[which].claim(now, limit, None).await,
                self.models[which].claim(now, limit, None).await,
            );
            same(what, &found.map(sorted), &right.map(sorted));
            let (found, right) = (self.logs[which].beat().await, self.models[which].beat().await);
            same(what, &found.map(sorted), &right.map(sorted));
        }
    }

    async fn ask(&mut self, what: &str) {
        let query = some_query(&mut self.numbers);
        let which = self.one();
        let (found, right) =
            (self.logs[which].query(query.clone()).await, self.models[which].query(query.clone()).await);
        same(&format!("{what}, {query:?}"), &found, &right);
        let (after, limit) = (self.numbers.below(40), self.numbers.below(6) as u32);
        let (found, right) = (
            self.logs[which].read(run(1), Version(after), limit).await,
            self.models[which].read(run(1), Version(after), limit).await,
        );
        same(what, &found, &right);
        let (found, right) = (
            self.logs[which].read_all(Seq(after), limit).await,
            self.models[which].read_all(Seq(after), limit).await,
        );
        same(what, &found, &right);
    }

    /// An append that is often right and sometimes wrong in one way.
    async fn some_append(&mut self) -> Append {
        let mut streams = some_streams(&mut self.numbers);
        streams.truncate(1 + self.numbers.below(2) as usize);
        let mut rows = Vec::new();
        for stream in streams {
            let before = all_of(&*self.models[0], stream).await.pop().expect("the stream has begun");
            let first = before.last().0 + 1;
            let versions = first..=first + self.numbers.below(2);
            let changes = versions.map(|version| some_changes(&mut self.numbers, version)).collect();
            let mut row = row_of(stream, before.last().0 + 1, changes);
            row.prev = before.hash;
            row.session = session(u128::from(self.numbers.below(2)));
            row.at = Timestamp(1_000 + self.numbers.below(5) as i64);
            rows.push(row);
        }
        if self.numbers.below(6) == 0 {
            rows[0].first.0 += 1 + self.numbers.below(2);
        }
        let mut append = append(rows);
        if self.numbers.below(3) == 0 {
            let scope = Digest::of(&[self.numbers.below(20) as u8]);
            let (request, at) = (Digest::of(&[self.numbers.below(2) as u8]), append.rows[0].at);
            append.key = Some(Key { scope, request, at, reply: reply(&scope.0) });
        }
        if self.numbers.below(4) == 0 {
            append.fence = Some(Fence { run: self.run(), epoch: self.numbers.below(6) });
        }
        if self.numbers.below(2) == 0 {
            let due = (self.numbers.below(4) > 0).then(|| Timestamp(self.numbers.below(15) as i64));
            append.work.push(WorkChange { run: self.run(), due, take: self.numbers.below(2) == 0 });
        }
        append
    }
}

fn some_streams(numbers: &mut Numbers) -> Vec<StreamId> {
    let mut streams = vec![run(0), run(1), run(2), pipeline(1), StreamId::Home];
    let shift = numbers.below(streams.len() as u64) as usize;
    streams.rotate_left(shift);
    streams
}

fn some_query(numbers: &mut Numbers) -> Query {
    let table = [Table::Execution, Table::Interaction][numbers.below(2) as usize];
    let stream = some_streams(numbers)[0];
    let limit = numbers.below(8) as u32;
    let before = (numbers.below(2) == 0).then(|| Seq(numbers.below(200)));
    match numbers.below(5) {
        0 => Query::Of { table, stream, after: Some(numbers.below(4) as u32), limit },
        1 => Query::List { table, by: None, before, limit },
        2 => Query::Events { filter: some_filter(numbers), before, limit },
        3 => Query::Reply(Digest::of(&[numbers.below(20) as u8])),
        _ => Query::Streams { after: None, limit },
    }
}

fn some_filter(numbers: &mut Numbers) -> EventFilter {
    let mut maybe = |bound: u64| Some(numbers.below(2 * bound)).filter(|n| *n < bound);
    EventFilter {
        kinds: maybe(1).map(|_| "happened").into_iter().collect(),
        session: maybe(2).map(|n| session(u128::from(n))),
        stream: maybe(3).map(|n| run(u128::from(n))),
        since: maybe(5).map(|n| Timestamp(1_000 + n as i64)),
        until: maybe(5).map(|n| Timestamp(1_000 + n as i64)),
        actor: maybe(1).map(|_| "ada".to_owned()),
        after: Seq(maybe(40).unwrap_or(0)),
    }
}

fn same<T: PartialEq + Debug>(what: &str, found: &T, right: &T) {
    assert_eq!(found, right, "{what}: the store (left) differs from the model (right)");
}

fn sorted<T: Ord>(mut leases: Vec<T>) -> Vec<T> {
    leases.sort_unstable();
    leases
}

/// What two stores must agree on.
fn outcome(answer: Result<Receipt, Refused>) -> Result<Receipt, String> {
    answer.map_err(|refused| match refused {
        Refused::Replayed(Receipt { first, last, .. }) => format!("replayed from {first:?} to {last:?}"),
        other => other.to_string(),
    })
}
