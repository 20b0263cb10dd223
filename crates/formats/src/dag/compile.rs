//! From a file to a checked graph with checkpoints.

use std::collections::HashMap;

use super::checkpoint::{self, Asked};
use super::file::Members;
use super::finding::{Finding, Findings, Severity};
use super::graph::{self, Index, Join};
use super::intent::{self, Intent};
use super::node::{Made, Node};
use super::recompile::{self, Removed};
use super::source::{Format, Source};
use super::{number, read, stages};

/// What happens to checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checkpoints {
    /// Rules inject them.
    #[default]
    Inject,
    /// None is injected, and a graph without any is accepted.
    None,
    /// Those of a DAG or a template stay as they are, as in a run; into a list they are injected.
    Keep,
}

/// How to compile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What happens to checkpoints.
    pub checkpoints: Checkpoints,
    /// Compare output ports as they are, not word by word.
    pub exact_ports: bool,
    /// Warnings are errors.
    pub strict: bool,
}

/// A graph that is right.
#[derive(Debug)]
pub struct Compiled {
    /// All nodes in topological order, checkpoints among them.
    pub nodes: Vec<Node>,
    /// Edges by the places of nodes, in that order.
    pub edges: Vec<(u32, u32)>,
    /// How many nodes the longest way to each node has.
    pub levels: Vec<u32>,
    /// The groups whose members run together.
    pub groups: Vec<(String, Vec<u32>)>,
    /// What is doubtful.
    pub warnings: Vec<Finding>,
    pub(super) schema: Members,
    pub(super) opted_out: bool,
    pub(super) source: Source,
    pub(super) intent: Intent,
    /// New ids of checkpoints that the file has.
    pub(super) renamed: HashMap<String, String>,
}

/// Compiles a file, with the intent that it was made from, or says everything that is wrong.
pub fn compile(text: &str, intent: Option<&str>, options: Options) -> Result<Compiled, Vec<Finding>> {
    let mut findings = Findings::default();
    let compiled = Compiler::begin(text, intent, options, &mut findings).and_then(Compiler::finish);
    let wrong = findings.has_errors();
    let mut findings = findings.located(text, intent);
    match compiled {
        Some(compiled) if !wrong && (!options.strict || findings.is_empty()) => {
            Ok(Compiled { warnings: findings, ..compiled })
        }
        Some(_) | None => {
            if options.strict {
                for finding in &mut findings {
                    finding.severity = Severity::Error;
                }
            }
            findings.retain(|finding| finding.severity == Severity::Error);
            Err(findings)
        }
    }
}

/// A compilation that is under way.
pub struct Compiler<'a> {
    pub source: Source,
    pub intent: Intent,
    pub nodes: Vec<Node>,
    /// Nodes that are still there.
    pub present: Vec<bool>,
    /// The numbers by which nodes are ordered.
    pub seqs: Vec<Option<f64>>,
    pub joins: Vec<Join>,
    pub removed: Removed,
    /// Steps of the intent that made or changed a checkpoint, by its position.
    pub asked: HashMap<u32, usize>,
    pub findings: &'a mut Findings,
    options: Options,
}

impl<'a> Compiler<'a> {
    fn begin(text: &str, intent: Option<&str>, options: Options, findings: &'a mut Findings) -> Option<Self> {
        let intent = intent.map(|text| intent::read(text, findings)).unwrap_or_default();
        let mut source = read::read(text, findings)?;
        let nodes = std::mem::take(&mut source.nodes);
        let (present, seqs) = (vec![true; nodes.len()], stages::seqs(&nodes, source.format));
        let (joins, removed, asked) = (Vec::new(), Removed::new(), HashMap::new());
        Some(Self { source, intent, nodes, present, seqs, joins, removed, asked, findings, options })
    }

    fn finish(mut self) -> Option<Compiled> {
        self.draw_edges()?;
        self.ask_for_checkpoints();
        let given = self.joins.clone();
        self.inject();
        self.complete_checkpoints();
        let index = Index::new(self.nodes.len(), &self.joins);
        let order = self.order(&index);
        let renamed = if self.keeps() { HashMap::new() } else { number::number(&mut self.nodes, &order) };
        self.check_references(&given, &order);
        let schema = self.schema(&order);
        self.check_checkpoints(&given);
        self.assemble(&order, &index, schema, renamed)
    }

