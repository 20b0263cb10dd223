//! A pipeline as one file, with names in place of ids.

mod changes;
mod read;
mod write;

pub use changes::{Change, plan_changes};
pub use read::{PipelineFile, parse};
pub use write::export;

#[cfg(test)]
mod tests;
