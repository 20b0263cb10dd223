//! What a dry run has found: the way, what was given and asked on it, and what it would cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use holdpoint_agents::model::Providers;
use holdpoint_server::{
    DryCheckpoint, DryEstimate, DryFinding, DryGate, DryModel, DryOutput, DryRunReport, DryTold, FieldError,
};
use holdpoint_work::ANSWER_TOKENS;
use serde_json::{Value, json};

use super::super::walk::Stands;
use super::people::MadeUp;
use crate::client::{Api, Body};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::{Table, text_of};
use crate::text;

/// How many characters of an output are shown.
const SHOWN: usize = 4_000;

fn exit(found: &DryRunReport) -> Exit {
    if found.status == "completed" { Exit::Done } else { Exit::Failed }
}

/// Reads what a walk has left.
pub fn report(
    api: &Api,
    run: &str,
    pipeline: &Value,
    people: MadeUp,
    stands: Option<&Stands>,
    models: &Providers,
    scripts: &Path,
) -> Result<DryRunReport, Problem> {
    let now = api.get(&format!("/api/runs/{run}"))?;
    let mut all = api.get(&format!("/api/runs/{run}/checkpoints"))?;
    let executions = all["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let mut gates: BTreeMap<String, Vec<DryGate>> = BTreeMap::new();
    for gate in people.gates {
        gates.entry(gate.checkpoint.clone()).or_default().push(gate);
    }
    let mut findings = Vec::new();
    let mut checkpoints = Vec::new();
    for execution in &executions {
        if execution["status"] == "pending" && execution["waiting_for"].is_null() {
            continue;
        }
        failed(execution, scripts, &mut findings);
        checkpoints.push(checkpoint(api, execution, pipeline, &mut gates)?);
    }
    let status = match stands {
        Some(stands) if stands.execution["waiting_for"]["kind"] != "retry" => {
            findings.push(stopped(stands));
            "stopped".to_owned()
        }
        Some(_) | None => text_of(&now["status"]),
    };
    let names = pipeline["checkpoints"].as_array().into_iter().flatten();
    let names = names.map(|each| text_of(&each["checkpoint_name"]));
    let not_reached =
        names.filter(|name| checkpoints.iter().all(|each: &DryCheckpoint| each.name != *name)).collect();
    let by_model = api.get(&format!("/api/usage?run_id={run}&group_by=model"))?;
    let models = models_of(&by_model, models, &mut findings);
    left_out(pipeline, scripts, &checkpoints, &mut findings);
    let total = &by_model["total"];
    let count = |name: &str| total[name].as_u64().unwrap_or(0);
    let estimate = DryEstimate {
        calls: count("calls"),
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cost_usd: total["cost_usd"].as_f64().unwrap_or(0.0),
        tokens_per_answer: ANSWER_TOKENS,
        complete: models.iter().all(|model| model.priced),
    };
    let pipeline_name = text_of(&pipeline["pipeline_name"]);
    Ok(DryRunReport { pipeline_name, status, checkpoints, not_reached, models, estimate, findings })
}

fn checkpoint(
    api: &Api,
    execution: &Value,
    pipeline: &Value,
    gates: &mut BTreeMap<String, Vec<DryGate>>,
) -> Result<DryCheckpoint, Problem> {
    let name = text_of(&execution["checkpoint_name"]);
    let mut definitions = pipeline["checkpoints"].as_array().into_iter().flatten();
    let definition = definitions.find(|each| each["checkpoint_name"] == execution["checkpoint_name"]);
    let id = text_of(&execution["execution_id"]);
    let context = api.get(&format!("/api/executions/{id}/context"))?;
    let told = context["rendered"].as_array().into_iter().flatten().map(|each| DryTold {
        agent: text_of(&each["agent_name"]),
        system: text_of(&each["system"]),
        user: text_of(&each["user"]),
        tokens: each["tokens"].as_u64().unwrap_or(0),
        parts: each["parts"].clone(),
    });
    let files = |list: &Value, field: &str| -> Vec<String> {
        list.as_array().into_iter().flatten().map(|each| text_of(&each[field])).collect()
    };
    let earlier = context["referenced_outputs"].as_array().into_iter().flatten();
    let given = std::iter::once(&context["previous_version"]).chain(earlier);
    Ok(DryCheckpoint {
        mode: definition.map(|each| text_of(&each["execution"]["mode"])).unwrap_or_default(),
        status: text_of(&execution["status"]),
        attempts: count(&execution["attempt_number"]),
        revisions: count(&execution["revision_iteration"]),
        gates: gates.remove(&name).unwrap_or_default(),
        told: told.collect(),
        inputs: given.flat_map(|each| files(&each["artifacts"], "artifact_name")).collect(),
        outputs: files(&execution["artifacts_generated"], "artifact_name"),
        made: made(api, &execution["artifacts_generated"])?,
        check: execution["check"].clone(),
        usage: execution["usage"].clone(),
        name,
    })
}

fn count(value: &Value) -> u32 {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

/// The beginnings of outputs.
fn made(api: &Api, outputs: &Value) -> Result<Vec<DryOutput>, Problem> {
    let outputs = outputs.as_array().into_iter().flatten();
    let read = |output: &Value| {
        let path = format!("/api/artifacts/{}/download", text_of(&output["artifact_record_id"]));
        let bytes = api.send("GET", &path, Body::None)?.accepted()?.bytes;
        let text = String::from_utf8_lossy(&bytes);
        let shown: String = text.chars().take(SHOWN).collect();
        let cut = shown.len() < text.len();
        Ok(DryOutput { name: text_of(&output["artifact_name"]), text: shown, cut })
    };
    outputs.map(read).collect()
}

/// What an execution failed of.
fn failed(execution: &Value, scripts: &Path, findings: &mut Vec<DryFinding>) {
    let error = &execution["error_details"]["last_error"];
    if execution["status"] == "failed" && !error.is_null() {
        // The folder is gone when this is read.
        let folder: PathBuf = scripts.components().collect();
        let message = text_of(&error["error_message"]).replace(&*folder.to_string_lossy(), "`scripts`");
        let message = format!("{message} ({})", text_of(&error["error_type"]));
        findings.push(finding("error", Some(text_of(&execution["checkpoint_name"])), message));
    }
}

/// Why the walk did not go on from a question.
fn stopped(stands: &Stands) -> DryFinding {
    let question = text_of(&stands.execution["waiting_for"]["question"]);
    let message = match &stands.refused {
        Some(problem) => {
            format!("the answer to “{question}” was refused: {}; prepare one with --answers", problem.message)
        }
        None => format!("“{question}” was asked again and again: made-up answers lead in a circle"),
    };
    let fields = stands.refused.iter().flat_map(|problem| problem.fields.iter().cloned());
    let errors = fields.map(|(pointer, message)| FieldError { pointer, message }).collect();
    let checkpoint = Some(text_of(&stands.execution["checkpoint_name"]));
    DryFinding { errors, ..finding("error", checkpoint, message) }
}

fn finding(level: &str, checkpoint: Option<String>, message: String) -> DryFinding {
    DryFinding { level: level.to_owned(), checkpoint, message, errors: Vec::new() }
}

/// The models that were named, with what a real run would need of them.
fn models_of(usage: &Value, providers: &Providers, findings: &mut Vec<DryFinding>) -> Vec<DryModel> {
    let mut models = Vec::new();
    for group in usage["items"].as_array().into_iter().flatten() {
        let Some(name) = group["key"].as_str() else { continue };
        if let Err(cause) = providers.check(name) {
            let message = format!("a real run cannot ask `{name}`: {cause}");
            findings.push(finding("warning", None, message));
        }
        // What is played from a file costs nothing, and that is known.
        let priced = providers.price_of(name).is_some() || name.starts_with("script/");
        if !priced {
            let message = format!("what `{name}` costs is not known here; it counts as nothing");
            findings.push(finding("note", None, message));
        }
        models.push(DryModel { name: name.to_owned(), priced, usage: group["usage"].clone() });
    }
    models
}

/// What no dry run can tell.
fn left_out(pipeline: &Value, scripts: &Path, walked: &[DryCheckpoint], findings: &mut Vec<DryFinding>) {
    for checkpoint in pipeline["checkpoints"].as_array().into_iter().flatten() {
        let execution = &checkpoint["execution"];
        let tools = execution["agent_config"]["tools"].as_array().into_iter().flatten();
        let built_in = holdpoint_core::definition::TOOLS;
        let outside: Vec<String> =
            tools.map(text_of).filter(|tool| !built_in.contains(&tool.as_str())).collect();
        let mut note = |message: String| {
            let checkpoint = Some(text_of(&checkpoint["checkpoint_name"]));
            findings.push(finding("note", checkpoint, message));
        };
        if !outside.is_empty() {
            note(format!(
                "tools of servers are not reached, and agents were not told of them: {}",
                outside.join(", ")
            ));
        }
        let name = text_of(&checkpoint["checkpoint_name"]);
        let was_done = walked.iter().any(|each| each.name == name && each.status == "completed");
        let script = text_of(&execution["script_config"]["script_path"]);
        let reached = walked.iter().any(|each| each.name == name);
        if execution["mode"] == "script" && !reached && !scripts.join(&script).is_file() {
            note(format!("there is no script `{script}`"));
        }
        if execution["mode"] == "script" && was_done {
            note(format!(
                "{} is there, and was not run",
                text_of(&execution["script_config"]["script_path"])
            ));
        }
    }
}

/// Says it.
pub fn tell(found: &DryRunReport, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if context.output.is_json() {
        context.output.value(&json!(found))?;
        return Ok(exit(found));
    }
    let mut table =
        Table::new(&["checkpoint", "mode", "status", "attempts", "asked", "told", "makes", "cost"]);
    for each in &found.checkpoints {
        let told: u64 = each.told.iter().map(|told| told.tokens).sum();
        table.row([
            text::line(&each.name),
            each.mode.clone(),
            each.status.clone(),
            each.attempts.to_string(),
            each.gates.len().to_string(),
            if told == 0 { String::new() } else { text::many(told, "token", "tokens") },
            text::line(&each.outputs.join(", ")),
            dollars(each.usage["cost_usd"].as_f64().unwrap_or(0.0)),
        ]);
    }
    context.output.data(&table.to_string())?;
    let mut lines = String::new();
    for name in &found.not_reached {
        let _ = writeln!(lines, "not reached: {}", text::line(name));
    }
    let estimate = &found.estimate;
    let _ = writeln!(
        lines,
        "\n{} would be {}; {} of models, {} in, {} out (each answer taken for {} tokens or what its stub says): {}{}",
        text::line(&found.pipeline_name),
        found.status,
        text::many(estimate.calls, "call", "calls"),
        text::many(estimate.input_tokens, "token", "tokens"),
        text::many(estimate.output_tokens, "token", "tokens"),
        estimate.tokens_per_answer,
        dollars(estimate.cost_usd),
        if estimate.complete { "" } else { ", models without a known price left out" },
    );
    for finding in &found.findings {
        let at =
            finding.checkpoint.as_ref().map_or_else(String::new, |name| format!("{}: ", text::line(name)));
        let _ = writeln!(lines, "{}: {at}{}", finding.level, text::line(&finding.message));
    }
    context.output.data(&lines)?;
    Ok(exit(found))
}

fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}
