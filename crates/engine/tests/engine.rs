//! The engine on the in-memory store: commands, work, timers, other processes, live streams.

#[allow(dead_code)] // each test uses a part of it
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{Home, Never, chain, start_plan};
use futures_util::StreamExt;
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::RunEvent;
use holdpoint_core::plan::body::OnFailure;
use holdpoint_core::state::run::RunStatus;
use holdpoint_core::{Actor, Command, Event, RunCommand, Seq, State, StreamId, Version};
use holdpoint_engine::executor::{BuiltIn, Executor, Job};
use holdpoint_engine::{Filter, IdemKey, SubmitError, audit, doctor};
use holdpoint_store::{BoxFuture, EventLog, StoreError};
use tokio_util::sync::CancellationToken;

fn ann() -> Actor {
    Actor::person("ann")
}

#[tokio::test(start_paused = true)]
async fn a_plan_runs_to_its_end() {
    let home = Home::new();
    let engine = home.engine();
    let (command, run) = start_plan(chain(20));
    engine.submit(ann(), None, command).await.expect("started");
    home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
    let loaded = engine.run(run).await.expect("read").expect("a run");
    let State::Run(state) = &loaded.state else { panic!("a run") };
    assert_eq!(state.completed, 20);
    assert!(state.owed.is_empty());
    // One commit per step, and one for the start.
    assert_eq!(home.disk.head(), Seq(loaded.version.0));
}

#[tokio::test(start_paused = true)]
async fn tables_and_chain_agree_with_the_log() {
    let home = Home::new();
    let engine = home.engine();
    for _ in 0..3 {
        let (command, run) = start_plan(chain(5));
        engine.submit(ann(), None, command).await.expect("started");
        home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
    }
    assert!(engine.seal().await.expect("sealed"));
    assert!(!engine.seal().await.expect("nothing moved"));
    let log = home.open();
    let tables = doctor::check_tables(&*log, false, &|_| {}).await.expect("checked");
    assert_eq!(tables.wrong, Vec::<String>::new());
    assert_eq!(tables.streams, 4);
    let report = audit::verify(&*log, &|_| {}).await.expect("verified");
    assert_eq!(report.wrong, Vec::<String>::new());
    assert_eq!(report.seals, 1);
}

#[tokio::test(start_paused = true)]
async fn seals_of_several_processes_cover_the_log_once() {
    let home = Home::new();
    let (one, two) = (home.engine(), home.engine());
    for _ in 0..10 {
        let (command, run) = start_plan(chain(3));
        let (by_one, by_two, started) =
            tokio::join!(one.seal(), two.seal(), one.submit(ann(), None, command));
        by_one.expect("sealed, or in effect");
        by_two.expect("sealed, or in effect");
        started.expect("started");
        home.until(&one, run, |state| state.status == RunStatus::Completed).await;
    }
    let report = audit::verify(&*home.open(), &|_| {}).await.expect("verified");
    assert_eq!(report.wrong, Vec::<String>::new());
    assert!(report.seals > 0);
}

#[tokio::test(start_paused = true)]
async fn the_same_request_is_carried_out_once() {
    let home = Home::new();
    let engine = home.engine();
    let (command, run) = start_plan(chain(1));
    let key = |word: &str| {
        let request = holdpoint_core::Digest::of(word.as_bytes());
        Some(IdemKey { key: "k1".to_owned(), request, operation: "start_run".into() })
    };
    let first = engine.submit(ann(), key("a"), command.clone()).await.expect("started");
    let again = engine.submit(ann(), key("a"), command.clone()).await.expect("answered again");
    assert!(again.replayed);
    assert_eq!(again.receipt.map(|r| r.first), first.receipt.map(|r| r.first));
    assert_eq!(again.names.run, Some(run));
    let other = engine.submit(ann(), key("b"), command).await;
    assert!(matches!(other, Err(SubmitError::KeyReused)), "{other:?}");
}

