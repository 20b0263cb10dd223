//! The text files of the repository, read once and then only looked at.
//!
//! Checks take a `Tree` and never touch the disk, so that their tests are made of a few lines of text.

use std::io;
use std::path::Path;
use std::process::Command;

/// All text files, sorted by path.
#[derive(Debug, Default)]
pub struct Tree {
    pub files: Vec<File>,
    /// Paths of files that are there and are not text: pictures, fonts.
    pub others: Vec<String>,
}

/// One text file.
#[derive(Debug)]
pub struct File {
    /// Relative to the root, with `/` between the parts.
    pub path: String,
    pub text: String,
}

impl Tree {
    /// Reads what git tracks, and what it would track: a new file is checked before it is added.
    pub fn read(root: &Path) -> io::Result<Self> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()?;
        if !listed.status.success() {
            let said = String::from_utf8_lossy(&listed.stderr);
            return Err(io::Error::other(format!("git ls-files: {}", said.trim())));
        }
        let mut paths: Vec<String> = String::from_utf8_lossy(&listed.stdout)
            .split('\0')
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect();
        paths.sort();
        paths.dedup();
        // What is gone from the disk or is not text has no lines to check.
        let mut tree = Self::default();
        for path in paths {
            match std::fs::read_to_string(root.join(&path)) {
                Ok(text) => tree.files.push(File { path, text }),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => tree.others.push(path),
                Err(_) => {}
            }
        }
        Ok(tree)
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files of the crates and of xtask.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| {
            file.krate().is_some() && Path::new(&file.path).extension().is_some_and(|end| end == "rs")
        })
    }

    /// The manifests of the crates and of xtask.
    pub fn manifests(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.krate().is_some() && file.path.ends_with("/Cargo.toml"))
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() });
        Self { files: files.collect(), others: Vec::new() }
    }
}

impl File {
    /// The folder name of the crate that the file belongs to; `xtask` for xtask.
    pub fn krate(&self) -> Option<&str> {
        let mut parts = self.path.split('/');
        match parts.next()? {
            "crates" => {
                let name = parts.next()?;
                parts.next().map(|_| name)
            }
            "xtask" => parts.next().map(|_| "xtask"),
            _ => None,
        }
    }

    /// Whether it stands under the `src` folder of a crate.
    pub fn in_src(&self) -> bool {
        self.krate().is_some_and(|name| {
            let krate = if name == "xtask" { "xtask".to_owned() } else { format!("crates/{name}") };
            self.path.starts_with(&format!("{krate}/src/"))
        })
    }

    /// Whether the whole file is test code.
    pub fn is_test(&self) -> bool {
        let mut folders = self.path.split('/');
        let name = folders.next_back();
        name == Some("tests.rs") || folders.any(|folder| folder == "tests" || folder == "benches")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_knows_its_place() {
        let tree = Tree::of(&[
            ("README.md", ""),
            ("crates/core/Cargo.toml", ""),
            ("crates/core/src/run/tests.rs", ""),
            ("crates/cli/tests/crash_kill.rs", ""),
            ("xtask/src/main.rs", ""),
        ]);
        let seen: Vec<_> = tree.files.iter().map(|f| (f.krate(), f.in_src(), f.is_test())).collect();
        assert_eq!(
            seen,
            [
                (None, false, false),
                (Some("core"), false, false),
                (Some("core"), true, true),
                (Some("cli"), false, true),
                (Some("xtask"), true, false),
            ]
        );
        assert_eq!(tree.manifests().count(), 1);
        assert_eq!(tree.rust().count(), 3);
    }
}
