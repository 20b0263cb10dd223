//! Removing whatever is in the way, however many and however deep, with a bounded number of open folders.

use std::ffi::{CStr, CString};

use rustix::io::Errno;

use crate::dir::Dir;
use crate::thread::Store;
use crate::{SnapshotError, TreePath};

/// Folders that are held open at once. What is deeper is moved up first: a program can nest folders far deeper than a process may open files.
const HELD: u32 = 32;
/// How often a folder is looked at again while names come up in it; each look removes up to a thousand.
const ROUNDS: u32 = 1_000_000;

/// Removes what stands under a name, with everything in it; links are removed, not followed.
pub(crate) fn remove(store: &Store, dir: &Dir, name: &CStr, path: &TreePath) -> Result<(), SnapshotError> {
    let failed = |cause: Errno| SnapshotError::io(path, cause);
    for _ in 0..ROUNDS {
        if unlinked(dir, name).map_err(failed)? {
            return Ok(());
        }
        match dir.enter_to_change(name) {
            Ok(top) => while empty_once(store, &top, &top, 1).map_err(|cause| cause.at(path))? {},
            // It is something else by now.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            Err(cause) => return Err(failed(cause)),
        }
        match dir.remove_folder(name) {
            Ok(()) => return Ok(()),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
    Err(SnapshotError::Busy { path: path.clone() })
}

/// Removes everything in a folder that is not to stay.
pub(crate) fn remove_others(
    store: &Store,
    dir: &Dir,
    path: &mut TreePath,
    stays: impl Fn(&CStr) -> bool,
) -> Result<(), SnapshotError> {
    for _ in 0..ROUNDS {
        let names = dir.some_names(&stays).map_err(|cause| SnapshotError::io(path, cause))?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            path.push(&name);
            remove(store, dir, &name, path)?;
            path.pop();
        }
    }
    Err(SnapshotError::Busy { path: path.clone() })
}

enum Failure {
    System(Errno),
    Busy,
    Stopped,
}

impl Failure {
    fn at(self, path: &TreePath) -> SnapshotError {
        match self {
            Self::System(cause) => SnapshotError::io(path, cause),
            Self::Busy => SnapshotError::Busy { path: path.clone() },
            Self::Stopped => SnapshotError::Stopped,
        }
    }
}

fn empty(store: &Store, top: &Dir, dir: &Dir, depth: u32) -> Result<(), Failure> {
    for _ in 0..ROUNDS {
        if !empty_once(store, top, dir, depth)? {
            return Ok(());
        }
    }
    Err(Failure::Busy)
}

/// Removes some of what is in a folder; false when nothing was in it.
fn empty_once(store: &Store, top: &Dir, dir: &Dir, depth: u32) -> Result<bool, Failure> {
    store.check().map_err(|_| Failure::Stopped)?;
    let names = dir.some_names(|_| false).map_err(Failure::System)?;
    for name in &names {
        if unlinked(dir, name).map_err(Failure::System)? {
            continue;
        }
        if depth == HELD {
            move_up(top, dir, name).map_err(Failure::System)?;
            continue;
        }
        match dir.enter_to_change(name) {
            Ok(inside) => empty(store, top, &inside, depth + 1)?,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            Err(cause) => return Err(Failure::System(cause)),
        }
        match dir.remove_folder(name) {
            // What came up in it meanwhile is found by the next look.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(cause) => return Err(Failure::System(cause)),
        }
    }
    Ok(!names.is_empty())
}

/// Puts a deep folder directly into the one that is being emptied, where the next look finds it.
fn move_up(top: &Dir, dir: &Dir, name: &CStr) -> Result<(), Errno> {
    for n in 0..u32::MAX {
        let new = CString::new(format!(".moved-{n}")).expect("digits have no NUL");
        match dir.move_to(name, top, &new) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(Errno::EXIST)
}

/// True if the name is gone; false if a folder stands there.
fn unlinked(dir: &Dir, name: &CStr) -> Result<bool, Errno> {
    match dir.unlink(name) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        // What POSIX says of a folder, and what Linux says of a file that may not be removed.
        Err(Errno::PERM) if dir.enter(name).is_ok() => Ok(false),
        Err(cause) => Err(cause),
    }
}
