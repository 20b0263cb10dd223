//! DOT, as Graphviz reads it.

use std::fmt::Write as _;

use super::plain;
use crate::dag::{Compiled, Kind};

/// The graph in the language of Graphviz.
pub fn dot(graph: &Compiled) -> String {
    let mut out = String::from("digraph holdpoint {\n  rankdir=TB;\n  node [shape=box];\n");

    for (place, node) in graph.nodes.iter().enumerate() {
        let shape = match node.kind {
            Kind::Checkpoint => ", shape=hexagon",
            Kind::Agent => ", style=rounded",
            Kind::Cli | Kind::Command | Kind::Skill => "",
        };
        let _ = writeln!(
            out,
            "  {} [label={}{shape}];",
            id(graph, place as u32),
            quoted(&plain(&node.name, 120))
        );
    }
    for (from, to) in &graph.edges {
        let _ = writeln!(out, "  {} -> {};", id(graph, *from), id(graph, *to));
    }
    out.push_str("}\n");
    out
}

/// The node's id where it can be seen, else a number: two ids must not become one.
fn id(graph: &Compiled, place: u32) -> String {
    let id = &graph.nodes[place as usize].id;
    let shown = plain(id, 200);
    if shown == *id { quoted(id) } else { format!("\"node {}\"", place + 1) }
}

/// A text in quotation marks. A backslash would begin an escape, and end the text in front of a mark.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
