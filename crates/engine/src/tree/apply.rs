//! Makes the files of one unit like what its state wants.
//!
//! Looks first, then saves what is about to happen, then does it, then saves what was done. It can be killed
//! anywhere and called again, and calling it twice changes nothing. What somebody else changed is put aside
//! before it is written again; what work may write too is left alone.

use std::collections::BTreeMap;
use std::io::{self, Read};

use holdpoint_core::tree::Wanted;
use holdpoint_core::{Digest, Timestamp};

use super::folder::{Folder, Kind, Walk, split};
use super::look;
use super::manifest::{Found, Manifest, Written, key_name};
use super::plan::Plan;

/// What is to be made of one unit.
pub(crate) struct Unit<'a> {
    /// The pipeline's folder.
    pub root: &'a Folder,
    /// The unit's name.
    pub name: &'a str,
    /// What its state wants.
    pub wanted: &'a Wanted,
    /// What its documents say, by their paths.
    pub documents: &'a BTreeMap<String, Vec<u8>>,
    /// Opens the bytes of an output.
    pub blobs: &'a dyn Fn(Digest) -> io::Result<Box<dyn Read>>,
    /// What it is written from.
    pub stamp: Digest,
    /// What the places of a pipeline's runs follow from.
    pub about: Option<Digest>,
    /// Now, for the name of the folder that things are put aside in.
    pub now: Timestamp,
}

/// How hard to look, and whether to do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct How {
    /// Whether the content of every file is read.
    pub hash: bool,
    /// Whether nothing is changed.
    pub dry: bool,
}

