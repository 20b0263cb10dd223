//! The dry runs that a server makes: `holdpoint run --dry-run` in a process of its own, which can be stopped.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use holdpoint_server::{DryRun, DryRunReport, DryRuns, NotWalked};
use holdpoint_store::BoxFuture;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::home::Home;
use crate::problem::Problem;

/// How long one may take, and how long one waits for its turn.
const LONGEST: Duration = Duration::from_mins(1);
/// How many are walked at once.
const AT_ONCE: usize = 2;
/// The largest report that is read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Walks definitions beside a home.
pub struct Beside {
    program: PathBuf,
    home: PathBuf,
    /// Where the folders of pipelines are.
    pipelines: PathBuf,
    room: Semaphore,
}

impl Beside {
    /// Beside a home whose pipelines have their folders in `pipelines`.
    pub fn new(home: &Home, pipelines: PathBuf) -> Result<Self, Problem> {
        let (program, home) = (crate::wiring::this_program()?, home.path().to_owned());
        Ok(Self { program, home, pipelines, room: Semaphore::new(AT_ONCE) })
    }

    /// Writes down what is walked, where nobody else looks.
    fn lay_out(&self, asked: &DryRun, folder: &Path) -> io::Result<Command> {
        let walked = folder.join("walked.json");
        std::fs::write(&walked, asked.definition.to_string())?;
        if let Some(pipeline) = asked.pipeline {
            symlink(self.pipelines.join(pipeline.to_string()).join("scripts"), folder.join("scripts"))?;
        }
        let mut command = Command::new(&self.program);
        command.arg("--home").arg(&self.home).args(["--json", "--quiet", "run", "--dry-run"]).arg(walked);
        for (option, said) in [("stubs", &asked.stubs), ("answers", &asked.answers)] {
            if !said.is_empty() {
                let file = folder.join(format!("{option}.json"));
                std::fs::write(&file, serde_json::to_vec(said)?)?;
                command.arg(format!("--{option}")).arg(file);
            }
        }
        // It works in the server's folder, whose settings count for it as well. What a stopped process leaves goes
        // with the temporary one; signals of the terminal are for the server.
        command.env("TMPDIR", folder).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        Ok(command)
    }

    async fn made(&self, asked: &DryRun) -> Result<DryRunReport, NotWalked> {
        let folder = tempfile::Builder::new().prefix("holdpoint-dry-run-").tempdir().map_err(failed)?;
        let mut child = self.lay_out(asked, folder.path()).and_then(|mut all| all.spawn()).map_err(failed)?;
        let mut told = Vec::new();
        let output = child.stdout.take().expect("it is piped");
        output.take(LARGEST).read_to_end(&mut told).await.map_err(failed)?;
        child.wait().await.map_err(failed)?;
        read(&told)
    }
}

impl DryRuns for Beside {
    fn walk(&self, asked: DryRun) -> BoxFuture<'_, Result<DryRunReport, NotWalked>> {
        Box::pin(async move {
            let busy =
                |_| NotWalked::Late(format!("{AT_ONCE} dry runs are being walked, and none has ended"));
            let _turn = timeout(LONGEST, self.room.acquire()).await.map_err(busy)?;
            let late =
                |_| NotWalked::Late("the dry run took longer than a minute and was stopped".to_owned());
            timeout(LONGEST, self.made(&asked)).await.map_err(late)?
        })
    }
}

/// What the process said: a report, or a problem as `--json` tells it.
fn read(told: &[u8]) -> Result<DryRunReport, NotWalked> {
    let said: Value = serde_json::from_slice(told).map_err(|_| failed("it said nothing that can be read"))?;
    if let Some(error) = said.get("error") {
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        return Err(NotWalked::Refused(text("message"), text("hint")));
    }
    serde_json::from_value(said).map_err(failed)
}

fn failed(cause: impl std::fmt::Display) -> NotWalked {
    NotWalked::Failed(format!("the dry run was not made: {cause}"))
}
