//! Runs the examples in doc comments of the crates that have any.
//!
//! The test runner does not see them, and asking cargo about every crate costs a link each.

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
    let packages = packages(&tree);
    if packages.is_empty() {
        println!("doc-tests: no doc comment has an example to run");
        return ExitCode::SUCCESS;
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--doc", "--locked"]).current_dir(root);
    for package in &packages {
        cargo.args(["--package", package]);
    }
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cargo cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The packages with at least one example. Only libraries are asked: cargo runs no examples of binaries.
fn packages(tree: &Tree) -> Vec<String> {
    let with_example = tree.rust().filter(|file| file.in_src() && has_example(file));
    let mut packages: Vec<String> = with_example
        .filter_map(File::krate)
        .filter(|name| tree.get(&format!("crates/{name}/src/lib.rs")).is_some())
        .map(|name| if name == "cli" { "holdpoint".to_owned() } else { format!("holdpoint-{name}") })
        .collect();
    packages.sort();
    packages.dedup();
    packages
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
        if !open
            && !language.split(',').any(|word| matches!(word, "text" | "ignore" | "json" | "toml" | "sql"))
        {
            return true;
        }
        open = !open;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_crates_with_examples_are_asked() {
        let tree = Tree::of(&[
            ("crates/core/src/lib.rs", "//! ```text\n//! not code\n//! ```\n"),
            ("crates/store/src/lib.rs", ""),
            ("crates/store/src/log.rs", "/// ```\n/// assert!(true);\n/// ```\n"),
            ("crates/cli/src/main.rs", "//! ```\n//! a();\n//! ```\n"),
        ]);
        assert_eq!(packages(&tree), ["holdpoint-store"]);
    }
}
