//! The rule that `crates/core` computes and does nothing else.
//!
//! Clippy holds the same rule by type (`crates/core/clippy.toml`). This check is coarser, and it runs in
//! every `make test`.

use super::Finding;
use crate::scan::{self, Path};
use crate::tree::{File, Tree};

/// Modules and crates that reach outside.
const OUTSIDE: &[&[&str]] = &[
    &["std", "fs"],
    &["std", "net"],
    &["std", "env"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "SystemTime"],
    &["std", "time", "Instant"],
    &["tokio"],
    &["rand"],
    &["getrandom"],
    &["fastrand"],
    &["rusqlite"],
    &["rustix"],
];

/// Names that read a clock or draw a random number however they were imported.
const ANYWHERE: &[&str] = &["SystemTime", "new_v4", "now_v7"];

/// Collections whose order differs from one process to the next; tests may use them.
const UNORDERED: &[&str] = &["HashMap", "HashSet"];

/// `crates/core` has no clock, randomness, file, network, environment, process or thread.
pub fn core_is_pure(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter(|file| file.path.starts_with("crates/core/src/")).flat_map(check).collect()
}

fn check(file: &File) -> Vec<Finding> {
    let code = scan::code(&file.text);
    let in_test = scan::test_lines(&code);
    let mut found = Vec::new();
    for path in scan::paths(&code) {
        let name = path.parts.join("::");
        if reaches_outside(&path) {
            found.push(Finding::new(
                &file.path,
                path.line,
                format!("core may not use `{name}`"),
                "let the engine do it: time and ids arrive in the command's envelope, everything else in Facts",
            ));
        }
        let in_test = file.is_test() || in_test.get(path.line - 1) == Some(&true);
        if !in_test && path.parts.iter().any(|part| UNORDERED.contains(&part.as_str())) {
            found.push(Finding::new(
                &file.path,
                path.line,
                format!("`{name}` has another order in every process"),
                "use BTreeMap, or imbl::OrdMap where it grows with a run",
            ));
        }
    }
    found.dedup_by(|a, b| a.line == b.line && a.message == b.message);
    found
}

fn reaches_outside(path: &Path) -> bool {
    let parts: Vec<&str> = path.parts.iter().map(String::as_str).collect();
    // A variable may be called `rand`; a crate is followed by something or imported.
    let names_a_crate = path.imported || parts.len() > 1;
    names_a_crate && OUTSIDE.iter().any(|outside| parts.starts_with(outside))
        || parts.iter().any(|part| ANYWHERE.contains(part))
        || parts.starts_with(&["Instant", "now"])
        || parts.starts_with(&["time", "Instant"])
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn in_core(text: &str) -> Vec<String> {
        let found = found(core_is_pure, &[("crates/core/src/a.rs", text)]);
        found.into_iter().map(|line| line.replace("crates/core/src/a.rs:", "")).collect()
    }

    #[test]
    fn what_reaches_outside_is_found() {
        assert_eq!(in_core("use std::{fmt, fs};\n"), ["1: core may not use `std::fs`"]);
        assert_eq!(
            in_core("\nlet t = std::time::Instant::now();\n"),
            ["2: core may not use `std::time::Instant::now`"]
        );
        for bad in [
            "use std::net::TcpStream;",
            "let x = std::env::var(name);",
            "std::process::exit(1);",
            "std::thread::spawn(f);",
            "use std::time::{Duration, SystemTime};",
            "use std::time::*; let t = Instant::now();",
            "use tokio::sync;",
            "let n = rand::random();",
            "let id = Uuid::new_v4();",
            "let id = uuid::Uuid::now_v7();",
        ] {
            assert_eq!(in_core(bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn what_computes_is_left_alone() {
        for good in [
            "// std::fs::read is for the engine\n",
            "let text = \"std::fs\";",
            "use std::time::Duration; use crate::time::Timestamp;",
            "let rand = seed(); rand + 1;",
            "enum Kind { Instant, Later }",
            "use std::collections::BTreeMap;",
        ] {
            assert_eq!(in_core(good), [""; 0], "{good}");
        }
        assert!(found(core_is_pure, &[("crates/engine/src/a.rs", "use std::fs;")]).is_empty());
    }

    #[test]
    fn unordered_collections_are_for_tests() {
        assert_eq!(in_core("use std::collections::HashMap;").len(), 1);
        assert!(in_core("#[cfg(test)]\nmod tests {\n use std::collections::HashSet;\n}\n").is_empty());
    }
}
