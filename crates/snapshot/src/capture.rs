//! Making a tree of a folder.
//!
//! Each file is consistent in itself; the tree is not one instant. A file is read between two looks at its size and times, and twice if it was changed
//! a moment ago, because times are coarse. A difference repeats this; a file that keeps changing is captured as it was last read, and named.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use holdpoint_core::Digest;
use holdpoint_store::{BlobError, BlobStore, BoxFuture, SMALL_BLOB, SmallBlob, Stored};
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::dir::{Dir, kind, permissions, stat_of};
use crate::limits::{Used, deep};
use crate::object::{Entry, Name, Node, TARGET_MAX};
use crate::thread::{Store, on_thread};
use crate::{CaptureError, Known, Limits, Scope, SnapshotError, Tree, TreePath};

/// How often a file that changes is read.
const TRIES: u32 = 3;
/// A file that was changed less than this ago is read twice.
const RECENT: Duration = Duration::from_secs(2);
/// How much of a file is read at a time.
const CHUNK: usize = 256 * 1024;
/// Small blobs are saved when there are so many bytes or so many of them.
const BATCH_BYTES: usize = 1 << 20;
const BATCH_BLOBS: usize = 1000;

/// Makes small blobs durable, in batches of about 1 MiB. The blob store keeps only large ones by itself.
pub trait SaveSmall: Send + Sync {
    /// What it may end in.
    type Error: Send;

    /// Answers when the blobs are durable.
    fn save(&self, blobs: Vec<SmallBlob>) -> BoxFuture<'_, Result<(), Self::Error>>;
}

/// A folder that was captured. Everything that the tree names is durable.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The tree object of the folder.
    pub tree: Digest,
    /// Everything that it names.
    pub known: Known,
    /// Entries of all folders together, also those that were skipped.
    pub entries: u64,
    /// Bytes of all files together.
    pub bytes: u64,
    /// What the tree lacks.
    pub skipped: Vec<Skipped>,
    /// Files that changed each time they were read: the tree has what was read last, or nothing.
    pub unstable: Vec<TreePath>,
}

/// Something that a tree lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where.
    pub path: TreePath,
    /// Why.
    pub why: Skip,
}

/// Why something is not in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// A socket, pipe or device.
    Special,
    /// This process may not read it.
    Unreadable,
    /// Larger than [`Limits::file`].
    TooLarge,
}

impl Skip {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Special => "a socket, pipe or device",
            Self::Unreadable => "not readable",
            Self::TooLarge => "too large",
        }
    }
}

/// Captures a folder. Contents that `known` names are not stored again: it must come from a tree that is still referred to.
///
/// Dropping the future stops the work at the next file.
pub async fn capture<S: SaveSmall + 'static>(
    blobs: Arc<dyn BlobStore>,
    save: Arc<S>,
    scope: Scope,
    limits: Limits,
    known: Known,
) -> Result<Captured, CaptureError<S::Error>>
where
    S::Error: 'static,
{
    on_thread(blobs, move |store| {
        let mut capture = Capture {
            store,
            save: &*save,
            limits,
            known,
            named: HashSet::new(),
            pending: Vec::new(),
            pending_bytes: 0,
            used: Used::default(),
            path: TreePath::default(),
            skipped: Vec::new(),
            unstable: Vec::new(),
        };
        let base = Dir::base(&scope.base).map_err(|cause| SnapshotError::io(&capture.path, cause))?;
        let tree = capture.folder(&base, 0, |name| scope.has(name))?;
        capture.flush()?;
        Ok(Captured {
            tree,
            known: Known(Arc::new(capture.named)),
            entries: capture.used.entries,
            bytes: capture.used.bytes,
            skipped: capture.skipped,
            unstable: capture.unstable,
        })
    })
    .await
}

struct Capture<'a, S: SaveSmall> {
    store: Store,
    save: &'a S,
    limits: Limits,
    known: Known,
    /// Named by this tree and stored, or about to be.
    named: HashSet<Digest>,
    pending: Vec<SmallBlob>,
    pending_bytes: usize,
    used: Used,
    path: TreePath,
    skipped: Vec<Skipped>,
    unstable: Vec<TreePath>,
}

/// What one look at a name came to.
enum Look {
    Found(Node),
    /// What was read is not what was there before or after.
    Changed(Node),
    /// Something else took its place.
    Swapped,
    Gone,
    Skip(Skip),
}

type Capturing<T, S> = Result<T, CaptureError<<S as SaveSmall>::Error>>;

