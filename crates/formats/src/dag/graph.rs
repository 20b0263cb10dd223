//! A graph as joins, its order and its cycles.
//!
//! A join leads from all of its sources to all of its targets. Every node is a target of at most one join, since
//! it has one set of predecessors, so any graph is a list of joins. Two groups of a thousand nodes one behind the
//! other are one join and not a million edges.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Edges from every source to every target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    pub sources: Vec<u32>,
    pub targets: Vec<u32>,
}

/// Which of the nodes that can come next comes first: the smallest.
pub type Key = (u8, u32);

/// Joins of plain edges.
pub fn join(nodes: usize, edges: &[(u32, u32)]) -> Vec<Join> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (from, to) in edges {
        before[*to as usize].push(*from);
    }
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut joins: Vec<Join> = Vec::new();
    for (node, mut sources) in before.into_iter().enumerate() {
        if sources.is_empty() {
            continue;
        }
        sources.sort_unstable();
        let at = *known.entry(sources).or_insert_with_key(|sources| {
            joins.push(Join { sources: sources.clone(), targets: Vec::new() });
            joins.len() - 1
        });
        joins[at].targets.push(node as u32);
    }
    joins
}

/// How nodes hang on joins.
pub struct Index {
    /// The join that leads to a node.
    pub into: Vec<Option<u32>>,
    /// The joins that lead on from it.
    pub out: Vec<Vec<u32>>,
}

impl Index {
    pub fn new(nodes: usize, joins: &[Join]) -> Self {
        let mut index = Self { into: vec![None; nodes], out: vec![Vec::new(); nodes] };
        for (at, join) in joins.iter().enumerate() {
            for target in &join.targets {
                index.into[*target as usize] = Some(at as u32);
            }
            for source in &join.sources {
                index.out[*source as usize].push(at as u32);
            }
        }
        index
    }
}

/// A topological order of the nodes that are there; of several, the one in which the smallest key comes first.
/// A node behind a cycle has no place in it.
pub fn order(joins: &[Join], index: &Index, present: &[bool], key: &impl Fn(u32) -> Key) -> Vec<u32> {
    let mut waiting: Vec<usize> = joins.iter().map(|join| join.sources.len()).collect();
    let mut ready: BinaryHeap<Reverse<(Key, u32)>> = (0..present.len() as u32)
        .filter(|node| present[*node as usize] && index.into[*node as usize].is_none())
        .map(|node| Reverse((key(node), node)))
        .collect();
    let mut order = Vec::with_capacity(present.len());
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for at in &index.out[node as usize] {
            let at = *at as usize;
            waiting[at] -= 1;
            if waiting[at] == 0 {
                ready.extend(joins[at].targets.iter().map(|target| Reverse((key(*target), *target))));
            }
        }
    }
    order
}

/// The place of each node in an order; `u32::MAX`, if it has none.
pub fn places(order: &[u32], nodes: usize) -> Vec<u32> {
    let mut places = vec![u32::MAX; nodes];
    for (place, node) in order.iter().enumerate() {
        places[*node as usize] = place as u32;
    }
    places
}

/// The most cycles that are told at once.
const MOST_CYCLES: usize = 20;

/// Cycles among the nodes that have no place in the order, each as a path in the direction of the edges.
pub fn cycles(joins: &[Join], index: &Index, present: &[bool], order: &[u32]) -> Vec<Vec<u32>> {
    let mut done: Vec<bool> = present.iter().map(|present| !present).collect();
    for node in order {
        done[*node as usize] = true;
    }
    let settled = done.clone();
    let mut found = Vec::new();
    for start in 0..present.len() as u32 {
        // Against the edges there is always another node that was left out, until one comes again.
        let (mut path, mut places, mut at) = (Vec::new(), HashMap::new(), start);
        while !done[at as usize] {
            done[at as usize] = true;
            places.insert(at, path.len());
            path.push(at);
            let sources = index.into[at as usize].map(|join| &joins[join as usize].sources);
            let before = sources.and_then(|sources| sources.iter().find(|node| !settled[**node as usize]));
            let Some(before) = before else { break };
            at = *before;
        }
        if let Some(place) = places.get(&at) {
            let mut cycle: Vec<u32> = path[*place..].to_vec();
            cycle.reverse();
            let first = (0..cycle.len()).min_by_key(|place| cycle[*place]).unwrap_or(0);
            cycle.rotate_left(first);
            found.push(cycle);
        }
        if found.len() == MOST_CYCLES {
            break;
        }
    }
    found
}

/// How many nodes the longest way to each node has.
pub fn levels(joins: &[Join], index: &Index, order: &[u32]) -> Vec<u32> {
    let mut levels = vec![0_u32; index.into.len()];
    let mut join_levels: Vec<Option<u32>> = vec![None; joins.len()];
    for node in order {
        let Some(at) = index.into[*node as usize] else { continue };
        let at = at as usize;
        let level = *join_levels[at].get_or_insert_with(|| {
            joins[at].sources.iter().map(|source| levels[*source as usize] + 1).max().unwrap_or(0)
        });
        levels[*node as usize] = level;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(nodes: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<Vec<u32>>, Vec<u32>) {
        let joins = join(nodes, edges);
        let (index, present) = (Index::new(nodes, &joins), vec![true; nodes]);
        let order = order(&joins, &index, &present, &|node| (0, node));
        let cycles = cycles(&joins, &index, &present, &order);
        let levels = levels(&joins, &index, &order);
        (order, cycles, levels)
    }

    #[test]
    fn what_comes_first_has_the_smallest_key() {
        assert_eq!(told(4, &[(3, 1), (0, 2), (1, 2)]), (vec![0, 3, 1, 2], vec![], vec![0, 1, 2, 0]));
    }

    #[test]
    fn every_cycle_is_a_path_along_the_edges() {
        let (order, cycles, _) = told(7, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (6, 5)]);
        assert_eq!(order, [0]);
        assert_eq!(cycles, [vec![1, 2, 3], vec![5, 6]]);
    }
}
