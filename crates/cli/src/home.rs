//! The home: the folder that holds one database, its blobs, keys and files. Where it is, and making it.
//!
//! Finding a home reads nothing inside it and makes nothing; only a command that needs one creates it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::problem::Problem;
use crate::surroundings::Surroundings;

/// The folder that is looked for upwards from the working folder.
const NEAREST: &str = ".holdpoint";

/// The folders inside a home.
const FOLDERS: [&str; 6] = ["db", "blobs", "pipelines", "keys", "logs", "tmp"];

/// A home, and why it is this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
    found: Found,
}

/// Why a home is the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Flag,
    Variable,
    Nearest,
    DataFolder,
}

impl Found {
    pub fn text(self) -> &'static str {
        match self {
            Self::Flag => "--home",
            Self::Variable => "HOLDPOINT_HOME",
            Self::Nearest => "nearest .holdpoint",
            Self::DataFolder => "default",
        }
    }
}

impl Home {
    /// `--home`, else `HOLDPOINT_HOME`, else the nearest `.holdpoint/` upwards, else the user's data folder.
    pub fn find(flag: Option<&Path>, surroundings: &Surroundings) -> Result<Self, Problem> {
        if let Some(path) = flag {
            return Self::named(path, Found::Flag, surroundings);
        }
        if let Some(path) = surroundings.variable("HOLDPOINT_HOME") {
            return Self::named(Path::new(path), Found::Variable, surroundings);
        }
        if let Some(path) = surroundings.upwards(NEAREST, Path::is_dir) {
            return own(&path).map(|()| Self { path, found: Found::Nearest });
        }
        let folder = surroundings.user_folder("XDG_DATA_HOME", ".local/share").ok_or_else(|| {
            let message = "no home was named, and HOME is not set to look for one";
            Problem::usage("home_unknown", message, "name one with --home PATH")
        })?;
        Ok(Self { path: folder.join("holdpoint"), found: Found::DataFolder })
    }

    fn named(path: &Path, found: Found, surroundings: &Surroundings) -> Result<Self, Problem> {
        if path.as_os_str().is_empty() {
            return Err(Problem::usage("home_unknown", "--home is empty", "name a folder: --home PATH"));
        }
        let path = match surroundings.folder() {
            Some(folder) => folder.join(path),
            None if path.is_absolute() => path.to_owned(),
            None => {
                let message = format!("`{}` cannot be found: the working folder is gone", path.display());
                return Err(Problem::usage("home_unknown", message, "change to a folder that exists"));
            }
        };
        Ok(Self { path, found })
    }

    /// A home at a path, whatever was named elsewhere.
    pub fn at(path: PathBuf) -> Self {
        Self { path, found: Found::Flag }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn found(&self) -> Found {
        self.found
    }

    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Makes the home and its folders, as far as they are missing. Only the user may look into folders that are
    /// made here, and into the keys of any home.
    pub fn create(&self) -> Result<(), Problem> {
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent).map_err(|error| cannot_make(&self.path, &error))?;
        }
        make(&self.path)?;
        usable(&self.path)?;
        for name in FOLDERS {
            let folder = self.path.join(name);
            make(&folder)?;
            usable(&folder)?;
        }
        let keys = self.path.join("keys");
        fs::set_permissions(&keys, Permissions::from_mode(0o700)).map_err(|error| cannot_make(&keys, &error))
    }
}

fn make(folder: &Path) -> Result<(), Problem> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(cannot_make(folder, &error)),
    }
}

fn cannot_make(folder: &Path, error: &io::Error) -> Problem {
    let folder = folder.display();
    let (message, hint) = match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            (format!("the folder `{folder}` cannot be made: a file is in its way"), "move the file away")
        }
        io::ErrorKind::PermissionDenied => {
            (format!("the folder `{folder}` cannot be made: not allowed"), "choose another with --home PATH")
        }
        io::ErrorKind::StorageFull => {
            (format!("the folder `{folder}` cannot be made: the disk is full"), "make room on the disk")
        }
        _ => (format!("the folder `{folder}` cannot be made: {error}"), "choose another with --home PATH"),
    };
    Problem::failed("home_not_made", message, hint)
}

