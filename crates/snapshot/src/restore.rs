//! Making a folder be what a tree says.
//!
//! The folder must be one that Holdpoint owns: what the tree does not have is removed. Nothing is synced; after a crash the folder is restored again.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use holdpoint_core::Digest;
use holdpoint_store::BlobStore;
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::dir::Dir;
use crate::limits::{Used, deep};
use crate::object::{Node, TARGET_MAX};
use crate::remove::{remove, remove_others};
use crate::thread::{Content, Store, on_thread};
use crate::{BadTree, Known, Limits, Scope, SnapshotError, TreePath};

/// How often a name is cleared for what the tree has there.
const TRIES: u32 = 8;
/// How much of a content is held at a time.
const CHUNK: usize = 256 * 1024;

/// A folder that was restored.
#[derive(Clone, Debug)]
pub struct Restored {
    /// Everything that the tree names.
    pub known: Known,
    /// Entries of all folders together.
    pub entries: u64,
    /// Bytes of all files together.
    pub bytes: u64,
}

/// Makes a folder hold exactly what a tree says: contents, links, empty folders and permission bits. All tree objects are read and
/// checked before anything is changed.
///
/// Dropping the future stops the work at the next file.
pub async fn restore(
    blobs: Arc<dyn BlobStore>,
    scope: Scope,
    tree: Digest,
    limits: Limits,
) -> Result<Restored, SnapshotError> {
    on_thread(blobs, move |store| {
        let mut check = Check {
            store: &store,
            limits,
            used: Used::default(),
            named: HashSet::new(),
            path: TreePath::default(),
        };
        check.tree(tree, 0, &scope)?;
        let Check { used, named, .. } = check;
        let mut path = TreePath::default();
        let base = Dir::base(&scope.base).map_err(|cause| SnapshotError::io(&path, cause))?;
        let mut restore =
            Restore { store: &store, path: &mut path, entries: limits.entries, buffer: Vec::new() };
        restore.folder(&base, tree, |name| scope.has(name))?;
        Ok(Restored { known: Known(Arc::new(named)), entries: used.entries, bytes: used.bytes })
    })
    .await
}

/// Reads all tree objects, so that a damaged or too large one is found before anything is removed.
struct Check<'a> {
    store: &'a Store,
    limits: Limits,
    used: Used,
    named: HashSet<Digest>,
    path: TreePath,
}

impl Check<'_> {
    fn tree(&mut self, digest: Digest, depth: u64, scope: &Scope) -> Result<(), SnapshotError> {
        deep(depth, &self.limits).map_err(SnapshotError::limit(&self.path))?;
        self.store.check()?;
        self.named.insert(digest);
        for entry in self.store.tree(digest, &self.path, self.limits.entries)?.entries() {
            let name = entry.name.as_c_str();
            if depth == 0 && !scope.has(name) {
                return Err(SnapshotError::BadTree { digest, cause: BadTree::Scope });
            }
            self.path.push(name);
            self.used.entry(&self.limits).map_err(SnapshotError::limit(&self.path))?;
            self.named.insert(entry.node.reference().digest());
            match entry.node {
                Node::File { size, .. } => {
                    self.used.bytes(size, &self.limits).map_err(SnapshotError::limit(&self.path))?;
                }
                Node::Link { .. } => {}
                Node::Folder { tree, .. } => self.tree(tree, depth + 1, scope)?,
            }
            self.path.pop();
        }
        Ok(())
    }
}

struct Restore<'a> {
    store: &'a Store,
    path: &'a mut TreePath,
    /// As many as the largest tree object may have.
    entries: u64,
    buffer: Vec<u8>,
}

impl Restore<'_> {
    fn folder(
        &mut self,
        dir: &Dir,
        digest: Digest,
        has: impl Fn(&CStr) -> bool,
    ) -> Result<(), SnapshotError> {
        let tree = self.store.tree(digest, self.path, self.entries)?;
        let stays = |name: &CStr| !has(name) || tree.get(name.to_bytes()).is_some();
        remove_others(self.store, dir, self.path, stays)?;
        for entry in tree.entries() {
            self.store.check()?;
            let name = entry.name.as_c_str();
            self.path.push(name);
            match entry.node {
                Node::File { mode, size, content } => self.file(dir, name, mode, size, content)?,
                Node::Link { target, .. } => self.link(dir, name, target)?,
                Node::Folder { mode, tree } => self.sub_folder(dir, name, mode, tree)?,
            }
            self.path.pop();
        }
        Ok(())
    }

    fn sub_folder(&mut self, dir: &Dir, name: &CStr, mode: u16, tree: Digest) -> Result<(), SnapshotError> {
        let inside = self.cleared(dir, name, || {
            match dir.enter_to_change(name) {
                Err(Errno::NOENT) => dir.make(name)?,
                Err(Errno::NOTDIR | Errno::LOOP) => return Err(Errno::EXIST),
                other => return other,
            }
            dir.enter_to_change(name)
        })?;
        self.folder(&inside, tree, |_| true)?;
        inside.set_mode(mode).map_err(|cause| SnapshotError::io(self.path, cause))
    }

    fn link(&mut self, dir: &Dir, name: &CStr, target: Digest) -> Result<(), SnapshotError> {
        let bad = || SnapshotError::BadTree { digest: target, cause: BadTree::Target };
        let bytes = self.content(target)?.all(TARGET_MAX);
        let bytes = bytes.map_err(|cause| SnapshotError::content(self.path, cause))?.ok_or_else(bad)?;
        let to = CString::new(bytes).map_err(|_| bad())?;
        self.cleared(dir, name, || dir.link(name, &to))
    }

    fn file(
        &mut self,
        dir: &Dir,
        name: &CStr,
        mode: u16,
        size: u64,
        digest: Digest,
    ) -> Result<(), SnapshotError> {
        let mut content = self.content(digest)?;
        let mut file = self.cleared(dir, name, || dir.create(name))?;
        let mut written = 0;
        loop {
            self.store.check()?;
            let read = content.read(&mut self.buffer, CHUNK);
            read.map_err(|cause| SnapshotError::content(self.path, cause))?;
            if self.buffer.is_empty() {
                break;
            }
            written += self.buffer.len() as u64;
            put(&mut file, &self.buffer).map_err(|cause| SnapshotError::io(self.path, cause))?;
        }
        if written != size {
            return Err(SnapshotError::BadTree { digest, cause: BadTree::Form });
        }
        file.set_len(size).map_err(|cause| SnapshotError::io(self.path, cause))?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode.into()))
            .map_err(|cause| SnapshotError::io(self.path, cause))
    }

    fn content(&self, digest: Digest) -> Result<Content, SnapshotError> {
        self.store.get(digest).map_err(|cause| SnapshotError::content(self.path, cause))
    }

    /// Makes something under a name, after removing what is in the way.
    fn cleared<T>(
        &mut self,
        dir: &Dir,
        name: &CStr,
        create: impl Fn() -> Result<T, Errno>,
    ) -> Result<T, SnapshotError> {
        for _ in 0..TRIES {
            match create() {
                Ok(made) => return Ok(made),
                Err(Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                    remove(self.store, dir, name, self.path)?;
                }
                Err(cause) => return Err(SnapshotError::io(self.path, cause)),
            }
        }
        Err(SnapshotError::Busy { path: self.path.clone() })
    }
}

/// Writes bytes, or leaves a hole where they are all zero.
fn put(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.iter().all(|byte| *byte == 0) {
        return file.seek(SeekFrom::Current(bytes.len() as i64)).map(drop);
    }
    file.write_all(bytes)
}
