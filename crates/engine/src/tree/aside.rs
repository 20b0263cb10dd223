//! Putting aside what somebody else made of the tree: `.drift/{datetime}/` and the same path.

use std::ffi::CString;
use std::io;

use holdpoint_core::Timestamp;

use super::folder::{Folder, Walk, split};

/// How many things may be put aside under the same name within a second.
const MAX_SAME: u32 = 1_000;

/// Where things are put aside now.
pub(crate) struct Aside<'a> {
    root: &'a Folder,
    folder: String,
}

impl<'a> Aside<'a> {
    pub fn new(root: &'a Folder, now: Timestamp) -> Self {
        Self { root, folder: format!(".drift/{}", now.compact()) }
    }

    /// The folder, inside the pipeline's.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Moves whatever stands at a path aside. What is not there any more needs no place.
    pub fn put(&mut self, path: &str) -> io::Result<()> {
        let (from, name) = split(path);
        let Walk::There(source) = self.root.walk(from)? else { return Ok(()) };
        let target = self.target(from)?;
        // A name that is no text was told with replacements: the real one is looked for.
        let names = source.names()?;
        let found = names.iter().map(|(name, _)| name).find(|found| found.to_string_lossy() == name);
        let Some(found) = found else { return Ok(()) };
        self.keep(&source, found, &target, name)
    }

    fn keep(&self, source: &Folder, found: &CString, target: &Folder, name: &str) -> io::Result<()> {
        for n in 0..MAX_SAME {
            let new = if n == 0 { name.to_owned() } else { format!("{name}.{n}") };
            match source.move_to(found, target, &new) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                done => return done,
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is full of {name}", self.folder)))
    }

    /// The folder for what stood in a folder. If `.drift` itself is not a folder, it goes aside first.
    fn target(&self, from: &str) -> io::Result<Folder> {
        let path = if from.is_empty() { self.folder.clone() } else { format!("{}/{from}", self.folder) };
        if let Walk::Blocked(at) = self.root.walk(&path)? {
            let (folder, name) = split(&at);
            if let Walk::There(above) = self.root.walk(folder)? {
                let found = CString::new(name)?;
                self.keep(&above, &found, &above, &format!("{name}.blocked"))?;
            }
        }
        self.root.make(&path)
    }
}
