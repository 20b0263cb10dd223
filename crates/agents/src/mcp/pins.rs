//! What servers offered when they were first seen, or when somebody last said that it is right.
//!
//! One file per server. The first one to see a server writes it; from then on only a person does.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{Changed, Offer, legal};

/// The largest file of a pin.
const LARGEST: u64 = 16 << 20;

/// The pins of a home.
#[derive(Clone, Debug)]
pub struct Pins {
    folder: PathBuf,
}

/// Why an offer does not count.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// It is not what was pinned.
    #[error("offers other tools than were seen before: {}", told(.0))]
    Changed(Vec<Changed>),
    /// The pin cannot be read or written.
    #[error("has a pin that cannot be used: {0}")]
    Io(#[from] io::Error),
}

fn told(changes: &[Changed]) -> String {
    /// Enough to see what it is about; the rest is in the log.
    const MOST: usize = 5;
    let mut told: Vec<String> = changes
        .iter()
        .take(MOST)
        .map(|change| match change.what {
            "added" | "removed" => format!("`{}` was {}", short(&change.tool), change.what),
            part => format!("the {part} of `{}` changed", short(&change.tool)),
        })
        .collect();
    if changes.len() > MOST {
        told.push(format!("and {} more", changes.len() - MOST));
    }
    told.join(", ")
}

fn short(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(80).collect()
}

impl Pins {
    /// Pins in a folder, which is made when there is something to pin.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn path(&self, server: &str) -> io::Result<PathBuf> {
        // A name that is no name of a file reaches no file.
        if !legal(server) {
            return Err(io::Error::other("the name is not allowed"));
        }
        Ok(self.folder.join(format!("{server}.json")))
    }

    /// What a server offered when it was pinned, if it ever was.
    pub fn read(&self, server: &str) -> io::Result<Option<Offer>> {
        read(&self.path(server)?)
    }

    /// Compares what a server offers now with its pin, or makes the pin if there is none.
    pub fn check(&self, server: &str, offer: &Offer) -> Result<(), PinError> {
        let path = self.path(server)?;
        let pinned = match read(&path)? {
            Some(pinned) => pinned,
            None => match self.put(&path, offer, false) {
                Ok(()) => return Ok(()),
                // Somebody else saw it first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read(&path)?.unwrap_or_default()
                }
                Err(error) => return Err(error.into()),
            },
        };
        let changes = pinned.changes(offer);
        if changes.is_empty() { Ok(()) } else { Err(PinError::Changed(changes)) }
    }

    /// Says that what a server offers now is right.
    pub fn trust(&self, server: &str, offer: &Offer) -> io::Result<()> {
        let path = self.path(server)?;
        self.put(&path, offer, true)
    }

    /// Puts a whole file in its place, or none.
    fn put(&self, path: &Path, offer: &Offer, replace: bool) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = self.folder.join(format!(".{name}.{}", std::process::id()));
        let mut file =
            std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        let written = file.write_all(&offer.canonical()).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| {
            if replace { std::fs::rename(&beside, path) } else { std::fs::hard_link(&beside, path) }
        });
        let _ = std::fs::remove_file(&beside);
        placed
    }
}

fn read(path: &Path) -> io::Result<Option<Offer>> {
    match std::fs::metadata(path) {
        Ok(about) if about.len() > LARGEST => return Err(io::Error::other("it is too large")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let bytes = std::fs::read(path)?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| io::Error::other(format!("it is damaged: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::OfferedTool;
    use super::*;

    fn offer(description: &str) -> Offer {
        Offer::new(vec![OfferedTool {
            name: "add".into(),
            title: None,
            description: Some(description.into()),
            input_schema: json!({"type": "object"}),
            annotations: None,
        }])
    }

    #[test]
    fn t36_what_was_seen_first_counts_until_somebody_says_otherwise() {
        let home = tempfile::tempdir().expect("a folder");
        let pins = Pins::new(home.path().join("mcp"));
        pins.check("notes", &offer("adds")).expect("first seen");
        pins.check("notes", &offer("adds")).expect("the same");
        let error = pins.check("notes", &offer("adds, and reads keys")).expect_err("changed");
        let told = error.to_string();
        assert_eq!(told, "offers other tools than were seen before: the description of `add` changed");
        pins.check("notes", &offer("adds")).expect("the pin is what it was");
        pins.trust("notes", &offer("adds, and reads keys")).expect("trusted");
        pins.check("notes", &offer("adds, and reads keys")).expect("trusted");
        pins.check("notes", &offer("adds")).expect_err("the old one is another one now");
        assert_eq!(std::fs::read_dir(home.path().join("mcp")).expect("read").count(), 1);
    }

    #[test]
    fn a_damaged_pin_is_no_pin_and_no_name_leads_elsewhere() {
        let home = tempfile::tempdir().expect("a folder");
        let pins = Pins::new(home.path());
        std::fs::write(home.path().join("notes.json"), "{").expect("written");
        assert!(matches!(pins.check("notes", &offer("adds")), Err(PinError::Io(_))));
        assert!(pins.check("../notes", &offer("adds")).is_err());
    }
}
