//! Folders held by their descriptors: every step down opens one name and never follows a link.
//!
//! Invariant: nothing outside of the folder that was opened first is read, written or removed through here,
//! whatever somebody puts in the way while it happens.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Only the owner looks into what is made here.
const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open folder.
pub(crate) struct Folder {
    fd: OwnedFd,
}

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub kind: Kind,
    pub size: u64,
    /// When it was last changed, in nanoseconds.
    pub modified: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

/// What a walk down a path came to.
pub(crate) enum Walk {
    There(Folder),
    Absent,
    /// Something that is no folder stands in the way, at this path.
    Blocked(String),
}

impl Folder {
    /// Opens the folder that everything else is below, and makes it if it is missing. The path is the
    /// administrator's own, so links in it are followed.
    pub fn open_base(path: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { fd: fs::open(path, flags, Mode::empty())? })
    }

    fn enter(&self, name: &str) -> Result<Self, Errno> {
        plain(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { fd: fs::openat(&self.fd, name, flags, Mode::empty())? })
    }

    /// Goes down a path.
    pub fn walk(&self, path: &str) -> io::Result<Walk> {
        let mut here: Option<Self> = None;
        for (end, name) in parts(path) {
            match here.as_ref().unwrap_or(self).enter(name) {
                Ok(next) => here = Some(next),
                Err(Errno::NOENT) => return Ok(Walk::Absent),
                Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Walk::Blocked(path[..end].to_owned())),
                Err(error) => return Err(error.into()),
            }
        }
        match here {
            Some(folder) => Ok(Walk::There(folder)),
            None => Ok(Walk::There(Self { fd: rustix::io::fcntl_dupfd_cloexec(&self.fd, 0)? })),
        }
    }

    /// Goes down a path, and makes what is missing of it.
    pub fn make(&self, path: &str) -> io::Result<Self> {
        let mut here = Self { fd: rustix::io::fcntl_dupfd_cloexec(&self.fd, 0)? };
        for (_, name) in parts(path) {
            here = match here.enter(name) {
                Err(Errno::NOENT) => {
                    match fs::mkdirat(&here.fd, name, FOLDER_MODE) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    here.enter(name)?
                }
                other => other?,
            };
        }
        Ok(here)
    }

    /// What stands at a path, and links are not followed. Nothing, if something is in the way.
    pub fn look(&self, path: &str) -> io::Result<Option<Meta>> {
        let (folder, name) = split(path);
        match self.walk(folder)? {
            Walk::There(folder) => folder.stat(name),
            Walk::Absent | Walk::Blocked(_) => Ok(None),
        }
    }

    /// What stands under a name here.
    pub fn stat(&self, name: &str) -> io::Result<Option<Meta>> {
        plain(name)?;
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(meta(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file to read it; not through a link, and never waiting for one that is no plain file.
    pub fn read(&self, name: &str) -> io::Result<File> {
        plain(name)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(File::from(fs::openat(&self.fd, name, flags, Mode::empty())?))
    }

    /// Opens a file that only grows, and makes it if it is missing.
    pub fn append(&self, name: &str) -> io::Result<File> {
        plain(name)?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, name, flags | OFlags::NONBLOCK, FILE_MODE)?))
    }

    /// A new file under a name that is not taken afterwards by anything but [`Folder::publish`].
    pub fn create(&self, name: &str) -> io::Result<File> {
        let temp = temporary(name);
        plain(&temp)?;
        self.remove(&temp)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, temp.as_str(), flags, FILE_MODE)?))
    }

    /// Gives the file that was made for a name its name.
    pub fn publish(&self, name: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.fd, temporary(name).as_str(), &self.fd, name)?)
    }

    /// Writes a whole small file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        use std::io::Write as _;
        self.create(name)?.write_all(bytes)?;
        self.publish(name)
    }

    /// Makes or replaces a link.
    pub fn link(&self, name: &str, to: &str) -> io::Result<()> {
        plain(name)?;
        let temp = temporary(name);
        self.remove(&temp)?;
        fs::symlinkat(to, &self.fd, temp.as_str())?;
        self.publish(name)
    }

    /// Where a link points.
    pub fn target(&self, name: &str) -> io::Result<String> {
        plain(name)?;
        let target = fs::readlinkat(&self.fd, name, Vec::new())?;
        Ok(target.to_string_lossy().into_owned())
    }

    /// Removes a file or a link, if it is there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        plain(name)?;
        match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a folder if nothing is in it; true if it is gone.
    pub fn remove_empty(&self, name: &str) -> io::Result<bool> {
        plain(name)?;
        match fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes whatever stands under a name, with everything in it; links are removed, not followed.
    pub fn remove_all(&self, name: &str) -> io::Result<()> {
        plain(name)?;
        remove_tree(&self.fd, &CString::new(name)?)
    }

    /// The bytes of all files in this folder and below.
    pub fn size(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for (name, kind) in self.names()? {
            let Ok(name) = name.to_str() else { continue };
            bytes += match kind {
                Kind::Folder => self.enter(name)?.size()?,
                Kind::File | Kind::Link | Kind::Other => self.stat(name)?.map_or(0, |meta| meta.size),
            };
        }
        Ok(bytes)
    }

    /// The names in this folder.
    pub fn names(&self) -> io::Result<Vec<(CString, Kind)>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                names.push((entry.file_name().to_owned(), kind(entry.file_type())));
            }
        }
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    /// Moves what stands under a name to another folder, where nothing may stand under the new name.
    pub fn move_to(&self, name: &CStr, to: &Self, new: &str) -> io::Result<()> {
        plain(new)?;
        if name.to_bytes().contains(&b'/') {
            return Err(odd_name());
        }
        Ok(fs::renameat_with(&self.fd, name, &to.fd, new, fs::RenameFlags::NOREPLACE)?)
    }

    /// Moves a file over whatever file stands there.
    pub fn move_over(&self, name: &str, to: &Self, new: &str) -> io::Result<()> {
        plain(name)?;
        plain(new)?;
        Ok(fs::renameat(&self.fd, name, &to.fd, new)?)
    }

    /// Asks the disk to keep everything that was written.
    pub fn sync_all(&self) -> io::Result<()> {
        Ok(fs::syncfs(&self.fd)?)
    }
}

