//! The binary `holdpoint`.

use std::process::ExitCode;

fn main() -> ExitCode {
    holdpoint_cli::main()
}
