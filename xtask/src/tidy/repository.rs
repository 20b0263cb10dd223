//! Rules of the repository as a whole: nothing of one machine in it, and its documents up to date.

use std::path::Path;

use super::Finding;
use crate::tree::Tree;

/// The one registry that a lock file may name, as cargo itself writes it.
const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// No file names a folder of the machine that it was written on.
pub fn machine_paths(tree: &Tree) -> Vec<Finding> {
    // Written in two halves, or this file would find itself.
    let folders = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut found = Vec::new();
    for file in &tree.files {
        for (index, line) in file.text.lines().enumerate() {
            let named = folders.iter().find(|folder| {
                line.match_indices(**folder).any(|(at, _)| !line[..at].ends_with(continues_a_path))
            });
            if let Some(folder) = named {
                let fix = "use a path relative to the repository, or a temporary folder in tests";
                let message = format!("names the folder `{folder}` of one machine");
                found.push(Finding::new(&file.path, index + 1, message, fix));
            }
        }
    }
    found
}

/// Whether a slash after this character is the middle of a path.
fn continues_a_path(c: char) -> bool {
    c.is_alphanumeric() || "_-.~*>})]$".contains(c)
}

/// Lock files name no registry but the default one.
pub fn lock_files(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &tree.files {
        let foreign: fn(&str) -> bool = match file.path.rsplit('/').next() {
            Some("Cargo.lock") => |line| line.starts_with("source = ") && line != REGISTRY,
            Some("package-lock.json") => |line| line.trim_start().starts_with("\"resolved\": \"http"),
            _ => continue,
        };
        for (index, line) in file.text.lines().enumerate().filter(|(_, line)| foreign(line)) {
            let fix = "resolve it again from the default registry, without recorded addresses";
            let message = format!("names an address of its own: {}", line.trim());
            found.push(Finding::new(&file.path, index + 1, message, fix));
        }
    }
    found
}

/// A change has a place to be told.
pub fn changelog(tree: &Tree) -> Vec<Finding> {
    let told =
        tree.get("CHANGELOG.md").is_some_and(|file| file.text.lines().any(|line| line == "## Unreleased"));
    let fix = "add a `## Unreleased` section with a line per change that people notice";
    if told {
        Vec::new()
    } else {
        vec![Finding::new("CHANGELOG.md", 1, "has no section `## Unreleased`", fix)]
    }
}

/// Every crate is described in `ARCHITECTURE.md`, with at least one invariant.
pub fn architecture(tree: &Tree) -> Vec<Finding> {
    let text = tree.get("ARCHITECTURE.md").map_or("", |file| file.text.as_str());
    let mut found = Vec::new();
    for manifest in tree.manifests() {
        let name = manifest.path.trim_end_matches("/Cargo.toml");
        let mut lines = text.lines().enumerate();
        let heading = format!("### `{name}`");
        let fix = "give it a heading, a paragraph and a line that begins with `Invariant:`";
        let Some((at, _)) = lines.find(|(_, line)| line.starts_with(&heading)) else {
            found.push(Finding::new("ARCHITECTURE.md", 1, format!("has no section for `{name}`"), fix));
            continue;
        };
        if !lines
            .take_while(|(_, line)| !line.starts_with('#'))
            .any(|(_, line)| line.starts_with("Invariant:"))
        {
            found.push(Finding::new("ARCHITECTURE.md", at + 1, format!("`{name}` has no invariant"), fix));
        }
    }
    found
}

/// A link inside the repository leads to a file.
pub fn links(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for page in
        tree.files.iter().filter(|file| Path::new(&file.path).extension().is_some_and(|end| end == "md"))
    {
        for (index, line) in page.text.lines().enumerate() {
            let targets =
                line.match_indices("](").filter_map(|(at, _)| line[at + 2..].split([')', '#']).next());
            for target in targets.filter(|target| !target.is_empty() && !target.contains(':')) {
                let path = resolve(&page.path, target);
                let folder = format!("{path}/");
                let text = tree.files.iter().any(|file| file.path == path || file.path.starts_with(&folder));
                if !text && !tree.others.contains(&path) {
                    let fix = "correct the path, or write the page";
                    found.push(Finding::new(
                        &page.path,
                        index + 1,
                        format!("links to `{target}`, which is not there"),
                        fix,
                    ));
                }
            }
        }
    }
    found
}

/// Where a link of a page leads, from the root.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn no_file_knows_its_machine() {
        let text =
            concat!("see /wo", "rk/main\ncd \"/ho", "me/ann/x\"\nGET /api/ho", "me/x\n<root>/wo", "rk/x\n");
        assert_eq!(found(machine_paths, &[("docs/a.md", text)]).len(), 2);
    }

    #[test]
    fn lock_files_name_no_other_registry() {
        let lock = format!("{REGISTRY}\nsource = \"registry+https://example.org/index\"\n");
        assert_eq!(
            found(lock_files, &[("Cargo.lock", &lock)]),
            ["Cargo.lock:2: names an address of its own: source = \"registry+https://example.org/index\""]
        );
        let npm = "{\n  \"resolved\": \"https://example.org/a.tgz\",\n}\n";
        assert_eq!(found(lock_files, &[("console/package-lock.json", npm)]).len(), 1);
    }

    #[test]
    fn the_changelog_has_room() {
        assert_eq!(found(changelog, &[]).len(), 1);
        assert!(found(changelog, &[("CHANGELOG.md", "# Changelog\n\n## Unreleased\n")]).is_empty());
    }

    #[test]
    fn every_crate_is_described_with_an_invariant() {
        let manifest = ("crates/core/Cargo.toml", "");
        let described = "# A\n\n### `crates/core`: rules\n\nText.\n\nInvariant: no clock.\n";
        assert!(found(architecture, &[manifest, ("ARCHITECTURE.md", described)]).is_empty());
        assert_eq!(
            found(
                architecture,
                &[manifest, ("ARCHITECTURE.md", "### `crates/core`\n\nText.\n\n## B\nInvariant: x\n")]
            ),
            ["ARCHITECTURE.md:1: `crates/core` has no invariant"]
        );
        assert_eq!(found(architecture, &[manifest]), ["ARCHITECTURE.md:1: has no section for `crates/core`"]);
    }

    #[test]
    fn links_lead_somewhere() {
        let page = "[a](../README.md#top) [b](guides) [c](gone.md) [d](https://example.org) [e](#here)\n";
        assert_eq!(
            found(links, &[("README.md", ""), ("docs/a.md", page), ("docs/guides/b.md", "")]),
            ["docs/a.md:1: links to `gone.md`, which is not there"]
        );
    }
}