#[tokio::test(start_paused = true)]
async fn what_another_process_wrote_is_seen_before_a_refusal() {
    let home = Home::new();
    let (one, two) = (home.idle_engine(), home.idle_engine());
    let (command, run) = start_plan(chain(2));
    one.submit(ann(), None, command).await.expect("started");
    two.run(run).await.expect("read").expect("cached in the other process");
    one.submit(ann(), None, Command::Run(run, RunCommand::Pause)).await.expect("pause asked for");
    let resumed = two
        .submit(ann(), None, Command::Run(run, RunCommand::Resume { decides: false, max: None }))
        .await
        .expect("resumed");
    assert!(resumed.receipt.is_some(), "the other process saw the request to pause");
}

#[tokio::test(start_paused = true)]
async fn a_live_stream_replays_and_then_follows() {
    let home = Home::new();
    let engine = home.engine();
    let (command, run) = start_plan(chain(3));
    engine.submit(ann(), None, command).await.expect("started");
    let mut seen = engine.subscribe(Seq(0), Filter { stream: Some(StreamId::Run(run)), session: None });
    let mut last = 0;
    loop {
        let recorded = seen.next().await.expect("goes on").expect("readable");
        assert_eq!(recorded.version.0, last + 1);
        last = recorded.version.0;
        if matches!(recorded.event, Event::Run(RunEvent::Completed {})) {
            break;
        }
    }
    let mut rest = engine.subscribe(Seq(2), Filter::default());
    assert_eq!(rest.next().await.expect("goes on").expect("readable").seq, Seq(3));
}

