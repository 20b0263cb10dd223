//! Looking at one file: whether it is as wanted, as it was written before, or somebody else's.

use std::io::{self, Read as _};

use holdpoint_core::Digest;
use holdpoint_core::event::Drift;
use sha2::{Digest as _, Sha256};

use super::apply::{How, Unit};
use super::folder::{Folder, Kind, Meta, Walk, split};
use super::manifest::{Manifest, Written};

/// How much is read at a time.
const CHUNK: usize = 128 * 1024;

/// What stands at a path, as far as it matters.
pub(super) enum Stands {
    Nothing,
    /// As wanted.
    Right(Written),
    /// Ours, and not as wanted any more.
    Old,
    /// Somebody else's.
    Foreign(Drift),
}

/// Looks at what is there.
pub(super) struct Look<'a> {
    pub(super) unit: &'a Unit<'a>,
    how: How,
    pub(super) manifest: &'a Manifest,
    /// The folder that was looked into last: files stand side by side.
    open: Option<(String, Option<Folder>)>,
}

impl<'a> Look<'a> {
    pub(super) fn new(unit: &'a Unit<'a>, how: How, manifest: &'a Manifest) -> Self {
        Self { unit, how, manifest, open: None }
    }

    /// What stands at a path, with its folder.
    pub(super) fn at<'p>(&mut self, path: &'p str) -> io::Result<Option<(&Folder, &'p str, Meta)>> {
        let (folder, name) = split(path);
        if self.open.as_ref().is_none_or(|(open, _)| open != folder) {
            let walked = match self.unit.root.walk(folder)? {
                Walk::There(found) => Some(found),
                Walk::Absent | Walk::Blocked(_) => None,
            };
            self.open = Some((folder.to_owned(), walked));
        }
        let Some((_, Some(folder))) = &self.open else { return Ok(None) };
        Ok(folder.stat(name)?.map(|meta| (folder, name, meta)))
    }

    pub(super) fn stands(&mut self, path: &str, wanted: Digest) -> io::Result<Stands> {
        let (hash, manifest) = (self.how.hash, self.manifest);
        let known = manifest.files.get(path);
        let Some((folder, name, meta)) = self.at(path)? else { return Ok(Stands::Nothing) };
        if meta.kind != Kind::File {
            return Ok(Stands::Foreign(Drift::Replaced));
        }
        let (digest, size) = match known {
            Some(Written::File { d, s, .. }) if !hash && known.is_some_and(|known| known.stands(&meta)) => {
                (*d, *s)
            }
            _ => digest_of(folder, name)?,
        };
        let ours = |other: &Digest| match known {
            Some(Written::File { d, .. }) => d == other,
            Some(Written::Link { .. }) | None => false,
        };
        Ok(if digest == wanted {
            Stands::Right(Written::File { d: digest, s: size, m: meta.modified })
        } else if ours(&digest) {
            Stands::Old
        } else {
            Stands::Foreign(Drift::Changed)
        })
    }

    /// Whether something that is no folder stands on the way to a path.
    pub(super) fn blocked(&self, path: &str) -> io::Result<Option<String>> {
        match self.unit.root.walk(split(path).0)? {
            Walk::Blocked(at) => Ok(Some(at)),
            Walk::There(_) | Walk::Absent => Ok(None),
        }
    }

    pub(super) fn was_written(&self, path: &str) -> bool {
        self.manifest.files.contains_key(path) && !self.manifest.pending.files.contains_key(path)
    }
}

/// The content of the file at a path, if one is there.
pub(super) fn written(root: &Folder, path: &str) -> io::Result<Option<(Digest, Meta)>> {
    let (folder, name) = split(path);
    let Walk::There(folder) = root.walk(folder)? else { return Ok(None) };
    match folder.stat(name)? {
        Some(meta) if meta.kind == Kind::File => Ok(Some((digest_of(&folder, name)?.0, meta))),
        Some(_) | None => Ok(None),
    }
}

/// The digest of a file that is there, and its size.
fn digest_of(folder: &Folder, name: &str) -> io::Result<(Digest, u64)> {
    let mut file = folder.read(name)?;
    let (mut hash, mut size, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok((Digest(hash.finalize().into()), size));
        }
        hash.update(&chunk[..read]);
        size += read as u64;
    }
}
