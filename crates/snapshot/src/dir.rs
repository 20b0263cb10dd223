//! An open folder: every step down opens one name and never follows a link.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use holdpoint_planted::{Bug, planted};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::object::PERMISSIONS;

/// How many names are collected at a time where their number has no limit.
const BATCH: usize = 1024;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder.
pub(crate) struct Dir {
    fd: OwnedFd,
}

impl Dir {
    /// Opens the base; links in its path are followed, since the path is the caller's own.
    pub fn base(path: &Path) -> Result<Self, Errno> {
        Ok(Self { fd: fs::open(path, FOLDER, Mode::empty())? })
    }

    pub fn enter(&self, name: &CStr) -> Result<Self, Errno> {
        Ok(Self { fd: fs::openat(&self.fd, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())? })
    }

    /// Enters a folder that is about to be changed, and gives its owner the right to do so.
    pub fn enter_to_change(&self, name: &CStr) -> Result<Self, Errno> {
        // Following the link is what this crate must never do: whatever it points to would be emptied and filled.
        let nofollow = if planted(Bug::RestoreFollowsLink) { OFlags::empty() } else { OFlags::NOFOLLOW };
        let open = || fs::openat(&self.fd, name, FOLDER | nofollow, Mode::empty());
        let fd = match open() {
            Err(Errno::ACCESS) => {
                let path = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let closed = fs::openat(&self.fd, name, path, Mode::empty())?;
                // The one way to change the mode of exactly this folder, which cannot be opened as it is.
                fs::chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), Mode::RWXU)?;
                open()?
            }
            other => other?,
        };
        let dir = Self { fd };
        let mode = dir.mode()?;
        if mode & 0o700 != 0o700 {
            dir.set_mode(mode | 0o700)?;
        }
        Ok(dir)
    }

    pub fn mode(&self) -> Result<u16, Errno> {
        Ok(permissions(&fs::fstat(&self.fd)?))
    }

    pub fn set_mode(&self, mode: u16) -> Result<(), Errno> {
        fs::fchmod(&self.fd, Mode::from_raw_mode(mode.into()))
    }

    /// The names, in ascending order; none, if there are more than `most`.
    pub fn names(&self, most: u64) -> Result<Option<Vec<CString>>, Errno> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            if is_entry(entry.file_name()) {
                if names.len() as u64 == most {
                    return Ok(None);
                }
                names.push(entry.file_name().to_owned());
            }
        }
        names.sort_unstable();
        Ok(Some(names))
    }

    /// Some of the names that are not to stay; none when no such name is left.
    pub fn some_names(&self, stays: impl Fn(&CStr) -> bool) -> Result<Vec<CString>, Errno> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_entry(name) && !stays(name) {
                names.push(name.to_owned());
                if names.len() == BATCH {
                    break;
                }
            }
        }
        Ok(names)
    }

    pub fn stat(&self, name: &CStr) -> Result<Stat, Errno> {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens a file to read it; never waits for a pipe that took its place.
    pub fn read(&self, name: &CStr) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        // That it is no link was seen a moment ago; it may be one by now.
        let flags = if planted(Bug::CaptureFollowsLink) { flags - OFlags::NOFOLLOW } else { flags };
        Ok(File::from(fs::openat(&self.fd, name, flags, Mode::empty())?))
    }

    /// Creates a file under a name that is free.
    pub fn create(&self, name: &CStr) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    pub fn make(&self, name: &CStr) -> Result<(), Errno> {
        fs::mkdirat(&self.fd, name, Mode::RWXU)
    }

    pub fn target(&self, name: &CStr) -> Result<CString, Errno> {
        fs::readlinkat(&self.fd, name, Vec::new())
    }

    pub fn link(&self, name: &CStr, target: &CStr) -> Result<(), Errno> {
        fs::symlinkat(target, &self.fd, name)
    }

    pub fn unlink(&self, name: &CStr) -> Result<(), Errno> {
        fs::unlinkat(&self.fd, name, AtFlags::empty())
    }

    pub fn remove_folder(&self, name: &CStr) -> Result<(), Errno> {
        fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
    }

    /// Moves something to a name that is free in another folder.
    pub fn move_to(&self, name: &CStr, to: &Self, new: &CStr) -> Result<(), Errno> {
        fs::renameat_with(&self.fd, name, &to.fd, new, fs::RenameFlags::NOREPLACE)
    }
}

pub(crate) fn stat_of(file: &File) -> Result<Stat, Errno> {
    fs::fstat(file)
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(crate) fn permissions(stat: &Stat) -> u16 {
    (stat.st_mode & u32::from(PERMISSIONS)) as u16
}

fn is_entry(name: &CStr) -> bool {
    !matches!(name.to_bytes(), b"." | b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_is_opened() {
        let home = tempfile::tempdir().expect("a folder");
        let (outside, base) = (home.path().join("outside"), home.path().join("base"));
        for folder in [&outside, &base] {
            std::fs::create_dir(folder).expect("made");
        }
        std::fs::write(outside.join("file"), "theirs").expect("written");
        std::os::unix::fs::symlink(&outside, base.join("folder")).expect("linked");
        std::os::unix::fs::symlink(outside.join("file"), base.join("file")).expect("linked");
        std::os::unix::fs::symlink(outside.join("new"), base.join("new")).expect("linked");
        let dir = Dir::base(&base).expect("opened");
        assert_eq!(dir.read(c"file").err(), Some(Errno::LOOP));
        assert_eq!(dir.create(c"new").err(), Some(Errno::EXIST));
        assert!(matches!(dir.enter(c"folder").err(), Some(Errno::LOOP | Errno::NOTDIR)));
        assert!(matches!(dir.enter_to_change(c"folder").err(), Some(Errno::LOOP | Errno::NOTDIR)));
        assert_eq!(kind(&dir.stat(c"file").expect("there")), FileType::Symlink);
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
        let home = tempfile::tempdir().expect("a folder");
        fs::mknodat(fs::CWD, home.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("made");
        let dir = Dir::base(home.path()).expect("opened");
        let file = dir.read(c"pipe").expect("opened");
        assert_eq!(kind(&stat_of(&file).expect("there")), FileType::Fifo);
    }
}
