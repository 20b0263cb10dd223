//! The stages of a node list: one node, or all nodes of a group, in their order.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::finding::Findings;
use super::graph::Join;
use super::node::Node;
use super::source::Format;

/// The stages, each with the positions of its nodes.
pub fn of_list(nodes: &[Node], seqs: &[Option<f64>], findings: &mut Findings) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_by(|a, b| compare(seqs, *a, *b));
    let mut stages: Vec<Vec<u32>> = Vec::with_capacity(nodes.len());
    let mut groups: HashMap<&str, usize> = HashMap::new();
    for position in order {
        let node = &nodes[position as usize];
        let Some(group) = node.group.as_deref().filter(|_| !node.is_checkpoint()) else {
            stages.push(vec![position]);
            continue;
        };
        let stage = *groups.entry(group).or_insert_with(|| {
            stages.push(Vec::new());
            stages.len() - 1
        });
        if stage + 1 < stages.len() {
            let first = &nodes[stages[stage][0] as usize].id;
            let message =
                format!("`{}` runs together with `{first}` of its group, before its own place", node.id);
            findings.warn("group_moved", node.pointer("parallel_group"), message);
        }
        stages[stage].push(position);
    }
    stages
}

/// The numbers by which nodes are ordered. A node without one takes its place in the array; beside edges, where
/// checkpoints stand in the array too, its place among the work nodes.
pub fn seqs(nodes: &[Node], format: Format) -> Vec<Option<f64>> {
    let mut work = 0_u32;
    let seqs = nodes.iter().map(|node| {
        if format == Format::List {
            return node.seq.or(node.index.map(|index| f64::from(index) + 1.0));
        }
        if node.is_checkpoint() {
            return node.seq;
        }
        work += 1;
        node.seq.or(Some(f64::from(work)))
    });
    seqs.collect()
}

/// Which of two nodes has the smaller number.
pub fn compare(seqs: &[Option<f64>], a: u32, b: u32) -> Ordering {
    let of = |node: u32| seqs[node as usize].unwrap_or(f64::INFINITY);
    of(a).total_cmp(&of(b))
}

/// Of several checkpoints one behind the other only the first stays. Gives back the others.
pub fn collapse(stages: &mut Vec<Vec<u32>>, nodes: &[Node], findings: &mut Findings) -> Vec<u32> {
    let mut dropped = Vec::new();
    let mut before: Option<u32> = None;
    stages.retain(|stage| {
        let checkpoint = stage.first().copied().filter(|node| nodes[*node as usize].is_checkpoint());
        let (Some(first), Some(second)) = (before, checkpoint) else {
            before = checkpoint;
            return true;
        };
        let (first, second) = (&nodes[first as usize], &nodes[second as usize]);
        let message =
            format!("`{}` stands right behind the checkpoint `{}`, which is enough", second.id, first.id);
        findings.warn("checkpoints_joined", second.pointer(""), message);
        dropped.extend(checkpoint);
        false
    });
    dropped
}

/// Every stage is followed by the next one.
pub fn joins(stages: &[Vec<u32>]) -> Vec<Join> {
    let pairs = stages.windows(2);
    pairs.map(|pair| Join { sources: pair[0].clone(), targets: pair[1].clone() }).collect()
}