#[tokio::test(start_paused = true)]
async fn what_is_new_is_read_once_for_everybody_who_follows() {
    const COMMITS: u64 = 20;
    let home = Home::new();
    let (engine, other) = (home.idle_engine(), home.idle_engine());
    let (command, run) = start_plan(chain(2));
    engine.submit(ann(), None, command).await.expect("started");
    let head = engine.log_head();
    let mut live: Vec<_> = (0..256).map(|_| engine.follow(head, Filter::default())).collect();
    let mut read = 0;
    for n in 0..COMMITS {
        let command =
            if n % 2 == 0 { RunCommand::Pause } else { RunCommand::Resume { decides: true, max: None } };
        other.submit(ann(), None, Command::Run(run, command)).await.expect("done");
        let before = home.disk.reads();
        let each = live.iter_mut().map(async |follow| {
            let followed = follow.next().await.expect("goes on").expect("readable");
            let document = followed.document(&engine).await.expect("readable");
            document.expect("people see it").seq
        });
        let seen = futures_util::future::join_all(each).await;
        assert_eq!(seen, vec![head.0 + n + 1; 256], "everybody hears of it");
        read += home.disk.reads() - before;
    }
    assert!(read <= 2 * COMMITS, "the log was read {read} times in {COMMITS} commits");
    // Who comes late misses nothing.
    let all = engine.follow(Seq(0), Filter::default()).take((head.0 + COMMITS) as usize);
    let all: Vec<u64> = all.map(|followed| followed.expect("readable").recorded.seq.0).collect().await;
    assert_eq!(all, (1..=head.0 + COMMITS).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn work_of_a_dead_process_is_taken_over() {
    let home = Home::new();
    let stuck = home.engine_with(Arc::new(common::Never));
    let (command, run) = start_plan(chain(2));
    stuck.submit(ann(), None, command).await.expect("started");
    home.kill(&stuck);
    let engine = home.engine();
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.run_until(stop).await }
    });
    home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
    stop.cancel();
    assert!(running.await.expect("no panic").clean);
    let rows = home.open().read(StreamId::Run(run), holdpoint_core::Version(0), 100).await.expect("read");
    assert!(rows.iter().any(|row| row.shape.contains("restarted")), "people can see that it began again");
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_tried_again_when_its_time_has_come() {
    let home = Home::new();
    let engine = home.engine_with(Arc::new(common::FailsFirst::default()));
    let (command, run) = start_plan(common::retried(1));
    engine.submit(ann(), None, command).await.expect("started");
    home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
    let loaded = engine.run(run).await.expect("read").expect("a run");
    let State::Run(state) = &loaded.state else { panic!("a run") };
    assert_eq!(state.executions().map(|(_, e)| e.attempt).collect::<Vec<_>>(), [2]);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_request_is_answered_as_the_first_time() {
    let home = Home::new();
    let engine = home.idle_engine();
    let key = |word: &str| {
        let request = holdpoint_core::Digest::of(word.as_bytes());
        Some(IdemKey { key: word.to_owned(), request, operation: "test".into() })
    };
    let (start, run) = start_plan(chain(2));
    let cancel = Command::Run(run, RunCommand::Cancel(holdpoint_core::ExecNo(1)));
    let retry = Command::Run(
        run,
        RunCommand::Answer(holdpoint_core::Answer::of(
            holdpoint_core::ExecNo(1),
            holdpoint_core::state::run::AskKind::Failed,
            "retry",
        )),
    );
    let commands = [("start", start), ("cancel", cancel), ("retry", retry)];
    let mut answers = Vec::new();
    for (word, command) in &commands {
        answers.push(engine.submit(ann(), key(word), command.clone()).await.expect("done").names);
    }
    let other = home.idle_engine();
    for ((word, command), first) in commands.into_iter().zip(answers) {
        let again = other.submit(ann(), key(word), command).await.expect("answered again");
        assert!(again.replayed);
        assert_eq!(again.names, first, "{word}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_repeated_request_names_anew_keeps_its_first_name() {
    let home = Home::new();
    let engine = home.idle_engine();
    let key = || {
        let request = holdpoint_core::Digest::of(b"start");
        Some(IdemKey { key: "k".to_owned(), request, operation: "start".into() })
    };
    let ((first, run), (again, _)) = (start_plan(chain(1)), start_plan(chain(1)));
    engine.submit(ann(), key(), first).await.expect("started");
    let again = engine.submit(ann(), key(), again).await.expect("answered again");
    assert_eq!((again.replayed, again.names.run), (true, Some(run)));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_seen_before_is_taken_over_as_it_is_now() {
    let home = Home::new();
    let (second, first) = (home.engine(), home.engine_with(Arc::new(common::Never)));
    let (mut command, run) = start_plan(chain(2));
    if let Command::StartRun(start) = &mut command {
        start.start = false;
    }
    first.submit(ann(), None, command).await.expect("made");
    second.run(run).await.expect("read").expect("seen while nothing was owed");
    first.submit(ann(), None, Command::Run(run, RunCommand::Begin)).await.expect("started");
    home.kill(&first);
    let running = tokio::spawn({
        let engine = second.clone();
        async move { engine.run_until(CancellationToken::new()).await }
    });
    let done = home.until(&second, run, |state| state.status == RunStatus::Completed);
    tokio::time::timeout(std::time::Duration::from_mins(1), done).await.expect("taken over and done");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn work_that_another_process_ended_is_stopped() {
    let home = Home::new();
    let executor = Arc::new(common::Held::default());
    let engine = home.engine_with(executor.clone());
    let running = tokio::spawn({
        let engine = engine.clone();
        async move { engine.run_until(CancellationToken::new()).await }
    });
    let (command, run) = start_plan(chain(1));
    engine.submit(ann(), None, command).await.expect("started");
    let begun = async {
        while !executor.is_held() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(1), begun).await.expect("begun");
    let other = home.idle_engine();
    other.submit(ann(), None, Command::Run(run, RunCommand::Abort(None))).await.expect("ended");
    let stopped = executor.stopped();
    tokio::time::timeout(std::time::Duration::from_secs(1), stopped).await.expect("stopped");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn owed_work_is_claimed_although_the_clock_was_set_back() {
    let home = Home::new();
    let stuck = home.engine_with(Arc::new(common::Never));
    let (command, run) = start_plan(chain(1));
    stuck.submit(ann(), None, command).await.expect("started");
    home.kill(&stuck);
    home.set_back(24 * 3_600);
    let engine = home.engine();
    let running = tokio::spawn({
        let engine = engine.clone();
        async move { engine.run_until(CancellationToken::new()).await }
    });
    let done = home.until(&engine, run, |state| state.status == RunStatus::Completed);
    tokio::time::timeout(std::time::Duration::from_mins(1), done).await.expect("taken over and done");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn a_long_run_leaves_a_fold_that_says_the_same_as_its_events() {
    let home = Home::new();
    let engine = home.engine();
    let (command, run) = start_plan(chain(1_000));
    engine.submit(ann(), None, command).await.expect("started");
    home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
    let log = home.open();
    let fold = saved_fold(&*log, StreamId::Run(run)).await;
    assert!(fold.version.0 > 100);
    let loaded = home.engine().run(run).await.expect("read").expect("a run");
    let State::Run(fresh) = &loaded.state else { panic!("a run") };
    let rows = log.read(StreamId::Run(run), holdpoint_core::Version(0), 10_000).await.expect("read");
    let mut state = State::empty(StreamId::Run(run));
    for row in &rows {
        let stamp = holdpoint_core::Stamp { at: row.at, actor: &row.actor, command: row.command };
        for event in holdpoint_core::event::decode(row.stream.kind(), &row.bytes).expect("events") {
            holdpoint_core::evolve(&mut state, &stamp, &event);
        }
    }
    assert_eq!(state, State::Run(fresh.clone()));
}

/// Folds are saved off the way of the commit, so the last of them may still be on its way.
async fn saved_fold(log: &dyn EventLog, stream: StreamId) -> holdpoint_store::SavedFold {
    for _ in 0..10_000 {
        if let Some(fold) = log.fold(stream).await.expect("read") {
            return fold;
        }
        tokio::task::spawn_blocking(std::thread::yield_now).await.expect("no panic");
    }
    panic!("no fold was saved on the way")
}

#[tokio::test(start_paused = true)]
async fn bytes_of_any_size_are_kept_before_a_command_names_them() {
    let home = Home::new();
    let engine = home.idle_engine();
    for size in [0, 1, 100, holdpoint_store::SMALL_BLOB, holdpoint_store::SMALL_BLOB + 1, 200_000] {
        let bytes = vec![7u8; size];
        let kept = engine.keep(Box::new(std::io::Cursor::new(bytes.clone())), 1 << 20).await.expect("kept");
        assert_eq!(kept, (holdpoint_core::Digest::of(&bytes), size as u64));
        let mut read = Vec::new();
        let other = home.open();
        let mut reader = holdpoint_store::BlobStore::get(&other.blobs(), kept.0).await.expect("there");
        tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut read).await.expect("whole");
        assert_eq!(read, bytes);
    }
    let long = engine.keep(Box::new(std::io::Cursor::new(vec![0u8; 11])), 10).await;
    assert!(matches!(long, Err(SubmitError::Blob(_))), "{long:?}");
}

/// A changed bit often leaves JSON that can be read and says something else.
#[tokio::test(start_paused = true)]
async fn a_flipped_bit_stops_its_stream_and_no_other() {
    let home = Home::new();
    let engine = home.engine();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let (command, run) = start_plan(chain(3));
        engine.submit(ann(), None, command).await.expect("started");
        home.until(&engine, run, |state| state.status == RunStatus::Completed).await;
        runs.push(StreamId::Run(run));
    }
    let (hurt, whole) = (runs[0], runs[1]);
    let rows = home.open().read(hurt, Version(0), 100).await.expect("read");
    let of_row = |row: &holdpoint_store::Row| (row.first.0 - 1, row.bytes.len() * 8);
    for (after, bits) in rows.iter().map(of_row) {
        for bit in (0..bits).step_by(7) {
            assert!(home.disk.damage_row(hurt, Version(after), bit));
            let reader = home.idle_engine();
            let refused = reader.view(hurt).await.expect_err("nothing is served");
            assert_eq!(refused.code(), "log_corrupt", "bit {bit} after version {after}");
            assert!(refused.to_string().contains(&hurt.to_string()), "{refused}");
            assert_eq!(reader.damaged().into_iter().collect::<Vec<_>>(), [hurt]);
            assert!(reader.view(whole).await.is_ok(), "everything else works");
            assert!(home.disk.damage_row(hurt, Version(after), bit), "and is as it was again");
        }
    }
    assert!(home.disk.damage_row(hurt, Version(0), 100));
    let reader = home.idle_engine();
    let StreamId::Run(run) = hurt else { panic!("a run") };
    let paused = reader.submit(ann(), None, Command::Run(run, RunCommand::Pause)).await;
    assert_eq!(paused.expect_err("nothing is written").code(), "log_corrupt");
    let mut events = reader.subscribe(Seq(0), Filter { stream: Some(hurt), session: None });
    assert!(
        matches!(events.next().await, Some(Err(StoreError::LogCorrupt { stream, .. })) if stream == hurt)
    );
    assert!(events.next().await.is_none(), "and nothing comes after it");
    let listed = reader.gc(true).await.expect_err("what cannot be read may name anything");
    assert!(listed.to_string().contains("damaged"), "{listed}");
}

/// Counts how much work is done at once, and takes an hour for each.
#[derive(Default)]
struct Slow {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// An executor that others can ask.
struct Counted(Arc<Slow>);

impl Executor for Counted {
    fn run(&self, job: Job) -> BoxFuture<'static, Outcome> {
        let slow = self.0.clone();
        Box::pin(async move {
            let now = slow.now.fetch_add(1, Ordering::SeqCst) + 1;
            slow.most.fetch_max(now, Ordering::SeqCst);
            // tidy: sleep, because the paused clock moves on by itself
            tokio::time::sleep(Duration::from_hours(1)).await;
            slow.now.fetch_sub(1, Ordering::SeqCst);
            BuiltIn.run(job).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_slot_does_not_count_against_an_attempt() {
    let home = Home::new();
    home.max_parallel.store(2, Ordering::Relaxed);
    let slow = Arc::new(Slow::default());
    let engine = home.engine_with(Arc::new(Counted(slow.clone())));
    let mut runs = Vec::new();
    for _ in 0..7 {
        let mut plan = chain(1);
        for body in plan.bodies.values_mut() {
            Arc::make_mut(body).policy.timeout = Some((5_400, OnFailure::Pause));
        }
        let (command, run) = start_plan(plan);
        engine.submit(ann(), None, command).await.expect("started");
        runs.push(run);
    }
    for run in runs {
        home.until(&engine, run, |state| !state.status.is_active() || state.failed > 0).await;
        let loaded = engine.run(run).await.expect("read").expect("a run");
        let State::Run(state) = &loaded.state else { panic!("a run") };
        assert_eq!((state.status, state.failed), (RunStatus::Completed, 0), "an hour of an hour and a half");
    }
    assert_eq!(slow.most.load(Ordering::SeqCst), 2, "two slots");
}

#[tokio::test(start_paused = true)]
async fn work_that_has_its_slot_is_stopped_when_its_time_is_up() {
    let home = Home::new();
    home.max_parallel.store(1, Ordering::Relaxed);
    let engine = home.engine_with(Arc::new(Counted(Arc::default())));
    let start = |seconds| {
        let mut plan = chain(1);
        for body in plan.bodies.values_mut() {
            Arc::make_mut(body).policy.timeout = Some((seconds, OnFailure::Pause));
        }
        start_plan(plan)
    };
    let begun = engine.now();
    let (first, second) = (start(7_200), start(1_800));
    engine.submit(ann(), None, first.0).await.expect("started");
    home.until(&engine, first.1, |state| !state.owed.is_empty()).await;
    engine.submit(ann(), None, second.0).await.expect("started");
    home.until(&engine, second.1, |state| state.failed == 1).await;
    let minutes = (engine.now().0 - begun.0) / 60_000_000;
    assert_eq!(minutes, 90, "an hour for the first, then half an hour of its own");
}

#[tokio::test(start_paused = true)]
async fn a_process_claims_no_more_than_it_has_slots_for() {
    let home = Home::new();
    let idle = home.idle_engine();
    for _ in 0..5 {
        idle.submit(ann(), None, start_plan(chain(1)).0).await.expect("started");
    }
    home.max_parallel.store(2, Ordering::Relaxed);
    let busy = home.engine_with(Arc::new(Never));
    let stop = CancellationToken::new();
    let working = tokio::spawn({
        let (busy, stop) = (busy.clone(), stop.clone());
        async move { busy.run_until(stop).await }
    });
    // tidy: sleep, because the paused clock moves on by itself
    tokio::time::sleep(Duration::from_secs(3)).await;
    let left = home.open().claim(idle.now(), 100, None).await.expect("claimed");
    assert_eq!(left.len(), 3, "another process can do what this one has no slot for");
    busy.abandon();
    stop.cancel();
    working.await.expect("ended");
}
