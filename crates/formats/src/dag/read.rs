//! Reads node lists, DAGs and templates. Everything that is wrong is found in one pass.

use std::collections::{HashMap, HashSet};

use super::file::{self, Look, Members, as_text, below};
use super::finding::{Findings, Origin};
use super::intent;
use super::node::{self, Node, Unknown};
use super::source::{Format, Source, Template};
use crate::tree::{Node as Tree, Plain};

/// Reads a file, or says why that is impossible.
pub fn read(text: &str, findings: &mut Findings) -> Option<Source> {
    let members = match file::read(text) {
        Ok(members) => members,
        Err(finding) => {
            findings.push(finding);
            return None;
        }
    };
    let has = |key| file::member(&members, key).is_some();
    let format = if has("template_id") {
        Format::Template
    } else if has("edges") {
        Format::Dag
    } else if has("nodes") {
        Format::List
    } else {
        let message = if has("steps") {
            "this is an intent, which has no nodes; compile a node list with `--intent`"
        } else {
            "a node list has `nodes`, a DAG `nodes` and `edges`, a template `template_id` as well"
        };
        findings.error("format_unknown", "", message);
        return None;
    };
    let mut reader = Reader {
        source: Source {
            format,
            session_id: None,
            nodes: Vec::new(),
            edges: Vec::new(),
            edge_places: Vec::new(),
            opted_out: false,
            schema: Vec::new(),
            groups: Vec::new(),
            template: Template::default(),
            rest: Vec::new(),
        },
        look: Look { findings, origin: Origin::Source },
        ids: HashMap::new(),
    };
    reader.members(members);
    Some(reader.source)
}

struct Reader<'a> {
    source: Source,
    look: Look<'a>,
    ids: HashMap<String, u32>,
}

const KNOWN: [&str; 20] = [
    "session_id",
    "nodes",
    "edges",
    "checkpoints",
    "checkpoint_policy",
    "parallel_groups",
    "context_schema",
    "topological_order",
    "warnings",
    "template_id",
    "name",
    "description",
    "version",
    "created_at",
    "source_session",
    "tags",
    "atomic_groups",
    "execution_mode",
    "metadata",
    "updated_at",
];

