//! The hostile program: tries to get out, and says for each way whether it was held.
//!
//! It runs as any script does. It harms nothing when it succeeds: what it reaches for was laid out for it.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setpriority_process, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::Limits;
use crate::helper::{HELPER_COMMAND, HOSTILE};

/// What is laid out outside.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Targets {
    pub other: PathBuf,
    pub port: u16,
    pub abstract_name: String,
    pub server: u32,
    pub limits: Limits,
}

/// What came of one attempt.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub check: String,
    pub held: bool,
    pub detail: String,
}

/// Calls for a child that only waits, and one that writes until it is stopped.
const WAIT: &str = "wait";
const FILL: &str = "fill";

pub(crate) fn main(args: &[OsString]) -> ExitCode {
    match args.first().and_then(|arg| arg.to_str()) {
        Some(WAIT) => {
            let mut nothing = [0];
            drop(io::stdin().read(&mut nothing));
            ExitCode::SUCCESS
        }
        Some(FILL) => args.get(1).map_or(ExitCode::FAILURE, |path| fill(Path::new(path))),
        Some(targets) => account(targets),
        None => ExitCode::FAILURE,
    }
}

fn account(targets: &str) -> ExitCode {
    let Ok(targets) = serde_json::from_str::<Targets>(targets) else { return ExitCode::FAILURE };
    let rows = [
        read_outside(&targets),
        write_outside(&targets),
        network(&targets),
        environment(),
        processes(&targets),
        signals(&targets),
        privileges(),
        memory(&targets),
        file_size(&targets),
        process_limit(&targets),
    ];
    match serde_json::to_vec(&rows).map(|bytes| io::stdout().write_all(&bytes)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// A row about ways that must all fail.
fn all_refused<T>(check: &str, ways: impl IntoIterator<Item = (String, Result<T, impl Display>)>) -> Row {
    let (mut broke, mut refused) = (Vec::new(), Vec::new());
    for (way, result) in ways {
        match result {
            Ok(_) => broke.push(way),
            Err(error) => refused.push(format!("{way}: {error}")),
        }
    }
    let held = broke.is_empty();
    let detail = if held { refused.join("; ") } else { format!("succeeded: {}", broke.join(", ")) };
    Row { check: check.into(), held, detail }
}

fn read_outside(targets: &Targets) -> Row {
    let files = [
        targets.other.join("secret"),
        "/etc/shadow".into(),
        "/etc/passwd".into(),
        format!("/proc/{}/environ", targets.server).into(),
        format!("/proc/{}/mem", targets.server).into(),
    ];
    let reads = files.iter().map(|file| (file.display().to_string(), fs::File::open(file).map(drop)));
    let folders = [targets.other.clone(), "/root".into(), "/home".into(), "/var/log".into()];
    // An empty folder, as a mount point may be, tells nothing.
    let lists = folders.iter().map(|folder| {
        let first = fs::read_dir(folder)
            .and_then(|mut all| all.next().unwrap_or(Err(io::ErrorKind::NotFound.into())));
        (folder.display().to_string(), first.map(drop))
    });
    all_refused("read_outside", reads.chain(lists))
}

fn write_outside(targets: &Targets) -> Row {
    let secret = targets.other.join("secret");
    let new = targets.other.join("new");
    let moved = targets.other.join("moved");
    let link = Path::new("link");
    all_refused(
        "write_outside",
        [
            ("create".to_owned(), fs::write(&new, "x")),
            ("overwrite".to_owned(), OpenOptions::new().write(true).open(&secret).map(drop)),
            ("append".to_owned(), OpenOptions::new().append(true).open(&secret).map(drop)),
            ("chmod".to_owned(), fs::set_permissions(&secret, Permissions::from_mode(0o644))),
            ("rename".to_owned(), fs::rename(&secret, &moved)),
            ("remove".to_owned(), fs::remove_file(&secret)),
            ("hard link".to_owned(), fs::hard_link(&secret, link)),
            ("mkdir".to_owned(), fs::create_dir(&new)),
        ],
    )
}

fn network(targets: &Targets) -> Row {
    let abstract_socket = SocketAddr::from_abstract_name(&targets.abstract_name)
        .and_then(|address| UnixStream::connect_addr(&address));
    all_refused(
        "network",
        [
            ("TCP to this machine".to_owned(), TcpStream::connect(("127.0.0.1", targets.port)).map(drop)),
            ("UDP".to_owned(), udp(targets.port)),
            ("abstract socket".to_owned(), abstract_socket.map(drop)),
            ("socket in a folder".to_owned(), UnixStream::connect(targets.other.join("socket")).map(drop)),
        ],
    )
}

fn udp(port: u16) -> io::Result<()> {
    UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", ("127.0.0.1", port)).map(drop)
}

fn environment() -> Row {
    const EXPECTED: [&str; 4] = ["HOME", "LANG", "PATH", "TMPDIR"];
    let more: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| !EXPECTED.contains(&name.as_str()))
        .collect();
    Row {
        check: "environment".into(),
        held: more.is_empty(),
        detail: format!("beyond the fixed ones: {more:?}"),
    }
}

/// Its own processes are itself and at most the one that `bwrap` leaves.
fn processes(targets: &Targets) -> Row {
    let listed = fs::read_dir("/proc").map(|entries| {
        entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
            .count()
    });
    let (held, detail) = match listed {
        Ok(count) => (count <= 2, format!("{count} processes are visible")),
        Err(error) => (true, format!("processes cannot be listed: {error}")),
    };
    let server = fs::read(format!("/proc/{}/cmdline", targets.server)).is_ok_and(|line| !line.is_empty());
    Row { check: "processes".into(), held: held && !server, detail }
}

fn signals(targets: &Targets) -> Row {
    let server = || Pid::from_raw(targets.server as i32).ok_or(rustix::io::Errno::SRCH);
    // What it would set harms nobody: it writes no core file, and has no better priority than others.
    let no_core = || Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum };
    all_refused(
        "signals",
        [
            ("to the server".to_owned(), server().and_then(test_kill_process)),
            (
                "limits of the server".to_owned(),
                server().and_then(|pid| prlimit(Some(pid), Resource::Core, no_core())).map(drop),
            ),
            ("priority of the server".to_owned(), server().and_then(|pid| setpriority_process(Some(pid), 0))),
        ],
    )
}

