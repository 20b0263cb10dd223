//! A home without a server, and the real binary on it: what it prints, and how it ends.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdpoint_planted::VARIABLE;
use serde_json::Value;
use tempfile::TempDir;

/// How often something is looked at that another process does, and how long between.
const LONG: u32 = 1200;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(25);

/// A folder with a home in it.
pub struct Place {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The document that it printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub fn expect(self, exit: i32) -> Self {
        assert_eq!(self.exit, Some(exit), "{self:#?}");
        self
    }

    /// The command that it says comes next, without the program's name.
    #[track_caller]
    pub fn next(&self) -> Vec<String> {
        let line = self.stderr.lines().find_map(|line| line.strip_prefix("next: holdpoint "));
        line.unwrap_or_else(|| panic!("{self:#?}")).split(' ').map(str::to_owned).collect()
    }
}

impl Place {
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
        Self { folder, variables: variables.collect() }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// Copies an example of the repository.
    pub fn example(&self, name: &str) -> PathBuf {
        let to = self.path(name);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name), &to);
        to
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_holdpoint"));
        command
            .env_clear()
            .env("HOLDPOINT_HOME", self.home())
            .env("USER", "ann")
            .env("TMPDIR", self.path("tmp"));
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(std::env::var_os(VARIABLE).map(|bug| (VARIABLE, bug)))
            .envs(self.variables.iter().cloned());
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        Ran { exit: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs it in the background; what it says goes to a file.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let file = |name: &str| std::fs::File::create(self.path(name)).expect("a file");
        self.command(arguments)
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .expect("the binary runs")
    }

    /// What stands in a file, as soon as something holds of it.
    #[track_caller]
    pub fn until_file(&self, name: &str, holds: impl Fn(&str) -> bool) -> String {
        for _ in 0..LONG {
            let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
            if holds(&text) {
                return text;
            }
            // tidy: sleep, because another process writes the file
            std::thread::sleep(PAUSE);
        }
        panic!("it never came: {:?}", std::fs::read_to_string(self.path(name)));
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).expect("made");
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("a file");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, to).expect("copied");
    }
}
