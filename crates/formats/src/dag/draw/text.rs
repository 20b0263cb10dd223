//! Text: boxes and lines while a person can still follow them, else a list of stages.

use std::fmt::Write as _;

use ascii_dag::{BoxedNode, Graph, RenderOptions};

use super::plain;
use crate::dag::{Compiled, Node};

/// The most nodes that are drawn as boxes.
const MOST_BOXES: usize = 300;

/// The most lines between them.
const MOST_LINES: usize = 1_000;

/// The graph for a terminal.
pub fn text(graph: &Compiled) -> String {
    if graph.nodes.len() <= MOST_BOXES && graph.edges.len() <= MOST_LINES {
        boxes(graph)
    } else {
        list(graph)
    }
}

fn boxes(graph: &Compiled) -> String {
    let labels: Vec<String> = graph.nodes.iter().map(|node| label(node, 40)).collect();
    let mut drawing = Graph::new();
    for (place, label) in labels.iter().enumerate() {
        drawing.add_node(place + 1, BoxedNode(label.as_str()));
    }
    for (from, to) in &graph.edges {
        drawing.add_edge(*from as usize + 1, *to as usize + 1, None);
    }
    let drawn = drawing.compute_layout().render_string(&RenderOptions::plain());
    drawn.trim_end().lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The nodes of each stage on a line of their own, below its number.
fn list(graph: &Compiled) -> String {
    let levels = graph.levels.iter().max().map_or(0, |most| *most as usize + 1);
    let mut stages: Vec<Vec<&Node>> = vec![Vec::new(); levels];
    for (node, level) in graph.nodes.iter().zip(&graph.levels) {
        stages[*level as usize].push(node);
    }
    let mut out = format!("{} nodes, {} edges, {levels} stages\n", graph.nodes.len(), graph.edges.len());
    for (number, nodes) in stages.iter().enumerate() {
        let _ = writeln!(out, "stage {}", number + 1);
        for node in nodes {
            let _ = writeln!(out, "  {}", label(node, 100));
        }
    }
    out
}

fn label(node: &Node, longest: usize) -> String {
    let (id, name) = (plain(&node.id, longest), plain(&node.name, longest));
    let asks = if node.is_checkpoint() && !node.auto_continue { "  (asks)" } else { "" };
    if node.name == node.id { format!("{id}{asks}") } else { format!("{id}  {name}{asks}") }
}
