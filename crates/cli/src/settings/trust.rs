//! Settings of a folder that one happens to stand in, and which of them a person has to trust first.
//!
//! Whoever writes a checkout would otherwise decide what runs on the machine of everybody who works in it: some settings
//! name programs, places of scripts, or where models are asked with the user's key.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use holdpoint_core::Digest;
use serde::{Deserialize, Serialize};

use super::layers::{Entry, Layer};
use super::{files, keys};
use crate::problem::Problem;
use crate::surroundings::Surroundings;

/// Settings of one file that are not applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Untrusted {
    /// The file.
    pub file: PathBuf,
    /// The digest of their names and values.
    pub digest: Digest,
    /// What they are; keys are masked, and what a program is started with is not.
    pub entries: Vec<Entry>,
}

/// Whether a setting runs programs, says where code is, or where models are asked.
pub fn needs_trust(name: &str) -> bool {
    const NAMES: [&str; 4] =
        ["execution.sandbox", "execution.script_folders", "files.base_pipelines_path", "flows.test_command"];
    const SECTIONS: [&str; 4] = ["agents.", "executors.", "mcp.", "tools."];
    NAMES.contains(&name)
        || SECTIONS.iter().any(|section| name.starts_with(section))
        || keys::provider_key(name).is_some_and(|(_, key)| key == "base_url")
}

/// What the user has trusted: digests by file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Trusted {
    #[serde(default)]
    files: BTreeMap<String, String>,
}

fn list(surroundings: &Surroundings) -> Option<PathBuf> {
    Some(surroundings.user_folder("XDG_CONFIG_HOME", ".config")?.join("holdpoint/trusted.toml"))
}

fn read(surroundings: &Surroundings) -> Result<Trusted, Problem> {
    let Some(path) = list(surroundings) else { return Ok(Trusted::default()) };
    let unreadable = |why: String| {
        let message = format!("the trusted settings in `{}` cannot be read: {why}", path.display());
        Problem::bad_input("config_unreadable", message, "correct the file, or remove it and trust again")
    };
    let text = files::text(&path).map_err(|error| unreadable(error.to_string()))?.unwrap_or_default();
    toml::from_str(&text).map_err(|error| unreadable(error.message().to_owned()))
}

/// Takes out of a file's settings what nobody has trusted. A default changes nothing.
pub(super) fn sift(
    file: &Path,
    mut layer: Layer,
    defaults: &Layer,
    surroundings: &Surroundings,
) -> Result<(Layer, Option<Untrusted>), Problem> {
    let held = layer.take(|name, value| needs_trust(name) && defaults.value(name) != Some(value));
    if held.is_empty() {
        return Ok((layer, None));
    }
    let digest = held.digest();
    let known = read(surroundings)?.files;
    if known.get(&*file.to_string_lossy()) == Some(&digest.to_string()) {
        layer.put(held);
        return Ok((layer, None));
    }
    Ok((layer, Some(Untrusted { file: file.to_owned(), digest, entries: held.entries_to_trust() })))
}

/// The digest that stands for all of them.
pub fn digest_of(untrusted: &[Untrusted]) -> Digest {
    let all: BTreeMap<_, _> =
        untrusted.iter().map(|one| (one.file.to_string_lossy(), one.digest.to_string())).collect();
    Digest::of_json(&all)
}

/// Remembers that the user trusts these settings as they are now.
pub fn remember(untrusted: &[Untrusted], surroundings: &Surroundings) -> Result<PathBuf, Problem> {
    let Some(path) = list(surroundings) else {
        let message = "there is no folder for what you trust: HOME is not set";
        return Err(Problem::failed("not_trusted", message, "set HOME"));
    };
    let mut trusted = read(surroundings)?;
    for one in untrusted {
        trusted.files.insert(one.file.to_string_lossy().into_owned(), one.digest.to_string());
    }
    let text = toml::to_string(&trusted).expect("plain data");
    let partial = path.with_extension(format!("toml.{}", std::process::id()));
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&partial);
        let message = format!("`{}` cannot be written: {error}", path.display());
        Problem::failed("not_trusted", message, "look at the disk and at the rights of the folder")
    })?;
    Ok(path)
}
