//! Rules of single source files: what each begins with, how long it grows, what it may not leave behind.

use super::Finding;
use crate::scan;
use crate::tree::{File, Tree};

/// Past this many lines of production code a file probably has a second subject.
const LONG: usize = 500;

/// Past this many it certainly has.
const TOO_LONG: usize = 900;

/// Crates that talk to a terminal.
const MAY_PRINT: &[&str] = &["cli", "xtask"];

/// Every file says what it is for.
pub fn module_docs(tree: &Tree) -> Vec<Finding> {
    let bare = tree.rust().filter(|file| file.in_src() && !file.text.starts_with("//!"));
    bare.map(|file| {
        let fix = "begin with `//!`: what the module is for in one sentence, then what it promises";
        Finding::new(&file.path, 1, "has no module doc at its top", fix)
    })
    .collect()
}

/// Production files stay readable; tests may be as long as they like.
pub fn length(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.rust().filter(|file| file.in_src() && !file.is_test()) {
        let in_test = scan::test_lines(&scan::code(&file.text));
        let lines = file.text.lines().zip(&in_test).filter(|(_, in_test)| !**in_test).count();
        if lines > LONG {
            let finding = Finding::new(
                &file.path,
                1,
                format!("{lines} lines of production code (look again past {LONG}, never past {TOO_LONG})"),
                "find the second subject and give it a file of its own",
            );
            found.push(if lines > TOO_LONG { finding } else { finding.mild() });
        }
    }
    found
}

/// Rules look at the kind of a failure, never at its text: a renamed word would change what is retried.
pub fn failure_texts(tree: &Tree) -> Vec<Finding> {
    let crates = ["core", "agents", "engine", "work"];
    let mut found = Vec::new();
    for file in tree.rust().filter(|file| file.in_src() && !file.is_test()) {
        if !file.krate().is_some_and(|krate| crates.contains(&krate)) {
            continue;
        }
        let code = scan::code(&file.text);
        let in_test = scan::test_lines(&code);
        for (at, (line, _)) in code.lines().zip(&in_test).enumerate().filter(|(_, (_, in_test))| !**in_test) {
            let compares =
                ["error_type ==", "error_type !=", "failure.kind.name() ==", "failure.kind.name() !="];
            if compares.iter().any(|compared| line.contains(compared)) {
                let fix = "match on `FailureKind`; give the word a variant if a rule depends on it";
                found.push(Finding::new(&file.path, at + 1, "compares the text of a failure", fix));
            }
        }
    }
    found
}

/// Nothing unfinished is committed.
pub fn leftovers(tree: &Tree) -> Vec<Finding> {
    // Written in two halves, or this file would find itself.
    let notes = [concat!("FIX", "ME"), concat!("XX", "X")];
    let mut found = Vec::new();
    for file in tree.rust().filter(|file| file.in_src()) {
        for name in ["todo", "unimplemented", "dbg"] {
            for line in macro_calls(&scan::code(&file.text), name) {
                let fix = "finish it, or return an error that says what is missing";
                found.push(Finding::new(&file.path, line, format!("`{name}!` is left behind"), fix));
            }
        }
        for (at, word) in scan::words(&file.text).filter(|(_, word)| notes.contains(word)) {
            let fix = "do it now, or write down why the code is right as it is";
            found.push(Finding::new(
                &file.path,
                scan::line_of(&file.text, at),
                format!("`{word}` is left behind"),
                fix,
            ));
        }
    }
    found
}

/// A test that does not run proves nothing.
pub fn ignored_tests(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .flat_map(|file| {
            let code = scan::code(&file.text);
            let places: Vec<usize> =
                code.match_indices("#[ignore").map(|(at, _)| scan::line_of(&code, at)).collect();
            places.into_iter().map(|line| {
                let fix = "make it run, or delete it; large runs take their size from the environment";
                Finding::new(&file.path, line, "a test is ignored", fix)
            })
        })
        .collect()
}

/// A test that sleeps is slow on one machine and wrong on another.
pub fn sleeping_tests(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.rust() {
        let code = scan::code(&file.text);
        let in_test = scan::test_lines(&code);
        for path in scan::paths(&code) {
            let sleeps = path.parts.ends_with(&["thread".into(), "sleep".into()])
                || path.parts.ends_with(&["time".into(), "sleep".into()]);
            if sleeps && (file.is_test() || in_test[path.line - 1]) && !excused(file, path.line, "sleep") {
                found.push(Finding::new(
                    &file.path,
                    path.line,
                    "a test sleeps",
                    "wait for the event itself, or move a simulated clock; where a foreign process leaves no \
                     other way, write `// tidy: sleep, because …` on the line or above it",
                ));
            }
        }
    }
    found
}

