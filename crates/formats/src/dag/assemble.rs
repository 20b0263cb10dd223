//! Puts nodes and edges in their order.

use std::collections::HashMap;

use super::compile::{Compiled, Compiler};
use super::file::Members;
use super::graph::{self, Index, Join};
use super::node::Node;
use super::recompile::Removed;

/// The most edges of a compiled graph.
const MOST_EDGES: usize = 5_000_000;

impl Compiler<'_> {
    /// Puts nodes and edges in their order.
    pub(super) fn assemble(
        self,
        order: &[u32],
        index: &Index,
        schema: Members,
        renamed: HashMap<String, String>,
    ) -> Option<Compiled> {
        let levels = graph::levels(&self.joins, index, order);
        let places = graph::places(order, self.nodes.len());
        let count: usize =
            self.joins.iter().map(|join| join.sources.len().saturating_mul(join.targets.len())).sum();
        if count > MOST_EDGES {
            let message = format!("the graph has {count} edges; at most {MOST_EDGES} are written");
            self.findings.error("too_large", "/nodes", message);
            return None;
        }
        let mut edges = Vec::with_capacity(count);
        for join in &self.joins {
            for source in &join.sources {
                edges.extend(
                    join.targets.iter().map(|target| (places[*source as usize], places[*target as usize])),
                );
            }
        }
        edges.sort_unstable();
        let renamed = with_removed(renamed, &self.removed, &self.joins, &self.nodes);
        let opted_out = self.no_injection();
        let groups = groups(&self.nodes, order, &places, &self.source.groups);
        let levels = order.iter().map(|node| levels[*node as usize]).collect();
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let nodes = order.iter().filter_map(|node| nodes[*node as usize].take()).collect();
        let (source, intent, warnings) = (self.source, self.intent, Vec::new());
        Some(Compiled { nodes, edges, levels, groups, warnings, schema, opted_out, source, intent, renamed })
    }
}

/// What was injected anew in the place of a checkpoint that was taken out has its id changed from that one's.
fn with_removed(
    mut renamed: HashMap<String, String>,
    removed: &Removed,
    joins: &[Join],
    nodes: &[Node],
) -> HashMap<String, String> {
    for (node, join) in removed {
        if let [only] = joins[*join as usize].targets[..]
            && nodes[only as usize].is_checkpoint()
        {
            renamed.insert(nodes[*node as usize].id.clone(), nodes[only as usize].id.clone());
        }
    }
    renamed
}

/// Groups of two nodes and more, as the nodes say themselves, else as the file does.
fn groups(
    nodes: &[Node],
    order: &[u32],
    places: &[u32],
    given: &[(String, Vec<u32>)],
) -> Vec<(String, Vec<u32>)> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    let own =
        order.iter().map(|node| (*node, &nodes[*node as usize])).filter(|(_, node)| !node.is_checkpoint());
    for (position, node) in own {
        let Some(name) = node.group.as_deref() else { continue };
        let at = *names.entry(name).or_insert_with(|| {
            groups.push((name.to_owned(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(places[position as usize]);
    }
    for (name, members) in given {
        let mut members: Vec<u32> =
            members.iter().map(|node| places[*node as usize]).filter(|place| *place != u32::MAX).collect();
        if !names.contains_key(name.as_str()) {
            members.sort_unstable();
            groups.push((name.clone(), members));
        }
    }
    groups.retain(|(_, members)| members.len() > 1);
    groups
}