fn remove_tree(fd: &OwnedFd, name: &CStr) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let rest = match fs::openat(fd, name, flags, Mode::empty()) {
        Ok(inside) => {
            let folder = Folder { fd: inside };
            for (inside, _) in folder.names()? {
                remove_tree(&folder.fd, &inside)?;
            }
            AtFlags::REMOVEDIR
        }
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTDIR | Errno::LOOP) => AtFlags::empty(),
        Err(error) => return Err(error.into()),
    };
    match fs::unlinkat(fd, name, rest) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The name under which a file is written before it has its own.
pub(crate) fn temporary(name: &str) -> String {
    format!(".{name}.writing")
}

/// Whether a name is one of those, left by somebody who was cut off.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".writing")
}

/// The folder and the name of a path.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A file's own word about when it was changed.
pub(crate) fn meta_of(file: &File) -> io::Result<Meta> {
    Ok(meta(&fs::fstat(file)?))
}

/// The parts of a path, each with the place where it ends.
fn parts(path: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    path.split('/').filter(|part| !path.is_empty() || !part.is_empty()).map(move |part| {
        end += part.len() + 1;
        (end - 1, part)
    })
}

/// Names were made safe where they were chosen; a name that is not would lead out of its folder.
fn plain(name: &str) -> Result<(), Errno> {
    let bad = matches!(name, "" | "." | "..") || name.contains(['/', '\0']);
    if bad { Err(Errno::INVAL) } else { Ok(()) }
}

fn odd_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a name that cannot be used")
}

fn meta(stat: &fs::Stat) -> Meta {
    let kind = kind(FileType::from_raw_mode(stat.st_mode));
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // the types differ between systems
    let modified =
        (stat.st_mtime as i64).saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as i64);
    Meta { kind, size: u64::try_from(stat.st_size).unwrap_or(0), modified }
}

fn kind(found: FileType) -> Kind {
    match found {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_its_folder() {
        let home = tempfile::tempdir().expect("a folder");
        let base = Folder::open_base(&home.path().join("base")).expect("opened");
        std::fs::write(home.path().join("secret"), "s").expect("written");
        for name in ["..", ".", "", "../secret", "a/b", "a\0b"] {
            assert!(base.read(name).is_err(), "{name:?}");
            assert!(base.write(name, b"x").is_err(), "{name:?}");
            assert!(base.remove(name).is_err(), "{name:?}");
        }
        assert!(base.make("a/../..").is_err());
        assert!(matches!(base.walk("a/../../secret"), Err(_) | Ok(Walk::Absent)));
    }

    #[test]
    fn links_are_seen_and_not_followed() {
        let home = tempfile::tempdir().expect("a folder");
        let outside = home.path().join("outside");
        std::fs::create_dir(&outside).expect("made");
        std::fs::write(outside.join("file"), "theirs").expect("written");
        let base = Folder::open_base(&home.path().join("base")).expect("opened");
        std::os::unix::fs::symlink(&outside, home.path().join("base/runs")).expect("linked");
        assert!(matches!(base.walk("runs/v1").expect("looked"), Walk::Blocked(at) if at == "runs"));
        assert!(base.make("runs/v1").is_err());
        assert_eq!(base.look("runs/file").expect("looked"), None);
        assert_eq!(base.look("runs").expect("looked").map(|meta| meta.kind), Some(Kind::Link));
        base.remove_all("runs").expect("removed");
        assert_eq!(std::fs::read_to_string(outside.join("file")).expect("still there"), "theirs");
    }

    #[test]
    fn paths_are_walked_part_by_part() {
        assert_eq!(parts("a/bc/d").collect::<Vec<_>>(), [(1, "a"), (4, "bc"), (6, "d")]);
        assert_eq!(parts("").count(), 0);
        assert_eq!(split("a/b/c"), ("a/b", "c"));
        assert_eq!(split("c"), ("", "c"));
    }
}
