//! The helper as a program of its own, so that tests have something to run again.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    assert_eq!(args.next().as_deref(), Some(std::ffi::OsStr::new(holdpoint_sandbox::HELPER_COMMAND)));
    holdpoint_sandbox::helper_main(args)
}
