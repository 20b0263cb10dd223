//! Tries the levels from the best down, and keeps the first that the hostile program could not break.

pub(crate) mod hostile;

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::helper::{HELPER_COMMAND, HOSTILE};
use crate::{Choice, Finding, Findings, Level, Limits, Order, Sandbox, Status, Stream, system};
use hostile::{Row, Targets};

/// Much less than usual, so that reaching a limit takes no time.
fn limits() -> Limits {
    const MIB: u64 = 1024 * 1024;
    Limits {
        wall: Duration::from_secs(20),
        cpu: Duration::from_secs(10),
        memory_bytes: 512 * MIB,
        // Enough for what else the same user starts meanwhile.
        processes: 64,
        file_bytes: MIB,
        ..Limits::default()
    }
}

/// Finds the level.
pub(crate) async fn findings(helper: &Path, scratch: &Path, choice: Choice) -> Findings {
    let user =
        if rustix::process::geteuid().is_root() { "one of its own for each run" } else { "the server's" };
    let mut findings = Findings { level: Level::None, choice, user: user.into(), checks: Vec::new() };
    let levels: &[Level] = match choice {
        Choice::Auto => &[Level::Full, Level::Restricted],
        Choice::Restricted => &[Level::Restricted],
        Choice::External => {
            findings.level = Level::External;
            return findings;
        }
    };
    for &level in levels {
        let checks = attempt(helper, scratch, level, &findings).await;
        let held = !checks.is_empty() && checks.iter().all(|check| check.held);
        findings.checks.extend(checks);
        if held {
            findings.level = level;
            break;
        }
    }
    tracing::debug!(level = %findings.level, "sandbox probed");
    findings
}

async fn attempt(helper: &Path, scratch: &Path, level: Level, so_far: &Findings) -> Vec<Finding> {
    if level == Level::Full && system::bwrap().is_none() {
        let fix = "install bubblewrap, for example: apt-get install bubblewrap".to_owned();
        return vec![broken(level, "bubblewrap", "there is no /usr/bin/bwrap".into(), fix)];
    }
    match tried(helper, scratch, level, so_far).await {
        Ok(rows) => rows.into_iter().map(|row| finding(level, row)).collect(),
        Err(detail) => vec![broken(level, "start", detail, start_fix(level))],
    }
}

/// Runs the hostile program and takes its account.
async fn tried(helper: &Path, scratch: &Path, level: Level, so_far: &Findings) -> Result<Vec<Row>, String> {
    let outside =
        Outside::make(scratch).map_err(|error| format!("the probe could not be prepared: {error}"))?;
    let assumed = Sandbox::assumed(helper.into(), scratch.into(), Findings { level, ..so_far.clone() });
    let mut order = Order::new(helper, outside.folder.join("workspace"));
    let targets = serde_json::to_string(&outside.targets()).map_err(|error| error.to_string())?;
    order.args = vec![HELPER_COMMAND.into(), HOSTILE.into(), targets];
    order.limits = limits();
    let mut running = assumed.run(order).await.map_err(|error| error.to_string())?;
    let (mut said, mut complained) = (String::new(), String::new());
    while let Some(line) = running.next().await {
        match line.stream {
            Stream::Stdout => said.push_str(&line.text),
            Stream::Stderr => complained.push_str(&line.text),
        }
    }
    let status = running.end().await.status;
    match serde_json::from_str(&said) {
        Ok(rows) if status == Status::Exited(0) => Ok(rows),
        _ => Err(format!("the probe ended with {status:?}: {complained}")),
    }
}

fn finding(level: Level, row: Row) -> Finding {
    let fix = (!row.held).then(|| row_fix(&row.check).to_owned());
    Finding { level, check: row.check, held: row.held, detail: row.detail, fix }
}

fn broken(level: Level, check: &str, detail: String, fix: String) -> Finding {
    Finding { level, check: check.into(), held: false, detail, fix: Some(fix) }
}

fn start_fix(level: Level) -> String {
    match level {
        Level::Full => "allow user namespaces (sysctl user.max_user_namespaces; on Ubuntu an AppArmor profile for bwrap; \
             in a container a seccomp profile that permits unshare and mount)",
        Level::Restricted | Level::External | Level::None => {
            "use a kernel of version 6.2 or later with Landlock enabled (lsm=landlock), in a container that permits it"
        }
    }
    .into()
}

fn row_fix(check: &str) -> &'static str {
    match check {
        "process_limit" => "run the server as a plain user: the kernel does not limit root's processes",
        "signals" => "use a kernel of version 6.12 or later, or allow user namespaces",
        "network" | "privileges" => "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)",
        _ => "use a kernel of version 6.2 or later with Landlock enabled (lsm=landlock)",
    }
}

/// Things outside the sandbox for the hostile program to reach for.
struct Outside {
    folder: PathBuf,
    tcp: TcpListener,
    _unix: UnixListener,
    _abstract_unix: UnixListener,
    name: String,
}

impl Outside {
    /// Below `scratch`, or among the temporary files of all where that path is too long for a socket.
    fn make(scratch: &Path) -> io::Result<Self> {
        match Self::make_in(scratch) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Self::make_in(&std::env::temp_dir()),
            made => made,
        }
    }

    fn make_in(scratch: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("probe-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = scratch.join(&name);
        let make = |folder: PathBuf| fs::DirBuilder::new().mode(0o700).create(folder);
        make(folder.clone())?;
        make(folder.join("workspace"))?;
        make(folder.join("other"))?;
        fs::write(folder.join("other/secret"), "secret")?;
        Ok(Self {
            tcp: TcpListener::bind("127.0.0.1:0")?,
            _unix: UnixListener::bind(folder.join("other/socket"))?,
            _abstract_unix: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?,
            folder,
            name,
        })
    }

    fn targets(&self) -> Targets {
        Targets {
            other: self.folder.join("other"),
            port: self.tcp.local_addr().map_or(0, |address| address.port()),
            abstract_name: self.name.clone(),
            server: std::process::id(),
            limits: limits(),
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // Left behind it is an empty folder in the temporary one.
        drop(fs::remove_dir_all(&self.folder));
    }
}
