//! Checks an order, starts the watcher and waits until the program is confined and begins.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdStream;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::helper::{HELPER_COMMAND, WATCH};
use crate::plan::{Layers, Plan};
use crate::running::Begun;
use crate::wire::{self, Report};
use crate::{Choice, Findings, Level, Order, Running, SandboxError, probe, system};

/// How long a watcher that failed may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs programs at the level that this machine holds. Made once; a clone is cheap.
#[derive(Clone, Debug)]
pub struct Sandbox {
    helper: PathBuf,
    scratch: PathBuf,
    layers: Layers,
    findings: Arc<Findings>,
}

impl Sandbox {
    /// Finds out what this machine can enforce, by trying to break it. `helper` is the program that calls
    /// [`helper_main`](crate::helper_main) when its first argument is [`HELPER_COMMAND`](crate::HELPER_COMMAND).
    ///
    /// Temporary files are made in `scratch`, which should belong to the server alone; what processes that are gone
    /// left there is removed.
    pub async fn probe(helper: PathBuf, scratch: PathBuf, choice: Choice) -> Self {
        tidy_up(&scratch);
        let findings = probe::findings(&helper, &scratch, choice).await;
        Self { helper, scratch, layers: Layers::default(), findings: Arc::new(findings) }
    }

    /// One that is taken to hold a level, for the probe to find out.
    pub(crate) fn assumed(helper: PathBuf, scratch: PathBuf, findings: Findings) -> Self {
        Self { helper, scratch, layers: Layers::default(), findings: Arc::new(findings) }
    }

    /// The same with some layers taken away.
    #[cfg(feature = "test-layers")]
    #[must_use]
    pub fn with_layers(&self, layers: Layers) -> Self {
        Self { layers, ..self.clone() }
    }

    /// What holds.
    pub fn level(&self) -> Level {
        self.findings.level
    }

    /// What was tried and what held.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Runs a program. Answers when it is confined and begins.
    pub async fn run(&self, order: Order) -> Result<Running, SandboxError> {
        let began = Instant::now();
        let plan = self.plan(&order)?;
        let (control, theirs) = StdStream::pair()?;
        control.set_nonblocking(true)?;
        let mut control = UnixStream::from_std(control)?;
        // Never killed while it may still have something to end: it ends by itself when our side closes.
        let watcher = Command::new(&self.helper)
            .args([HELPER_COMMAND, WATCH])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let report = tokio::select! {
            report = begin(&mut control, &plan, &order.stdin) => report,
            () = order.cancel.cancelled() => return Err(SandboxError::EndedEarly),
            () = tokio::time::sleep(plan.limits.wall) => return Err(SandboxError::EndedEarly),
        };
        match report {
            Ok(Report::Ready) => {}
            Ok(Report::Failed(detail)) => return Err(failed(watcher, detail).await),
            Ok(Report::Ended { .. }) => return Err(failed(watcher, "it ended too early".into()).await),
            Err(error) => return Err(failed(watcher, format!("the watcher was lost: {error}")).await),
        }
        let mut folders = plan.read_write;
        folders.push(plan.scratch);
        Ok(Begun { watcher, control, folders, limits: order.limits, cancel: order.cancel, began }.keep())
    }

    fn plan(&self, order: &Order) -> Result<Plan, SandboxError> {
        let level = self.level();
        if level == Level::None {
            return Err(unavailable(&self.findings));
        }
        check_program(&order.program)?;
        let read_write = handed_in(&order.read_write)?;
        let mut read_only = handed_in(&order.read_only)?;
        if !within(&order.program, &read_write, &read_only) {
            read_only.push(order.program.clone());
        }
        let cwd = resolved(&order.cwd)?;
        if level != Level::External && !within(&cwd, &read_write, &read_only) {
            let reason = "the program would start there, and it is in none of its folders".into();
            return Err(SandboxError::Folder { path: cwd, reason });
        }
        let mut plan = Plan {
            level,
            layers: self.layers,
            bwrap: system::bwrap(),
            program: order.program.clone(),
            args: order.args.clone(),
            env: Vec::new(),
            cwd,
            read_write,
            read_only,
            scratch: scratch(&self.scratch),
            network: order.network,
            limits: order.limits.clone(),
            user: None,
            others: 0,
        };
        plan.env = variables(&plan.tmp(), &order.env)?;
        Ok(plan)
    }
}

