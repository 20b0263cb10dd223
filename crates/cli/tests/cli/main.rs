//! The real binary, in surroundings of its own: what it prints, and how it ends.

// Snapshots are written by a tool that always puts them.
#![allow(clippy::needless_raw_string_hashes)]

mod audit;
mod compile;
mod config;
mod doctor;
mod guides;
mod home;
mod inspect;
mod reference;
mod serve;
mod usage;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::Expect;
use holdpoint_planted::VARIABLE;
use tempfile::TempDir;

/// A folder with a user's home and a project in it, and no other environment.
struct Sandbox {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Sandbox {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("project")).expect("a folder");
        Self { folder, variables: Vec::new() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn with_file(self, path: &str, text: &str) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
        self
    }

    /// Sets a variable; `TMP` stands for the folder.
    fn with_variable(mut self, name: &str, value: &str) -> Self {
        let value = value.replace("TMP", &self.folder.path().to_string_lossy());
        self.variables.push((name.to_owned(), value));
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.surround(Command::new(env!("CARGO_BIN_EXE_holdpoint")), arguments)
    }

    /// Starts the binary by a line of shell, in which `"$0" "$@"` stands for it.
    fn command_by(&self, shell: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", shell, env!("CARGO_BIN_EXE_holdpoint")]);
        self.surround(command, arguments)
    }

    fn surround(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.path("project")).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path("user")).envs(self.variables.iter().cloned());
        command.envs(std::env::var_os(VARIABLE).map(|bug| (VARIABLE, bug)));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::new(&self.command(arguments).output().expect("the binary runs"), self.folder.path())
    }

    fn check(&self, arguments: &[&str], expected: &Expect) {
        expected.assert_eq(&self.run(arguments).to_string());
    }
}

/// What a process left behind, without the name of its folder.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn new(output: &Output, folder: &Path) -> Self {
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).expect("text").replace(&*folder.to_string_lossy(), "TMP")
        };
        Self { exit: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exit, stdout, stderr } = self;
        let exit = exit.map_or_else(|| "killed".to_owned(), |exit| exit.to_string());
        let between = if stdout.is_empty() { "" } else { "---\n" };
        writeln!(f, "{stdout}{between}{stderr}exit {exit}")
    }
}
