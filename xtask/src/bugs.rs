//! Proves that the tests notice what they are there to notice: switches each planted bug on, and expects its
//! tests to fail.
//!
//! The bugs and the tests that must catch them are declared in `crates/planted`. The switch is a variable, so
//! nothing is compiled but what the tests were compiled from.

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use holdpoint_planted::{BUGS, VARIABLE};

/// What the test runner answers when it ran tests and some failed; any other failure proves nothing.
const TESTS_FAILED: i32 = 100;

/// How much the crash tests do to show that they pass without a bug; `make test` has run them in full before.
const SMALL: &[(&str, &str)] = &[("HOLDPOINT_KILLS", "10"), ("HOLDPOINT_SEEDS", "20")];

/// Switches the bugs on, one after the other, and runs the tests that must catch each: all bugs, or those with
/// the names.
pub fn main(root: &Path, names: &[&str]) -> ExitCode {
    if let Some(unknown) = names.iter().find(|name| BUGS.iter().all(|bug| bug.name != **name)) {
        eprintln!("error: no such bug: {unknown}\nhint: crates/planted/src/lib.rs declares them");
        return ExitCode::from(64);
    }
    if !cargo(root).args(["nextest", "--version"]).output().is_ok_and(|answer| answer.status.success()) {
        println!("bugs: not run, cargo-nextest is missing (cargo install cargo-nextest --locked)");
        return ExitCode::SUCCESS;
    }
    let bugs = BUGS.iter().filter(|bug| names.is_empty() || names.contains(&bug.name));
    let checks: Vec<(&str, &str)> =
        bugs.flat_map(|bug| bug.tests.iter().map(move |test| (bug.name, *test))).collect();
    // A test that fails anyway proves nothing.
    let mut tests: Vec<String> = checks.iter().map(|(_, test)| format!("({test})")).collect();
    tests.sort();
    tests.dedup();
    match run(root, &tests.join(" | ")).envs(SMALL.iter().copied()).output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            println!("bugs: the tests do not pass without a bug\n{}", tail(&output));
            return ExitCode::FAILURE;
        }
        Err(error) => {
            println!("bugs: cargo cannot be started: {error}");
            return ExitCode::FAILURE;
        }
    }
    let missed = checks.iter().filter(|(bug, test)| !is_caught(root, bug, test)).count();
    println!("bugs: {} passed, {missed} failed", checks.len() - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_caught(root: &Path, bug: &str, test: &str) -> bool {
    match run(root, test).env(VARIABLE, bug).output() {
        Ok(output) if output.status.code() == Some(TESTS_FAILED) => {
            println!("{bug}: caught by {test}");
            true
        }
        Ok(output) if output.status.success() => {
            println!("{bug}: MISSED by {test}");
            false
        }
        Ok(output) => {
            println!("{bug}: {test} could not be run\n{}", tail(&output));
            false
        }
        Err(error) => {
            println!("{bug}: cargo cannot be started: {error}");
            false
        }
    }
}

/// The test runner on these tests, with everything built as `make test` builds it.
fn run(root: &Path, tests: &str) -> Command {
    let mut run = cargo(root);
    run.args(["nextest", "run", "--locked", "--workspace", "--fail-fast", "-E", tests]).env_remove(VARIABLE);
    run
}

fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// What a run said from its first failure on, or the end of it. A random test that fails names its input at the beginning,
/// and may never find it again.
fn tail(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let first = lines.iter().position(|line| line.trim_start().starts_with("FAIL ["));
    lines[first.unwrap_or(lines.len().saturating_sub(30))..].join("\n")
}
