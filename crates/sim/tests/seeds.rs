//! Seeds: each is a whole world that must hold, and the same world every time.

#![allow(clippy::print_stdout)] // what a run of seeds says is for whoever watches it

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use holdpoint_core::event::{PipelineEvent, RunEvent};
use holdpoint_sim::{Failure, run_seed};

/// How many seeds an ordinary run takes.
const SEEDS: u64 = 60;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[test]
fn crash_seeds() {
    if let Some(seed) = number("HOLDPOINT_SEED") {
        match run_seed(seed, true) {
            Ok(summary) => {
                for line in &summary.trace {
                    println!("{line}");
                }
                println!("seed {seed}: {} rows, everything holds", summary.rows.len());
            }
            Err(failure) => panic!("{failure}"),
        }
        return;
    }
    let (first, count) =
        (number("HOLDPOINT_FIRST_SEED").unwrap_or(1), number("HOLDPOINT_SEEDS").unwrap_or(SEEDS));
    let begun = Instant::now();
    let (next, failed) = (AtomicU64::new(first), AtomicBool::new(false));
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let totals = [const { AtomicU64::new(0) }; 4];
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    match run_seed(seed, false) {
                        Ok(summary) => {
                            let counts = [
                                summary.rows.len() as u64,
                                summary.acknowledged,
                                summary.refused,
                                summary.fenced,
                            ];
                            for (total, count) in totals.iter().zip(counts) {
                                total.fetch_add(count, Ordering::Relaxed);
                            }
                        }
                        Err(found) => {
                            failed.store(true, Ordering::Relaxed);
                            failure.lock().expect("no panic").get_or_insert(found);
                        }
                    }
                }
            });
        }
    });
    if let Some(failure) = failure.into_inner().expect("no panic") {
        panic!("{failure}");
    }
    let [rows, acknowledged, refused, fenced] = totals.map(AtomicU64::into_inner);
    let per_second = count as f64 / begun.elapsed().as_secs_f64();
    println!(
        "{count} seeds, {per_second:.1} a second: {rows} rows, {acknowledged} commands acknowledged, \
         {refused} refused, {fenced} late commits fenced"
    );
}

#[test]
fn crash_seeds_repeat() {
    for seed in 1..=20 {
        let live = || run_seed(seed, true).unwrap_or_else(|failure| panic!("{failure}"));
        let (once, again) = (live(), live());
        for (one, other) in once.trace.iter().zip(&again.trace) {
            assert_eq!(one, other, "seed {seed} is two worlds");
        }
        assert_eq!(once.rows, again.rows, "seed {seed} is two worlds");
    }
}

#[test]
fn crash_seeds_reach_every_rule() {
    let mut missing: BTreeSet<&str> =
        [PipelineEvent::KINDS, RunEvent::KINDS].into_iter().flatten().map(|(kind, _)| *kind).collect();
    let (mut fenced, mut folds) = (0, 0);
    // Some things are rare: as many worlds as it takes, up to a limit.
    for seed in 1..=2_000 {
        if missing.is_empty() && fenced > 0 && folds > 0 {
            return;
        }
        let summary = run_seed(seed, false).unwrap_or_else(|failure| panic!("{failure}"));
        for kind in summary.rows.iter().flat_map(|row| row.shape.split(',')) {
            missing.remove(kind);
        }
        fenced += summary.fenced;
        folds += summary.folds;
    }
    assert_eq!(missing, BTreeSet::new(), "never happened");
    assert!(fenced > 0 && folds > 0, "{fenced} late commits, {folds} saved folds");
}
