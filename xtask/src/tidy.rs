//! The rules of the repository that the compiler does not know, each as a check over the tree's text.
//!
//! A check is a function from the tree to findings. Adding one is a function, a line in `CHECKS` and a test.

mod bugs;
mod manifests;
mod purity;
mod repository;
mod sources;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::tree::Tree;

const CHECKS: &[fn(&Tree) -> Vec<Finding>] = &[
    manifests::order,
    manifests::lints,
    bugs::where_declared,
    bugs::only_in_debug_builds,
    purity::core_is_pure,
    sources::module_docs,
    sources::length,
    sources::failure_texts,
    sources::leftovers,
    sources::ignored_tests,
    sources::sleeping_tests,
    sources::printing,
    repository::machine_paths,
    repository::lock_files,
    repository::changelog,
    repository::architecture,
    repository::links,
];

/// Something that breaks a rule, where it stands, and what to do about it.
#[derive(Debug)]
pub struct Finding {
    path: String,
    line: usize,
    message: String,
    fix: &'static str,
    /// Worth a look, but no reason to fail.
    mild: bool,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>, fix: &'static str) -> Self {
        Self { path: path.into(), line, message: message.into(), fix, mild: false }
    }

    fn mild(self) -> Self {
        Self { mild: true, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message, fix, mild } = self;
        let kind = if *mild { "warning: " } else { "" };
        write!(f, "{path}:{line}: {kind}{message}\n    fix: {fix}")
    }
}

/// Prints what is found; fails when any of it breaks a rule.
pub fn main(root: &Path) -> ExitCode {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: the repository cannot be read: {error}\nhint: tidy needs git and a clone");
            return ExitCode::FAILURE;
        }
    };
    let findings = findings(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    let broken = findings.iter().filter(|finding| !finding.mild).count();
    println!("tidy: {} files, {broken} to fix, {} warnings", tree.files.len(), findings.len() - broken);
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let mut found: Vec<Finding> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    found.sort_by(|a, b| (&a.path, a.line, &a.message).cmp(&(&b.path, b.line, &b.message)));
    found
}

/// What a check finds in a made-up tree, without the advice.
#[cfg(test)]
fn found(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let found = check(&Tree::of(files));
    found.iter().map(|f| f.to_string().lines().next().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_where_what_and_how_to_fix_it() {
        let finding = Finding::new("a.rs", 3, "is wrong", "make it right");
        assert_eq!(finding.to_string(), "a.rs:3: is wrong\n    fix: make it right");
        assert_eq!(finding.mild().to_string(), "a.rs:3: warning: is wrong\n    fix: make it right");
    }

    #[test]
    fn findings_come_in_the_order_of_the_tree() {
        let tree = Tree::of(&[("CHANGELOG.md", ""), ("crates/core/src/a.rs", "use std::fs;\n")]);
        let paths: Vec<_> = findings(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        assert!(paths.is_sorted());
        assert!(paths.len() >= 3);
    }
}
