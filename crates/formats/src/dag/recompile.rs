//! Compiling what was compiled before: injected checkpoints are taken out, so that the rules can inject anew.
//!
//! One that is not what the rules give at its place was edited by somebody, and stays.

use super::checkpoint;
use super::file;
use super::finding::Findings;
use super::graph::{Index, Join};
use super::node::{Made, Node};
use super::rules::{self, Verdict};

/// The checkpoints that were taken out, each with the join that it stood on.
pub type Removed = Vec<(u32, u32)>;

/// Takes injected checkpoints out of the joins. `places` are those of the nodes in the order of the file's edges.
pub fn reopen(
    joins: &mut [Join],
    nodes: &mut [Node],
    places: &[u32],
    exact: bool,
    findings: &mut Findings,
) -> Removed {
    let index = Index::new(nodes.len(), joins);
    let mut removed = Removed::new();
    for at in 0..joins.len() {
        let (inside, others): (Vec<u32>, Vec<u32>) =
            joins[at].targets.iter().copied().partition(|node| behind(*node, joins, &index, nodes).is_some());
        if inside.is_empty() {
            continue;
        }
        let behind = inside.iter().filter_map(|node| behind(*node, joins, &index, nodes));
        let behind: Vec<u32> = behind.collect();
        let mut stage = others.clone();
        stage.extend(behind.iter().flat_map(|join| &joins[*join as usize].targets));
        stage.sort_unstable_by_key(|node| places[*node as usize]);
        let verdict = verdict(&joins[at].sources, &stage, nodes, exact);
        let sources: Vec<&Node> = joins[at].sources.iter().map(|node| &nodes[*node as usize]).collect();
        let wanted = verdict.map(|verdict| checkpoint::shown(&checkpoint::injected(&verdict, &sources)));
        let as_injected =
            |node: &u32| wanted.as_ref() == Some(&checkpoint::shown(&nodes[*node as usize].fields));
        if inside.iter().all(as_injected) {
            for join in behind {
                joins[join as usize] = Join::default();
            }
            removed.extend(inside.iter().map(|node| (*node, at as u32)));
            joins[at].targets = stage;
        }
    }
    let gone: Vec<u32> = removed.iter().map(|(node, _)| *node).collect();
    keep_edited(nodes, &gone, findings);
    removed
}

/// What the rules say of a join. Nothing is injected beside a checkpoint.
pub fn verdict(sources: &[u32], targets: &[u32], nodes: &[Node], exact: bool) -> Option<Verdict> {
    let all = |positions: &[u32]| positions.iter().map(|node| &nodes[*node as usize]).collect::<Vec<&Node>>();
    let (sources, targets) = (all(sources), all(targets));
    if sources.iter().chain(&targets).any(|node| node.is_checkpoint()) {
        return None;
    }
    rules::judge(&sources, &targets, exact)
}

/// The join behind an injected checkpoint that stands as injection leaves one: alone before its stage.
fn behind(node: u32, joins: &[Join], index: &Index, nodes: &[Node]) -> Option<u32> {
    let is_injected = nodes[node as usize].is_checkpoint() && nodes[node as usize].injected;
    let [join] = index.out[node as usize][..] else { return None };
    (is_injected && joins[join as usize].sources == [node]).then_some(join)
}

/// The injected checkpoints that stay are somebody's own from now on.
fn keep_edited(nodes: &mut [Node], gone: &[u32], findings: &mut Findings) {
    let gone: std::collections::HashSet<u32> = gone.iter().copied().collect();
    for (position, node) in nodes.iter_mut().enumerate() {
        if !node.is_checkpoint() || !node.injected || gone.contains(&(position as u32)) {
            continue;
        }
        node.injected = false;
        if let Some((_, value)) = node.fields.iter_mut().find(|(key, _)| key == "injected") {
            *value = file::truth(false);
        }
        let message = format!(
            "`{}` is not what the rules inject there; it is kept as a checkpoint of your own",
            node.id
        );
        findings.warn("checkpoint_edited", node.pointer(""), message);
    }
    debug_assert!(nodes.iter().all(|node| node.made != Made::Injected), "nothing was injected yet");
}
