//! Tasks of this repository that cargo does not have: `cargo xtask <task>`.
//!
//! It depends only on the list of planted bugs, so that a fresh clone can be checked after a second of compiling.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

mod bugs;
mod doc_tests;
mod scan;
mod tidy;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask <task>

  tidy         check the rules of the repository that the compiler does not
  doc-tests    run the examples in doc comments, if there are any
  bugs [NAME…] switch each planted bug on, and expect the tests to fail";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let root = root();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy::main(&root),
        ["bugs", names @ ..] => bugs::main(&root, names),
        ["doc-tests"] => doc_tests::main(&root),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("error: no such task: {}\n\n{HELP}", args.join(" "));
            ExitCode::from(64)
        }
    }
}

/// The root of the workspace, wherever the task was started.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().expect("xtask stands in the workspace").to_path_buf()
}
