//! Runs the examples in doc comments, if there are any.
//!
//! The test runner does not see them, and asking cargo about a crate without one costs a pass over it.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::tree::{File, Tree};

/// Runs them, or says that there are none.
pub fn main(root: &Path) -> ExitCode {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: the repository cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    if !tree.rust().any(is_asked) {
        println!("doc-tests: no doc comment has an example to run");
        return ExitCode::SUCCESS;
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The whole workspace: with the features of fewer crates, most dependencies would be compiled a second time.
    cargo.args(["test", "--doc", "--locked", "--workspace"]).current_dir(root);
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cargo cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a file has an example that cargo would run: it asks libraries only.
fn is_asked(file: &File) -> bool {
    file.in_src() && !file.path.ends_with("src/main.rs") && has_example(file)
}

/// Whether a fence in a doc comment opens Rust code.
fn has_example(file: &File) -> bool {
    let mut open = false;
    for line in file.text.lines() {
        let line = line.trim_start();
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = false;
            continue;
        };
        let Some(language) = doc.trim_start().strip_prefix("```") else { continue };
        if !open && language.split([',', ' ']).all(is_rust) {
            return true;
        }
        open = !open;
    }
    false
}

/// Whether a word after a fence leaves the block an example, as rustdoc sees it: any other word makes it something
/// else.
fn is_rust(word: &str) -> bool {
    matches!(word, "" | "rust" | "should_panic" | "no_run" | "compile_fail") || word.starts_with("edition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_in_a_library_is_an_example() {
        let asked = |path: &str, text: &str| Tree::of(&[(path, text)]).rust().any(is_asked);
        for fence in ["```", "```rust", "```no_run", "```rust,should_panic"] {
            let text = format!("/// {fence}\n/// assert!(true);\n/// ```\n");
            assert!(asked("crates/store/src/log.rs", &text), "{fence}");
            assert!(!asked("crates/cli/src/main.rs", &text), "{fence}");
            assert!(!asked("crates/cli/tests/a.rs", &text), "{fence}");
        }
        for fence in ["```text", "```yaml", "```json", "```ignore"] {
            let text = format!("//! {fence}\n//! not: code\n//! ```\n");
            assert!(!asked("crates/agents/src/lib.rs", &text), "{fence}");
        }
    }
}
