//! Dry runs: what a definition would do, walked with made-up answers. Whoever starts the server says how one is made;
//! what was found is written down here, for the command line as well.

use holdpoint_core::PipelineId;
use holdpoint_engine::documents::UsageDocument;
use holdpoint_engine::documents::execution::CheckResult;
use holdpoint_store::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::problem::FieldError;

/// Makes dry runs.
pub trait DryRuns: Send + Sync + 'static {
    /// Walks a definition; nothing of the home changes.
    fn walk(&self, asked: DryRun) -> BoxFuture<'_, Result<DryRunReport, NotWalked>>;
}

/// What is walked.
#[derive(Debug)]
pub struct DryRun {
    /// The definition, as a file has it.
    pub definition: Value,
    /// The pipeline whose scripts are looked for.
    pub pipeline: Option<PipelineId>,
    /// What checkpoints make, by their names.
    pub stubs: Map<String, Value>,
    /// What people say, by the names of checkpoints.
    pub answers: Map<String, Value>,
}

/// Why there is nothing to tell.
#[derive(Debug)]
pub enum NotWalked {
    /// What was asked for does not fit: what, and what to do.
    Refused(String, String),
    /// It took too long, or too many are walked at once.
    Late(String),
    /// The machine did not do it.
    Failed(String),
}

/// What a dry run has found: the way, what was given and asked on it, and what it would cost.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryRunReport {
    /// What was walked.
    pub pipeline_name: String,
    /// `completed`, `failed`, `paused`, or `stopped` where a made-up answer did not do.
    pub status: String,
    /// The visits to checkpoints, in their order.
    pub checkpoints: Vec<DryCheckpoint>,
    /// Checkpoints that were not reached.
    pub not_reached: Vec<String>,
    /// The models that would be asked.
    pub models: Vec<DryModel>,
    /// What a run would cost.
    pub estimate: DryEstimate,
    /// What would go wrong, and what cannot be told without doing it in earnest.
    pub findings: Vec<DryFinding>,
}

/// One visit to a checkpoint.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryCheckpoint {
    /// What people call it.
    pub name: String,
    /// Who does its work.
    pub mode: String,
    /// How it ended.
    pub status: String,
    /// How many attempts the last revision took.
    pub attempts: u32,
    /// How often people asked for another one.
    pub revisions: u32,
    /// Who was asked for what, and what was said.
    pub gates: Vec<DryGate>,
    /// What the agents are told, part by part.
    pub told: Vec<DryTold>,
    /// What it is given.
    pub inputs: Vec<String>,
    /// What it makes.
    pub outputs: Vec<String>,
    /// The beginnings of what was made.
    pub made: Vec<DryOutput>,
    /// What its checks said.
    #[schema(value_type = Option<CheckResult>)]
    pub check: Value,
    /// What it would use.
    #[schema(value_type = UsageDocument)]
    pub usage: Value,
}

/// Somebody was asked, and this was said.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DryGate {
    /// Where.
    pub checkpoint: String,
    /// What kind of answer was wanted.
    pub kind: String,
    /// What was asked.
    pub question: String,
    /// What was said.
    pub answer: Value,
    /// Who said it.
    pub by: String,
    /// Whether nobody had prepared it.
    pub made_up: bool,
}

/// What one agent is told at first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryTold {
    /// The agent.
    pub agent: String,
    /// The frame.
    pub system: String,
    /// The first message.
    pub user: String,
    /// About how many tokens in all.
    pub tokens: u64,
    /// What it consists of, as in the context of an execution.
    #[schema(value_type = Vec<Object>)]
    pub parts: Value,
}

/// The beginning of an output.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryOutput {
    /// Which one.
    pub name: String,
    /// Its first characters.
    pub text: String,
    /// Whether there is more of it.
    pub cut: bool,
}

/// A model that would be asked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryModel {
    /// As the definition names it.
    pub name: String,
    /// Whether its price is known.
    pub priced: bool,
    /// What it would be used for.
    #[schema(value_type = UsageDocument)]
    pub usage: Value,
}

/// What a run would cost.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryEstimate {
    /// Questions to models.
    pub calls: u64,
    /// What they would read.
    pub input_tokens: u64,
    /// What they would write.
    pub output_tokens: u64,
    /// What that would cost.
    pub cost_usd: f64,
    /// How many tokens an answer was taken to have, where no stub says.
    pub tokens_per_answer: u64,
    /// Whether the price of every model is known.
    pub complete: bool,
}

/// Something to know.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct DryFinding {
    /// `error` where the walk stopped, `warning` where a real run would, else `note`.
    pub level: String,
    /// Where, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What.
    pub message: String,
    /// The fields of an answer that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub errors: Vec<FieldError>,
}
