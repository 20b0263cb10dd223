//! Files below a folder, whatever anybody does to the folders on the way.
//!
//! Invariant: the kernel resolves every path below the folder and follows no link, so a path that leads out, or is
//! swapped for one that does, is refused.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

const FILE: Mode = Mode::from_raw_mode(0o600);
const FOLDER: Mode = Mode::from_raw_mode(0o700);

/// A folder that nothing leads out of.
#[derive(Debug)]
pub(super) struct Beneath(OwnedFd);

/// What stands in a folder.
pub(super) struct Listed {
    pub name: String,
    pub folder: bool,
    pub size: u64,
}

impl Beneath {
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    fn at(&self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let below = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let path = if path.is_empty() { "." } else { path };
        rustix::fs::openat2(&self.0, path, flags | OFlags::CLOEXEC, mode, below)
    }

    fn folder(&self, path: &str) -> io::Result<OwnedFd> {
        Ok(self.at(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?)
    }

    /// Reads an ordinary file, at most so many bytes, and says how many it has.
    pub fn read(&self, path: &str, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        let file =
            File::from(self.at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW, Mode::empty())?);
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"));
        }
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        Ok((bytes, meta.len()))
    }

    /// Writes a whole file: there is the old one or the new one, never a part.
    pub fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.make(folder)?;
        let folder = self.folder(folder)?;
        if let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
            && FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "something that is no ordinary file stands there",
            ));
        }
        let aside = format!(".{name}.writing");
        let _ = rustix::fs::unlinkat(&folder, &aside, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&folder, &aside, flags, FILE)?);
        file.write_all(bytes)?;
        drop(file);
        Ok(rustix::fs::renameat(&folder, &aside, &folder, name)?)
    }

    fn make(&self, path: &str) -> io::Result<()> {
        let mut so_far = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let above = self.folder(&so_far)?;
            match rustix::fs::mkdirat(&above, part, FOLDER) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            so_far = if so_far.is_empty() { part.to_owned() } else { format!("{so_far}/{part}") };
        }
        Ok(())
    }

    /// Removes a file or an empty folder.
    pub fn delete(&self, path: &str) -> io::Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = self.folder(folder)?;
        let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(rustix::fs::unlinkat(&folder, name, flags)?)
    }

    /// What stands in a folder, by name, at most so many.
    pub fn list(&self, path: &str, limit: usize) -> io::Result<(Vec<Listed>, bool)> {
        let folder = self.folder(path)?;
        let mut buffer = Vec::with_capacity(8192);
        let mut entries = RawDir::new(folder.as_fd(), buffer.spare_capacity_mut());
        let mut listed = Vec::new();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "." || name == ".." {
                continue;
            }
            if listed.len() == limit {
                return Ok((listed, true));
            }
            let Ok(stat) = rustix::fs::statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            listed.push(Listed { name, folder, size: stat.st_size as u64 });
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((listed, false))
    }
}
