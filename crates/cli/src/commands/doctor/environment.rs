//! This machine and the folders of the home.

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::report::{Check, Section};
use crate::home::Home;
use crate::text::size;

/// Less room than this is worth a word.
const LITTLE_ROOM: u64 = 1024 * 1024 * 1024;

pub fn look(home: &Home) -> Section {
    let mut section = Section::new("environment");
    section.add(Check::ok("version", env!("CARGO_PKG_VERSION")));
    section.add(system());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    section.add(Check::ok("cores", cores.to_string()).with("cores", cores));
    if let Some(check) = memory() {
        section.add(check);
    }
    if let Some(check) = room(home) {
        section.add(check);
    }
    section.add(folder(home));
    if let Some(check) = keys(home) {
        section.add(check);
    }
    section
}

fn system() -> Check {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let words = [system, kernel.trim(), machine];
    Check::ok("system", words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

fn memory() -> Option<Check> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    let (all, free) = (bytes("MemTotal")?, bytes("MemAvailable")?);
    let check = Check::ok("memory", format!("{}, of which {} are available", size(all), size(free)));
    Some(check.with("bytes", all).with("available", free))
}

/// The room on the disk where the home is, or would be.
fn room(home: &Home) -> Option<Check> {
    let place = home.path().ancestors().find(|path| path.exists())?;
    let disk = rustix::fs::statvfs(place).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} are free", size(free));
    let check = if free < LITTLE_ROOM {
        Check::warn("disk", text, "make room: without it nothing more can be recorded")
    } else {
        Check::ok("disk", text)
    };
    Some(check.with("free", free))
}

fn folder(home: &Home) -> Check {
    let path = home.path().display();
    let told = format!("{path} ({})", home.found().text());
    let Ok(found) = fs::metadata(home.path()) else {
        return Check::warn("home", format!("{told} does not exist"), "`holdpoint serve` makes it");
    };
    let mode = found.permissions().mode() & 0o777;
    let check = if is_foreign(&found) {
        let hint = "whoever owns it can change everything in it; use one of your own";
        Check::warn("home", format!("{told} belongs to another user"), hint)
    } else if mode & 0o002 != 0 {
        Check::warn("home", format!("{told} can be written by everybody"), format!("chmod 700 {path}"))
    } else if mode & 0o005 != 0 {
        Check::warn("home", format!("{told} can be read by everybody"), format!("chmod 700 {path}"))
    } else {
        Check::ok("home", told)
    };
    check.with("path", path.to_string()).with("mode", format!("{mode:03o}"))
}

fn keys(home: &Home) -> Option<Check> {
    let path = home.path().join("keys");
    let found = fs::metadata(&path).ok()?;
    let mode = found.permissions().mode() & 0o777;
    let check = if mode.trailing_zeros() < 6 {
        let hint = format!("chmod 700 {}", path.display());
        Check::warn("keys", format!("others than you may look into them (mode {mode:03o})"), hint)
    } else {
        Check::ok("keys", "only you may look into them")
    };
    Some(check.with("mode", format!("{mode:03o}")))
}

fn is_foreign(found: &Metadata) -> bool {
    found.uid() != rustix::process::geteuid().as_raw()
}
