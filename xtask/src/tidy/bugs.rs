//! Rules of planted bugs: each is in the crate that it is declared for, and none in a build that people use.

use holdpoint_planted::BUGS;

use super::Finding;
use super::manifests::sections;
use crate::scan;
use crate::tree::Tree;

/// Where bugs are declared.
const DECLARED: &str = "crates/planted/src/lib.rs";

/// A declared bug is in the code of its crate, and in no other.
pub fn where_declared(tree: &Tree) -> Vec<Finding> {
    let bugs: Vec<(&str, &str)> = BUGS.iter().map(|bug| (bug.name, bug.krate)).collect();
    where_listed(tree, &bugs)
}

fn where_listed(tree: &Tree, bugs: &[(&str, &str)]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for file in tree.rust().filter(|file| file.in_src() && file.text.contains("holdpoint_planted::")) {
        let krate = file.krate().unwrap_or_default();
        for path in scan::paths(&scan::code(&file.text)) {
            let [.., kind, name] = path.parts.as_slice() else { continue };
            let Some(bug) = bugs.iter().find(|(bug, _)| kind == "Bug" && name == bug) else { continue };
            seen.push(*bug);
            if bug.1 != krate {
                let message = format!("`Bug::{name}` is declared for `{}`", bug.1);
                let fix = "one bug is one mistake in one crate: declare another";
                found.push(Finding::new(&file.path, path.line, message, fix));
            }
        }
    }
    for (name, krate) in bugs.iter().filter(|bug| !seen.contains(bug)) {
        let fix = "ask `planted(Bug::…)` where the mistake would be, or delete the bug";
        found.push(Finding::new(DECLARED, 1, format!("`Bug::{name}` is nowhere in `{krate}`"), fix));
    }
    found
}

/// A planted bug is no feature, which would be a build of its own, and no profile but `dev` has any: they are where
/// debug assertions are.
pub fn only_in_debug_builds(tree: &Tree) -> Vec<Finding> {
    let root = tree.get("Cargo.toml");
    let mut found = Vec::new();
    for manifest in tree.manifests().chain(root) {
        for (line, section, text) in sections(&manifest.text) {
            let key = text.split('=').next().unwrap_or_default().trim();
            if section == "features" && key.starts_with("bug-") {
                let fix = "declare it in crates/planted/src/lib.rs, and ask `planted(Bug::…)`";
                found.push(Finding::new(&manifest.path, line, "a planted bug is no feature", fix));
            }
            if section.starts_with("profile.") && key == "debug-assertions" {
                let fix = "remove it: planted bugs can be switched on where debug assertions are";
                found.push(Finding::new(&manifest.path, line, "changes who has debug assertions", fix));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_bug_is_in_the_crate_that_it_is_declared_for() {
        let text = "use holdpoint_planted::{Bug, planted};\nfn a() -> bool {\n    planted(Bug::A)\n}\n";
        let listed = |path: &str| -> Vec<String> {
            let found = where_listed(&Tree::of(&[(path, text)]), &[("A", "core")]);
            found.iter().map(|f| f.to_string().lines().next().unwrap_or_default().to_owned()).collect()
        };
        assert!(listed("crates/core/src/a.rs").is_empty());
        assert_eq!(
            listed("crates/store/src/a.rs"),
            ["crates/store/src/a.rs:3: `Bug::A` is declared for `core`"]
        );
        assert_eq!(
            listed("crates/core/tests/a.rs"),
            ["crates/planted/src/lib.rs:1: `Bug::A` is nowhere in `core`"]
        );
    }

    #[test]
    fn planted_bugs_are_no_features_and_stay_in_debug_builds() {
        let text = "[features]\nconformance = []\nbug-a = []\n";
        assert_eq!(
            found(only_in_debug_builds, &[("crates/engine/Cargo.toml", text)]),
            ["crates/engine/Cargo.toml:3: a planted bug is no feature"]
        );
        let text = "[profile.dev]\nopt-level = 1\n[profile.release]\ndebug-assertions = true\n";
        assert_eq!(
            found(only_in_debug_builds, &[("Cargo.toml", text)]),
            ["Cargo.toml:4: changes who has debug assertions"]
        );
    }
}
