//! The built web console, as bytes in the binary.
//!
//! A binary that was built without a console has none; its server then says how to build one. While the console
//! is being developed, a debug binary shows the files of the folder in `HOLDPOINT_CONSOLE_DIR` instead of its own.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// A file of the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its bytes.
    pub bytes: Cow<'static, [u8]>,
    /// The same, compressed with brotli.
    pub brotli: Option<Cow<'static, [u8]>>,
}

struct Embedded {
    path: &'static str,
    bytes: &'static [u8],
    brotli: Option<&'static [u8]>,
}

static FILES: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The file at a path below the site's root, such as `index.html`.
pub fn file(path: &str) -> Option<File> {
    match folder() {
        Some(folder) => read(&folder, path),
        None => embedded(path),
    }
}

fn embedded(path: &str) -> Option<File> {
    let at = FILES.binary_search_by(|file| file.path.cmp(path)).ok()?;
    let found = &FILES[at];
    Some(File { bytes: Cow::Borrowed(found.bytes), brotli: found.brotli.map(Cow::Borrowed) })
}

fn folder() -> Option<PathBuf> {
    if cfg!(debug_assertions) { std::env::var_os("HOLDPOINT_CONSOLE_DIR").map(PathBuf::from) } else { None }
}

fn read(folder: &Path, path: &str) -> Option<File> {
    let path = Path::new(path);
    // Nothing outside of the folder has a name here.
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let bytes = std::fs::read(folder.join(path)).ok()?;
    let brotli = std::fs::read(folder.join(format!("{}.br", path.display()))).ok();
    Some(File { bytes: Cow::Owned(bytes), brotli: brotli.map(Cow::Owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_in_which_it_is_searched() {
        assert!(FILES.is_sorted_by(|a, b| a.path < b.path));
        assert!(FILES.iter().all(|file| embedded(file.path).is_some_and(|found| found.bytes == file.bytes)));
        assert_eq!(embedded("no such file"), None);
    }

    #[test]
    fn a_folder_shows_nothing_but_its_own_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(read(folder, "src/lib.rs").is_some());
        for outside in ["../server/Cargo.toml", "/etc/hostname", "src/../../server/Cargo.toml", "src"] {
            assert_eq!(read(folder, outside), None, "{outside}");
        }
    }
}
