//! What has to be done to make the files of a unit like what is wanted, found by looking only.

use std::collections::BTreeMap;
use std::io;

use holdpoint_core::Digest;
use holdpoint_core::event::{Drift, Drifted};
use holdpoint_core::tree::Entry;

use super::apply::{Applied, How, Unit};
use super::folder::{Kind, Walk, is_temporary};
use super::look::{Look, Stands};
use super::manifest::{Manifest, Written, key_name};

/// What has to be done.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) folders: Vec<String>,
    /// Put aside, because somebody else made it what it is.
    pub(super) aside: BTreeMap<String, Drift>,
    /// Not there, though it was written: written again, and told.
    pub(super) lost: Vec<String>,
    pub(super) write: Vec<(String, Digest, Source)>,
    pub(super) link: Vec<(String, String)>,
    pub(super) remove: Vec<String>,
    pub(super) gone: Vec<String>,
    /// Ours, as wanted.
    pub(super) keep: BTreeMap<String, Written>,
}

/// Where the bytes of a file come from.
pub(super) enum Source {
    Document,
    Blob,
    /// Another file of the unit, which is not wanted any more.
    File(String),
}

impl Plan {
    pub(super) fn new(
        unit: &Unit<'_>,
        how: How,
        manifest: &Manifest,
        applied: &mut Applied,
    ) -> io::Result<Self> {
        let mut look = Look::new(unit, how, manifest);
        let mut plan = Self::default();
        for (path, entry) in &unit.wanted.entries {
            applied.files += 1;
            match entry {
                Entry::Folder | Entry::OwnFolder => plan.folder(&mut look, path)?,
                Entry::Document(_) => {
                    // What was not told again stands as it was written.
                    let told = unit.documents.get(path).map(|bytes| Digest::of(bytes));
                    let known = match manifest.files.get(path) {
                        Some(Written::File { d, .. }) => Some(*d),
                        Some(Written::Link { .. }) | None => None,
                    };
                    let Some(digest) = told.or(known) else { continue };
                    plan.file(&mut look, path, digest, Source::Document, false)?;
                }
                Entry::Output { digest, shared, .. } => {
                    plan.file(&mut look, path, *digest, Source::Blob, *shared)?;
                }
                Entry::Link(to) => plan.link(&mut look, path, to)?,
            }
            if *entry == Entry::OwnFolder {
                plan.extras(&look, path)?;
            }
        }
        plan.unwanted(&mut look)?;
        for (key, path) in &unit.wanted.gone {
            let before = manifest.folders.get(&key_name(*key)).filter(|before| *before != path);
            for path in before.into_iter().chain([path]) {
                if unit.root.look(path)?.is_some() {
                    plan.gone.push(path.clone());
                }
            }
        }
        Ok(plan)
    }

