//! Following the log: commits of this process as they happen, those of others as the log shows them.
//!
//! One task at a time writes; what piled up meanwhile is written once. A process that only submits starts the
//! task with a commit, and it ends when it has caught up; a long-running one keeps it going.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use holdpoint_core::{PipelineId, Seq, SessionId, State, StreamId};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::apply::How;
use super::cursor::{Cursor, boot};
use super::place::{blocking, on_one_thread};
use super::sync::{Part, Synced};
use super::{Touched, Tree, TreeError};
use crate::{Engine, SubmitError};

/// How many commits of this process are remembered; beyond that the log is read.
const MAX_OWN: usize = 4_096;
/// How many rows are read at once.
const PAGE: u32 = 500;
/// How many sessions are remembered as pipelines or not.
const MAX_KNOWN: usize = 10_000;
/// How soon what could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// How often the disk is told to keep everything.
const KEEP: Duration = Duration::from_mins(1);
/// How long the last look may take when an engine stops.
const LAST: Duration = Duration::from_secs(3);

/// How far the tree of this process is.
pub(crate) struct Follow {
    own: Mutex<BTreeMap<u64, Own>>,
    /// Up to which position everything is written, or is in `behind`.
    done: watch::Sender<Seq>,
    /// What could not be written, and from which position on.
    behind: Mutex<BTreeMap<PipelineId, (Seq, Part)>>,
    wake: Notify,
    /// Whether a task is catching up.
    running: AtomicBool,
    /// Held by whoever writes.
    turn: tokio::sync::Mutex<Turn>,
    begun: AtomicBool,
}

/// A commit of this process.
struct Own {
    last: u64,
    touched: Vec<Touched>,
}

/// What the writer remembers.
#[derive(Default)]
struct Turn {
    cursor: Option<Cursor>,
    /// Up to this position content is compared, because the machine went down.
    hash_until: Seq,
    pipelines: HashMap<SessionId, bool>,
}

impl Default for Follow {
    fn default() -> Self {
        Self {
            own: Mutex::default(),
            done: watch::Sender::new(Seq(0)),
            behind: Mutex::default(),
            wake: Notify::new(),
            running: AtomicBool::new(false),
            turn: tokio::sync::Mutex::default(),
            begun: AtomicBool::new(false),
        }
    }
}

impl Tree {
    /// After a commit: what it touched is written soon.
    pub(crate) fn committed(&self, engine: &Engine, first: Seq, last: Seq, touched: Vec<Touched>) {
        let follow = &self.follow;
        let untouched = touched.is_empty();
        {
            let mut own = follow.own.lock().unwrap_or_else(PoisonError::into_inner);
            if own.len() < MAX_OWN {
                own.insert(first.0, Own { last: last.0, touched });
            }
        }
        // Nothing to write, and nothing before it: the position just moves on.
        if untouched && follow.begun.load(Ordering::Acquire) && follow.skip(first, last) {
            return;
        }
        self.nudge(engine);
    }

    /// Makes sure that somebody catches up.
    fn nudge(&self, engine: &Engine) {
        if self.follow.running.swap(true, Ordering::AcqRel) {
            self.follow.wake.notify_one();
        } else {
            tokio::spawn(catch_up_once(engine.clone()));
        }
    }
}

impl Follow {
    fn skip(&self, first: Seq, last: Seq) -> bool {
        let moved = self.done.send_if_modified(|done| {
            let next = done.0 + 1 == first.0;
            if next {
                *done = last;
            }
            next
        });
        if moved {
            self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(&first.0);
        }
        moved
    }

    /// The commits of this process that follow without a gap.
    fn take_own(&self) -> Option<(Seq, Vec<Touched>)> {
        let done = self.done.borrow().0;
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        while own.first_key_value().is_some_and(|(first, _)| *first <= done) {
            own.pop_first();
        }
        let (mut last, mut touched) = (done, Vec::new());
        while let Some(next) = own.remove(&(last + 1)) {
            last = next.last;
            touched.extend(next.touched);
        }
        (last > done).then_some((Seq(last), touched))
    }