/// Only the faces that own a terminal write to it.
pub fn printing(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    let silent = tree.rust().filter(|file| {
        file.in_src() && !file.is_test() && !MAY_PRINT.contains(&file.krate().unwrap_or_default())
    });
    for file in silent {
        let code = scan::code(&file.text);
        let in_test = scan::test_lines(&code);
        for name in ["println", "eprintln", "print", "eprint"] {
            let lines = macro_calls(&code, name).into_iter().filter(|line| !in_test[line - 1]);
            found.extend(lines.map(|line| {
                let fix = "return the value, or use tracing; only the command line prints";
                Finding::new(&file.path, line, format!("`{name}!` outside the command line"), fix)
            }));
        }
    }
    found
}

/// The lines on which a macro is called.
fn macro_calls(code: &str, name: &str) -> Vec<usize> {
    scan::words(code)
        .filter(|(at, word)| *word == name && code[at + word.len()..].starts_with('!'))
        .map(|(at, _)| scan::line_of(code, at))
        .collect()
}

/// Whether a comment on the line or on the one above gives a reason for the exception.
fn excused(file: &File, line: usize, rule: &str) -> bool {
    let marker = format!("// tidy: {rule}, because ");
    file.text.lines().skip(line.saturating_sub(2)).take(2).any(|text| text.contains(&marker))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const FILE: &str = "crates/engine/src/a.rs";

    #[test]
    fn a_module_begins_with_its_doc() {
        assert_eq!(
            found(module_docs, &[(FILE, "use a;\n")]),
            ["crates/engine/src/a.rs:1: has no module doc at its top"]
        );
        assert!(found(module_docs, &[(FILE, "//! For this.\n")]).is_empty());
        assert!(found(module_docs, &[("crates/engine/tests/a.rs", "use a;\n")]).is_empty());
    }

    #[test]
    fn only_production_lines_count() {
        let text = "fn a() {}\n".repeat(501);
        assert_eq!(
            found(length, &[(FILE, &text)]),
            [
                "crates/engine/src/a.rs:1: warning: 501 lines of production code (look again past 500, never past 900)"
            ]
        );
        let tested = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(found(length, &[(FILE, &tested)]).is_empty());
        let huge = found(length, &[(FILE, &"fn a() {}\n".repeat(901))]);
        assert!(huge[0].starts_with("crates/engine/src/a.rs:1: 901 lines"), "{huge:?}");
    }

    #[test]
    fn no_rule_compares_the_text_of_a_failure() {
        let text = "//! A.\nfn a() -> bool {\n    failure.kind.name() == word\n}\n";
        assert_eq!(
            found(failure_texts, &[(FILE, text)]),
            ["crates/engine/src/a.rs:3: compares the text of a failure"]
        );
        assert!(found(failure_texts, &[("crates/cli/src/a.rs", text)]).is_empty());
        assert!(found(failure_texts, &[("crates/engine/tests/a.rs", text)]).is_empty());
    }

    #[test]
    fn nothing_unfinished_stays() {
        let text = format!(
            "//! A.\nfn a() {{ todo!() }}\n// {}: later\nlet s = \"dbg!(x)\";\n",
            concat!("FIX", "ME")
        );
        assert_eq!(found(leftovers, &[(FILE, &text)]).len(), 2);
    }

    #[test]
    fn every_test_runs() {
        let text = "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n";
        assert_eq!(
            found(ignored_tests, &[("crates/cli/tests/a.rs", text)]),
            ["crates/cli/tests/a.rs:2: a test is ignored"]
        );
    }

    #[test]
    fn tests_do_not_sleep_without_a_reason() {
        let asleep = "fn a() {\n    std::thread::sleep(x);\n    tokio::time::sleep(x);\n}\n";
        assert_eq!(found(sleeping_tests, &[("crates/cli/tests/a.rs", asleep)]).len(), 2);
        assert!(found(sleeping_tests, &[(FILE, asleep)]).is_empty());
        let inside = format!("#[cfg(test)]\nmod tests {{\n{asleep}}}\n");
        assert_eq!(found(sleeping_tests, &[(FILE, &inside)]).len(), 2);
        let excused = "// tidy: sleep, because the server is another process\nstd::thread::sleep(x);\n";
        assert!(found(sleeping_tests, &[("crates/cli/tests/a.rs", excused)]).is_empty());
    }

    #[test]
    fn only_the_command_line_prints() {
        let text = "//! A.\nfn a() {\n    println!(\"x\");\n    write!(f, \"println!\");\n}\n";
        assert_eq!(
            found(printing, &[(FILE, text)]),
            ["crates/engine/src/a.rs:3: `println!` outside the command line"]
        );
        for free in ["crates/cli/src/a.rs", "crates/engine/examples/a.rs", "crates/engine/tests/a.rs"] {
            assert!(found(printing, &[(free, text)]).is_empty(), "{free}");
        }
    }
}