impl Reader<'_> {
    fn members(&mut self, members: Members) {
        let (mut edges, mut groups, mut nodes) = (None, None, false);
        for (key, value) in members {
            let at = || below("", &key);
            let look = &mut self.look;
            let template = &mut self.source.template;
            match key.as_str() {
                "nodes" => {
                    nodes = true;
                    self.nodes(value);
                }
                "edges" => edges = Some(value),
                "parallel_groups" => groups = Some(value),
                "session_id" | "source_session" => {
                    let session = look.text(&value, at);
                    self.source.session_id = self.source.session_id.take().or(session);
                }
                "checkpoints" | "checkpoint_policy" => {
                    self.source.opted_out |= as_text(&value) == Some("none");
                }
                "context_schema" => self.source.schema = intent::variables(value, "/context_schema", look),
                "topological_order" | "warnings" => {}
                "template_id" => template.id = look.text(&value, at),
                "name" => template.name = look.text(&value, at),
                "description" => template.description = look.text(&value, at),
                "version" => template.version = look.text(&value, at),
                "created_at" => template.created_at = look.text(&value, at),
                "tags" => template.tags = look.texts(&value, at),
                "atomic_groups" => template.atomic_groups = Some(value),
                "execution_mode" => template.execution_mode = look.text(&value, at),
                "metadata" => match value.0 {
                    Tree::Map(members) => template.metadata = members,
                    Tree::Leaf(_) | Tree::List(_) => look.wrong(at(), "an object", &value),
                },
                _ => {
                    look.warn("unknown_key", at(), node::unknown_is(&key, &KNOWN, "kept"));
                    self.source.rest.push((key, value));
                }
            }
        }
        if !nodes {
            self.look.error("missing_key", String::new(), "`nodes` is required: a list of nodes".to_owned());
        }
        if edges.is_none() && self.source.format == Format::Template {
            let message = "`edges` is required: a template is a graph, not a list".to_owned();
            self.look.error("missing_key", String::new(), message);
        }
        // Edges and groups name nodes, which may stand behind them.
        if let Some(edges) = edges {
            self.edges(&edges);
        }
        if let Some(groups) = groups {
            self.groups(&groups);
        }
    }

    fn nodes(&mut self, value: Plain) {
        let Tree::List(items) = value.0 else {
            self.look.wrong("/nodes".to_owned(), "a list", &value);
            return;
        };
        if items.is_empty() {
            self.look.error("missing_work", "/nodes".to_owned(), "there is no node".to_owned());
        }
        let mut unknown = Unknown::new();
        self.ids.reserve(items.len());
        self.source.nodes.reserve(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let Some(node) = node::read(item, index as u32, &mut self.look, &mut unknown) else { continue };
            let position = self.source.nodes.len() as u32;
            if let Some(first) = self.ids.get(&node.id) {
                let first = self.source.nodes[*first as usize].index.unwrap_or_default();
                let message = format!("`{}` is the id of node {} in the list as well", node.id, first + 1);
                self.look.error("duplicate_id", node.pointer("id"), message);
            } else {
                self.ids.insert(node.id.clone(), position);
            }
            self.check(&node);
            self.source.nodes.push(node);
        }
        node::tell_unknown(unknown, &mut self.look);
    }

    fn check(&mut self, node: &Node) {
        if node.is_checkpoint() {
            if node.group.is_some() {
                let message = format!("`{}` is a checkpoint; its `parallel_group` is ignored", node.id);
                self.look.warn("group_ignored", node.pointer("parallel_group"), message);
            }
        } else if node.executor.trim().is_empty() && file::member(&node.fields, "cli_tool").is_none() {
            let message = format!("`{}` has no `executor`, so nothing says who does it", node.id);
            self.look.warn("missing_work", node.pointer("executor"), message);
        }
    }

    fn edges(&mut self, value: &Plain) {
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        for (i, edge) in self.look.list(value, "/edges").iter().enumerate() {
            let base = format!("/edges/{i}");
            let Some(members) = self.look.members(edge, || base.clone()) else { continue };
            let (Some(from), Some(to)) = (self.end(members, &base, "from"), self.end(members, &base, "to"))
            else {
                continue;
            };
            if let Some((key, _)) = members.iter().find(|(key, _)| key != "from" && key != "to") {
                let message = node::unknown_is(key, &["from", "to"], "not kept");
                self.look.warn("unknown_key", below(&base, key), message);
            }
            let name = |node: u32| &self.source.nodes[node as usize].id;
            if from == to {
                let message = format!("`{}` leads to itself", name(from));
                self.look.error("self_edge", base, message);
            } else if seen.insert((from, to)) {
                self.source.edges.push((from, to));
                self.source.edge_places.push(i as u32);
            } else {
                let message = format!("there is an edge from `{}` to `{}` already", name(from), name(to));
                self.look.error("duplicate_edge", base, message);
            }
        }
    }

    fn end(&mut self, edge: &Members, base: &str, key: &str) -> Option<u32> {
        let Some(value) = file::member(edge, key) else {
            self.look.error("missing_key", base.to_owned(), format!("`{key}` is required: the id of a node"));
            return None;
        };
        let Some(id) = as_text(value) else {
            self.look.wrong(below(base, key), "the id of a node", value);
            return None;
        };
        let found = self.ids.get(id).copied();
        if found.is_none() {
            self.look.error("unknown_node", below(base, key), format!("there is no node `{id}`"));
        }
        found
    }

    /// Groups of a compiled file. What its nodes say themselves is not read twice.
    fn groups(&mut self, value: &Plain) {
        let Some(members) = self.look.members(value, || "/parallel_groups".to_owned()) else { return };
        for (name, ids) in members {
            let base = below("/parallel_groups", name);
            let mut group = Vec::new();
            for (i, id) in self.look.list(ids, &base).iter().enumerate() {
                match as_text(id).map(|id| (id, self.ids.get(id))) {
                    Some((_, Some(node))) => group.push(*node),
                    Some((id, None)) => {
                        let message = format!("there is no node `{id}`");
                        self.look.error("unknown_node", format!("{base}/{i}"), message);
                    }
                    None => self.look.wrong(format!("{base}/{i}"), "the id of a node", id),
                }
            }
            self.source.groups.push((name.clone(), group));
        }
    }
}
