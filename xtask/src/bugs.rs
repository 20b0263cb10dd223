//! Proves that the tests notice what they are there to notice: builds each planted bug in, and expects a
//! failure.
//!
//! A planted bug is a feature of a crate whose name begins with `bug-`. The crate's manifest names the test
//! that must catch it, as arguments for the test runner:
//!
//! ```text
//! [package.metadata.bugs]
//! bug-skip-fsync = "--test crash_power_cut"
//! ```

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use crate::tidy::manifests::sections;
use crate::tree::Tree;

/// What the test runner answers when it ran tests and some failed; any other failure proves nothing.
const TESTS_FAILED: i32 = 100;

/// Builds every planted bug and runs the test that must catch it.
pub fn main(root: &Path) -> ExitCode {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: the repository cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    let bugs = planted(&tree);
    if bugs.is_empty() {
        println!("bugs: none is planted");
        return ExitCode::SUCCESS;
    }
    if !cargo(root).args(["nextest", "--version"]).output().is_ok_and(|answer| answer.status.success()) {
        println!("bugs: not run, cargo-nextest is missing (cargo install cargo-nextest --locked)");
        return ExitCode::SUCCESS;
    }
    let missed = bugs.iter().filter(|bug| !is_caught(root, bug)).count();
    println!("bugs: {} passed, {missed} failed", bugs.len() - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_caught(root: &Path, bug: &Bug) -> bool {
    let Some(test) = &bug.test else {
        println!("{}: no test is named for it in [package.metadata.bugs]", bug.feature);
        return false;
    };
    let mut run = cargo(root);
    run.args(["nextest", "run", "--locked", "--fail-fast", "--features", &bug.feature]);
    // The whole workspace, so that features of other crates stay as they were built for the other tests; but
    // a bug deep down, with its test beside it, need not build everything above it again.
    if !test.split_whitespace().any(|word| word == "-p") {
        run.arg("--workspace");
    }
    run.args(test.split_whitespace());
    match run.output() {
        Ok(output) if output.status.code() == Some(TESTS_FAILED) => {
            println!("{}: caught by {test}", bug.feature);
            true
        }
        Ok(output) if output.status.success() => {
            println!("{}: MISSED by {test}", bug.feature);
            false
        }
        Ok(output) => {
            println!("{}: {test} could not be run\n{}", bug.feature, tail(&output));
            false
        }
        Err(error) => {
            println!("{}: cargo cannot be started: {error}", bug.feature);
            false
        }
    }
}

fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// The end of what a run said, where its reason stands.
fn tail(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

#[derive(Debug, PartialEq, Eq)]
struct Bug {
    /// As cargo names it: `package/feature`.
    feature: String,
    test: Option<String>,
}

fn planted(tree: &Tree) -> Vec<Bug> {
    let mut bugs = Vec::new();
    for manifest in tree.manifests() {
        let entries: Vec<_> = sections(&manifest.text)
            .filter_map(|(_, section, line)| {
                let (key, value) = line.split_once('=')?;
                Some((section, key.trim(), value.trim()))
            })
            .collect();
        let value = |wanted: &str, key: &str| {
            let entry = entries.iter().find(|(section, name, _)| *section == wanted && *name == key)?;
            entry.2.split('"').nth(1).map(str::to_owned)
        };
        let package = value("package", "name").unwrap_or_default();
        for (_, name, _) in entries.iter().filter(|(s, name, _)| *s == "features" && name.starts_with("bug-"))
        {
            let test = value("package.metadata.bugs", name);
            bugs.push(Bug { feature: format!("{package}/{name}"), test });
        }
    }
    bugs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bugs_are_features_with_a_test_to_catch_them() {
        let manifest = "[package]\nname = \"holdpoint-store\"\n[features]\nconformance = []\nbug-a = []\n\
                        bug-b = []\n[package.metadata.bugs]\nbug-a = \"--test crash_kill -E test(x)\"\n";
        let bug = |name: &str, test: Option<&str>| Bug {
            feature: format!("holdpoint-store/{name}"),
            test: test.map(str::to_owned),
        };
        assert_eq!(
            planted(&Tree::of(&[("crates/store/Cargo.toml", manifest)])),
            [bug("bug-a", Some("--test crash_kill -E test(x)")), bug("bug-b", None)]
        );
    }
}
