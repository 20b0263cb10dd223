//! Rules of the crates' manifests: who may depend on whom, and that the workspace's lints hold everywhere.
//!
//! Manifests are read line by line, since cargo has already refused what is not valid TOML.

use super::Finding;
use crate::tree::{File, Tree};

/// The order of the crates. A crate may depend only on crates that stand above it; crates on one line do
/// not know each other.
const ORDER: &[&[&str]] = &[
    &["planted"],
    &["core"],
    &["expr"],
    &["formats"],
    &["store"],
    &["store-sqlite", "store-postgres"],
    &["snapshot"],
    &["sandbox"],
    &["agents"],
    &["engine"],
    &["work"],
    &["console"],
    &["server"],
    &["cli"],
    &["sim", "fault-vfs"],
    &["xtask"],
];

/// The crates that only tests use, and that every crate's tests may use.
const FOR_TESTS: &[&str] = &["sim", "fault-vfs"];

/// Crates that state lints of their own, because `unsafe_code = "forbid"` cannot be lifted in one place.
const OWN_LINTS: &[&str] = &["fault-vfs"];

fn rank(krate: &str) -> Option<usize> {
    ORDER.iter().position(|row| row.contains(&krate))
}

/// Dependencies between our crates follow `ORDER`.
pub fn order(tree: &Tree) -> Vec<Finding> {
    tree.manifests().flat_map(order_of).collect()
}

fn order_of(manifest: &File) -> Vec<Finding> {
    let krate = manifest.krate().expect("manifests are listed by crate");
    let path = manifest.path.as_str();
    let Some(own) = rank(krate) else {
        let fix = "give it a place in ORDER in xtask/src/tidy/manifests.rs and in ARCHITECTURE.md";
        return vec![Finding::new(
            path,
            1,
            format!("crate `{krate}` has no place in the order of crates"),
            fix,
        )];
    };
    let mut found = Vec::new();
    for dependency in dependencies(&manifest.text) {
        let Some(other) = dependency.krate() else { continue };
        let (line, other_rank) = (dependency.line, rank(other));
        let allowed = match dependency.section {
            Section::Normal => other_rank.is_some_and(|rank| rank < own),
            Section::Dev => {
                other == krate || FOR_TESTS.contains(&other) || other_rank.is_some_and(|rank| rank < own)
            }
        };
        if !allowed {
            let kind = if dependency.section == Section::Dev { "tests of " } else { "" };
            found.push(Finding::new(
                path,
                line,
                format!("{kind}`{krate}` may not depend on `{other}`"),
                "a crate depends only on crates above it (ARCHITECTURE.md); move the code, or hand it in as a trait",
            ));
        }
    }
    found
}

/// Every crate takes the lints of the workspace.
pub fn lints(tree: &Tree) -> Vec<Finding> {
    tree.manifests()
        .filter(|manifest| !OWN_LINTS.contains(&manifest.krate().unwrap_or_default()))
        .filter(|manifest| {
            !sections(&manifest.text).any(|(_, section, line)| {
                section == "lints" && line.replace(' ', "") == "workspace=true"
                    || line.replace(' ', "") == "lints.workspace=true"
            })
        })
        .map(|manifest| {
            let fix = "add `[lints]` with `workspace = true`";
            Finding::new(&manifest.path, 1, "does not take the lints of the workspace", fix)
        })
        .collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Section {
    /// Also dependencies of build scripts.
    Normal,
    Dev,
}

#[derive(Debug)]
struct Dependency<'a> {
    line: usize,
    section: Section,
    package: &'a str,
}

impl<'a> Dependency<'a> {
    /// The folder name of the crate, if it is one of ours.
    fn krate(&self) -> Option<&'a str> {
        match self.package {
            "holdpoint" => Some("cli"),
            "xtask" => Some("xtask"),
            other => other.strip_prefix("holdpoint-"),
        }
    }
}

fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    for (line, section, text) in sections(manifest) {
        // `[dependencies]`, `[target.'…'.dependencies]`, or `[dependencies.name]`.
        let (table, own_table) = match section.rsplit_once('.') {
            Some((table, name)) if table.ends_with("dependencies") => (table, Some(name)),
            _ => (section, None),
        };
        let section = match table.rsplit('.').next() {
            Some("dependencies" | "build-dependencies") => Section::Normal,
            Some("dev-dependencies") => Section::Dev,
            _ => continue,
        };
        let key = text.split(['=', '.', ' ']).next().unwrap_or_default().trim_matches('"');
        let package = match (own_table, renamed(text)) {
            (_, Some(package)) => package,
            // In a table of its own only the line that renames it, or the heading, names a package.
            (Some(name), None) if text.starts_with('[') => name,
            (Some(_), None) => continue,
            (None, None) if text.starts_with('[') => continue,
            (None, None) => key,
        };
        found.push(Dependency { line, section, package });
    }
    found
}

/// The package that a dependency's line names by `package = "…"`.
fn renamed(text: &str) -> Option<&str> {
    let at = text.find("package")?;
    let value = text[at + "package".len()..].trim_start().strip_prefix('=')?;
    value.split('"').nth(1)
}

/// The lines that say something, each with its number and the table it stands in; a heading stands in the
/// table it opens.
pub fn sections(manifest: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut section = "";
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        if let Some(heading) = line.strip_prefix('[').filter(|_| !line.starts_with("[[")) {
            section = heading.split(']').next().unwrap_or_default();
        }
        Some((index + 1, section, line))
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_crate_may_look_up_but_not_down() {
        let down = "[dependencies]\nserde = \"1\"\nholdpoint-engine.workspace = true\n";
        assert_eq!(
            found(order, &[("crates/store/Cargo.toml", down)]),
            ["crates/store/Cargo.toml:3: `store` may not depend on `engine`"]
        );
        let up =
            "[dependencies]\nholdpoint-core.workspace = true\nholdpoint-store = { path = \"../store\" }\n";
        assert!(found(order, &[("crates/engine/Cargo.toml", up)]).is_empty());
    }

    #[test]
    fn the_two_databases_do_not_know_each_other() {
        for section in ["dependencies", "dev-dependencies"] {
            let text = format!("[{section}]\nholdpoint-store-postgres.workspace = true\n");
            assert_eq!(found(order, &[("crates/store-sqlite/Cargo.toml", &text)]).len(), 1);
        }
    }

    #[test]
    fn tests_may_use_what_is_made_for_tests_and_the_crate_itself() {
        let text = "[dev-dependencies]\nholdpoint-sim.workspace = true\n\
                    holdpoint-fault-vfs.workspace = true\nholdpoint-store = { path = \".\" }\n\
                    holdpoint-server.workspace = true\n";
        assert_eq!(
            found(order, &[("crates/store/Cargo.toml", text)]),
            ["crates/store/Cargo.toml:5: tests of `store` may not depend on `server`"]
        );
        for only_tests in FOR_TESTS {
            let text = format!("[dependencies]\nholdpoint-{only_tests}.workspace = true\n");
            assert_eq!(found(order, &[("crates/engine/Cargo.toml", &text)]).len(), 1);
        }
    }

    #[test]
    fn every_way_to_write_a_dependency_is_seen() {
        for text in [
            "[dependencies]\nrules = { package = \"holdpoint-engine\", path = \"../engine\" }\n",
            "[dependencies.holdpoint-engine]\nworkspace = true\n",
            "[dependencies.rules]\npackage = \"holdpoint-engine\"\n",
            "[target.'cfg(unix)'.dependencies]\nholdpoint-engine.workspace = true\n",
            "[build-dependencies]\nholdpoint-engine = { workspace = true }\n",
        ] {
            assert_eq!(found(order, &[("crates/core/Cargo.toml", text)]).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        assert_eq!(
            found(order, &[("crates/extra/Cargo.toml", "")]),
            ["crates/extra/Cargo.toml:1: crate `extra` has no place in the order of crates"]
        );
    }

    #[test]
    fn the_lints_of_the_workspace_hold_everywhere() {
        assert_eq!(found(lints, &[("crates/core/Cargo.toml", "[lints]\nrust = {}\n")]).len(), 1);
        assert!(found(lints, &[("crates/core/Cargo.toml", "[lints]\nworkspace = true\n")]).is_empty());
        assert!(found(lints, &[("xtask/Cargo.toml", "lints.workspace = true\n")]).is_empty());
    }
}
