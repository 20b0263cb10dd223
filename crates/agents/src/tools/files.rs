//! The tool for files: three folders, of which one can only be read.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::Done;
use super::beneath::Beneath;

/// The most that one `read` shows.
const SHOWN: u64 = 200 * 1024;
/// The most that one `list` shows.
const LISTED: usize = 1000;
/// The longest path.
const LONGEST_PATH: usize = 1000;

/// How much files may be.
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// The largest file.
    pub file_bytes: u64,
}

/// The folders of one execution.
#[derive(Debug)]
pub struct Files {
    workspace: Beneath,
    staging: Beneath,
    inputs: Beneath,
    /// The file names of declared outputs.
    declared: Vec<String>,
    /// What agents are told about under another path, by that path: the names in `inputs/`.
    told_as: BTreeMap<String, String>,
    limits: FileLimits,
}

/// What is asked of the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    operation: Operation,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    old_text: Option<String>,
    #[serde(default)]
    new_text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    List,
    Read,
    Write,
    Edit,
    Delete,
}

/// One of the folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Workspace,
    Staging,
    Inputs,
}

impl Root {
    const ALL: [Self; 3] = [Self::Workspace, Self::Staging, Self::Inputs];

    fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Staging => "artifacts_staging",
            Self::Inputs => "inputs",
        }
    }
}

impl Files {
    /// Opens the folders. `declared` are the file names of declared outputs.
    pub fn open(
        workspace: &Path,
        staging: &Path,
        inputs: &Path,
        declared: Vec<String>,
        limits: FileLimits,
    ) -> io::Result<Self> {
        let (workspace, staging, inputs) =
            (Beneath::open(workspace)?, Beneath::open(staging)?, Beneath::open(inputs)?);
        Ok(Self { workspace, staging, inputs, declared, told_as: BTreeMap::new(), limits })
    }

    /// Lets files in `inputs/` be found by the paths that agents are told, too.
    #[must_use]
    pub fn told_as(self, names: BTreeMap<String, String>) -> Self {
        Self { told_as: names, ..self }
    }

    /// Does what is asked, or says why not.
    pub fn act(&self, input: &Value) -> Done {
        let wanted: Wanted = match serde_json::from_value(input.clone()) {
            Ok(wanted) => wanted,
            Err(cause) => return Done::error(format!("refused: {cause}")),
        };
        let path = wanted.path.clone().unwrap_or_default();
        match self.carry_out(&wanted, &path) {
            Ok(done) => done,
            Err(cause) => Done::error(format!("`{}`: {}", shown(&path), why(&cause))),
        }
    }

