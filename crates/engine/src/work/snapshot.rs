//! The files of an execution as one piece of bytes: after a crash the work goes on with what its journal says it
//! had, and not with what the crash left.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::room::{Room, make};

/// Files beyond this are not packed; the caller says so.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_FILES: usize = 10_000;

/// What stands before the bytes of the files.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    files: Vec<Packed>,
}

/// One file.
#[derive(Debug, Serialize, Deserialize)]
struct Packed {
    path: String,
    size: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    runs: bool,
}

/// Packs the workspace and the staged outputs; nothing, if they are too much.
pub(crate) fn pack(room: &Room) -> io::Result<Option<Vec<u8>>> {
    let (mut head, mut body) = (Head { files: Vec::new() }, Vec::new());
    for (name, folder) in [("workspace", &room.workspace), ("artifacts_staging", &room.staging)] {
        if !walk(folder, name, &mut head, &mut body)? {
            return Ok(None);
        }
    }
    let mut packed = serde_json::to_vec(&head).map_err(io::Error::other)?;
    packed.push(b'\n');
    packed.extend(body);
    Ok(Some(packed))
}

fn walk(folder: &Path, name: &str, head: &mut Head, body: &mut Vec<u8>) -> io::Result<bool> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{name}/{}", entry.file_name().to_string_lossy());
        let meta = entry.metadata()?;
        if meta.is_dir() {
            if !walk(&entry.path(), &path, head, body)? {
                return Ok(false);
            }
        } else if meta.is_file() {
            if head.files.len() == MOST_FILES || body.len() as u64 + meta.len() > MOST_BYTES {
                return Ok(false);
            }
            let bytes = fs::read(entry.path())?;
            let runs = meta.permissions().mode() & 0o100 != 0;
            head.files.push(Packed { path, size: bytes.len() as u64, runs });
            body.extend(bytes);
        }
        // Links, pipes and the like are left out: nothing that counts is in them.
    }
    Ok(true)
}

/// Makes the folders hold exactly what was packed.
pub(crate) fn unpack(room: &Room, packed: &[u8]) -> io::Result<()> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "the packed files of the work are damaged");
    let end = packed.iter().position(|byte| *byte == b'\n').ok_or_else(wrong)?;
    let head: Head = serde_json::from_slice(&packed[..end]).map_err(|_| wrong())?;
    clear(room)?;
    let mut rest = &packed[end + 1..];
    for file in head.files {
        let size = usize::try_from(file.size).map_err(|_| wrong())?;
        let bytes = rest.get(..size).ok_or_else(wrong)?;
        rest = &rest[size..];
        let path = Path::new(&file.path);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(wrong());
        }
        let path = room.base.join(path);
        make(path.parent().ok_or_else(wrong)?)?;
        fs::write(&path, bytes)?;
        let mode = if file.runs { 0o700 } else { 0o600 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Empties both folders.
pub(crate) fn clear(room: &Room) -> io::Result<()> {
    for folder in [&room.workspace, &room.staging] {
        match fs::remove_dir_all(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        make(folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back_and_nothing_else() {
        let home = tempfile::tempdir().expect("a folder");
        let at = |name: &str| home.path().join(name);
        let room = Room {
            base: home.path().to_owned(),
            workspace: at("workspace"),
            staging: at("artifacts_staging"),
            inputs: at("inputs"),
            scripts: at("scripts"),
        };
        clear(&room).expect("cleared");
        make(&at("workspace/deep")).expect("made");
        fs::write(at("workspace/deep/a"), "a").expect("written");
        fs::write(at("artifacts_staging/b.md"), "bb").expect("written");
        let packed = pack(&room).expect("packed").expect("not too much");
        fs::write(at("workspace/deep/a"), "changed").expect("written");
        fs::write(at("workspace/new"), "new").expect("written");
        unpack(&room, &packed).expect("unpacked");
        assert_eq!(fs::read_to_string(at("workspace/deep/a")).expect("read"), "a");
        assert_eq!(fs::read_to_string(at("artifacts_staging/b.md")).expect("read"), "bb");
        assert!(!at("workspace/new").exists());
        assert!(unpack(&room, &packed[..packed.len() - 1]).is_err());
        let evil = b"{\"files\":[{\"path\":\"../x\",\"size\":1}]}\nx";
        assert!(unpack(&room, evil).is_err());
        assert!(!home.path().parent().expect("above").join("x").exists());
    }
}
