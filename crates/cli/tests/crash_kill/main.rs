//! Kills the real binary under load, again and again, and checks after every death that nothing that was
//! acknowledged is lost and that nothing happened twice.
//!
//! `HOLDPOINT_KILLS` says how often. What a cycle does comes from a seed, which a failure prints; when exactly
//! the process dies does not, so a failure may need several runs to come again. Its home is kept.
//! `HOLDPOINT_KILL_SEED` gives the seed, `HOLDPOINT_KILL_BINARY` another binary, such as an optimised one.

mod check;
mod child;
mod files;
#[path = "../../src/load/numbers.rs"]
mod numbers;
mod seen;

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use check::Checker;
use child::{Load, Start, Told};
use holdpoint_store::EventLog as _;
use holdpoint_store_sqlite::SqliteLog;
use numbers::Numbers;
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// How many cycles a home lasts, so that checks stay quick.
const CYCLES_PER_HOME: u64 = 30;
/// How many cycles lie between two checks of everything.
const CYCLES_PER_CHECK: u64 = 5;
/// The most that anything here may take before it counts as stuck.
const LONG: Duration = Duration::from_secs(30);
/// How long a stopped process keeps its work, where processes are stopped.
const LEASE_MS: u64 = 120;
/// How many commands the last process on a home sends before it only works.
const LAST_REQUESTS: u64 = 80;

#[derive(Debug, Default)]
struct Counts {
    cycles: u64,
    processes: u64,
    acknowledged: usize,
    refused: usize,
    stops: u64,
    /// Stops during which the other process took work over.
    takeovers: usize,
    homes: u64,
}

