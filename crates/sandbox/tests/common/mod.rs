//! What the tests share: a sandbox at each level, a folder, and the whole output of a run.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use holdpoint_sandbox::{Choice, Ended, Interpreter, Level, Order, Sandbox, Stream};
use tempfile::TempDir;

/// Where the helper is.
pub fn helper() -> PathBuf {
    env!("CARGO_BIN_EXE_holdpoint-sandbox-helper").into()
}

/// The best sandbox of this machine, and the restricted one.
pub async fn sandboxes() -> Vec<Sandbox> {
    let mut all = vec![Sandbox::probe(helper(), scratch(), Choice::Auto).await];
    if all[0].level() != Level::Restricted {
        all.push(Sandbox::probe(helper(), scratch(), Choice::Restricted).await);
    }
    for sandbox in &all {
        assert_ne!(sandbox.level(), Level::None, "{:#?}", sandbox.findings());
    }
    all
}

/// An outer folder with a workspace in it.
pub struct Place {
    pub outer: TempDir,
    pub workspace: PathBuf,
}

pub fn place() -> Place {
    // Inside there is a `/tmp` of its own: what stands below it outside would not show what is reached.
    let usual = env!("CARGO_TARGET_TMPDIR");
    let base = if usual.starts_with("/tmp/") { "/var/tmp" } else { usual };
    let outer = tempfile::tempdir_in(base).expect("a temporary folder");
    let workspace = outer.path().join("workspace");
    std::fs::create_dir(&workspace).expect("a new folder");
    Place { outer, workspace }
}

/// Python code to be run in a workspace, with a limit on its time that no test should reach.
pub fn python(workspace: &Path, code: &str) -> Order {
    let interpreter = Interpreter::find().expect("python3 is installed");
    let mut order = Order::python(&interpreter, workspace);
    order.args = vec!["-c".into(), code.into()];
    order.limits.wall = Duration::from_mins(1);
    order
}

/// All that a run gave.
#[derive(Debug)]
pub struct Outcome {
    pub stdout: String,
    pub stderr: String,
    pub cut: bool,
    pub ended: Ended,
}

pub async fn run(sandbox: &Sandbox, order: Order) -> Outcome {
    let mut running = sandbox.run(order).await.expect("it begins");
    let (mut stdout, mut stderr, mut cut) = (String::new(), String::new(), false);
    while let Some(line) = running.next().await {
        cut |= line.cut;
        let to = match line.stream {
            Stream::Stdout => &mut stdout,
            Stream::Stderr => &mut stderr,
        };
        to.push_str(&line.text);
        to.push('\n');
    }
    Outcome { stdout, stderr, cut, ended: running.end().await }
}

/// Where temporary files are made.
pub fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("holdpoint-sandbox-{}", std::process::id()))
}