impl<S: SaveSmall> Capture<'_, S> {
    fn folder(&mut self, dir: &Dir, depth: u64, has: impl Fn(&CStr) -> bool) -> Capturing<Digest, S> {
        deep(depth, &self.limits).map_err(SnapshotError::limit(&self.path))?;
        let left = self.limits.entries.saturating_sub(self.used.entries);
        let names = dir.names(left).map_err(|cause| SnapshotError::io(&self.path, cause))?;
        let Some(names) = names else {
            let (measure, limit) = (crate::Measure::Entries, self.limits.entries);
            return Err(SnapshotError::Limit { measure, limit, path: self.path.clone() }.into());
        };
        let mut tree = Tree::default();
        for name in names.into_iter().filter(|name| has(name)) {
            self.store.check()?;
            self.path.push(&name);
            self.used.entry(&self.limits).map_err(SnapshotError::limit(&self.path))?;
            if let Some(node) = self.entry(dir, &name, depth)? {
                let name = Name::new(name.to_bytes()).map_err(|_| {
                    SnapshotError::io(&self.path, std::io::Error::other("a name that cannot be used"))
                })?;
                tree.push(Entry { name, node });
            }
            self.path.pop();
        }
        self.keep(tree.encode())
    }

    fn entry(&mut self, dir: &Dir, name: &CStr, depth: u64) -> Capturing<Option<Node>, S> {
        let mut last = None;
        for _ in 0..TRIES {
            match self.look(dir, name, depth)? {
                Look::Found(node) => return Ok(Some(self.counted(node)?)),
                Look::Changed(node) => last = Some(node),
                Look::Swapped => {}
                Look::Gone => return Ok(None),
                Look::Skip(why) => {
                    self.skipped.push(Skipped { path: self.path.clone(), why });
                    return Ok(None);
                }
            }
        }
        self.unstable.push(self.path.clone());
        last.map(|node| self.counted(node)).transpose()
    }

    fn counted(&mut self, node: Node) -> Capturing<Node, S> {
        if let Node::File { size, .. } = node {
            self.used.bytes(size, &self.limits).map_err(SnapshotError::limit(&self.path))?;
        }
        Ok(node)
    }

    fn look(&mut self, dir: &Dir, name: &CStr, depth: u64) -> Capturing<Look, S> {
        let stat = match dir.stat(name) {
            Ok(stat) => stat,
            Err(cause) => return self.missed(cause),
        };
        match kind(&stat) {
            FileType::RegularFile => self.file(dir, name),
            FileType::Symlink => self.link(dir, name),
            FileType::Directory => self.sub_folder(dir, name, depth),
            _ => Ok(Look::Skip(Skip::Special)),
        }
    }

    fn missed(&self, cause: Errno) -> Capturing<Look, S> {
        match cause {
            Errno::NOENT => Ok(Look::Gone),
            // No link, no folder, or a socket: not what it was a moment ago.
            Errno::LOOP | Errno::NOTDIR | Errno::INVAL | Errno::NXIO => Ok(Look::Swapped),
            Errno::ACCESS | Errno::PERM => Ok(Look::Skip(Skip::Unreadable)),
            cause => Err(SnapshotError::io(&self.path, cause).into()),
        }
    }

    fn sub_folder(&mut self, dir: &Dir, name: &CStr, depth: u64) -> Capturing<Look, S> {
        let inside = match dir.enter(name) {
            Ok(inside) => inside,
            Err(cause) => return self.missed(cause),
        };
        let mode = inside.mode().map_err(|cause| SnapshotError::io(&self.path, cause))?;
        let tree = self.folder(&inside, depth + 1, |_| true)?;
        Ok(Look::Found(Node::Folder { mode, tree }))
    }

    fn link(&mut self, dir: &Dir, name: &CStr) -> Capturing<Look, S> {
        let target = match dir.target(name) {
            Ok(target) => target.into_bytes(),
            Err(cause) => return self.missed(cause),
        };
        let size = target.len() as u64;
        if size == 0 || size > TARGET_MAX {
            return Ok(Look::Skip(Skip::TooLarge));
        }
        Ok(Look::Found(Node::Link { size, target: self.keep(target)? }))
    }

    fn file(&mut self, dir: &Dir, name: &CStr) -> Capturing<Look, S> {
        let mut file = match dir.read(name) {
            Ok(file) => file,
            Err(cause) => return self.missed(cause),
        };
        let failed = |cause: std::io::Error| SnapshotError::io(&self.path, cause);
        let before = stat_of(&file).map_err(|cause| failed(cause.into()))?;
        if kind(&before) != FileType::RegularFile {
            return Ok(Look::Swapped);
        }
        let size = u64::try_from(before.st_size).unwrap_or(0);
        if size > self.limits.file {
            return Ok(Look::Skip(Skip::TooLarge));
        }
        let mut look = self.used;
        look.bytes(size, &self.limits).map_err(SnapshotError::limit(&self.path))?;
        let (content, read, same) = if size <= SMALL_BLOB as u64 {
            self.small(&mut file, size, &before)?
        } else {
            self.large(&mut file, size, &before)?
        };
        let after = stat_of(&file).map_err(|cause| SnapshotError::io(&self.path, cause))?;
        let node = Node::File { mode: permissions(&before), size: read, content };
        let same = same && read == size && is_same(&before, &after);
        Ok(if same { Look::Found(node) } else { Look::Changed(node) })
    }

    /// Reads a small file; answers its digest, its length, and whether it was the same when it was read again.
    fn small(&mut self, file: &mut File, size: u64, stat: &Stat) -> Capturing<(Digest, u64, bool), S> {
        let path = &self.path;
        let mut read = || {
            let mut bytes = Vec::with_capacity(size as usize);
            let done = file.rewind().and_then(|()| file.take(size).read_to_end(&mut bytes));
            done.map(|_| bytes).map_err(|cause| SnapshotError::io(path, cause))
        };
        let bytes = read()?;
        let same = !is_recent(stat) || read()? == bytes;
        let read = bytes.len() as u64;
        Ok((self.keep(bytes)?, read, same))
    }

    /// Reads a large file to find its digest, and again to store it, unless the blob is there already.
    fn large(&mut self, file: &mut File, size: u64, stat: &Stat) -> Capturing<(Digest, u64, bool), S> {
        let (digest, read) = self.hash(file, size)?;
        if self.is_stored(digest) {
            let same = !is_recent(stat) || self.hash(file, size)?.0 == digest;
            self.named.insert(digest);
            return Ok((digest, read, same));
        }
        let failed = |cause: std::io::Error| SnapshotError::io(&self.path, cause);
        file.rewind().map_err(failed)?;
        let copy = file.try_clone().map_err(failed)?;
        let stored =
            self.store.put(copy.take(size)).map_err(|cause| SnapshotError::content(&self.path, cause))?;
        let (name, read) = match stored {
            Stored::Durable(name, read) => (name, read),
            Stored::Small(name, bytes) => {
                let read = bytes.len() as u64;
                self.pend(SmallBlob { digest: name, bytes })?;
                (name, read)
            }
        };
        self.named.insert(name);
        Ok((name, read, name == digest))
    }

    fn hash(&self, file: &mut File, size: u64) -> Result<(Digest, u64), SnapshotError> {
        let failed = |cause: std::io::Error| SnapshotError::io(&self.path, cause);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (mut hash, mut read, mut buffer) = (Sha256::new(), 0, vec![0; CHUNK]);
        let mut rest = file.take(size);
        loop {
            self.store.check()?;
            match rest.read(&mut buffer).map_err(failed)? {
                0 => return Ok((Digest(hash.finalize().into()), read)),
                n => {
                    hash.update(&buffer[..n]);
                    read += n as u64;
                }
            }
        }
    }

    fn is_stored(&self, digest: Digest) -> bool {
        self.named.contains(&digest) || self.known.contains(&digest)
    }

    /// Keeps bytes that are in memory already: tree objects, link targets, small files.
    fn keep(&mut self, bytes: Vec<u8>) -> Capturing<Digest, S> {
        let digest = Digest::of(&bytes);
        if !self.is_stored(digest) {
            if bytes.len() <= SMALL_BLOB {
                self.pend(SmallBlob { digest, bytes: bytes.into() })?;
            } else {
                let content = |cause: BlobError| SnapshotError::content(&self.path, cause);
                self.store.put(std::io::Cursor::new(bytes)).map_err(content)?;
            }
        }
        self.named.insert(digest);
        Ok(digest)
    }

    fn pend(&mut self, blob: SmallBlob) -> Capturing<(), S> {
        self.pending_bytes += blob.bytes.len();
        self.pending.push(blob);
        if self.pending_bytes >= BATCH_BYTES || self.pending.len() >= BATCH_BLOBS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Capturing<(), S> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.pending_bytes = 0;
        let blobs = std::mem::take(&mut self.pending);
        self.store.wait(self.save.save(blobs)).map_err(CaptureError::Save)
    }
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    let of =
        |s: &Stat| (s.st_dev, s.st_ino, s.st_size, s.st_mtime, s.st_mtime_nsec, s.st_ctime, s.st_ctime_nsec);
    of(a) == of(b)
}

/// Whether a file was changed so lately that another change may have left the same times.
fn is_recent(stat: &Stat) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let changed = u64::try_from(stat.st_ctime.max(stat.st_mtime)).unwrap_or(0);
    changed + RECENT.as_secs() >= now.as_secs()
}
