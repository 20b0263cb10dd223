//! Looking at pipelines and their runs.

use serde_json::{Value, json};

use super::find;
use crate::client::Api;
use crate::context::Context;
use crate::problem::{Exit, Failure};
use crate::table::{Table, text_of};

/// How many rows are shown at most.
const MOST: usize = 1000;

pub fn pipelines(api: &Api, deleted: bool, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let items = api.list(&format!("/api/pipelines?deleted={deleted}"), MOST)?;
    let mut table = Table::new(&["ID", "NAME", "CHECKPOINTS", "VERSION", "RUNS"]);
    for item in &items {
        table.row([
            text_of(&item["pipeline_id"]),
            text_of(&item["pipeline_name"]),
            item["checkpoint_order"].as_array().map_or(0, Vec::len).to_string(),
            text_of(&item["pipeline_definition_version"]),
            text_of(&item["runs"]["total"]),
        ]);
    }
    all(context, &items, &table)
}

pub fn show(api: &Api, pipeline: &str, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let id = find(api, pipeline)?;
    let item = api.get(&format!("/api/pipelines/{id}"))?;
    if context.output.is_json() {
        context.output.value(&item)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["#", "CHECKPOINT", "MODE", "APPROVALS", "ID"]);
    for checkpoint in item["checkpoints"].as_array().into_iter().flatten() {
        let people = &checkpoint["human_interaction"];
        let mut approvals = Vec::new();
        if people["requires_approval_to_start"] == true {
            approvals.push("start");
        }
        if people["requires_approval_to_complete"] == true {
            approvals.push("complete");
        }
        table.row([
            text_of(&checkpoint["checkpoint_position"]),
            text_of(&checkpoint["checkpoint_name"]),
            text_of(&checkpoint["execution"]["mode"]),
            approvals.join(", "),
            text_of(&checkpoint["checkpoint_id"]),
        ]);
    }
    context.output.say(&text_of(&item["pipeline_name"]));
    context.output.data(&table.to_string())?;
    for warning in item["warnings"].as_array().into_iter().flatten() {
        context.output.say(&format!(
            "warning: {}: {}",
            text_of(&warning["pointer"]),
            text_of(&warning["message"])
        ));
    }
    Ok(Exit::Done)
}

pub fn runs(api: &Api, pipeline: &str, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let id = find(api, pipeline)?;
    let items = api.list(&format!("/api/pipelines/{id}/runs"), MOST)?;
    let mut table = Table::new(&["ID", "VERSION", "STATUS", "DONE", "CREATED"]);
    for item in &items {
        let counts = &item["metadata"];
        table.row([
            text_of(&item["run_id"]),
            format!("v{}", item["run_version"]),
            text_of(&item["status"]),
            format!("{}/{}", counts["completed_checkpoints"], counts["total_checkpoints"]),
            text_of(&item["created_at"]),
        ]);
    }
    all(context, &items, &table)
}

pub fn history(api: &Api, pipeline: &str, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let id = find(api, pipeline)?;
    let items = api.list(&format!("/api/pipelines/{id}/history"), MOST)?;
    let mut table = Table::new(&["REVISION", "WHEN", "WHO", "WHAT"]);
    for item in &items {
        table.row([
            text_of(&item["revision"]),
            text_of(&item["timestamp"]),
            text_of(&item["actor"]["name"]),
            text_of(&item["description"]),
        ]);
    }
    all(context, &items, &table)
}

fn all(context: &mut Context<'_, '_>, items: &[Value], table: &Table) -> Result<Exit, Failure> {
    if context.output.is_json() {
        context.output.value(&json!({"items": items}))?;
    } else {
        context.output.data(&table.to_string())?;
    }
    Ok(Exit::Done)
}
