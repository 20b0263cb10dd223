//! Pipeline and checkpoint definitions, field for field as their document has them.
//!
//! The names are the outside contract: they are read from requests and files and shown again unchanged.
//! Ids, times and the definition version are kept beside a definition, not in it, so that its hash speaks
//! of content alone.

// Every field is described in the published schema; repeating that here would only drift from it.
#![allow(missing_docs)]

mod compile;
mod faults;
mod offered;
mod people;
mod syntax;

pub use compile::Compiled;
pub use faults::{Fault, Findings, examine};
pub use offered::{TOOLS, examine_offered};
pub use syntax::examine_syntax;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::budget::Budget;
use crate::{AgentId, ArtifactId, CheckpointId, Digest, FieldId};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineConfig {
    #[serde(default)]
    pub auto_advance: bool,
    /// What may be spent before somebody is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<Budgets>,
}

/// What may be spent before somebody is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    /// By each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Budget>,
    /// By all runs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Budget>,
}

impl PipelineConfig {
    /// What is wrong with it.
    pub fn faults(&self) -> Vec<Fault> {
        let Some(budgets) = &self.budgets else { return Vec::new() };
        let parts = [("/config/budgets/run", budgets.run), ("/config/budgets/pipeline", budgets.pipeline)];
        let given = parts.iter().filter_map(|(pointer, budget)| Some((*pointer, budget.as_ref()?)));
        let mut faults: Vec<Fault> = given.flat_map(|(pointer, budget)| budget.faults(pointer)).collect();
        if parts.iter().all(|(_, budget)| budget.is_none()) {
            faults.push(Fault::at("/config/budgets", "`run`, `pipeline`, or both"));
        }
        faults
    }
}

/// One checkpoint: what is done, by whom, and what must come out of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointDefinition {
    pub checkpoint_name: String,
    pub checkpoint_description: String,
    #[serde(default)]
    pub dependencies: Dependencies,
    pub inputs: Inputs,
    pub execution: ExecutionConfig,
    pub human_interaction: HumanInteraction,
    pub output: Output,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
}

impl CheckpointDefinition {
    /// The name of this content: what an execution pins.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Dependencies {
    #[serde(default)]
    pub required_checkpoint_ids: Vec<CheckpointId>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    pub include_previous_version: bool,
    #[serde(default)]
    pub include_checkpoint_outputs: Vec<OutputReference>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputReference {
    pub checkpoint_id: CheckpointId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_ids: Option<Vec<ArtifactId>>,
    #[serde(default)]
    pub use_summarization: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Agentic,
    Script,
    HumanOnly,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionConfig {
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_config: Option<AgentConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_config: Option<ScriptConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub human_only_config: Option<HumanOnlyConfig>,
    pub retry_config: RetryConfig,
    pub timeout_config: TimeoutConfig,
    /// What one visit may spend before somebody is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Whether what runs in the sandbox, a script or the code of agents, reaches the network. It does not where nothing
    /// is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreationMode {
    MetaAgent,
    Predefined,
    #[default]
    Single,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscussionMode {
    Sequential,
    Council,
    Parallel,
    Debate,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    pub creation_mode: CreationMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta_agent_instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_agents: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<AgentDefinition>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SingleAgent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discussion_mode: Option<DiscussionMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show_conversation: Option<bool>,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentDefinition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    pub name: String,
    pub role: String,
    pub system_prompt: String,
    pub task_prompt: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleAgent {
    pub name: String,
    pub system_prompt: String,
    pub task_prompt: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptConfig {
    pub script_path: String,
    #[serde(default = "main_function")]
    pub entry_function: String,
    pub requires_user_input: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_input_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Map<String, Value>>,
}

fn main_function() -> String {
    "main".to_owned()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HumanOnlyConfig {
    pub instructions: String,
    #[serde(default)]
    pub input_fields: Vec<InputField>,
    pub save_as_artifact: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_format: Option<FormFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormFormat {
    Json,
    Md,
}

impl From<FormFormat> for Format {
    fn from(format: FormFormat) -> Self {
        match format {
            FormFormat::Json => Self::Json,
            FormFormat::Md => Self::Md,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    Text,
    Number,
    Boolean,
    File,
    MultilineText,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InputField {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_id: Option<FieldId>,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FieldType,
    pub label: String,
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
}

/// How many seconds a step waits before it is tried again, where nothing says.
pub const DEFAULT_RETRY_DELAY: u32 = 5;

/// What happens when a step has failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    RollbackCheckpoint,
    PausePipeline,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryConfig {
    pub max_auto_retries: u32,
    pub on_failure: OnFailure,
    /// Filled in from the settings when the definition is saved without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_delay_seconds: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeoutConfig {
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnFailure>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HumanInteraction {
    pub requires_approval_to_start: bool,
    pub requires_approval_to_complete: bool,
    pub max_revision_iterations: u32,
    /// Who may approve or reject, by name; empty: everybody whose role allows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// How many of them must approve. Where it is more than one, nobody approves what they asked for.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub required_approvals: u32,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands it over like this
fn is_one(number: &u32) -> bool {
    *number == 1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    #[serde(default)]
    pub artifacts: Vec<ArtifactDefinition>,
    #[serde(default)]
    pub validation: Validation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Json,
    Md,
    Mmd,
    Txt,
    Py,
    Html,
    Csv,
}

impl Format {
    /// The format's name, which is also its file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Md => "md",
            Self::Mmd => "mmd",
            Self::Txt => "txt",
            Self::Py => "py",
            Self::Html => "html",
            Self::Csv => "csv",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactDefinition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
    pub name: String,
    pub format: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValidationMode {
    LlmSchema,
    LlmCustom,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    Strict,
    Lenient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnValidationFailure {
    Retry,
    AskHuman,
    FailCheckpoint,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_mode: Option<ValidationMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_validation_strictness: Option<Strictness>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_validation_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_validation_failure: Option<OnValidationFailure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_validation_retries: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Instructions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_prompt: Option<String>,
    #[serde(default)]
    pub examples: Vec<Example>,
    pub injection_points: InjectionPoints,
    #[serde(default)]
    pub injection_format: InjectionFormat,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreviousVersionPoint {
    BeforeTaskPrompt,
    AfterTaskPrompt,
    BeforeSystemPrompt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReferencePoint {
    BeforeTaskPrompt,
    AfterTaskPrompt,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectionPoints {
    pub previous_version_context: PreviousVersionPoint,
    pub checkpoint_references: ReferencePoint,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentFormat {
    #[default]
    Markdown,
    Xml,
    Json,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectionFormat {
    #[serde(default = "yes")]
    pub include_file_paths: bool,
    #[serde(default = "yes")]
    pub include_file_contents: bool,
    #[serde(default)]
    pub content_format: ContentFormat,
}

fn yes() -> bool {
    true
}

impl Default for InjectionFormat {
    fn default() -> Self {
        Self {
            include_file_paths: true,
            include_file_contents: true,
            content_format: ContentFormat::default(),
        }
    }
}