impl How {
    /// As after a commit.
    pub const WRITE: Self = Self { hash: false, dry: false };
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Applied {
    /// What was not as it had been written: changed by somebody.
    pub found: Found,
    /// What was not as the state wants it, for whatever reason.
    pub behind: Vec<String>,
    /// How many files were looked at.
    pub files: u64,
    /// Whether something could not be written now.
    pub failed: bool,
}

/// Makes a unit's files like what is wanted, from what its manifest says of them.
pub(crate) fn apply(unit: &Unit<'_>, mut manifest: Manifest, how: How) -> io::Result<Applied> {
    settle_moves(unit.root, &mut manifest)?;
    settle_files(unit.root, &mut manifest)?;
    let mut applied = Applied::default();
    move_folders(unit, how, &mut manifest, &mut applied)?;
    let plan = Plan::new(unit, how, &manifest, &mut applied)?;
    if how.dry {
        applied.found.files.extend(plan.drifted());
        applied.behind.extend(plan.told());
        return Ok(applied);
    }
    plan.carry_out(unit, manifest, &mut applied)?;
    Ok(applied)
}

/// Moves that were about to happen did happen, if their targets are there and their sources are not.
fn settle_moves(root: &Folder, manifest: &mut Manifest) -> io::Result<()> {
    for (from, to) in std::mem::take(&mut manifest.pending.moves) {
        if root.look(&from)?.is_none() && root.look(&to)?.is_some() {
            manifest.moved(&from, &to);
        }
    }
    Ok(())
}

/// Files that were about to be written and stand as they should have become were written. Whoever is killed again
/// and again tells of each of its files what stands, and not only what it was when the first one began.
fn settle_files(root: &Folder, manifest: &mut Manifest) -> io::Result<()> {
    for (path, wanted) in std::mem::take(&mut manifest.pending.files) {
        match look::written(root, &path)? {
            Some((digest, meta)) if digest == wanted => {
                let (s, m) = (meta.size, meta.modified);
                manifest.files.insert(path, Written::File { d: digest, s, m });
            }
            Some(_) | None => {
                manifest.pending.files.insert(path, wanted);
            }
        }
    }
    Ok(())
}

/// Moves the folders that belong somewhere else now, with everything in them.
fn move_folders(unit: &Unit<'_>, how: How, manifest: &mut Manifest, applied: &mut Applied) -> io::Result<()> {
    for (key, to) in &unit.wanted.folders {
        let Some(from) = manifest.folders.get(&key_name(*key)).filter(|from| *from != to).cloned() else {
            continue;
        };
        if unit.root.look(&from)?.is_none_or(|meta| meta.kind != Kind::Folder) {
            continue;
        }
        applied.behind.push(format!("{from} belongs at {to}"));
        if how.dry {
            manifest.moved(&from, to);
            continue;
        }
        manifest.pending.moves = vec![(from.clone(), to.clone())];
        manifest.stamp = None;
        manifest.save(unit.root, unit.name)?;
        if move_folder(unit.root, &from, to)? {
            manifest.moved(&from, to);
        }
        manifest.pending.moves.clear();
    }
    Ok(())
}

/// Moves a folder; false if something stands there already, or in the way: then files are moved one by one.
fn move_folder(root: &Folder, from: &str, to: &str) -> io::Result<bool> {
    let ((from_in, from_name), (to_in, to_name)) = (split(from), split(to));
    let Walk::There(source) = root.walk(from_in)? else { return Ok(false) };
    if matches!(root.walk(to_in)?, Walk::Blocked(_)) {
        return Ok(false);
    }
    let target = root.make(to_in)?;
    // An empty folder of that name is in nobody's way.
    target.remove_empty(to_name)?;
    let name = std::ffi::CString::new(from_name)?;
    match source.move_to(&name, &target, to_name) {
        Ok(()) => {
            tidy_up(root, from_in)?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes folders that have become empty, upwards, but never those at the top.
pub(super) fn tidy_up(root: &Folder, path: &str) -> io::Result<()> {
    let mut path = path;
    while path.contains('/') {
        let (above, name) = split(path);
        let Walk::There(folder) = root.walk(above)? else { return Ok(()) };
        if !folder.remove_empty(name)? {
            return Ok(());
        }
        path = above;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use holdpoint_core::tree::{Document, Entry};

    use super::*;

    const LATER: &str = "runs/v1/run_info.json";

    /// Writes a document, after an output that may end the process before it.
    fn write(root: &Folder, says: &str, output: &'static [u8], killed: bool) -> Applied {
        let mut wanted = Wanted::default();
        let first = Entry::Output { digest: Digest::of(output), size: output.len() as u64, shared: false };
        wanted.entries.insert("runs/v1/a.txt".into(), first);
        wanted.entries.insert(LATER.into(), Entry::Document(Document::Run));
        let documents = BTreeMap::from([(LATER.to_owned(), says.as_bytes().to_vec())]);
        let blobs = move |_| -> io::Result<Box<dyn Read>> {
            assert!(!killed, "killed");
            Ok(Box::new(output))
        };
        let unit = Unit {
            root,
            name: "unit",
            wanted: &wanted,
            documents: &documents,
            blobs: &blobs,
            stamp: Digest::of(says.as_bytes()),
            about: None,
            now: Timestamp(0),
        };
        let manifest = Manifest::load(root, "unit").expect("read").unwrap_or_default();
        let done = catch_unwind(AssertUnwindSafe(|| apply(&unit, manifest, How::WRITE)));
        assert_eq!(done.is_err(), killed);
        done.map_or_else(|_| Applied::default(), |done| done.expect("written"))
    }

    #[test]
    fn killed_twice_it_still_knows_its_own_files() {
        let home = tempfile::tempdir().expect("a folder");
        let root = Folder::open_base(home.path()).expect("opened");
        write(&root, "one", b"1", false);
        // Killed after the file was written, and before that was noted.
        let before = Manifest::load(&root, "unit").expect("read").expect("saved");
        write(&root, "two", b"1", false);
        let mut cut = Manifest { stamp: None, ..before };
        cut.pending.files.insert(LATER.into(), Digest::of(b"two"));
        cut.save(&root, "unit").expect("saved");
        // Killed after noting what was next, and before writing it.
        write(&root, "three", b"3", true);
        let last = write(&root, "four", b"3", false);
        assert_eq!(last.found, Found::default());
        assert_eq!(std::fs::read(home.path().join(LATER)).expect("read"), b"four");
    }

    #[test]
    fn what_was_cut_off_and_is_not_wanted_any_more_is_removed() {
        let home = tempfile::tempdir().expect("a folder");
        let root = Folder::open_base(home.path()).expect("opened");
        write(&root, "one", b"1", false);
        let mut cut = Manifest::load(&root, "unit").expect("read").expect("saved");
        cut.stamp = None;
        cut.pending.files.insert("runs/v1/b.txt".into(), Digest::of(b"b"));
        cut.save(&root, "unit").expect("saved");
        std::fs::write(home.path().join("runs/v1/b.txt"), "b").expect("written");
        let last = write(&root, "one", b"1", false);
        assert_eq!(last.found, Found::default());
        assert!(!home.path().join("runs/v1/b.txt").exists());
    }
}
