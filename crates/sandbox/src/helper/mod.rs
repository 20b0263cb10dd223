//! What this program does when it is called as its own helper.
//!
//! Every part runs in a process of its own that has one thread, so a change of user or of rights covers all of it.

mod enter;
mod keep;
mod landlock;
mod limits;
mod seccomp;
mod sweep;
mod user;
mod watch;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use crate::probe;

/// The hidden command under which a program must call [`helper_main`].
pub const HELPER_COMMAND: &str = "__sandbox";

pub(crate) const WATCH: &str = "watch";
pub(crate) const ENTER: &str = "enter";
pub(crate) const HOSTILE: &str = "hostile";
const KEEP: &str = "keep";

/// The exit status when nothing better can be said; the reason is in a report.
const FAILED: u8 = 125;

/// The helper. `args` is what follows [`HELPER_COMMAND`]. Call it first of all, before threads are started or
/// anything is read from standard input.
pub fn helper_main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let word = args.first().and_then(|arg| arg.to_str());
    match word {
        Some(WATCH) => watch::main(),
        Some(ENTER) => enter::main(),
        Some(KEEP) => keep::main(&args[1..]),
        Some(HOSTILE) => probe::hostile::main(&args[1..]),
        _ => ExitCode::from(FAILED),
    }
}

/// What stands before a program that is spoken to on its standard input, so that it ends with whoever speaks to it.
/// `helper` is a program that calls [`helper_main`].
pub fn keeper(helper: &Path) -> Vec<OsString> {
    vec![helper.into(), HELPER_COMMAND.into(), KEEP.into()]
}

/// Takes from this process all but computing with what it has: no file, program, other process or address. Call it
/// while there is one thread; those that are started later are restricted as well.
pub fn restrict_worker() -> io::Result<()> {
    seccomp::restrict_worker()
}

/// The socket that the caller put on standard input.
fn control() -> io::Result<UnixStream> {
    Ok(rustix::stdio::stdin().as_fd().try_clone_to_owned()?.into())
}
