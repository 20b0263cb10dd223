//! `holdpoint compile`: a node list becomes a DAG with checkpoints, a template or a drawing. It opens no home and
//! starts nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use holdpoint_core::Timestamp;
use holdpoint_formats::dag::{
    self, Checkpoints, Compiled, Finding, Options, Origin, Severity, TemplateOptions,
};
use serde_json::json;

use crate::context::Context;
use crate::output::MOST_FINDINGS;
use crate::problem::{Exit, Failure, Found, Problem};
use crate::text;

/// Compile a node list to a DAG with checkpoints
///
/// Reads a node list, a DAG or a template (JSON), draws the edges, puts checkpoints where a phase ends, and checks
/// the result. The same input gives the same bytes. What was compiled before can be compiled again: checkpoints
/// that somebody edited stay.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The node list, DAG or template; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The intent: steps that ask for checkpoints, and variables
    #[arg(long, value_name = "FILE")]
    intent: Option<PathBuf>,

    /// Write to this file and make its folders; stdout, if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What is written
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,

    /// What the JSON is
    #[arg(long = "as", value_enum, value_name = "KIND", default_value_t = Shape::Dag)]
    shape: Shape,

    /// The template's name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// When the template was made (RFC 3339)
    #[arg(long, value_name = "TIME")]
    created_at: Option<String>,

    /// Inject no checkpoints, and accept a graph without any
    #[arg(long)]
    no_checkpoints: bool,

    /// Compare output ports as they are: `detailed-plan` is no `plan`
    #[arg(long)]
    exact_ports: bool,

    /// Take warnings as errors
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Mermaid,
    Dot,
    Svg,
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Dag,
    Template,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    check(args)?;
    let source = read(&args.file, context)?;
    let intent = args.intent.as_deref().map(|path| read(path, context)).transpose()?;
    let options = Options {
        checkpoints: if args.no_checkpoints { Checkpoints::None } else { Checkpoints::Inject },
        exact_ports: args.exact_ports,
        strict: args.strict,
    };
    let compiled = dag::compile(&source, intent.as_deref(), options).map_err(|found| refused(args, found))?;
    let written = written(args, &compiled)?;
    warn(args, &compiled, context);
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        None => context.output.data(&written)?,
        Some(path) => {
            write(&context.resolve(path)?, &written)?;
            report(path, &compiled, context)?;
        }
    }
    Ok(Exit::Done)
}

/// Options that have no effect, or cannot.
fn check(args: &Args) -> Result<(), Problem> {
    let lone = [("--name", args.name.is_some()), ("--created-at", args.created_at.is_some())];
    if let Some((option, _)) = lone.iter().find(|(_, given)| *given && args.shape != Shape::Template) {
        let message = format!("{option} is for templates");
        return Err(Problem::usage("usage", message, "add `--as template`, or leave it out"));
    }
    if args.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
        return Err(Problem::usage("usage", "the name is empty", "give `--name` some text"));
    }
    if let Some(at) = args.created_at.as_ref().filter(|at| Timestamp::parse(at).is_none()) {
        let message = format!("`{at}` is not possible for --created-at: it is no time");
        return Err(Problem::usage("usage", message, "write it as 2026-01-31T12:00:00Z"));
    }
    let stdin = |path: &Path| path == Path::new("-");
    if stdin(&args.file) && args.intent.as_deref().is_some_and(stdin) {
        let message = "stdin can be read once only";
        return Err(Problem::usage("usage", message, "name a file for the node list or for the intent"));
    }
    Ok(())
}

/// The largest file that is read.
const LARGEST: u64 = 256 << 20;

