//! Summaries by what was asked and of which content, so that nobody pays twice for the same one: not in this process,
//! not in another, and not after a restart.
//!
//! It is a cache: every file of it can be deleted at any time.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use holdpoint_core::Digest;

/// How many are kept.
const MOST: usize = 2000;
/// The longest that is kept.
const LONGEST: u64 = 64 * 1024;

/// The summaries of a home.
#[derive(Debug)]
pub(super) struct Summaries {
    folder: PathBuf,
}

impl Summaries {
    /// In a folder, which is made when there is something to keep.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn get(&self, of: Digest) -> Option<String> {
        let path = self.folder.join(of.to_string());
        let about = std::fs::metadata(&path).ok()?;
        if about.len() > LONGEST {
            return None;
        }
        std::fs::read_to_string(path).ok().filter(|text| !text.is_empty())
    }

    /// Keeps one. What cannot be kept is made again.
    pub fn put(&self, of: Digest, text: &str) {
        if text.len() as u64 <= LONGEST && self.write(of, text).is_err() {
            tracing::debug!("a summary could not be kept");
        }
    }

    fn write(&self, of: Digest, text: &str) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        self.make_room()?;
        let beside = self.folder.join(format!(".{of}.{}", std::process::id()));
        let mut file =
            std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        let written = file.write_all(text.as_bytes());
        written.and_then(|()| std::fs::rename(&beside, self.folder.join(of.to_string())))
    }

    /// The oldest go first.
    fn make_room(&self) -> io::Result<()> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            all.push((entry.metadata()?.modified()?, entry.path()));
        }
        all.sort();
        for (_, path) in all.iter().take((all.len() + 1).saturating_sub(MOST)) {
            std::fs::remove_file(path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_made_another_finds() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("cache/summaries");
        let (one, two) = (Summaries::new(folder.clone()), Summaries::new(folder));
        let of = Digest::of(b"the content");
        assert_eq!(one.get(of), None);
        one.put(of, "short");
        assert_eq!(two.get(of).as_deref(), Some("short"));
        assert_eq!(two.get(Digest::of(b"another")), None);
    }
}
