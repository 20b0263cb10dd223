//! Graphs of work nodes and checkpoints: node lists, compiled DAGs and templates.
//!
//! [`compile`] reads any of the three, draws the edges of a node list, puts checkpoints where a phase ends, and
//! checks the result. It is deterministic: the same input gives the same bytes, and compiling its own output
//! changes nothing. Time and memory are linear in nodes and edges.

mod asked;
mod assemble;
mod checkpoint;
mod checks;
mod compile;
mod draw;
mod file;
mod finding;
mod graph;
mod intent;
mod node;
mod number;
mod places;
mod read;
mod recompile;
mod references;
mod rules;
mod source;
mod stages;
mod write;

pub use compile::{Checkpoints, Compiled, Options, compile};
pub use draw::{Drawing, MOST_DRAWN, dot, mermaid, svg, text};
pub use finding::{Finding, Origin, Severity};
pub use node::{Kind, Node};
pub use source::Format;
pub use write::TemplateOptions;

#[cfg(test)]
mod tests;