/// Reads a file as text.
pub fn read(file: &Path, context: &Context<'_, '_>) -> Result<String, Problem> {
    let cannot = |error: std::io::Error| {
        let message = format!("`{}` cannot be read: {error}", file.display());
        Problem::bad_input("file_unreadable", message, "check the path and its rights")
    };
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    } else {
        let opened = std::fs::File::open(context.resolve(file)?).map_err(cannot)?;
        opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if bytes.len() as u64 > LARGEST {
        let message = format!("{}: the file is larger than 256 MiB", file.display());
        return Err(Problem::bad_input("too_large", message, "divide the work into several graphs"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        let message = format!("{}:{line}:{column}: the file is not UTF-8 text", file.display());
        Problem::bad_input("malformed_json", message, "save it as UTF-8")
    })
}

fn written(args: &Args, compiled: &Compiled) -> Result<String, Problem> {
    Ok(match args.format {
        Format::Json if args.shape == Shape::Template => {
            let (name, created_at) = (args.name.clone(), args.created_at.clone());
            compiled.to_template(&TemplateOptions { name, created_at })
        }
        Format::Json => compiled.to_dag(),
        Format::Mermaid => dag::mermaid(compiled),
        Format::Dot => dag::dot(compiled),
        Format::Text => dag::text(compiled),
        Format::Svg => dag::svg(compiled).ok_or_else(|| {
            let (count, most) = (compiled.nodes.len(), dag::MOST_DRAWN);
            let message = format!("{count} nodes are too many for a picture; at most {most} are drawn");
            Problem::failed(
                "too_large_to_draw",
                message,
                "`--format text` lists them by stage; `dot` has no limit",
            )
        })?,
    })
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let folders = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folders.and_then(|()| std::fs::write(path, text)).map_err(|error| {
        let message = format!("`{}` cannot be written: {error}", path.display());
        Problem::failed("not_written", message, "check the path and its rights")
    })
}

fn report(path: &Path, compiled: &Compiled, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    let (nodes, edges, checkpoints) =
        (compiled.nodes.len(), compiled.edges.len(), compiled.checkpoints().len());
    if context.output.is_json() {
        let warnings = &compiled.warnings;
        return context.output.value(&json!({
            "path": path, "nodes": nodes, "edges": edges, "checkpoints": checkpoints, "warnings": warnings,
        }));
    }
    let counts = [
        text::many(nodes as u64, "node", "nodes"),
        text::many(edges as u64, "edge", "edges"),
        text::many(checkpoints as u64, "checkpoint", "checkpoints"),
    ];
    context.output.say(&format!("wrote {}: {}", path.display(), counts.join(", ")));
    Ok(())
}

fn found(args: &Args, finding: Finding) -> Found {
    let file = match finding.origin {
        Origin::Source => &args.file,
        Origin::Intent => args.intent.as_ref().unwrap_or(&args.file),
    };
    Found { file: file.display().to_string(), finding }
}

fn warn(args: &Args, compiled: &Compiled, context: &mut Context<'_, '_>) {
    for warning in compiled.warnings.iter().take(MOST_FINDINGS) {
        context.output.say(&format!("warning: {}", found(args, warning.clone())));
    }
    if let Some(more) = compiled.warnings.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0) {
        context.output.say(&format!("warning: {more} more"));
    }
}

fn refused(args: &Args, findings: Vec<Finding>) -> Problem {
    invalid(findings.into_iter().map(|finding| found(args, finding)).collect())
}

/// Everything that is wrong with a file, in one problem.
pub fn invalid(findings: Vec<Found>) -> Problem {
    /// A file that could not be taken apart is told by its own code.
    const WHOLE: [&str; 5] = ["format_unknown", "too_deep", "too_large", "malformed_json", "duplicate_key"];
    let first = findings.first().map(|found| found.finding.code).unwrap_or_default();
    let code = if WHOLE.contains(&first) { first } else { "workflow_invalid" };
    let message = findings.first().map(ToString::to_string).unwrap_or_default();
    let mut hint = hint(first).to_owned();
    if let Some(more) = findings.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0) {
        hint = format!("{more} more findings are not shown; {hint}");
    }
    debug_assert!(findings.iter().all(|found| found.finding.severity == Severity::Error));
    Problem { findings, ..Problem::bad_input(code, message, hint) }
}

fn hint(code: &str) -> &'static str {
    match code {
        "no_checkpoint" => {
            "ask for one with a step of `type_hint: checkpoint` in the intent, or opt out with `--no-checkpoints`"
        }
        "cycle" => "remove one of the edges on the path",
        "orphan_node" => "add an edge to it or from it, or remove it",
        "format_unknown" => "accepted are node lists, DAGs and templates (JSON with `nodes`)",
        "malformed_json" | "duplicate_key" => "correct the JSON at this place",
        "too_deep" | "too_large" => "divide the work into several graphs",
        "later_reference" => "refer to nodes that run before, or change the order",
        _ => "correct the file and compile it again; nothing was written",
    }
}
