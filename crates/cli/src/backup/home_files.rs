//! Which files of a home are in a backup.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// Folders of a home that are never copied: the database is copied by SQLite, and the rest is of use to nobody later.
const LEFT_OUT: [&str; 4] = ["db", "logs", "run", "tmp"];
/// Folders of a pipeline that do not follow from the log.
const OWN: [&str; 2] = ["scripts", ".drift"];

/// What is not in the backup though it is in the home, and why.
pub type Skipped = Vec<String>;

/// The files by their paths in the home, in the order of their names.
pub fn home_files(home: &Path) -> io::Result<(Vec<PathBuf>, Skipped)> {
    let mut found = (Vec::new(), Vec::new());
    for entry in sorted(home)? {
        let name = entry.file_name();
        match name.to_str() {
            Some("pipelines") => pipelines(home, &entry.path(), &mut found)?,
            Some("blobs") => {
                for shelf in sorted(&entry.path())?.iter().filter(|shelf| shelf.file_name() != "tmp") {
                    walk(home, shelf, &mut found)?;
                }
            }
            Some(name) if LEFT_OUT.contains(&name) => {}
            _ => walk(home, &entry, &mut found)?,
        }
    }
    Ok(found)
}

fn pipelines(home: &Path, folder: &Path, found: &mut (Vec<PathBuf>, Skipped)) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in sorted(folder)? {
        if entry.file_name() == ".archived" {
            pipelines(home, &entry.path(), found)?;
        } else if entry.file_type()?.is_dir() {
            for part in sorted(&entry.path())? {
                if OWN.iter().any(|own| part.file_name() == *own) {
                    walk(home, &part, found)?;
                }
            }
        }
    }
    Ok(())
}

fn walk(home: &Path, entry: &DirEntry, found: &mut (Vec<PathBuf>, Skipped)) -> io::Result<()> {
    let (path, kind) = (entry.path(), entry.file_type()?);
    let inside = path.strip_prefix(home).unwrap_or(&path).to_owned();
    if kind.is_dir() {
        for entry in sorted(&path)? {
            walk(home, &entry, found)?;
        }
    } else if !kind.is_file() {
        found.1.push(format!("{} is no regular file", inside.display()));
    } else if inside.to_str().is_none() {
        found.1.push(format!("the name of {} is not UTF-8", inside.display()));
    } else {
        found.0.push(inside);
    }
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}
