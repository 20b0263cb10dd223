//! Text: boxes and lines while a person can still follow them, else a list of stages.

use std::fmt::Write as _;

use ascii_dag::{BoxedNode, Graph, RenderOptions};

use super::plain;
use crate::dag::{Compiled, Node};

/// The most nodes that are drawn as boxes.
const MOST_BOXES: usize = 300;

/// The most lines between them.
const MOST_LINES: usize = 1_000;

/// The longest label in a box, and in a list.
const LONGEST: [usize; 2] = [40, 100];

/// The graph for a terminal.
pub fn text(graph: &Compiled) -> String {
    let labels = graph.nodes.iter().map(label).collect();
    Drawing { labels, edges: &graph.edges, levels: &graph.levels }.to_text()
}

/// Any graph for a terminal.
#[derive(Debug)]
pub struct Drawing<'a> {
    /// What each node says.
    pub labels: Vec<String>,
    /// Edges by the places of nodes.
    pub edges: &'a [(u32, u32)],
    /// The stage of each node, from 0.
    pub levels: &'a [u32],
}

impl Drawing<'_> {
    /// Boxes, or a list.
    pub fn to_text(&self) -> String {
        let few = self.labels.len() <= MOST_BOXES && self.edges.len() <= MOST_LINES;
        if few { self.boxes() } else { self.list() }
    }

    fn boxes(&self) -> String {
        let labels: Vec<String> = self.labels.iter().map(|label| plain(label, LONGEST[0])).collect();
        let mut drawing = Graph::new();
        for (place, label) in labels.iter().enumerate() {
            drawing.add_node(place + 1, BoxedNode(label.as_str()));
        }
        for (from, to) in self.edges {
            drawing.add_edge(*from as usize + 1, *to as usize + 1, None);
        }
        let drawn = drawing.compute_layout().render_string(&RenderOptions::plain());
        let lines: Vec<&str> = drawn.trim_end().lines().map(str::trim_end).collect();
        lines.join("\n") + "\n"
    }

    /// The nodes of each stage, each on a line of its own.
    fn list(&self) -> String {
        let stages = self.levels.iter().max().map_or(0, |most| *most as usize + 1);
        let mut members: Vec<Vec<&str>> = vec![Vec::new(); stages];
        for (label, level) in self.labels.iter().zip(self.levels) {
            members[*level as usize].push(label);
        }
        let mut out = format!("{} nodes, {} edges, {stages} stages\n", self.labels.len(), self.edges.len());
        for (number, labels) in members.iter().enumerate() {
            let _ = writeln!(out, "stage {}", number + 1);
            for label in labels {
                let _ = writeln!(out, "  {}", plain(label, LONGEST[1]));
            }
        }
        out
    }
}

fn label(node: &Node) -> String {
    let asks = if node.is_checkpoint() && !node.auto_continue { " (asks)" } else { "" };
    if node.name == node.id {
        format!("{}{asks}", node.id)
    } else {
        format!("{}{asks}  {}", node.id, node.name)
    }
}
