//! The transitions of runs and executions, as one table each, and the diagrams drawn from them.
//!
//! The tables are the declared graphs: tests hold that folding never leaves them, and that every line of
//! them can be reached.

use std::fmt::Write as _;

/// One line of a diagram: events of these kinds lead from a status to a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The documented name of the status before; none: it did not exist.
    pub from: Option<&'static str>,
    /// The documented name of the status afterwards.
    pub to: &'static str,
    /// The stored names of the events.
    pub kinds: &'static [&'static str],
    /// What people call it.
    pub label: &'static str,
}

const fn edge(
    from: Option<&'static str>,
    to: &'static str,
    kinds: &'static [&'static str],
    label: &'static str,
) -> Edge {
    Edge { from, to, kinds, label }
}

/// How runs move. Undoing a rollback is not among these: it puts back what was there.
pub const RUN: &[Edge] = &[
    edge(None, "not_started", &["run_made"], "made"),
    edge(Some("not_started"), "in_progress", &["run_began"], "started"),
    edge(Some("not_started"), "aborted", &["run_aborted"], "aborted"),
    edge(Some("in_progress"), "in_progress", &["rewound"], "rolled back"),
    edge(Some("in_progress"), "paused", &["paused"], "pause asked for, or a checkpoint failed"),
    edge(Some("in_progress"), "completed", &["run_done"], "all checkpoints done"),
    edge(Some("in_progress"), "failed", &["run_failed"], "declared failed"),
    edge(Some("in_progress"), "aborted", &["run_aborted"], "aborted"),
    edge(Some("paused"), "in_progress", &["resumed", "rewound"], "resumed, retried or rolled back"),
    edge(Some("paused"), "failed", &["run_failed"], "declared failed"),
    edge(Some("paused"), "aborted", &["run_aborted"], "aborted"),
    edge(Some("completed"), "in_progress", &["rewound"], "rolled back"),
    edge(Some("failed"), "in_progress", &["rewound"], "rolled back"),
    edge(Some("aborted"), "in_progress", &["rewound"], "rolled back"),
];

/// How executions move. Being rolled back and coming back are not among these: they hide an execution and
/// show it again, at the status that it had.
pub const EXECUTION: &[Edge] = &[
    edge(None, "pending", &["exec"], "made"),
    edge(Some("pending"), "waiting_approval_to_start", &["asked"], "needs an approval"),
    edge(Some("pending"), "in_progress", &["attempt"], "started"),
    edge(Some("waiting_approval_to_start"), "in_progress", &["attempt"], "approved"),
    edge(
        Some("waiting_approval_to_start"),
        "pending",
        &["rejected", "run_aborted", "run_failed"],
        "rejected, or the run ended",
    ),
    edge(Some("in_progress"), "in_progress", &["attempt"], "next attempt"),
    edge(Some("in_progress"), "waiting_approval_to_complete", &["asked"], "done, needs an approval"),
    edge(Some("in_progress"), "completed", &["done"], "done"),
    edge(
        Some("in_progress"),
        "failed",
        &["failed", "restored"],
        "last attempt failed, cancelled, or stopped",
    ),
    edge(Some("waiting_approval_to_complete"), "completed", &["done"], "approved"),
    edge(Some("waiting_approval_to_complete"), "in_progress", &["attempt"], "revision asked for"),
    edge(Some("waiting_approval_to_complete"), "failed", &["failed"], "one revision too many, or stopped"),
    edge(Some("failed"), "in_progress", &["attempt"], "retried"),
];

/// Statuses that nothing but a rollback, its undoing or a person's retry leaves.
pub const FINAL: &[&str] = &["completed", "failed", "aborted"];

/// A table as a Mermaid diagram.
pub fn mermaid(edges: &[Edge]) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    for Edge { from, to, label, .. } in edges {
        let from = from.unwrap_or("[*]");
        writeln!(text, "    {from} --> {to}: {label}").expect("text grows");
    }
    let left: Vec<&str> = edges.iter().map(|edge| edge.to).filter(|to| FINAL.contains(to)).collect();
    for status in FINAL.iter().filter(|status| left.contains(status)) {
        writeln!(text, "    {status} --> [*]").expect("text grows");
    }
    text
}
