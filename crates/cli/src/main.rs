//! The binary `holdpoint`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Foreign code is confined by this program, called again: that comes before everything else.
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(first) if first == holdpoint_sandbox::HELPER_COMMAND => holdpoint_sandbox::helper_main(args),
        Some(first) if first == holdpoint_expr::HELPER_COMMAND => {
            // A second wall: where the kernel has none, a worker still has its limits.
            drop(holdpoint_sandbox::restrict_worker());
            holdpoint_expr::helper_main()
        }
        _ => holdpoint_cli::main(),
    }
}
