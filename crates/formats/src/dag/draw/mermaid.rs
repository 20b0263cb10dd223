//! Mermaid.

use std::fmt::Write as _;

use super::plain;
use crate::dag::{Compiled, Kind, Node};

/// The graph as a Mermaid flowchart.
pub fn mermaid(graph: &Compiled) -> String {
    let mut out = String::from("flowchart TD\n");
    for (place, node) in graph.nodes.iter().enumerate() {
        let (id, name) = (id(node, place), label(node));
        let _ = match node.kind {
            Kind::Checkpoint => writeln!(out, "    {id}{{{{\"{name}\"}}}}"),
            Kind::Agent => writeln!(out, "    {id}([\"{name}\"])"),
            Kind::Cli | Kind::Command | Kind::Skill => writeln!(out, "    {id}[\"{name}\"]"),
        };
    }
    for (from, to) in &graph.edges {
        let end = |place: u32| id(&graph.nodes[place as usize], place as usize);
        let _ = writeln!(out, "    {} --> {}", end(*from), end(*to));
    }
    out
}

/// The node's own id where Mermaid takes it for nothing else.
fn id(node: &Node, place: usize) -> String {
    let is_plain = node.id.split_once('-').is_some_and(|(letters, digits)| {
        (1..=8).contains(&letters.len())
            && letters.bytes().all(|byte| byte.is_ascii_uppercase())
            && (1..=9).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_plain { node.id.clone() } else { format!("n{}", place + 1) }
}

/// Letters, digits and harmless marks as they are, everything else by its number.
fn label(node: &Node) -> String {
    let mut label = String::new();
    for c in plain(&node.name, 120).chars() {
        if c.is_alphanumeric() || " .,:-_()/'+?!…\u{fffd}".contains(c) {
            label.push(c);
        } else {
            let _ = write!(label, "#{};", u32::from(c));
        }
    }
    label
}
