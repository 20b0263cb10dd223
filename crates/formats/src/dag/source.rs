//! What is compiled: a node list, a DAG or a template, as one shape.

use crate::tree::Plain;

use super::file::Members;
use super::node::Node;

/// Which of the three a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Nodes in an order; edges are drawn by the compiler.
    List,
    /// Nodes and edges.
    Dag,
    /// Nodes and edges to be run again and again.
    Template,
}

/// A file that was read.
#[derive(Debug)]
pub struct Source {
    pub format: Format,
    pub session_id: Option<String>,
    pub nodes: Vec<Node>,
    /// By the positions of nodes.
    pub edges: Vec<(u32, u32)>,
    /// Where each edge stands in the file's list.
    pub edge_places: Vec<u32>,
    /// The file wants no checkpoints.
    pub opted_out: bool,
    /// What is declared of variables.
    pub schema: Members,
    /// Groups that the nodes do not name themselves.
    pub groups: Vec<(String, Vec<u32>)>,
    pub template: Template,
    /// Keys that nobody knows.
    pub rest: Members,
}

/// What only templates have.
#[derive(Debug, Default)]
pub struct Template {
    pub id: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub version: Option<String>,
    pub created_at: Option<String>,
    pub tags: Option<Vec<String>>,
    pub atomic_groups: Option<Plain>,
    pub execution_mode: Option<String>,
    pub metadata: Members,
}