    fn carry_out(&self, wanted: &Wanted, path: &str) -> io::Result<Done> {
        if wanted.operation == Operation::List && path.trim_matches(['.', '/']).is_empty() {
            return self.list_all();
        }
        let (root, inside) = self.place(path)?;
        let folder = self.folder(root);
        let changes = matches!(wanted.operation, Operation::Write | Operation::Edit | Operation::Delete);
        if changes && root == Root::Inputs {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "`inputs/` can only be read"));
        }
        if inside.is_empty() && wanted.operation != Operation::List {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "name a file in the folder"));
        }
        let full = format!("{}/{inside}", root.name());
        match wanted.operation {
            Operation::List => list(folder, &inside).map(Done::ok),
            Operation::Read => read(folder, &inside),
            Operation::Write => {
                let content = wanted.content.as_deref().ok_or_else(|| needs("write", "content"))?;
                self.write(folder, &inside, content)?;
                Ok(Done { wrote: true, ..Done::ok(format!("wrote {} bytes to {full}", content.len())) })
            }
            Operation::Edit => {
                let old = wanted.old_text.as_deref().ok_or_else(|| needs("edit", "old_text"))?;
                let new = wanted.new_text.as_deref().ok_or_else(|| needs("edit", "new_text"))?;
                self.edit(folder, &inside, old, new)?;
                Ok(Done { wrote: true, ..Done::ok(format!("edited {full}")) })
            }
            Operation::Delete => {
                folder.delete(&inside)?;
                Ok(Done { wrote: true, ..Done::ok(format!("deleted {full}")) })
            }
        }
    }

    fn folder(&self, root: Root) -> &Beneath {
        match root {
            Root::Workspace => &self.workspace,
            Root::Staging => &self.staging,
            Root::Inputs => &self.inputs,
        }
    }

    /// The folder and the path inside it that a path means.
    fn place(&self, path: &str) -> io::Result<(Root, String)> {
        let refused = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        if path.len() > LONGEST_PATH || path.contains(['\0', '\\']) || path.chars().any(char::is_control) {
            return Err(refused("this is no path"));
        }
        if path.starts_with('/') {
            return Err(refused("paths begin with `workspace/`, `artifacts_staging/` or `inputs/`"));
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.contains(&"..") {
            return Err(refused("a path cannot lead out of its folder"));
        }
        let Some((first, rest)) = parts.split_first() else { return Err(refused("name a file")) };
        if let Some(root) = Root::ALL.into_iter().find(|root| root.name() == *first) {
            return Ok((root, rest.join("/")));
        }
        if let Some(name) = self.told_as.get(&parts.join("/")) {
            return Ok((Root::Inputs, name.clone()));
        }
        let is_output = rest.is_empty() && self.declared.iter().any(|name| name == first);
        Ok((if is_output { Root::Staging } else { Root::Workspace }, parts.join("/")))
    }

    fn write(&self, folder: &Beneath, path: &str, content: &str) -> io::Result<()> {
        if content.len() as u64 > self.limits.file_bytes {
            let limit = self.limits.file_bytes;
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("a file has at most {limit} bytes"),
            ));
        }
        folder.write(path, content.as_bytes())
    }

    fn edit(&self, folder: &Beneath, path: &str, old: &str, new: &str) -> io::Result<()> {
        let refused = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        if old.is_empty() {
            return Err(refused("`old_text` is empty".to_owned()));
        }
        let (bytes, size) = folder.read(path, self.limits.file_bytes)?;
        if size > self.limits.file_bytes {
            return Err(refused("the file is too large to be edited".to_owned()));
        }
        let text = String::from_utf8(bytes).map_err(|_| refused("the file is not text".to_owned()))?;
        match text.matches(old).count() {
            1 => self.write(folder, path, &text.replacen(old, new, 1)),
            0 => Err(refused("`old_text` does not occur in the file; read it again".to_owned())),
            count => {
                Err(refused(format!("`old_text` occurs {count} times; give more of the text around it")))
            }
        }
    }

    fn list_all(&self) -> io::Result<Done> {
        let mut text = String::new();
        for root in Root::ALL {
            text.push_str(&format!("{}/\n", root.name()));
            for line in list(self.folder(root), "")?.lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
        Ok(Done::ok(text))
    }
}

fn list(folder: &Beneath, path: &str) -> io::Result<String> {
    let (listed, more) = folder.list(path, LISTED)?;
    let line = |entry: &super::beneath::Listed| {
        if entry.folder {
            format!("{}/", entry.name)
        } else {
            format!("{} ({} bytes)", entry.name, entry.size)
        }
    };
    let mut lines: Vec<String> = listed.iter().map(line).collect();
    if more {
        lines.push(format!("[… only the first {LISTED} are shown]"));
    }
    Ok(if lines.is_empty() { "(nothing)".to_owned() } else { lines.join("\n") })
}

fn read(folder: &Beneath, path: &str) -> io::Result<Done> {
    let (bytes, size) = folder.read(path, SHOWN)?;
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if size > SHOWN && error.utf8_error().error_len().is_none() => {
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
        Err(_) => return Ok(Done::error(format!("it is not text ({size} bytes); read it with code"))),
    };
    if size > SHOWN {
        text.push_str(&format!("\n[… only the first {SHOWN} of {size} bytes are shown]"));
    }
    Ok(Done::ok(text))
}

fn needs(operation: &str, field: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("`{operation}` needs `{field}`"))
}

