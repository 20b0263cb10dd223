//! The slices of the main document, end to end: the real binary, its API, and its files on disk.

mod examples;
mod exposure;
mod place;
mod provider;
mod server;
mod threats;

mod agents;
mod budgets;
mod demo;
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
