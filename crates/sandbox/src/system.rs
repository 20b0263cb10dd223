//! The parts of the machine that any program needs to run at all: libraries, tools, a few settings.
//!
//! Invariant: nothing here belongs to a person or to the server. No home, no list of users, no log.

use std::path::{Path, PathBuf};

/// The search path of every confined program.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Programs and libraries. Some are links into `/usr` on most machines.
const FOLDERS: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// What the loader, the clock and common libraries look up.
const SETTINGS: [&str; 9] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
    "/etc/python3",
];

/// Names and certificates.
const NETWORK_SETTINGS: [&str; 10] = [
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
];

/// Facts about the machine that are no one's secret. Only where the program shares the machine's `/proc`.
const FACTS: [&str; 6] =
    ["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/version", "/proc/filesystems"];

/// Devices that may be written.
pub(crate) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The folders that are there.
pub(crate) fn folders() -> impl Iterator<Item = &'static Path> {
    existing(&FOLDERS)
}

/// The settings that are there.
pub(crate) fn settings(network: bool) -> impl Iterator<Item = &'static Path> {
    existing(&SETTINGS).chain(existing(if network { &NETWORK_SETTINGS } else { &[] }))
}

/// The facts that are there.
pub(crate) fn facts() -> impl Iterator<Item = &'static Path> {
    existing(&FACTS)
}

/// Where `bwrap` is. Fixed places only: a search path could lead into a workspace.
pub(crate) fn bwrap() -> Option<PathBuf> {
    ["/usr/bin/bwrap", "/bin/bwrap"].into_iter().map(PathBuf::from).find(|path| path.is_file())
}

fn existing(paths: &'static [&'static str]) -> impl Iterator<Item = &'static Path> {
    paths.iter().map(Path::new).filter(|path| path.exists())
}