fn shown(path: &str) -> String {
    path.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// Why something failed, without what a system says about its insides.
fn why(error: &io::Error) -> String {
    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::NOENT) => "there is no such file".to_owned(),
        Some(rustix::io::Errno::XDEV | rustix::io::Errno::LOOP) => {
            "refused: the path leads through a link or out of its folder".to_owned()
        }
        Some(rustix::io::Errno::NOTDIR) => "a part of the path is not a folder".to_owned(),
        Some(rustix::io::Errno::ISDIR) => "it is a folder".to_owned(),
        Some(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::EXIST) => "the folder is not empty".to_owned(),
        Some(_) | None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::{Expect, expect};
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    fn folders() -> (TempDir, Files) {
        let home = tempfile::tempdir().expect("a folder");
        let folder = |name: &str| {
            let path = home.path().join(name);
            std::fs::create_dir(&path).expect("made");
            path
        };
        let (workspace, staging, inputs) = (folder("w"), folder("s"), folder("i"));
        std::fs::write(inputs.join("given.md"), "given").expect("written");
        std::fs::write(home.path().join("secret"), "secret").expect("written");
        let limits = FileLimits { file_bytes: 1000 };
        let files = Files::open(&workspace, &staging, &inputs, vec!["report.md".into()], limits);
        (home, files.expect("opened"))
    }

    fn check(files: &Files, asked: &[Value], expected: &Expect) {
        let story: Vec<String> = asked
            .iter()
            .map(|input| {
                let done = files.act(input);
                format!("{}{}", if done.is_error { "! " } else { "" }, done.content)
            })
            .collect();
        expected.assert_eq(&(story.join("\n") + "\n"));
    }

    fn op(operation: &str, path: &str) -> Value {
        json!({"operation": operation, "path": path})
    }

    fn write(path: &str, content: &str) -> Value {
        json!({"operation": "write", "path": path, "content": content})
    }

    fn edit(path: &str, old: &str, new: &str) -> Value {
        json!({"operation": "edit", "path": path, "old_text": old, "new_text": new})
    }

    #[test]
    fn files_are_written_read_edited_and_deleted() {
        let (home, files) = folders();
        check(
            &files,
            &[
                write("report.md", "one two"),
                write("drafts/a.txt", "a"),
                edit("report.md", "two", "three"),
                edit("report.md", "e", "x"),
                edit("report.md", "none", "x"),
                op("read", "artifacts_staging/report.md"),
                op("read", "inputs/given.md"),
                op("list", ""),
                op("delete", "drafts"),
                op("delete", "drafts/a.txt"),
                op("read", "drafts/a.txt"),
                write("big", &"x".repeat(1001)),
                json!({"operation": "write", "path": "x"}),
                json!({"operation": "burn"}),
            ],
            &expect![[r#"
                wrote 7 bytes to artifacts_staging/report.md
                wrote 1 bytes to workspace/drafts/a.txt
                edited artifacts_staging/report.md
                ! `report.md`: `old_text` occurs 3 times; give more of the text around it
                ! `report.md`: `old_text` does not occur in the file; read it again
                one three
                given
                workspace/
                  drafts/
                artifacts_staging/
                  report.md (9 bytes)
                inputs/
                  given.md (5 bytes)

                ! `drafts`: the folder is not empty
                deleted workspace/drafts/a.txt
                ! `drafts/a.txt`: there is no such file
                ! `big`: a file has at most 1000 bytes
                ! `x`: `write` needs `content`
                ! refused: unknown variant `burn`, expected one of `list`, `read`, `write`, `edit`, `delete`
            "#]],
        );
        assert_eq!(std::fs::read_to_string(home.path().join("s/report.md")).expect("read"), "one three");
    }

    #[test]
    fn nothing_leads_out() {
        let (home, files) = folders();
        symlink(home.path().join("secret"), home.path().join("w/link")).expect("linked");
        symlink(home.path(), home.path().join("w/up")).expect("linked");
        let paths = [
            "../secret",
            "/etc/passwd",
            "workspace/../../secret",
            "a/../../secret",
            "link",
            "up/secret",
            "up",
            "inputs/given.md",
            "workspace/./up/secret",
            "..",
            "~root/x",
            "a\0b",
            "w\\..\\x",
            "%2e%2e/secret",
        ];
        for path in paths {
            for input in [write(path, "x"), edit(path, "secret", "x"), op("delete", path)] {
                files.act(&input);
            }
            let read = files.act(&op("read", path));
            assert!(read.is_error || !read.content.contains("secret"), "{path}: {read:?}");
        }
        assert_eq!(std::fs::read_to_string(home.path().join("secret")).expect("read"), "secret");
        assert_eq!(std::fs::read_to_string(home.path().join("i/given.md")).expect("read"), "given");
        let above: Vec<_> =
            std::fs::read_dir(home.path()).expect("read").map(|e| e.expect("one").file_name()).collect();
        assert_eq!(above.len(), 4, "{above:?}");
    }

    #[test]
    fn a_folder_swapped_for_a_link_leads_nowhere() {
        let (home, files) = folders();
        let outside = home.path().join("outside");
        std::fs::create_dir(&outside).expect("made");
        let (real, link) = (home.path().join("w/real"), home.path().join("w/link"));
        std::fs::create_dir(&real).expect("made");
        symlink(&outside, &link).expect("linked");
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let both = rustix::fs::RenameFlags::EXCHANGE;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = rustix::fs::renameat_with(rustix::fs::CWD, &real, rustix::fs::CWD, &link, both);
                }
            });
            for n in 0..20_000 {
                files.act(&write(&format!("real/f{}", n % 7), "x"));
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(std::fs::read_dir(&outside).expect("read").count(), 0);
    }
}
