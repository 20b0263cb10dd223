//! The folder of blob files: `ab/<hex>` for each blob, `tmp/` for what is being written, and a lock.
//!
//! Whoever gives a file its name or renews its time holds the lock together with others; whoever removes a
//! file holds it alone. So nothing is removed between being found and being relied on.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use holdpoint_core::Digest;
use holdpoint_planted::{Bug, planted};

/// A folder of blob files.
pub(super) struct Folder {
    root: PathBuf,
    /// Subfolders whose names this process has made durable.
    anchored: Mutex<[bool; 256]>,
    /// Whether a sync of a folder has failed. A second try may succeed without having kept anything.
    broken: AtomicBool,
}

impl Folder {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        make_folders(&root.join("tmp"))?;
        sync_folder(root)?;
        if let Some(parent) = root.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            sync_folder(parent)?;
        }
        let anchored = Mutex::new([false; 256]);
        Ok(Self { root: root.to_owned(), anchored, broken: AtomicBool::new(false) })
    }

    /// Where temporary files are.
    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Where the blobs are whose digests begin with a byte.
    pub(super) fn shelf(&self, first: u8) -> PathBuf {
        self.root.join(format!("{first:02x}"))
    }

    /// Where a blob is.
    pub(super) fn path(&self, digest: Digest) -> PathBuf {
        self.shelf(digest.0[0]).join(digest.to_string())
    }

    /// A new file under a name that nobody has; only its owner may read it.
    pub(super) fn create(&self) -> io::Result<(PathBuf, File)> {
        if self.broken.load(Ordering::Acquire) {
            return Err(io::Error::other("a sync of the blob folder has failed; the process must end"));
        }
        loop {
            let path = self.tmp().join(format!("{:016x}", RandomState::new().build_hasher().finish()));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => make_folders(&self.tmp())?,
                file => return Ok((path, file?)),
            }
        }
    }

    /// Opens a blob's file, if there is one.
    pub(super) fn find(&self, digest: Digest) -> io::Result<Option<File>> {
        match File::open(self.path(digest)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves a file that is written and synced to its blob's name.
    pub(super) fn name(&self, temp: &Path, digest: Digest) -> io::Result<()> {
        make_folders(&self.shelf(digest.0[0]))?;
        fs::rename(temp, self.path(digest))
    }

    /// Renews the time of a blob's file that is there with the right length, so that no sweep takes it.
    pub(super) fn renew(&self, digest: Digest, length: u64) -> io::Result<bool> {
        let Some(file) = self.find(digest)? else { return Ok(false) };
        if file.metadata()?.len() != length {
            return Ok(false);
        }
        file.set_modified(SystemTime::now())?;
        Ok(true)
    }

    /// Makes a blob's name durable, and that of its subfolder, which another process may just have made.
    pub(super) fn anchor(&self, digest: Digest) -> io::Result<()> {
        let synced = self.sync_names(digest.0[0]);
        if synced.is_err() {
            self.broken.store(true, Ordering::Release);
        }
        synced
    }

    fn sync_names(&self, first: u8) -> io::Result<()> {
        sync_folder(&self.shelf(first))?;
        let anchored = || self.anchored.lock().unwrap_or_else(PoisonError::into_inner);
        if !anchored()[usize::from(first)] {
            sync_folder(&self.root)?;
            anchored()[usize::from(first)] = true;
        }
        Ok(())
    }

    /// Keeps sweeps out until the answer is dropped.
    pub(super) fn share(&self) -> io::Result<File> {
        let lock = self.lock_file()?;
        lock.lock_shared()?;
        Ok(lock)
    }

    /// Keeps everybody else out until the answer is dropped.
    pub(super) fn own(&self) -> io::Result<File> {
        let lock = self.lock_file()?;
        lock.lock()?;
        Ok(lock)
    }

    fn lock_file(&self) -> io::Result<File> {
        let path = self.root.join("lock");
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
    }
}

/// Makes a file's bytes durable.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    if planted(Bug::SkipFsync) { Ok(()) } else { file.sync_all() }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    sync_file(&File::open(path)?)
}

fn make_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