    fn behind(&self) -> std::sync::MutexGuard<'_, BTreeMap<PipelineId, (Seq, Part)>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Catches up, and ends.
async fn catch_up_once(engine: Engine) {
    let Some(tree) = engine.tree() else { return };
    loop {
        engine.catch_up(tree).await;
        engine.save_cursor(tree, false).await;
        tree.follow.running.store(false, Ordering::Release);
        let more = !tree.follow.own.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        if !more || tree.follow.running.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}

impl Engine {
    /// Waits until the files of pipelines show everything up to a position of the log; false if they do not
    /// within the given time. Without files there is nothing to wait for.
    pub async fn files_settled(&self, upto: Seq, patience: Duration) -> bool {
        let Some(tree) = self.tree() else { return true };
        let mut done = tree.follow.done.subscribe();
        if *done.borrow() < upto || !tree.follow.begun.load(Ordering::Acquire) {
            tree.nudge(self);
            if tokio::time::timeout(patience, done.wait_for(|done| *done >= upto)).await.is_err() {
                return false;
            }
        }
        tree.follow.behind().is_empty()
    }

    /// Keeps the tree like the log until told to stop; begins with a look at everything.
    pub(crate) async fn keep_files(&self, stop: CancellationToken) {
        let Some(tree) = self.tree() else { return };
        let checking = {
            let engine = self.clone();
            let check = super::CheckFiles { repair: true, deep: false };
            tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
                if let Err(error) = engine.check_files(check).await {
                    tracing::warn!(%error, "the files of pipelines could not be looked at");
                }
            }))
        };
        // From here on nobody else needs to be started.
        tree.follow.running.store(true, Ordering::Release);
        let mut head = self.log().head();
        let mut kept = tokio::time::Instant::now();
        while !stop.is_cancelled() && !self.is_halted() {
            head.mark_unchanged();
            self.catch_up(tree).await;
            let keep = kept.elapsed() >= KEEP;
            if keep {
                kept = tokio::time::Instant::now();
            }
            self.save_cursor(tree, keep).await;
            let again = async {
                if tree.follow.behind().is_empty() {
                    tokio::time::sleep(KEEP).await;
                } else {
                    tokio::time::sleep(AGAIN).await;
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = tree.follow.wake.notified() => {}
                changed = head.changed() => if changed.is_err() { break },
                () = again => {}
            }
        }
        let _ = checking.await;
        if tokio::time::timeout(LAST, self.catch_up(tree)).await.is_err() {
            tracing::warn!("the files of pipelines are behind; the next start writes them");
        }
        self.save_cursor(tree, true).await;
        tree.follow.running.store(false, Ordering::Release);
    }

    /// Writes everything that the log has by now.
    async fn catch_up(&self, tree: &Tree) {
        let mut turn = tree.follow.turn.lock().await;
        if let Err(error) = self.catch_up_now(tree, &mut turn).await {
            tracing::warn!(%error, "the files of pipelines are behind");
        }
    }

    async fn catch_up_now(&self, tree: &Tree, turn: &mut Turn) -> Result<(), TreeError> {
        begin(tree, turn).await?;
        self.try_again(tree).await;
        while let Some((upto, touched)) = self.next(tree, turn).await? {
            let hash = *tree.follow.done.borrow() < turn.hash_until;
            for (pipeline, mut part) in gather(touched) {
                part.again = hash;
                self.write(tree, pipeline, part, How { hash, dry: false }).await;
            }
            tree.follow.done.send_if_modified(|done| {
                let moves = upto > *done;
                *done = upto.max(*done);
                moves
            });
        }
        Ok(())
    }

    async fn write(&self, tree: &Tree, pipeline: PipelineId, part: Part, how: How) {
        let again = Part { again: true, ..part.clone() };
        let engine = self.clone();
        let synced = on_one_thread(async move {
            let Some(tree) = engine.tree() else { return Ok(Synced::default()) };
            engine.sync(tree, pipeline, part, how).await
        });
        let failed = match synced.await.map_err(TreeError::from).flatten() {
            Ok(synced) => synced.failed.then(|| synced.behind.join("; ")),
            Err(error) => Some(error.to_string()),
        };
        let mut behind = tree.follow.behind();
        if let Some(error) = failed {
            tracing::warn!(%pipeline, %error, "the files of a pipeline are behind");
            let from = *tree.follow.done.borrow();
            let entry = behind.entry(pipeline).or_insert_with(|| (from, Part::default()));
            entry.1.pipeline |= again.pipeline;
            entry.1.runs.extend(again.runs);
            entry.1.again = true;
        }
    }

    async fn try_again(&self, tree: &Tree) {
        let behind = std::mem::take(&mut *tree.follow.behind());
        for (pipeline, (from, part)) in behind {
            self.write(tree, pipeline, part, How::WRITE).await;
            if let Some(entry) = tree.follow.behind().get_mut(&pipeline) {
                entry.0 = from;
            }
        }
    }

