//! What the load tells whoever started it, a JSON object per line: what it is about to send, and what was
//! answered. A line that was read is true even if the process is dead by then.

use std::io::{self, Write as _};

use holdpoint_core::{CommandId, Digest, RunId};
use holdpoint_store::Receipt;
use serde_json::json;

/// A command is about to be sent.
pub fn trying(n: u64, key: &str, op: &str, request: Digest, command: CommandId) -> io::Result<()> {
    line(&json!({"try": n, "key": key, "op": op, "request": request, "command": command}))
}

/// A command was carried out; where its events stand.
pub fn acknowledged(n: u64, receipt: &Receipt, run: Option<RunId>, command: CommandId) -> io::Result<()> {
    line(&json!({
        "ack": n, "first": receipt.first.0, "last": receipt.last.0, "run": run, "command": command
    }))
}

/// A command was not carried out, or was in effect already.
pub fn refused(n: u64, code: &str) -> io::Result<()> {
    line(&json!({"ack": n, "refused": code}))
}

/// Something that must never be so is so.
pub fn violation(what: &str) -> io::Result<()> {
    line(&json!({"violation": what}))
}

fn line(value: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
