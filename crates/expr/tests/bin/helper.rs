//! The worker as a program of its own, so that tests have something to start.

use std::process::ExitCode;

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1);
    assert_eq!(first.as_deref(), Some(std::ffi::OsStr::new(holdpoint_expr::HELPER_COMMAND)));
    holdpoint_expr::helper_main()
}
