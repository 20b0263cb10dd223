//! The slices of the main document, end to end: the real binary, its API, and its files on disk.

#![expect(clippy::needless_pass_by_value, reason = "what is made in the call is handed over")]

mod examples;
mod exposure;
mod place;
mod provider;
mod server;
mod terminal;
mod threats;

mod agents;
mod backup;
mod budgets;
mod demo;
mod disk;
mod dry_run;
mod events;
mod execution;
mod foreground;
mod history;
mod hostile;
mod killed;
mod pipelines;
mod replay;
mod rollback;
mod safety;
mod scripts;
mod tools;
