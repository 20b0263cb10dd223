//! The slices of the main document, end to end: the real binary, its API, and its files on disk.

mod exposure;
mod server;
mod threats;

mod events;
mod execution;
mod history;
mod pipelines;
mod rollback;
mod safety;
