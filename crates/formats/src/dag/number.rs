//! Ids of checkpoints: `CP-01`, `CP-02`, … in topological order.

use std::collections::{HashMap, HashSet};

use super::file;
use super::node::{Made, Node};

/// Numbers the checkpoints along an order. A checkpoint that came with a name of its own keeps it. Gives back
/// which ids have changed.
pub fn number(nodes: &mut [Node], order: &[u32]) -> HashMap<String, String> {
    let is_numbered = |node: &Node| node.is_checkpoint() && (node.made != Made::Given || is_number(&node.id));
    let taken: HashSet<String> = order
        .iter()
        .map(|node| &nodes[*node as usize])
        .filter(|node| !is_numbered(node))
        .map(|node| node.id.clone())
        .collect();
    let mut changed = HashMap::new();
    let mut next = 1_usize;
    for position in order {
        let node = &mut nodes[*position as usize];
        if !is_numbered(node) {
            continue;
        }
        let id = loop {
            let id = format!("CP-{next:02}");
            next += 1;
            if !taken.contains(&id) {
                break id;
            }
        };
        if let Some((_, value)) = node.fields.iter_mut().find(|(key, _)| key == "id") {
            *value = file::text(id.clone());
        }
        let before = std::mem::replace(&mut node.id, id);
        if !before.is_empty() {
            changed.insert(before, node.id.clone());
        }
    }
    changed
}

fn is_number(id: &str) -> bool {
    id.strip_prefix("CP-")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}