struct Harness {
    seed: u64,
    numbers: Numbers,
    folder: TempDir,
    runtime: Runtime,
    checker: Checker,
    counts: Counts,
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was proven is worth reading")]
fn crash_kill_loses_and_doubles_nothing() {
    let cycles = number("HOLDPOINT_KILLS").unwrap_or(40);
    let mut harness = Harness::new(seed());
    let begin = Instant::now();
    for cycle in 0..cycles {
        let last = cycle + 1 == cycles || (cycle + 1) % CYCLES_PER_HOME == 0;
        if let Err(what) = harness.cycle(last) {
            harness.fail(&what);
        }
    }
    eprintln!("seed {}: {:?} in {:?}", harness.seed, harness.counts, begin.elapsed());
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was proven is worth reading")]
fn crash_stopped_for_longer_than_its_lease_it_settles_nothing() {
    let stops = number("HOLDPOINT_KILLS").unwrap_or(40).div_ceil(20).max(5);
    let mut harness = Harness::new(seed());
    for stop in 0..stops {
        let told = harness.stop_one_of_two();
        if let Err(what) = harness.after(&told, stop + 1 == stops) {
            harness.fail(&what);
        }
    }
    eprintln!("seed {}: {:?}", harness.seed, harness.counts);
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was proven is worth reading")]
fn crash_files_agree_with_the_log() {
    let cycles = number("HOLDPOINT_KILLS").unwrap_or(40).div_ceil(2);
    let mut harness = Harness::new(seed());
    let begin = Instant::now();
    let mut proven = files::Proven::default();
    for cycle in 0..cycles {
        let told = harness.kill_on_pipelines();
        let last = cycle + 1 == cycles || (cycle + 1) % CYCLES_PER_HOME == 0;
        let checked = harness.after(&told, false).and_then(|()| {
            let agreed = files::agree(&harness.checker.home);
            proven.add(harness.runtime.block_on(agreed)?);
            if last {
                harness.next_home();
            }
            Ok(())
        });
        if let Err(what) = checked {
            harness.fail(&what);
        }
    }
    eprintln!("seed {}: {:?}, {proven:?} in {:?}", harness.seed, harness.counts, begin.elapsed());
}

#[test]
fn crash_told_to_stop_it_lets_work_end() {
    let mut harness = Harness::new(1);
    let start = Start { clients: 8, nap_ms: 400, ..harness.start() };
    let mut load = harness.spawn(start);
    assert!(load.listen(60, LONG), "it goes on: {:?}", load.told);
    load.signal(Signal::TERM);
    let (status, told) = load.wait(Duration::from_secs(10));
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
    harness.runtime.block_on(harness.checker.check(&[told], true)).expect("nothing lost");
}

#[test]
fn crash_told_twice_it_ends_at_once() {
    let mut harness = Harness::new(2);
    let start = Start { clients: 8, nap_ms: 600_000, ..harness.start() };
    let mut load = harness.spawn(start);
    assert!(load.listen(60, LONG), "it goes on: {:?}", load.told);
    load.signal(Signal::TERM);
    // Work in flight keeps it alive.
    assert!(load.listen(usize::MAX, Duration::from_millis(300)), "it waits for its work");
    load.signal(Signal::TERM);
    let (status, told) = load.wait(Duration::from_secs(5));
    assert_eq!(status.and_then(|status| status.code()), Some(1));
    harness.runtime.block_on(harness.checker.check(&[told], true)).expect("nothing lost");
}

#[test]
fn crash_what_a_dead_process_left_the_server_goes_on_with() {
    let mut harness = Harness::new(3);
    let start = Start { clients: 8, nap_ms: 600_000, ..harness.start() };
    let mut load = harness.spawn(start);
    assert!(load.listen(60, LONG), "it goes on: {:?}", load.told);
    let dead = load.kill();
    harness.runtime.block_on(harness.checker.check(&[dead], false)).expect("nothing lost");
    assert!(harness.checker.seen.busy() > 0, "work is left");
    let server = Load::serve(&harness.checker.home, &harness.stderr());
    harness.runtime.block_on(harness.checker.until_quiet(LONG)).expect("the work is done");
    server.signal(Signal::TERM);
    let (status, told) = server.wait(Duration::from_secs(10));
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
    harness.runtime.block_on(harness.checker.check(&[told], true)).expect("nothing lost");
}

/// Stops a process so that another one can go on: who is stopped inside a commit lets nobody write, and nobody
/// open the home, until it goes on.
fn stop_outside_a_commit(stopped: &mut Load, other: &mut Load) -> bool {
    for _ in 0..20 {
        stopped.signal(Signal::STOP);
        other.listen(usize::MAX, Duration::from_millis(15));
        let told = other.told.acknowledged();
        other.listen(told + 1, Duration::from_millis(150));
        if other.told.acknowledged() > told {
            return true;
        }
        stopped.signal(Signal::CONT);
        stopped.listen(stopped.told.acknowledged() + 1, Duration::from_millis(20));
    }
    false
}

fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    number("HOLDPOINT_KILL_SEED").unwrap_or(now.as_micros() as u64)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

impl Harness {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let checker = Checker::new(&folder.path().join("home-0"));
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { seed, numbers: Numbers::new(seed), folder, runtime, checker, counts: Counts::default() }
    }

    fn cycle(&mut self, last_of_home: bool) -> Result<(), String> {
        let told = if self.numbers.percent(7) {
            self.stop_one_of_two()
        } else if self.numbers.percent(25) {
            self.two()
        } else {
            vec![self.one()]
        };
        self.after(&told, last_of_home)
    }

    /// Checks a home after its processes have died.
    fn after(&mut self, told: &[Told], last_of_home: bool) -> Result<(), String> {
        self.counts.cycles += 1;
        for told in told {
            self.counts.acknowledged += told.acknowledged();
            self.counts.refused += told.answers.len() - told.acknowledged();
        }
        let all = last_of_home || self.counts.cycles.is_multiple_of(CYCLES_PER_CHECK);
        self.runtime.block_on(self.checker.check(told, all))?;
        if last_of_home {
            self.finish_home()?;
        }
        Ok(())
    }

    /// One process, killed by itself after an answer, by us after an answer, or after a time.
    fn one(&mut self) -> Told {
        let mut start = self.start();
        let answers = 1 + self.numbers.below(12 * u64::from(start.clients));
        match self.numbers.below(3) {
            0 => {
                start.die_after = Some(answers);
                let mut load = self.spawn(start);
                load.listen(usize::MAX, Duration::from_millis(400));
                load.kill()
            }
            1 => {
                let mut load = self.spawn(start);
                load.listen(answers as usize, Duration::from_millis(400));
                load.kill()
            }
            _ => {
                let time = Duration::from_millis(5 + self.numbers.below(61));
                let mut load = self.spawn(start);
                load.listen(usize::MAX, time);
                load.kill()
            }
        }
    }

    /// One process, or two, that do nothing but change files.
    fn kill_on_pipelines(&mut self) -> Vec<Told> {
        let first = Start { pipelines: true, ..self.start() };
        let second = self.numbers.percent(25).then(|| Start { pipelines: true, ..self.start() });
        let mut first = self.spawn(first);
        let second = second.map(|start| self.spawn(start));
        first.listen(usize::MAX, Duration::from_millis(40 + self.numbers.below(260)));
        let first = first.kill();
        let second = second.map(|mut second| {
            second.listen(usize::MAX, Duration::from_millis(self.numbers.below(60)));
            second.kill()
        });
        [first].into_iter().chain(second).collect()
    }

    fn next_home(&mut self) {
        let _ = std::fs::remove_dir_all(&self.checker.home);
        self.counts.homes += 1;
        self.checker = Checker::new(&self.folder.path().join(format!("home-{}", self.counts.homes)));
    }

    /// Two processes on one home, killed at different times.
    fn two(&mut self) -> Vec<Told> {
        let (first, second) = (self.start(), self.start());
        let mut first = self.spawn(first);
        let mut second = self.spawn(second);
        first.listen(1 + self.numbers.below(40) as usize, Duration::from_millis(300));
        let first = first.kill();
        second.listen(usize::MAX, Duration::from_millis(self.numbers.below(40)));
        vec![first, second.kill()]
    }

    /// One of two processes is stopped for longer than its lease; the other takes its work over. Whatever the
    /// stopped one does when it goes on, it may not settle that work.
    fn stop_one_of_two(&mut self) -> Vec<Told> {
        self.counts.stops += 1;
        // What the second takes over it has not finished when the first goes on.
        let first = Start { lease_ms: LEASE_MS, nap_ms: 60, clients: 4, ..self.start() };
        let second = Start { lease_ms: LEASE_MS, nap_ms: 400, clients: 4, ..self.start() };
        let mut first = self.spawn(first);
        let mut second = self.spawn(second);
        first.listen(10 + self.numbers.below(20) as usize, Duration::from_millis(500));
        // Opened before the stop: see below.
        if second.listen(1, Duration::from_millis(500))
            && let Ok(log) = self.checker.open()
            && stop_outside_a_commit(&mut first, &mut second)
        {
            self.until_taken_from(first.tag, &log, Duration::from_millis(5 * LEASE_MS));
        }
        first.signal(Signal::CONT);
        let more = first.told.acknowledged() + 5 + self.numbers.below(20) as usize;
        first.listen(more, Duration::from_millis(150));
        let second = {
            second.listen(usize::MAX, Duration::from_millis(1));
            second.kill()
        };
        vec![first.kill(), second]
    }

    fn until_taken_from(&mut self, process: u32, log: &SqliteLog, time: Duration) {
        let checker = &mut self.checker;
        let before = checker.seen.takeovers.len();
        let wait = async {
            let mut head = log.head();
            // What is wrong with the log is found by the check that follows.
            while checker.read(log).await.is_ok() && !checker.seen.takeovers[before..].contains(&process) {
                if head.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = self.runtime.block_on(async { tokio::time::timeout(time, wait).await });
        self.counts.takeovers += usize::from(self.checker.seen.takeovers[before..].contains(&process));
    }

    /// A process finishes everything that does not wait for a person, also what another one left that died
    /// beside it; then it is told to stop.
    fn finish_home(&mut self) -> Result<(), String> {
        let last = Start { requests: Some(LAST_REQUESTS), clients: 4, ..self.start() };
        let dying = Start { clients: 4, nap_ms: 300, ..self.start() };
        let mut last = self.spawn(last);
        let mut dying = self.spawn(dying);
        last.listen(60, Duration::from_millis(400));
        dying.listen(dying.told.acknowledged() + 60, Duration::from_millis(300));
        let dead = dying.kill();
        // What it has yet to send could begin more work after the home was quiet.
        if !last.answers(LAST_REQUESTS as usize, LONG) && last.told.violations.is_empty() {
            let answered = last.told.answers.len();
            return Err(format!("of {LAST_REQUESTS} commands {answered} were answered"));
        }
        let quiet = self.runtime.block_on(self.checker.until_quiet(LONG));
        last.signal(Signal::TERM);
        let (status, told) = last.wait(Duration::from_secs(12));
        quiet?;
        if !status.is_some_and(|status| status.success()) {
            return Err(format!("told to stop, the process ended as {status:?}"));
        }
        self.counts.acknowledged += told.acknowledged() + dead.acknowledged();
        self.runtime.block_on(self.checker.check(&[told, dead], true))?;
        let stuck = self.checker.seen.stuck();
        if !stuck.is_empty() {
            return Err(format!("{} runs wait for nobody and have not ended: {stuck:#?}", stuck.len()));
        }
        self.next_home();
        Ok(())
    }

    fn start(&mut self) -> Start {
        self.counts.processes += 1;
        // The low half tells processes apart in the log.
        let seed = self.numbers.next() << 32 | (self.counts.processes & 0xffff_ffff);
        let clients = self.numbers.pick(&[1, 4, 8]).unwrap_or(4);
        Start {
            seed,
            clients,
            lease_ms: 30_000,
            nap_ms: 4,
            requests: None,
            die_after: None,
            pipelines: false,
        }
    }

    fn spawn(&self, start: Start) -> Load {
        Load::start(&self.checker.home, &self.stderr(), start)
    }

    fn stderr(&self) -> PathBuf {
        self.folder.path().join("stderr")
    }

    fn fail(self, what: &str) -> ! {
        let Self { seed, folder, counts, .. } = self;
        let talk = std::fs::read_to_string(folder.path().join("stderr")).unwrap_or_default();
        let lines: Vec<&str> = talk.lines().collect();
        let talk = lines[lines.len().saturating_sub(20)..].join("\n");
        let cycle = counts.cycles;
        let kept = folder.keep();
        panic!(
            "{what}\n\nin cycle {cycle} of seed {seed}; {counts:?}\nthe home is kept in {}\nagain: \
             HOLDPOINT_KILL_SEED={seed} HOLDPOINT_KILLS={cycle} cargo nextest run -p holdpoint --test \
             crash_kill\nlast words of the processes:\n{talk}",
            kept.display()
        );
    }
}
