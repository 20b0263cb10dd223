//! What was written for one unit (a pipeline, or one of its runs): a small file beside it.
//!
//! It tells a file that somebody changed from one that is merely behind, and makes a check cheap: what has the
//! size and the time that it was written with is as it was written. It is saved before files change, with what
//! they are about to become, and again afterwards: whoever is killed in between leaves nothing that looks like
//! somebody else's work. A manifest that is lost costs a look at every file of its unit.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use holdpoint_core::Digest;
use holdpoint_core::event::Drifted;
use holdpoint_core::tree::Key;
use serde::{Deserialize, Serialize};

use super::folder::{Folder, Meta, Walk};

/// Where manifests are, inside the pipeline's folder.
pub(crate) const FOLDER: &str = ".pipeline_system/manifest";

/// A manifest beyond this is not ours.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What was written for a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// What the unit was written from; nothing while it is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Digest>,
    /// What the places and names of a pipeline's runs followed from when all of them were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Digest>,
    /// Files and links.
    pub files: BTreeMap<String, Written>,
    /// Folders that are all ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// Folders that move as a whole.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub folders: BTreeMap<String, String>,
    /// What was about to happen.
    #[serde(default, skip_serializing_if = "Pending::is_empty")]
    pub pending: Pending,
    /// What was put aside and is not recorded in the log yet.
    #[serde(default, skip_serializing_if = "Found::is_empty")]
    pub found: Found,
}

/// A file or link that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Written {
    /// A file.
    File {
        /// Its content.
        d: Digest,
        /// Its size.
        s: u64,
        /// When it was last changed, in nanoseconds.
        m: i64,
    },
    /// A link.
    Link {
        /// Where it points.
        to: String,
    },
}

/// What was about to happen when the manifest was saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// Folders that move, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<(String, String)>,
    /// Files that are written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Digest>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.files.is_empty()
    }
}

/// What was found to be not as the log says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Where it was put.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What it was.
    pub files: Vec<Drifted>,
}

impl Found {
    /// Whether all was well.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Written {
    /// Whether what stands there is, by size and time, what was written.
    pub fn stands(&self, meta: &Meta) -> bool {
        match self {
            Self::File { s, m, .. } => {
                meta.kind == super::folder::Kind::File && (*s, *m) == (meta.size, meta.modified)
            }
            Self::Link { .. } => meta.kind == super::folder::Kind::Link,
        }
    }
}

impl Manifest {
    /// Reads a manifest; what cannot be read was not written.
    pub fn load(root: &Folder, unit: &str) -> io::Result<Option<Self>> {
        let Walk::There(folder) = root.walk(FOLDER)? else { return Ok(None) };
        let mut file = match folder.read(&format!("{unit}.json")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // A link in its place is not ours.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        if file.by_ref().take(MAX_BYTES).read_to_end(&mut bytes).is_err() {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// Saves it.
    pub fn save(&self, root: &Folder, unit: &str) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::other)?;
        root.make(FOLDER)?.write(&format!("{unit}.json"), &bytes)
    }

    /// A folder was moved: what stood in it stands there now.
    pub fn moved(&mut self, from: &str, to: &str) {
        let inside = |path: &str| {
            let rest = path.strip_prefix(from)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        };
        let renamed: Vec<(String, String)> =
            self.files.keys().filter_map(|path| Some((path.clone(), inside(path)?))).collect();
        for (old, new) in renamed {
            if let Some(written) = self.files.remove(&old) {
                self.files.insert(new, written);
            }
        }
        let pending: Vec<(String, String)> =
            self.pending.files.keys().filter_map(|path| Some((path.clone(), inside(path)?))).collect();
        for (old, new) in pending {
            if let Some(digest) = self.pending.files.remove(&old) {
                self.pending.files.insert(new, digest);
            }
        }
        for path in self.folders.values_mut().chain(&mut self.own) {
            if let Some(new) = inside(path) {
                *path = new;
            }
        }
    }
}

/// Whether everything stands as it was written, by sizes and times; counts what was looked at.
pub(crate) fn stands(root: &Folder, manifest: &Manifest, files: &mut u64) -> io::Result<bool> {
    if manifest.stamp.is_none() || !manifest.pending.is_empty() || !manifest.found.is_empty() {
        return Ok(false);
    }
    let mut open: Option<(&str, Folder)> = None;
    for (path, written) in &manifest.files {
        *files += 1;
        let (folder, name) = super::folder::split(path);
        if open.as_ref().is_none_or(|(at, _)| *at != folder) {
            let Walk::There(found) = root.walk(folder)? else { return Ok(false) };
            open = Some((folder, found));
        }
        let Some((_, folder)) = &open else { return Ok(false) };
        let Some(meta) = folder.stat(name)? else { return Ok(false) };
        let right = match written {
            Written::File { .. } => written.stands(&meta),
            Written::Link { to } => written.stands(&meta) && folder.target(name)? == *to,
        };
        if !right {
            return Ok(false);
        }
    }
    for path in &manifest.own {
        let Walk::There(folder) = root.walk(path)? else { return Ok(false) };
        for (name, _) in folder.names()? {
            if !manifest.files.contains_key(&format!("{path}/{}", name.to_string_lossy())) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// A key as the name of a folder in a manifest.
pub(crate) fn key_name(key: Key) -> String {
    match key {
        Key::Run => "run".to_owned(),
        Key::Checkpoint(execution) => format!("checkpoint {execution}"),
        Key::Work(execution) => format!("work {execution}"),
        Key::Unpromoted(execution) => format!("work {execution} outputs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_and_rubbish_is_not() {
        let home = tempfile::tempdir().expect("a folder");
        let root = Folder::open_base(home.path()).expect("opened");
        let mut manifest = Manifest::default();
        let digest = Digest::of(b"x");
        manifest.files.insert("runs/v1/run_info.json".into(), Written::File { d: digest, s: 1, m: 2 });
        manifest.files.insert("runs/latest".into(), Written::Link { to: "v1".into() });
        manifest.folders.insert(key_name(Key::Run), "runs/v1".into());
        manifest.save(&root, "unit").expect("saved");
        assert_eq!(Manifest::load(&root, "unit").expect("read"), Some(manifest.clone()));
        manifest.moved("runs/v1", ".archived/a/v1");
        assert!(manifest.files.contains_key(".archived/a/v1/run_info.json"));
        assert!(manifest.files.contains_key("runs/latest"));
        assert_eq!(manifest.folders["run"], ".archived/a/v1");
        std::fs::write(home.path().join(FOLDER).join("unit.json"), "{").expect("written");
        assert_eq!(Manifest::load(&root, "unit").expect("read"), None);
    }
}
