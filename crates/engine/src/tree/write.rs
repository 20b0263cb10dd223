//! Doing what a plan says: putting aside, writing, moving and removing.

use std::collections::BTreeSet;
use std::io::{self, Read, Write as _};

use holdpoint_core::Digest;
use holdpoint_core::tree::{Entry, Wanted};
use sha2::{Digest as _, Sha256};

use super::apply::{Applied, Unit, tidy_up};
use super::aside::Aside;
use super::folder::{Folder, Walk, meta_of, split, temporary};
use super::manifest::{Manifest, Written, key_name};
use super::plan::{Plan, Source};

/// How much is copied at a time.
const CHUNK: usize = 128 * 1024;

impl Plan {
    pub(super) fn carry_out(
        self,
        unit: &Unit<'_>,
        mut manifest: Manifest,
        applied: &mut Applied,
    ) -> io::Result<()> {
        let before = manifest.clone();
        applied.found = std::mem::take(&mut manifest.found);
        if !self.is_empty() {
            let mut aside = Aside::new(unit.root, unit.now);
            applied.found.files.extend(self.drifted());
            if !self.aside.is_empty() {
                applied.found.folder = Some(aside.folder().to_owned());
            }
            manifest.stamp = None;
            manifest.found = applied.found.clone();
            manifest.pending.files.extend(self.write.iter().map(|(path, digest, _)| (path.clone(), *digest)));
            manifest.save(unit.root, unit.name)?;
            for path in self.aside.keys() {
                aside.put(path)?;
            }
            self.write_all(unit, &mut manifest, applied)?;
        }
        manifest.files.retain(|path, _| unit.wanted.entries.contains_key(path));
        manifest.files.extend(self.keep);
        if applied.failed {
            return manifest.save(unit.root, unit.name);
        }
        manifest.pending = super::manifest::Pending::default();
        manifest.stamp = Some(unit.stamp);
        manifest.about = unit.about;
        let own = unit.wanted.entries.iter().filter(|(_, entry)| **entry == Entry::OwnFolder);
        manifest.own = own.map(|(path, _)| path.clone()).collect();
        let gone = old_folders(&manifest, unit.wanted);
        manifest.folders =
            unit.wanted.folders.iter().map(|(key, path)| (key_name(*key), path.clone())).collect();
        for path in gone {
            remove_if_empty(unit.root, &path)?;
        }
        if manifest == before { Ok(()) } else { manifest.save(unit.root, unit.name) }
    }

    fn write_all(&self, unit: &Unit<'_>, manifest: &mut Manifest, applied: &mut Applied) -> io::Result<()> {
        let root = unit.root;
        for path in &self.folders {
            root.make(path)?;
        }
        let mut emptied = BTreeSet::new();
        // Documents come last: one that names a file is read as soon as it is there.
        let (documents, contents): (Vec<_>, Vec<_>) =
            self.write.iter().partition(|(_, _, source)| matches!(source, Source::Document));
        for (path, digest, source) in contents.into_iter().chain(documents) {
            let written = match source {
                Source::File(from) => {
                    let (folder, name) = split(from);
                    emptied.insert(folder.to_owned());
                    manifest.files.remove(from);
                    move_file(root, folder, name, path, *digest)?
                }
                Source::Document => {
                    let Some(bytes) = unit.documents.get(path) else {
                        applied.failed = true;
                        continue;
                    };
                    copy(root, path, *digest, &mut bytes.as_slice())?
                }
                Source::Blob => {
                    match (unit.blobs)(*digest).and_then(|mut from| copy(root, path, *digest, &mut from)) {
                        Ok(written) => written,
                        // One output that cannot be had does not keep the others from being written.
                        Err(error) => {
                            applied.failed = true;
                            applied.behind.push(format!("{path} cannot be written: {error}"));
                            continue;
                        }
                    }
                }
            };
            manifest.files.insert(path.clone(), written);
        }
        for (path, to) in &self.link {
            let (folder, name) = split(path);
            root.make(folder)?.link(name, to)?;
            manifest.files.insert(path.clone(), Written::Link { to: to.clone() });
        }
        for path in &self.remove {
            let (folder, name) = split(path);
            if let Walk::There(open) = root.walk(folder)? {
                open.remove(name)?;
                emptied.insert(folder.to_owned());
            }
            manifest.files.remove(path);
        }
        for path in &self.gone {
            let (folder, name) = split(path);
            if let Walk::There(open) = root.walk(folder)? {
                open.remove_all(name)?;
            }
        }
        for folder in emptied.iter().filter(|folder| !unit.wanted.entries.contains_key(*folder)) {
            tidy_up(root, folder)?;
        }
        Ok(())
    }
}

/// Folders that moved as a whole and are not known any more.
fn old_folders(manifest: &Manifest, wanted: &Wanted) -> Vec<String> {
    let known: BTreeSet<String> = wanted.folders.keys().map(|key| key_name(*key)).collect();
    let old = manifest.folders.iter().filter(|(key, _)| !known.contains(*key));
    // The longest first: what is inside goes before what is around it.
    let mut old: Vec<String> = old.map(|(_, path)| path.clone()).collect();
    old.sort_unstable_by_key(|path| std::cmp::Reverse(path.len()));
    old
}

/// Removes a folder, and a workspace in it, if nobody has put anything there.
fn remove_if_empty(root: &Folder, path: &str) -> io::Result<()> {
    let (folder, name) = split(path);
    if let Walk::There(inside) = root.walk(path)? {
        inside.remove_empty("workspace")?;
    }
    match root.walk(folder)? {
        Walk::There(open) => open.remove_empty(name).map(drop),
        Walk::Absent | Walk::Blocked(_) => Ok(()),
    }
}

/// Writes a file; the name is given to it when all its bytes are there and are the right ones.
fn copy(root: &Folder, path: &str, digest: Digest, from: &mut dyn Read) -> io::Result<Written> {
    let (folder, name) = split(path);
    let folder = root.make(folder)?;
    let mut file = folder.create(name)?;
    let (mut hash, mut size, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        let read = from.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hash.update(&chunk[..read]);
        file.write_all(&chunk[..read])?;
        size += read as u64;
    }
    if Digest(hash.finalize().into()) != digest {
        folder.remove(&temporary(name))?;
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{path}: the bytes are not {digest}"),
        ));
    }
    let meta = meta_of(&file)?;
    drop(file);
    folder.publish(name)?;
    Ok(Written::File { d: digest, s: size, m: meta.modified })
}

/// Moves a file of ours to where its bytes are wanted.
fn move_file(root: &Folder, from: &str, name: &str, path: &str, digest: Digest) -> io::Result<Written> {
    let (folder, new) = split(path);
    let target = root.make(folder)?;
    let Walk::There(source) = root.walk(from)? else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("{from} is gone")));
    };
    source.move_over(name, &target, new)?;
    let meta = target.stat(new)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    Ok(Written::File { d: digest, s: meta.size, m: meta.modified })
}
