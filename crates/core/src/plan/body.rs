//! What a step does, what it is given and must make, and what the rules do about it.
//!
//! Every source of workflows compiles to this. A rule, an executor or a document that asked where a step comes from
//! would have to be written once per source.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::condition::Expr;
use crate::assurance::Level;
use crate::budget::Budget;
use crate::definition::{AgentConfig, FormFormat, Format, InputField, Instructions};
use crate::event::Text;
use crate::{ArtifactId, Digest, StepId};

/// What a step does, with what, and under which rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// The work itself.
    pub work: Work,
    /// What it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// What it must make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputSpec>,
    /// What its result is measured by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The rules.
    #[serde(default, skip_serializing_if = "Policy::is_default")]
    pub policy: Policy,
}

impl Body {
    /// Work without inputs, outputs and checks, under the default rules.
    pub fn new(work: Work) -> Self {
        Self { work, inputs: Vec::new(), outputs: Vec::new(), checks: Vec::new(), policy: Policy::default() }
    }

    /// A command under the default rules.
    pub fn command<const N: usize>(argv: [&str; N]) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        Self::new(Work::Command(CommandLine { argv, ..CommandLine::default() }))
    }

    /// The name of this content.
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }

    /// What a model judges the result by, if one does.
    pub fn judge(&self) -> Option<&Judge> {
        self.checks.iter().find_map(|check| match check {
            Check::Judge(judge) => Some(judge),
            Check::Format | Check::Schema(_) | Check::Notes(_) | Check::Gap(_) => None,
        })
    }

    /// Whether a check of the result is work of its own, done after the work and before anybody is asked.
    pub fn owes_check(&self) -> bool {
        self.checks.iter().any(|check| match check {
            Check::Judge(_) | Check::Gap(_) => true,
            Check::Format | Check::Schema(_) | Check::Notes(_) => false,
        })
    }

    /// An output that it declares.
    pub fn output(&self, name: &str) -> Option<&OutputSpec> {
        self.outputs.iter().find(|output| &*output.name == name)
    }

    /// The form that a person fills in, if its work is one.
    pub fn form(&self) -> Option<&Form> {
        match &self.work {
            Work::Form(form) => Some(form),
            Work::Script(_) | Work::Agents(_) | Work::Command(_) | Work::Outside(_) | Work::Snapshot(_) => {
                None
            }
        }
    }

    /// The agents that do the work, if agents do it.
    pub fn agents(&self) -> Option<&Agents> {
        match &self.work {
            Work::Agents(agents) => Some(agents),
            Work::Form(_) | Work::Script(_) | Work::Command(_) | Work::Outside(_) | Work::Snapshot(_) => None,
        }
    }

    /// The snapshot that the walk takes in passing, if that is all the step does.
    pub fn passing_snapshot(&self) -> Option<&SnapshotSpec> {
        match &self.work {
            Work::Snapshot(spec) if !spec.tree => Some(spec),
            Work::Form(_)
            | Work::Script(_)
            | Work::Agents(_)
            | Work::Command(_)
            | Work::Outside(_)
            | Work::Snapshot(_) => None,
        }
    }

    /// Whether somebody outside does the work: the engine owes nothing.
    pub fn is_outside(&self) -> bool {
        matches!(self.work, Work::Outside(_))
    }
}

/// How the work of a step is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A person fills in a form.
    Form(Form),
    /// A script runs, after a person's input where it needs one.
    Script(Script),
    /// Agents work.
    Agents(Agents),
    /// A command runs.
    Command(CommandLine),
    /// A client does it and hands in the result.
    Outside(Task),
    /// The state is saved. With a folder tree this is work; without one the walk does it in passing.
    Snapshot(SnapshotSpec),
}

/// A form for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// What is to be done.
    pub instructions: Text,
    /// What is asked for.
    pub fields: Vec<InputField>,
    /// The output that the values become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<(Text, FormFormat)>,
}

/// A script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// Its file.
    pub path: Text,
    /// The function that is called.
    pub function: Text,
    /// Whether a person's input is needed first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// What the person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Text>,
    /// What it is called with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Map<String, Value>>,
    /// Whether it reaches the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// Agents that work together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agents {
    /// Who they are and how they talk.
    pub team: AgentConfig,
    /// What all of them are asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// Whether their code reaches the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

/// A program and its arguments; no shell takes part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<Text>,
    /// What it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Text>,
    /// Variables beside those that every command gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(Text, Text)>,
    /// Where it runs, inside the folder of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// Whether the exit code is a result, and not a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verdict: bool,
}

/// Work for a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What is to be done.
    pub prompt: Text,
}

/// A snapshot that the plan asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SnapshotSpec {
    /// What caused it, as documents show it.
    pub trigger: Text,
    /// What it can be found by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Text>,
    /// Whether the folder of the run is captured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
}

/// Something that a step is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The outputs of the same step in the run before.
    PreviousVersion,
    /// Outputs of an earlier step.
    Output {
        /// The step.
        step: StepId,
        /// Which of them; none: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifacts: Option<Vec<ArtifactId>>,
        /// Whether agents get a summary.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        summarise: bool,
    },
}