    /// Draws the edges of a list, or takes those of the file without what was injected into them.
    fn draw_edges(&mut self) -> Option<()> {
        if self.source.format == Format::List {
            let mut stages = stages::of_list(&self.nodes, &self.seqs, self.findings);
            for dropped in stages::collapse(&mut stages, &self.nodes, self.findings) {
                self.present[dropped as usize] = false;
            }
            self.joins = stages::joins(&stages);
            for node in self.nodes.iter_mut().filter(|node| node.is_checkpoint()) {
                node.made = Made::Explicit;
            }
            return Some(());
        }
        self.joins = graph::join(self.nodes.len(), &self.source.edges);
        self.check_orphans();
        let places = self.check_cycles()?;
        // The order of an array changes when it is compiled, and names are taken from the first nodes of a join.
        for join in &mut self.joins {
            join.sources.sort_unstable_by_key(|node| places[*node as usize]);
            join.targets.sort_unstable_by_key(|node| places[*node as usize]);
        }
        if self.keeps() {
            return Some(());
        }
        let exact = self.options.exact_ports;
        self.removed = recompile::reopen(&mut self.joins, &mut self.nodes, &places, exact, self.findings);
        for (node, _) in &self.removed {
            self.present[*node as usize] = false;
        }
        Some(())
    }

    pub fn no_injection(&self) -> bool {
        self.keeps() || self.options.checkpoints == Checkpoints::None || self.source.opted_out
    }

    /// Whether what was compiled before is left as it is.
    fn keeps(&self) -> bool {
        self.options.checkpoints == Checkpoints::Keep && self.source.format != Format::List
    }

    /// Puts a checkpoint on each join where a rule asks for one.
    fn inject(&mut self) {
        if self.no_injection() {
            return;
        }
        for at in 0..self.joins.len() {
            let Join { sources, targets } = &self.joins[at];
            let Some(verdict) = recompile::verdict(sources, targets, &self.nodes, self.options.exact_ports)
            else {
                continue;
            };
            let sources: Vec<&Node> = sources.iter().map(|node| &self.nodes[*node as usize]).collect();
            let mut node =
                Node::new_checkpoint(Made::Injected, format!("Checkpoint: {}", verdict.title), None);
            node.auto_continue = !verdict.pauses;
            node.fields = checkpoint::injected(&verdict, &sources);
            let checkpoint = self.add(node);
            let targets = std::mem::replace(&mut self.joins[at].targets, vec![checkpoint]);
            self.joins.push(Join { sources: vec![checkpoint], targets });
        }
    }

    /// Gives the checkpoints that somebody asked for all of their fields.
    fn complete_checkpoints(&mut self) {
        let index = Index::new(self.nodes.len(), &self.joins);
        for position in 0..self.nodes.len() {
            let node = &mut self.nodes[position];
            if !self.present[position] || !node.is_checkpoint() || node.made != Made::Explicit {
                continue;
            }
            let given = std::mem::take(&mut node.fields);
            let auto_continue = node.auto_continue;
            let all = |at: &u32| &self.nodes[*at as usize];
            let into = index.into[position].map(|at| &self.joins[at as usize].sources);
            let sources: Vec<&Node> = into.into_iter().flatten().map(all).collect();
            let out = index.out[position].iter().flat_map(|at| &self.joins[*at as usize].targets);
            let targets: Vec<&Node> = out.map(all).collect();
            let step = self.asked.get(&(position as u32)).map(|step| &self.intent.checkpoints[*step]);
            let asked = Asked { text: step.map(|step| step.text.as_str()), auto_continue };
            let exact = self.options.exact_ports;
            let (name, fields) = checkpoint::explicit(given, &asked, &sources, &targets, exact);
            self.nodes[position].name = name;
            self.nodes[position].fields = fields;
        }
    }

    /// A topological order in which a checkpoint stands right behind its last source.
    pub fn order(&self, index: &Index) -> Vec<u32> {
        let ranks = self.ranks();
        let key = |node: u32| self.key(node, index, &ranks);
        graph::order(&self.joins, index, &self.present, &key)
    }

    /// The place of each node of the file among those that could come next.
    fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        let numbered = self.nodes.iter().all(|node| node.is_checkpoint() || node.seq.is_some());
        // Places in an array move when it is sorted, so numbers count beside edges only if all nodes have one.
        if numbered || self.source.format == Format::List {
            order.sort_by(|a, b| stages::compare(&self.seqs, *a, *b));
        }
        let mut ranks = vec![0; order.len()];
        for (rank, node) in order.into_iter().enumerate() {
            ranks[node as usize] = rank as u32;
        }
        ranks
    }

    /// Checkpoints come before everything else that is ready: those of the file first, then by what follows them.
    fn key(&self, position: u32, index: &Index, ranks: &[u32]) -> graph::Key {
        let node = &self.nodes[position as usize];
        if !node.is_checkpoint() {
            return (2, ranks[position as usize]);
        }
        if node.made != Made::Injected {
            return (0, node.index.unwrap_or(u32::MAX));
        }
        let behind = index.out[position as usize].iter().flat_map(|at| &self.joins[*at as usize].targets);
        (1, behind.map(|node| ranks[*node as usize]).min().unwrap_or(u32::MAX))
    }
}
