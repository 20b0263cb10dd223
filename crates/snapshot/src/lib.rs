//! Folders as trees of blobs.
//!
//! A tree object holds the entries of one folder: names as bytes, files, symbolic links and folders, permission bits. File contents, link targets and
//! sub-folders are blobs of their own, so equal folders and contents are stored once. [`capture`] makes a tree of a folder, [`restore`] makes
//! a folder be exactly what a tree says, [`references`] lists what a tree object names.
//!
//! Invariant: everything below the base folder is reached by one name at a time through directory descriptors, and no link is followed. A
//! program that swaps folders for links meanwhile cannot make this crate read or write outside.
//!
//! Invariant: equal folders have equal digests on every machine. Owner, times, extended attributes, hard links and the set-id and sticky bits
//! are not part of a tree.
//!
//! Invariant: memory depends on the number of entries, never on the size of contents, and both have limits.

mod capture;
mod dir;
mod error;
mod limits;
mod object;
mod path;
mod remove;
mod restore;
mod thread;

use std::collections::HashSet;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use holdpoint_core::Digest;

pub use capture::{Captured, SaveSmall, Skip, Skipped, capture};
pub use error::{CaptureError, SnapshotError};
pub use limits::{Limits, Measure};
pub use object::{BadTree, Entry, Name, Node, Reference, Tree, references};
pub use path::TreePath;
pub use restore::{Restored, restore};

/// The folder that is captured or restored.
///
/// The path of the base is the caller's own and may lead through links; nothing below it may.
#[derive(Clone, Debug)]
pub struct Scope {
    base: PathBuf,
    only: Option<Vec<CString>>,
}

impl Scope {
    /// A folder with everything in it.
    pub fn whole(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into(), only: None }
    }

    /// Only these names in a folder; its other entries are neither read nor changed.
    pub fn only(base: impl Into<PathBuf>, names: impl IntoIterator<Item = Name>) -> Self {
        Self { base: base.into(), only: Some(names.into_iter().map(Name::into_c_string).collect()) }
    }

    fn has(&self, name: &std::ffi::CStr) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|one| one.as_c_str() == name))
    }
}

/// Digests that a tree names, directly or below it: a later capture does not store their contents again.
///
/// A stat cache (device, inode, size, times to digest) belongs beside this one, so that unchanged files need not be read either.
#[derive(Clone, Debug, Default)]
pub struct Known(Arc<HashSet<Digest>>);

impl Known {
    /// Whether the tree names this blob.
    pub fn contains(&self, digest: &Digest) -> bool {
        self.0.contains(digest)
    }

    /// How many different blobs the tree names, itself included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