    /// What comes next in the log, and up to where.
    async fn next(&self, tree: &Tree, turn: &mut Turn) -> Result<Option<(Seq, Vec<Touched>)>, TreeError> {
        if let Some(own) = tree.follow.take_own() {
            return Ok(Some(own));
        }
        let done = *tree.follow.done.borrow();
        if *self.log().head().borrow() <= done {
            return Ok(None);
        }
        self.after(done, turn).await
    }

    /// What the next rows after a position touch, and up to where.
    async fn after(&self, done: Seq, turn: &mut Turn) -> Result<Option<(Seq, Vec<Touched>)>, TreeError> {
        let rows = self.log().read_all(done, PAGE).await.map_err(SubmitError::from)?;
        let Some(last) = rows.last() else { return Ok(None) };
        let mut touched = BTreeSet::new();
        for row in &rows {
            let run = match row.stream {
                StreamId::Run(run) => Some(run),
                StreamId::Pipeline(_) => None,
                StreamId::Home | StreamId::Journal(_) => continue,
            };
            if self.is_pipeline(row.session, turn).await? {
                touched.insert(Touched { pipeline: PipelineId(row.session.0), run });
            }
        }
        Ok(Some((last.last_seq(), touched.into_iter().collect())))
    }

    async fn is_pipeline(&self, session: SessionId, turn: &mut Turn) -> Result<bool, SubmitError> {
        if let Some(known) = turn.pipelines.get(&session) {
            return Ok(*known);
        }
        let loaded = self.view(StreamId::Pipeline(PipelineId(session.0))).await?;
        let is = matches!(&loaded.state, State::Pipeline(state) if state.created_at.is_some());
        if turn.pipelines.len() >= MAX_KNOWN {
            turn.pipelines.clear();
        }
        turn.pipelines.insert(session, is);
        Ok(is)
    }

    /// What was touched since the position up to which the tree is known to be written.
    pub(super) async fn late(&self, tree: &Tree) -> Result<BTreeMap<PipelineId, Part>, TreeError> {
        let base = tree.base()?;
        let mut from = blocking(move || Cursor::load(&base)).await?.position;
        let (mut turn, mut all) = (Turn::default(), BTreeSet::new());
        while let Some((upto, touched)) = self.after(from, &mut turn).await? {
            all.extend(touched);
            from = upto;
        }
        Ok(gather(all))
    }

    async fn save_cursor(&self, tree: &Tree, keep: bool) {
        let mut turn = tree.follow.turn.lock().await;
        let Some(saved) = turn.cursor.clone() else { return };
        let oldest = tree.follow.behind().values().map(|(from, _)| *from).min();
        let done = *tree.follow.done.borrow();
        let position = oldest.map_or(done, |oldest| oldest.min(done));
        let kept = if keep { position } else { saved.kept.min(position) };
        let cursor = Cursor { position, kept, boot: boot() };
        if cursor == saved {
            return;
        }
        let Ok(base) = tree.base() else { return };
        let next = cursor.clone();
        let written = blocking(move || {
            if keep {
                base.sync_all()?;
            }
            next.save(&base)
        });
        match written.await {
            Ok(()) => turn.cursor = Some(cursor),
            Err(error) => tracing::warn!(%error, "the position of the files could not be saved"),
        }
    }
}

/// Begins where the last process ended.
async fn begin(tree: &Tree, turn: &mut Turn) -> Result<(), TreeError> {
    if turn.cursor.is_some() {
        return Ok(());
    }
    let base = tree.base()?;
    let cursor = blocking(move || Cursor::load(&base)).await?;
    let mut from = cursor.position;
    if !cursor.boot.is_empty() && cursor.boot != boot() {
        (from, turn.hash_until) = (cursor.kept.min(from), from);
    }
    tree.follow.done.send_if_modified(|done| {
        *done = from.max(*done);
        true
    });
    turn.cursor = Some(cursor);
    tree.follow.begun.store(true, Ordering::Release);
    Ok(())
}

fn gather(touched: impl IntoIterator<Item = Touched>) -> BTreeMap<PipelineId, Part> {
    let mut parts: BTreeMap<PipelineId, Part> = BTreeMap::new();
    for Touched { pipeline, run } in touched {
        let part = parts.entry(pipeline).or_default();
        match run {
            Some(run) => drop(part.runs.insert(run)),
            None => part.pipeline = true,
        }
    }
    parts
}
