//! The binary `holdpoint`.

use std::process::ExitCode;

use holdpoint_sandbox::{HELPER_COMMAND, helper_main};

fn main() -> ExitCode {
    // Foreign code is confined by this program, called again: that comes before everything else.
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == HELPER_COMMAND) {
        return helper_main(args);
    }
    holdpoint_cli::main()
}