/// An output that a step must make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSpec {
    /// Its id in every visit; none: each visit gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
    /// What it is called.
    pub name: Text,
    /// Its format.
    pub format: Format,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The JSON Schema of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Arc<Value>>,
}

impl OutputSpec {
    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.name, self.format.extension())
    }
}

/// One measure of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Each output can be read in its format.
    Format,
    /// What a client hands in fits this JSON Schema.
    Schema(Arc<Value>),
    /// What a client hands in has notes, and they meet these criteria.
    Notes(Criteria),
    /// Nothing that the step had to make is missing.
    Gap(Gap),
    /// A model judges.
    Judge(Judge),
}

/// How to tell what is missing. The criteria look at files, so they are evaluated where the work is done; the verdict is
/// an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gap {
    /// What must hold.
    pub criteria: Vec<Criterion>,
    /// A script that says what is missing, in place of criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Text>,
    /// What a person is shown when it stays incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
}

/// Something that must hold after a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// What people call it.
    pub name: Text,
    /// The expression.
    pub check: Text,
}

/// What notes must be like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Criteria {
    /// How many characters they have at least.
    pub min_length: u32,
    /// Texts that they contain, in any case.
    pub contains: Vec<Text>,
    /// Regular expressions that they match.
    pub matches: Vec<Text>,
}

/// How a model judges a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// Whether outputs are held against their schemas, and how strictly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<crate::definition::Strictness>,
    /// What else they are held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Text>,
}

/// The rules of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Who must agree before it begins.
    pub approve_start: Approval,
    /// Who must agree to its result.
    pub approve_complete: Approval,
    /// Attempts that nobody has to ask for.
    pub max_attempts: u32,
    /// Revisions that a person may ask for.
    pub max_revisions: u32,
    /// Results in a row that may be refused before a person is asked.
    pub max_blocked: u32,
    /// Seconds before the next attempt.
    pub retry_delay_seconds: u32,
    /// The limit on one attempt's work in seconds, and what happens after the last one.
    pub timeout: Option<(u64, OnFailure)>,
    /// What happens after the last failed attempt.
    pub on_failure: OnFailure,
    /// What happens when a result does not pass its checks.
    pub on_check: OnCheck,
    /// What one visit may spend before somebody is asked.
    pub budget: Option<Budget>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            approve_start: Approval::default(),
            approve_complete: Approval::default(),
            max_attempts: 1,
            max_revisions: 0,
            max_blocked: 10,
            retry_delay_seconds: 0,
            timeout: None,
            on_failure: OnFailure::Pause,
            on_check: OnCheck::default(),
            budget: None,
        }
    }
}

impl Policy {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Who must agree, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approval {
    /// When somebody must.
    pub when: When,
    /// Who may, by name; empty: everybody whose role allows it.
    pub approvers: Arc<[Text]>,
    /// How many must.
    pub needed: u32,
    /// The weakest proof that an answer needs.
    pub minimum: Level,
    /// Minutes after which the question can no longer be answered.
    pub expires: Option<u32>,
}

impl Default for Approval {
    fn default() -> Self {
        let (approvers, minimum) = (Arc::default(), Level::default());
        Self { when: When::Never, approvers, needed: 1, minimum, expires: None }
    }
}

impl Approval {
    /// One person, anyone whose role allows it, if somebody must agree at all.
    pub fn when(needed: bool) -> Self {
        Self { when: if needed { When::Always } else { When::Never }, ..Self::default() }
    }

    /// Whether somebody must agree, given whether a condition holds.
    pub fn is_needed(&self, holds: impl FnOnce(&Expr) -> bool) -> bool {
        match &self.when {
            When::Never => false,
            When::Always => true,
            When::If(expr) => holds(expr),
        }
    }
}

/// When an approval is needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// It is not.
    #[default]
    Never,
    /// Each time.
    Always,
    /// When this holds, and when it cannot be evaluated.
    If(Expr),
}

impl When {
    /// The condition, if it depends on one.
    pub fn expression(&self) -> Option<&Expr> {
        match self {
            Self::If(expr) => Some(expr),
            Self::Never | Self::Always => None,
        }
    }
}

/// What happens when a step has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// A person is asked, and the run pauses.
    #[default]
    Pause,
    /// The run ends.
    Fail,
    /// The run goes on without the step's result.
    Skip,
    /// The run goes back to before the step.
    Rollback,
}

/// What happens when a result does not pass its checks, and how often before the step has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnCheck {
    /// What happens.
    pub then: AfterCheck,
    /// How often.
    pub retries: u32,
    /// What happens after that: the step has failed, or a person is asked.
    #[serde(default, skip_serializing_if = "AfterCheck::is_fail")]
    pub at_last: AfterCheck,
}

/// What follows from a result that did not pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterCheck {
    /// Another attempt.
    Retry,
    /// A person says what to do.
    Ask,
    /// The step has failed.
    #[default]
    Fail,
}

impl AfterCheck {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    fn is_fail(&self) -> bool {
        *self == Self::Fail
    }
}
