//! Checkpoints that steps of the intent ask for.

use std::collections::HashSet;

use super::compile::Compiler;
use super::finding::{Origin, Severity};
use super::graph::Join;
use super::node::{Made, Node};
use super::source::Format;

impl Compiler<'_> {
    /// Makes or changes the checkpoints that steps of the intent ask for.
    pub(super) fn ask_for_checkpoints(&mut self) {
        for step in 0..self.intent.checkpoints.len() {
            let seq = self.intent.checkpoints[step].seq;
            let named = self.with_seq(seq);
            let checkpoint = named.iter().copied().find(|node| self.nodes[*node as usize].is_checkpoint());
            let node = match (checkpoint, named.first()) {
                (Some(checkpoint), _) => checkpoint,
                (None, Some(work)) => self.before(*work),
                (None, None) => self.before_greater(seq),
            };
            self.nodes[node as usize].made = Made::Explicit;
            self.nodes[node as usize].auto_continue = false;
            if self.asked.insert(node, step).is_some() {
                let message =
                    "another step asks for a checkpoint at the same place; one is enough".to_owned();
                let pointer = self.intent.checkpoints[step].pointer.clone();
                self.findings.add(Severity::Warning, Origin::Intent, "checkpoints_joined", pointer, message);
            }
        }
    }

    /// The present nodes of this number, in the order of the file.
    fn with_seq(&self, wanted: f64) -> Vec<u32> {
        self.present_in_file().filter(|node| self.seqs[*node as usize] == Some(wanted)).collect()
    }

    fn present_in_file(&self) -> impl Iterator<Item = u32> {
        let given = |node: &u32| self.nodes[*node as usize].index.is_some();
        (0..self.nodes.len() as u32).filter(|node| self.present[*node as usize]).filter(given)
    }

    /// A checkpoint right before a node: the one that is there, or a new one.
    fn before(&mut self, work: u32) -> u32 {
        let at = self.joins.iter().position(|join| join.targets.contains(&work));
        let before = at.map(|at| &self.joins[at].sources);
        if let Some([only]) = before.map(Vec::as_slice)
            && self.nodes[*only as usize].is_checkpoint()
        {
            return *only;
        }
        let checkpoint = self.add(Node::new_checkpoint(Made::Explicit, String::new(), None));
        let targets = if let Some(at) = at {
            std::mem::replace(&mut self.joins[at].targets, vec![checkpoint])
        } else if self.source.format == Format::List {
            self.starts()
        } else {
            vec![work]
        };
        self.joins.push(Join { sources: vec![checkpoint], targets });
        checkpoint
    }

    /// A checkpoint before the first node with a greater number, or behind everything.
    fn before_greater(&mut self, seq: f64) -> u32 {
        let of = |node: &u32| self.seqs[*node as usize].unwrap_or(f64::NEG_INFINITY);
        let greater = self.present_in_file().filter(|node| of(node) > seq);
        let next = greater.min_by(|a, b| of(a).total_cmp(&of(b)));
        if let Some(next) = next {
            return if self.nodes[next as usize].is_checkpoint() { next } else { self.before(next) };
        }
        let sources: HashSet<u32> = self.joins.iter().flat_map(|join| join.sources.iter().copied()).collect();
        let all = 0..self.nodes.len() as u32;
        let ends: Vec<u32> =
            all.filter(|node| self.present[*node as usize] && !sources.contains(node)).collect();
        if let [only] = ends[..]
            && self.nodes[only as usize].is_checkpoint()
        {
            return only;
        }
        let checkpoint = self.add(Node::new_checkpoint(Made::Explicit, String::new(), None));
        self.joins.push(Join { sources: ends, targets: vec![checkpoint] });
        checkpoint
    }

    fn starts(&self) -> Vec<u32> {
        let targets: HashSet<u32> = self.joins.iter().flat_map(|join| join.targets.iter().copied()).collect();
        self.present_in_file().filter(|node| !targets.contains(node)).collect()
    }

    pub(super) fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.present.push(true);
        self.seqs.push(None);
        self.nodes.len() as u32 - 1
    }
}