    fn folder(&mut self, look: &mut Look<'_>, path: &str) -> io::Result<()> {
        match look.unit.root.walk(path)? {
            Walk::There(_) => {}
            Walk::Absent => self.folders.push(path.to_owned()),
            Walk::Blocked(at) => {
                self.aside.insert(at, Drift::Replaced);
                self.folders.push(path.to_owned());
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        look: &mut Look<'_>,
        path: &str,
        digest: Digest,
        source: Source,
        shared: bool,
    ) -> io::Result<()> {
        match look.stands(path, digest)? {
            Stands::Right(written) => {
                self.keep.insert(path.to_owned(), written);
                return Ok(());
            }
            Stands::Old => {}
            Stands::Foreign(_) if shared => return Ok(()),
            Stands::Foreign(how) => {
                self.aside.insert(path.to_owned(), how);
            }
            Stands::Nothing => {
                if let Some(at) = look.blocked(path)? {
                    self.aside.insert(at, Drift::Replaced);
                } else if look.was_written(path) && !shared {
                    self.lost.push(path.to_owned());
                }
            }
        }
        self.write.push((path.to_owned(), digest, source));
        Ok(())
    }

    fn link(&mut self, look: &mut Look<'_>, path: &str, to: &str) -> io::Result<()> {
        let known = match look.manifest.files.get(path) {
            Some(Written::Link { to }) => Some(to.as_str()),
            Some(Written::File { .. }) | None => None,
        };
        let found = look.at(path)?.map(|(folder, name, meta)| {
            if meta.kind == Kind::Link { folder.target(name).map(Some) } else { Ok(None) }
        });
        match found.transpose()? {
            Some(Some(found)) if found == to => {
                self.keep.insert(path.to_owned(), Written::Link { to: found });
                return Ok(());
            }
            // Links to siblings are ours, whichever we made last: one that was cut off says nothing else.
            Some(Some(found)) if Some(found.as_str()) == known || is_version(&found) => {}
            Some(_) => {
                self.aside.insert(path.to_owned(), Drift::Replaced);
            }
            None if known.is_some() => self.lost.push(path.to_owned()),
            None => {}
        }
        self.link.push((path.to_owned(), to.to_owned()));
        Ok(())
    }

    /// What stands in a folder of ours and is not ours.
    fn extras(&mut self, look: &Look<'_>, path: &str) -> io::Result<()> {
        let Walk::There(folder) = look.unit.root.walk(path)? else { return Ok(()) };
        for (name, _) in folder.names()? {
            let name = name.to_string_lossy();
            let full = format!("{path}/{name}");
            let known =
                look.unit.wanted.entries.contains_key(&full) || look.manifest.files.contains_key(&full);
            if !known {
                if is_temporary(&name) {
                    self.remove.push(full);
                } else {
                    self.aside.insert(full, Drift::Extra);
                }
            }
        }
        Ok(())
    }

    /// What was written before and is not wanted any more: used for what is, or removed.
    fn unwanted(&mut self, look: &mut Look<'_>) -> io::Result<()> {
        let mut spare: BTreeMap<Digest, String> = BTreeMap::new();
        for (path, written) in &look.manifest.files {
            if look.unit.wanted.entries.contains_key(path) {
                continue;
            }
            let Some((_, _, meta)) = look.at(path)? else { continue };
            match written {
                Written::Link { .. } if meta.kind == Kind::Link => self.remove.push(path.clone()),
                Written::File { d, .. } => match look.stands(path, *d)? {
                    Stands::Right(_) => {
                        spare.insert(*d, path.clone());
                        self.remove.push(path.clone());
                    }
                    Stands::Old => self.remove.push(path.clone()),
                    // Work wrote over it: it belongs to the work.
                    Stands::Foreign(_) if path.contains("/artifacts_staging/") => {}
                    Stands::Foreign(how) => {
                        self.aside.insert(path.clone(), how);
                    }
                    Stands::Nothing => {}
                },
                Written::Link { .. } => {
                    self.aside.insert(path.clone(), Drift::Replaced);
                }
            }
        }
        for (path, digest) in &look.unit.wanted.taken {
            if matches!(look.stands(path, *digest)?, Stands::Right(_)) {
                spare.insert(*digest, path.clone());
                self.remove.push(path.clone());
            }
        }
        for (_, digest, source) in &mut self.write {
            if let (Source::Blob, Some(path)) = (&*source, spare.remove(digest)) {
                self.remove.retain(|other| *other != path);
                *source = Source::File(path);
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
            && self.aside.is_empty()
            && self.write.is_empty()
            && self.link.is_empty()
            && self.remove.is_empty()
            && self.gone.is_empty()
    }

    pub(super) fn drifted(&self) -> impl Iterator<Item = Drifted> {
        let aside = self.aside.iter().map(|(path, how)| (path, *how));
        let lost = self.lost.iter().map(|path| (path, Drift::Deleted));
        aside.chain(lost).map(|(path, how)| Drifted { path: path.as_str().into(), how })
    }

    /// What is to be done, in words.
    pub(super) fn told(&self) -> impl Iterator<Item = String> {
        let folders = self.folders.iter().map(|path| format!("{path} is missing"));
        let files = self.write.iter().map(|(path, ..)| format!("{path} is not as the log says"));
        let links = self.link.iter().map(|(path, to)| format!("{path} does not point to {to}"));
        let aside = self.aside.iter().map(|(path, how)| format!("{path} is not as it was written ({how:?})"));
        let remove =
            self.remove.iter().chain(&self.gone).map(|path| format!("{path} is not wanted any more"));
        folders.chain(files).chain(links).chain(aside).chain(remove)
    }
}

fn is_version(target: &str) -> bool {
    target.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
