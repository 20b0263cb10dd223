//! `holdpoint inspect`: a file as its plan. It opens no home, starts nothing and writes nothing.

use std::collections::HashSet;
use std::path::PathBuf;

use holdpoint_core::Digest;
use holdpoint_formats::dag::{self, Checkpoints, Drawing, Finding, Format, Options, Origin, Severity};
use holdpoint_formats::{PipelineFile, Syntax};
use serde::Serialize;

use crate::commands::compile;
use crate::context::Context;
use crate::output::MOST_FINDINGS;
use crate::problem::{Exit, Failure, Found};

/// Show a file as its plan: steps, order and questions
///
/// Reads a pipeline file, a node list, a DAG or a template, checks it and draws it. Nothing is opened, started or
/// written.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Take warnings as errors
    #[arg(long)]
    strict: bool,
}

/// A file as its plan.
#[derive(Serialize)]
struct Plan {
    format: &'static str,
    name: String,
    digest: String,
    nodes: Vec<Step>,
    edges: Vec<Edge>,
    gates: Vec<Gate>,
    /// Every program that a run would start.
    commands: Vec<String>,
    findings: Vec<Finding>,
    #[serde(skip)]
    drawn: Drawn,
}

#[derive(Serialize)]
struct Step {
    id: String,
    name: String,
    r#type: String,
}

#[derive(Serialize)]
struct Edge {
    from: String,
    to: String,
}

/// A question to a person.
#[derive(Serialize)]
struct Gate {
    node: String,
    kind: &'static str,
}

#[derive(Default)]
struct Drawn {
    edges: Vec<(u32, u32)>,
    levels: Vec<u32>,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let text = compile::read(&args.file, context)?;
    let file = args.file.display().to_string();
    let plan = plan(&text, args).map_err(|findings| {
        let findings = findings.into_iter().map(|finding| Found { file: file.clone(), finding }).collect();
        compile::invalid(findings)
    })?;
    if context.output.is_json() {
        context.output.value(&plan)?;
        return Ok(Exit::Done);
    }
    for finding in plan.findings.iter().take(MOST_FINDINGS).cloned() {
        context.output.say(&format!("warning: {}", Found { file: file.clone(), finding }));
    }
    context.output.data(&shown(&plan))?;
    Ok(Exit::Done)
}

fn shown(plan: &Plan) -> String {
    let asking: HashSet<&str> = plan.gates.iter().map(|gate| gate.node.as_str()).collect();
    let label = |step: &Step| {
        let mark = if asking.contains(step.id.as_str()) { " (asks)" } else { "" };
        if step.id == step.name {
            format!("{}{mark}", step.name)
        } else {
            format!("{}{mark}  {}", step.id, step.name)
        }
    };
    let drawing = Drawing {
        labels: plan.nodes.iter().map(label).collect(),
        edges: &plan.drawn.edges,
        levels: &plan.drawn.levels,
    };
    format!("{} {} {}\n\n{}", plan.format, plan.name, plan.digest, drawing.to_text())
}

fn plan(text: &str, args: &Args) -> Result<Plan, Vec<Finding>> {
    match pipeline(text) {
        Some(read) => read.map(|file| of_pipeline(text, &file)),
        None => of_dag(text, args.strict),
    }
}

/// The pipeline, if the file is one.
fn pipeline(text: &str) -> Option<Result<PipelineFile, Vec<Finding>>> {
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let named = text.contains("pipeline_name") || text.contains("checkpoints:");
    if !named || (is_json && !text.contains("\"pipeline_name\"")) {
        return None;
    }
    let syntax = if is_json { Syntax::Json } else { Syntax::Yaml };
    let found = |problem: holdpoint_formats::Problem| Finding {
        severity: Severity::Error,
        code: "invalid_fields",
        message: problem.message,
        pointer: problem.pointer,
        line: problem.line,
        column: problem.column,
        origin: Origin::Source,
    };
    Some(holdpoint_formats::parse(text, syntax).map_err(|all| all.into_iter().map(found).collect()))
}

/// Checkpoints are done one after another.
fn of_pipeline(text: &str, file: &PipelineFile) -> Plan {
    let checkpoints = &file.content.checkpoints;
    let step = |place: usize| {
        let definition = &checkpoints[place].definition;
        let mode = serde_json::to_value(&definition.execution.mode).unwrap_or_default();
        let id = definition.checkpoint_name.clone();
        Step { name: id.clone(), id, r#type: mode.as_str().unwrap_or_default().to_owned() }
    };
    let nodes: Vec<Step> = (0..checkpoints.len()).map(step).collect();
    let places: Vec<u32> = (0..nodes.len() as u32).collect();
    let edges: Vec<(u32, u32)> = places.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let mut gates = Vec::new();
    for checkpoint in checkpoints {
        let (node, human) =
            (&checkpoint.definition.checkpoint_name, &checkpoint.definition.human_interaction);
        let asked =
            [("start", human.requires_approval_to_start), ("complete", human.requires_approval_to_complete)];
        gates.extend(
            asked.into_iter().filter(|(_, asked)| *asked).map(|(kind, _)| Gate { node: node.clone(), kind }),
        );
    }
    let digest = Digest::of(text.as_bytes()).checksum();
    let name = file.content.name.to_string();
    let named = named(&nodes, &edges);
    let scripts =
        checkpoints.iter().filter_map(|checkpoint| checkpoint.definition.execution.script_config.as_ref());
    let commands = scripts.map(|script| script.script_path.clone()).collect();
    let (findings, drawn) = (Vec::new(), Drawn { edges, levels: places });
    Plan { format: "pipeline", name, digest, nodes, edges: named, gates, commands, findings, drawn }
}

fn of_dag(text: &str, strict: bool) -> Result<Plan, Vec<Finding>> {
    let options = Options { strict, checkpoints: Checkpoints::Keep, ..Options::default() };
    let graph = dag::compile(text, None, options)?;
    let format = match graph.format() {
        Format::List => "node_list",
        Format::Dag => "dag",
        Format::Template => "template",
    };
    let step = |node: &dag::Node| Step {
        id: node.id.clone(),
        name: node.name.clone(),
        r#type: node.kind.name().to_owned(),
    };
    let nodes: Vec<Step> = graph.nodes.iter().map(step).collect();
    let asking = graph.nodes.iter().filter(|node| node.is_checkpoint() && !node.auto_continue);
    let gates = asking.map(|node| Gate { node: node.id.clone(), kind: "checkpoint" }).collect();
    let (name, edges) = (graph.name(), named(&nodes, &graph.edges));
    let digest = Digest::of(text.as_bytes()).checksum();
    let drawn = Drawn { edges: graph.edges, levels: graph.levels };
    let (commands, findings) = (Vec::new(), graph.warnings);
    Ok(Plan { format, name, digest, nodes, edges, gates, commands, findings, drawn })
}

fn named(nodes: &[Step], edges: &[(u32, u32)]) -> Vec<Edge> {
    let id = |place: u32| nodes[place as usize].id.clone();
    edges.iter().map(|(from, to)| Edge { from: id(*from), to: id(*to) }).collect()
}
