//! What is to be run, with which folders and within which limits.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::Interpreter;

/// One program to run.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables beyond `PATH`, `LANG`, `HOME` and `TMPDIR`. Nothing of the server's own is handed on.
    pub env: Vec<(String, String)>,
    /// Where it starts: one of the folders below, or inside one.
    pub cwd: PathBuf,
    /// Folders that it may change.
    pub read_write: Vec<PathBuf>,
    /// Folders and files that it may read and run.
    pub read_only: Vec<PathBuf>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// Whether it may use the network. With it the server's own ports are in reach, too.
    pub network: bool,
    /// How much it may use.
    pub limits: Limits,
    /// Ends it.
    pub cancel: CancellationToken,
}

impl Order {
    /// A program in a folder that it may change.
    pub fn new(program: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Self {
        let workspace = workspace.into();
        Self {
            program: program.into(),
            cwd: workspace.clone(),
            read_write: vec![workspace],
            ..Self::default()
        }
    }

    /// Python in a folder that it may change.
    pub fn python(interpreter: &Interpreter, workspace: impl Into<PathBuf>) -> Self {
        let mut order = Self::new(&interpreter.program, workspace);
        order.read_only = interpreter.folders();
        order
    }
}

/// How much a program may use. One that reaches a limit is refused or ended; neither harms the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time on the clock.
    pub wall: Duration,
    /// Time on the processors, per process.
    pub cpu: Duration,
    /// Address space, per process.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// The largest file.
    pub file_bytes: u64,
    /// Captured output per stream; what comes after is counted and dropped.
    pub output_bytes: usize,
    /// The longest line of output; what comes after is counted and dropped.
    pub line_bytes: usize,
    /// The folders that it may change, together, with its temporary files.
    pub workspace_bytes: u64,
    /// The files in them.
    pub workspace_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            wall: Duration::from_mins(10),
            cpu: Duration::from_mins(10),
            memory_bytes: 2048 * MIB,
            processes: 256,
            file_bytes: 256 * MIB,
            output_bytes: MIB as usize,
            line_bytes: 64 * 1024,
            workspace_bytes: 1024 * MIB,
            workspace_files: 100_000,
        }
    }
}
