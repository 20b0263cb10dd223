//! Checks of a graph, and the variables that it uses.

use std::collections::{HashMap, HashSet};

use super::compile::Compiler;
use super::file::{self, Members};
use super::finding::{Origin, Severity};
use super::graph::{self, Index, Join};
use super::intent;
use super::node::Node;
use super::references::{Placeholder, placeholders};
use crate::tree::{Node as Tree, Plain};

impl Compiler<'_> {
    pub(super) fn check_orphans(&mut self) {
        if self.source.edges.is_empty() {
            return;
        }
        let ends: HashSet<u32> = self.source.edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        for (position, node) in self.nodes.iter().enumerate() {
            if !ends.contains(&(position as u32)) {
                let message = format!("`{}` has no edge: nothing leads to it or on from it", node.id);
                self.findings.error("orphan_node", node.pointer(""), message);
            }
        }
    }

    /// The order of the nodes, if there is one: the place of each.
    pub(super) fn check_cycles(&mut self) -> Option<Vec<u32>> {
        let index = Index::new(self.nodes.len(), &self.joins);
        let order = self.order(&index);
        if order.len() == self.nodes.len() {
            return Some(graph::places(&order, self.nodes.len()));
        }
        for cycle in graph::cycles(&self.joins, &index, &self.present, &order) {
            let (last, first) = (cycle.last().copied(), cycle.first().copied());
            let closing =
                self.source.edges.iter().position(|(from, to)| Some(*from) == last && Some(*to) == first);
            let pointer =
                closing.map(|at| format!("/edges/{}", self.source.edge_places[at])).unwrap_or_default();
            self.findings.error("cycle", pointer, format!("a cycle: {}", path(&cycle, &self.nodes)));
        }
        None
    }

    /// A result must be there before somebody needs it. `given` are the joins without what was injected.
    pub(super) fn check_references(&mut self, given: &[Join], order: &[u32]) {
        let index = Index::new(self.nodes.len(), given);
        let levels = graph::levels(given, &index, order);
        let ids: HashMap<&str, u32> =
            order.iter().map(|node| (self.nodes[*node as usize].id.as_str(), *node)).collect();
        for position in order {
            let node = &self.nodes[*position as usize];
            if node.is_checkpoint() {
                continue;
            }
            let sources = index.into[*position as usize].map_or(&[][..], |at| &given[at as usize].sources);
            for placeholder in placeholders(&node.args) {
                let id_of = |id: &str| ids.get(id).map(|other| (*other, &self.nodes[*other as usize]));
                let told = match placeholder {
                    Placeholder::Variable(_) => None,
                    Placeholder::Previous(name) => previous(name, node, sources, &self.nodes),
                    Placeholder::Node(id) => {
                        let late = |other: u32| levels[other as usize] >= levels[*position as usize];
                        reference(id, node, id_of(id).map(|(at, other)| (other, late(at))))
                    }
                };
                if let Some((severity, code, message)) = told {
                    let pointer = node.pointer("args_template");
                    self.findings.add(severity, Origin::Source, code, pointer, message);
                }
            }
        }
    }

    /// The variables that are used, in the order of their first use, as they are declared.
    pub(super) fn schema(&mut self, order: &[u32]) -> Members {
        let declared = [(Origin::Intent, &self.intent.variables), (Origin::Source, &self.source.schema)];
        let find = |name: &str| declared.iter().find_map(|(_, variables)| file::member(variables, name));
        let (mut schema, mut used) = (Members::new(), HashSet::new());
        let work = order.iter().map(|node| &self.nodes[*node as usize]).filter(|node| !node.is_checkpoint());
        for node in work {
            for placeholder in placeholders(&node.args) {
                let Placeholder::Variable(name) = placeholder else { continue };
                if used.insert(name) {
                    let variable = find(name).map_or_else(|| Plain(Tree::Map(intent::inferred())), copied);
                    schema.push((name.to_owned(), variable));
                }
            }
        }
        for (origin, variables) in declared {
            let base = if origin == Origin::Intent { "/variables" } else { "/context_schema" };
            for (name, _) in variables.iter().filter(|(name, _)| !used.contains(name.as_str())) {
                let message = format!("no node uses the variable `{name}`; it is left out");
                let pointer = file::below(base, name);
                self.findings.add(Severity::Warning, origin, "unused_variable", pointer, message);
            }
        }
        schema
    }

    /// At least one checkpoint, unless somebody wants none.
    pub(super) fn check_checkpoints(&mut self, given: &[Join]) {
        let any =
            self.nodes.iter().zip(&self.present).any(|(node, present)| *present && node.is_checkpoint());
        // Without its kind a node may be what a rule looks for.
        if any || self.no_injection() || self.findings.has_errors() {
            return;
        }
        if given.iter().all(|join| join.targets.is_empty()) {
            let message = "there is one stage and so no place for a checkpoint";
            self.findings.warn("no_checkpoint", "/nodes", message);
        } else {
            let message = "no rule asks for a checkpoint, and nobody does";
            self.findings.error("no_checkpoint", "/nodes", message);
        }
    }
}

type Told = Option<(Severity, &'static str, String)>;

/// What is doubtful about "the node before".
fn previous(name: &str, node: &Node, sources: &[u32], nodes: &[Node]) -> Told {
    let id = &node.id;
    let (code, message) = match sources {
        [] => ("previous_missing", format!("`{{{name}}}`: nothing runs before `{id}`")),
        [_] => return None,
        [.., last] => {
            let last = &nodes[*last as usize].id;
            let message =
                format!("`{{{name}}}`: several nodes run before `{id}`; ids and paths are those of `{last}`");
            ("previous_of_group", message)
        }
    };
    Some((Severity::Warning, code, message))
}

/// What is wrong with a reference to a node, if there is one, and whether it is too late.
fn reference(wanted: &str, node: &Node, other: Option<(&Node, bool)>) -> Told {
    let (code, message) = match other {
        None => ("unknown_node", format!("there is no node `{wanted}` to take results from")),
        Some((other, _)) if other.is_checkpoint() => {
            ("unknown_node", format!("`{wanted}` is a checkpoint, which has no results"))
        }
        Some((other, _)) if other.id == node.id => {
            ("later_reference", format!("`{wanted}` refers to its own results"))
        }
        Some((_, true)) => {
            ("later_reference", format!("`{wanted}` is not finished when `{}` begins", node.id))
        }
        Some((_, false)) => return None,
    };
    Some((Severity::Error, code, message))
}

/// A cycle as a path that ends where it begins; of a long one both ends.
fn path(cycle: &[u32], nodes: &[Node]) -> String {
    const SHOWN: usize = 12;
    let id = |node: &u32| nodes[*node as usize].id.clone();
    let mut ids: Vec<String> = cycle.iter().chain(cycle.first()).map(id).collect();
    if cycle.len() > SHOWN {
        let left_out = cycle.len() - SHOWN;
        ids.splice(SHOWN - 2..cycle.len() - 2, [format!("… ({left_out} more) …")]);
    }
    ids.join(" → ")
}

fn copied(value: &Plain) -> Plain {
    Plain(match &value.0 {
        Tree::Leaf(leaf) => Tree::Leaf(leaf.clone()),
        Tree::List(items) => Tree::List(items.iter().map(copied).collect()),
        Tree::Map(members) => {
            Tree::Map(members.iter().map(|(key, member)| (key.clone(), copied(member))).collect())
        }
    })
}