async fn begin(control: &mut UnixStream, plan: &Plan, stdin: &[u8]) -> std::io::Result<Report> {
    control.write_all(&wire::frame_json(plan)?).await?;
    control.write_all(&wire::frame(stdin)).await?;
    wire::next_report(control).await
}

/// Why it did not begin, with what was said on standard error: `bwrap` explains itself there.
async fn failed(mut watcher: Child, detail: String) -> SandboxError {
    const SAID: u64 = 4096;
    let mut said = Vec::new();
    if let Some(stderr) = watcher.stderr.take() {
        drop(timeout(LAST_WORDS, stderr.take(SAID).read_to_end(&mut said)).await);
    }
    drop(timeout(LAST_WORDS, watcher.wait()).await);
    let said = String::from_utf8_lossy(&said);
    let detail = if said.trim().is_empty() { detail } else { format!("{detail}: {}", said.trim()) };
    SandboxError::Failed { detail }
}

fn unavailable(findings: &Findings) -> SandboxError {
    let (mut missing, mut fixes) = (Vec::new(), Vec::new());
    for check in findings.missing() {
        missing.push(format!("{} ({}): {}", check.check, check.level, check.detail));
        if let Some(fix) = &check.fix
            && !fixes.contains(fix)
        {
            fixes.push(fix.clone());
        }
    }
    SandboxError::Unavailable { missing: missing.join("; "), fix: fixes.join("; or ") }
}

fn check_program(program: &Path) -> Result<(), SandboxError> {
    if !program.is_absolute() {
        return Err(SandboxError::ProgramMissing(program.into()));
    }
    let about = std::fs::metadata(program).map_err(|_| SandboxError::ProgramMissing(program.into()))?;
    if about.is_file() && about.permissions().mode() & 0o111 != 0 {
        Ok(())
    } else {
        Err(SandboxError::ProgramNotExecutable(program.into()))
    }
}

/// Folders under their real names, and also under the given ones where links led there: the program was told
/// those.
fn handed_in(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SandboxError> {
    let mut all = Vec::new();
    for path in paths {
        let real = resolved(path)?;
        let given =
            path.components().all(|part| part != Component::ParentDir).then(|| path.components().collect());
        all.extend(given.filter(|given| *given != real));
        all.push(real);
    }
    Ok(all)
}

/// The path without links.
fn resolved(path: &Path) -> Result<PathBuf, SandboxError> {
    let refuse = |reason: String| SandboxError::Folder { path: path.into(), reason };
    if !path.is_absolute() {
        return Err(refuse("it is not absolute".into()));
    }
    let real = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if real.parent().is_none() {
        return Err(refuse("it is the whole machine".into()));
    }
    Ok(real)
}

fn within(path: &Path, read_write: &[PathBuf], read_only: &[PathBuf]) -> bool {
    let own = read_write.iter().chain(read_only).any(|folder| path.starts_with(folder));
    own || system::folders().any(|folder| path.starts_with(folder))
}

/// A new name each time: the watcher makes the folder and refuses one that is there already.
fn scratch(folder: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let time = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    folder.join(format!("run-{}-{count}-{time}", std::process::id()))
}

/// Makes the folder of temporary files, and removes what processes that are gone left in it.
fn tidy_up(folder: &Path) {
    // Whoever cannot make it hears so from the first order.
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let of = name.split('-').nth(1).and_then(|pid| pid.parse::<u32>().ok());
        if of.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Everything that the program finds in its environment.
fn variables(tmp: &Path, more: &[(String, String)]) -> Result<Vec<(String, String)>, SandboxError> {
    let tmp = tmp.to_string_lossy().into_owned();
    let mut variables = vec![
        ("PATH".to_owned(), system::PATH.to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("HOME".to_owned(), tmp.clone()),
        ("TMPDIR".to_owned(), tmp),
    ];
    for (name, value) in more {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(SandboxError::Variable(name.clone()));
        }
        variables.push((name.clone(), value.clone()));
    }
    Ok(variables)
}