fn privileges() -> Row {
    /// The rights to pass by permissions and owners of files, which a program keeps when the server is root.
    const FILE_RIGHTS: u64 = 1 << 1 | 1 << 3;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map_or("", str::trim)
            .to_owned()
    };
    let rights = ["CapInh", "CapPrm", "CapEff", "CapAmb"]
        .iter()
        .map(|name| u64::from_str_radix(&field(name), 16).unwrap_or(u64::MAX))
        .fold(0, |all, some| all | some);
    let held = field("NoNewPrivs") == "1" && field("Seccomp") == "2" && rights & !FILE_RIGHTS == 0;
    let detail = format!(
        "no new privileges {}, seccomp {}, capabilities {rights:#x}",
        field("NoNewPrivs"),
        field("Seccomp")
    );
    Row { check: "privileges".into(), held, detail }
}

fn memory(targets: &Targets) -> Row {
    let mut memory: Vec<u8> = Vec::new();
    let size = usize::try_from(targets.limits.memory_bytes).unwrap_or(usize::MAX / 2);
    all_refused("memory_limit", [(format!("{size} bytes"), memory.try_reserve_exact(size))])
}

fn fill(path: &Path) -> ExitCode {
    let chunk = vec![0; 64 * 1024];
    let filled = fs::File::create(path).and_then(|mut file| {
        // Twice what the probe allows.
        (0..32).try_for_each(|_| file.write_all(&chunk))
    });
    if filled.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// In a child, since the kernel ends one that does not expect it.
fn file_size(targets: &Targets) -> Row {
    let status = itself().and_then(|mut program| program.args([FILL, "large"]).status());
    let size = fs::metadata("large").map_or(0, |about| about.len());
    let held = status.as_ref().is_ok_and(|status| !status.success()) && size <= targets.limits.file_bytes;
    Row { check: "file_limit".into(), held, detail: format!("{size} bytes were written, then {status:?}") }
}

fn process_limit(targets: &Targets) -> Row {
    // Far more than allowed, since what the same user ends meanwhile makes room.
    let wanted = targets.limits.processes as usize * 10;
    let mut children: Vec<Child> = Vec::new();
    let mut refused = None;
    while children.len() < wanted && refused.is_none() {
        match itself().and_then(|mut program| program.arg(WAIT).stdin(Stdio::piped()).spawn()) {
            Ok(child) => children.push(child),
            Err(error) => refused = Some(error),
        }
    }
    let count = children.len();
    for mut child in children {
        drop(child.stdin.take());
        drop(child.wait());
    }
    let detail = refused.as_ref().map_or_else(String::new, |error| format!(", then {error}"));
    Row {
        check: "process_limit".into(),
        held: refused.is_some(),
        detail: format!("{count} were started{detail}"),
    }
}

fn itself() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([HELPER_COMMAND, HOSTILE]);
    Ok(command)
}