fn usable(folder: &Path) -> Result<(), Problem> {
    rustix::fs::access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
        let error = io::Error::from(error);
        let message = format!("the folder `{}` cannot be read and written: {error}", folder.display());
        Problem::failed(
            "home_not_usable",
            message,
            "change its owner or rights, or choose another with --home PATH",
        )
    })
}

/// A home that nobody named may not belong to somebody else, who could put settings into it.
fn own(folder: &Path) -> Result<(), Problem> {
    let owner = fs::metadata(folder).map(|metadata| metadata.uid()).ok();
    if owner == Some(rustix::process::geteuid().as_raw()) {
        return Ok(());
    }
    let message = format!("the home `{}` belongs to another user", folder.display());
    let hint = format!("use it with --home {}, if you trust it", folder.display());
    Err(Problem::usage("home_not_own", message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(flag: Option<&str>, variables: &[(&str, &str)], folder: &Path) -> (String, Found) {
        let home = Home::find(flag.map(Path::new), &Surroundings::of(variables, folder)).expect("a home");
        (home.path.to_string_lossy().into_owned(), home.found)
    }

    #[test]
    fn the_first_of_four_places_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("a/b");
        fs::create_dir_all(&inside).expect("folders");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let all = [("HOLDPOINT_HOME", "/variable"), ("XDG_DATA_HOME", "/data"), ("HOME", "/me")];

        assert_eq!(found(Some("/flag"), &all, &inside), ("/flag".into(), Found::Flag));
        assert_eq!(found(Some("x"), &all, &inside), (at("a/b/x"), Found::Flag));
        assert_eq!(found(None, &all, &inside), ("/variable".into(), Found::Variable));
        assert_eq!(found(None, &all[1..], &inside), ("/data/holdpoint".into(), Found::DataFolder));
        assert_eq!(found(None, &all[2..], &inside), ("/me/.local/share/holdpoint".into(), Found::DataFolder));
        // An empty variable is none, and a relative data folder is not allowed by its rules.
        let odd = [("HOLDPOINT_HOME", ""), ("XDG_DATA_HOME", "data"), ("HOME", "/me")];
        assert_eq!(found(None, &odd, &inside), ("/me/.local/share/holdpoint".into(), Found::DataFolder));

        // A file of that name is not a home; the nearest folder wins.
        fs::write(inside.join(NEAREST), "").expect("a file");
        fs::create_dir(folder.path().join(NEAREST)).expect("a folder");
        assert_eq!(found(None, &all[1..], &inside), (at(NEAREST), Found::Nearest));
        fs::create_dir(folder.path().join("a").join(NEAREST)).expect("a folder");
        assert_eq!(found(None, &all[1..], &inside), (at("a/.holdpoint"), Found::Nearest));
        assert_eq!(found(None, &all, &inside), ("/variable".into(), Found::Variable));
    }

    #[test]
    fn without_any_place_it_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let nothing = Surroundings::of(&[], folder.path());
        assert_eq!(Home::find(None, &nothing).expect_err("no place").code, "home_unknown");
        assert_eq!(Home::find(Some(Path::new("")), &nothing).expect_err("empty").code, "home_unknown");
    }

    #[test]
    fn a_home_is_made_once_and_its_keys_are_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/home");
        let home = Home::find(Some(&path), &Surroundings::of(&[], folder.path())).expect("a home");
        assert!(!path.exists());
        home.create().expect("made");
        let mode = |name: &str| fs::metadata(path.join(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(""), mode("keys")), (0o700, 0o700));
        assert!(FOLDERS.iter().all(|name| path.join(name).is_dir()));
        fs::set_permissions(path.join("keys"), Permissions::from_mode(0o755)).expect("changed");
        home.create().expect("made again");
        assert_eq!(mode("keys"), 0o700);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("file"), "").expect("a file");
        for path in ["file", "file/home"] {
            let home =
                Home::find(Some(Path::new(path)), &Surroundings::of(&[], folder.path())).expect("a home");
            let problem = home.create().expect_err("in the way");
            assert_eq!(problem.code, "home_not_made");
            assert!(problem.message.ends_with("a file is in its way"), "{}", problem.message);
        }
    }
}
