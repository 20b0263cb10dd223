//! What a checkpoint's definition compiles to: the one place where a definition becomes work and rules.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    CheckpointDefinition, DEFAULT_RETRY_DELAY, Inputs, Mode, OnFailure, OnValidationFailure, Output,
    Strictness, Validation, ValidationMode,
};
use crate::StepId;
use crate::event::Text;
use crate::plan::body::{
    self, AfterCheck, Agents, Approval, Body, Check, Form, Input, Judge, OnCheck, OutputSpec, Policy, Script,
    When, Work,
};

/// A definition and what it compiles to. Only the definition is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    definition: Arc<CheckpointDefinition>,
    body: Arc<Body>,
}

impl Compiled {
    /// Compiles a definition. It does not fail: definitions are checked before they are stored.
    pub fn new(definition: Arc<CheckpointDefinition>) -> Self {
        let body = Arc::new(compile(&definition));
        Self { definition, body }
    }

    /// The definition.
    pub fn definition(&self) -> &Arc<CheckpointDefinition> {
        &self.definition
    }

    /// What it compiles to.
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }
}

impl Serialize for Compiled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.definition.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Compiled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Arc::<CheckpointDefinition>::deserialize(deserializer).map(Self::new)
    }
}

fn compile(definition: &CheckpointDefinition) -> Body {
    let work = work(definition);
    let policy = policy(definition, &work);
    Body {
        work,
        inputs: inputs(&definition.inputs),
        outputs: outputs(&definition.output),
        checks: checks(&definition.output.validation),
        policy,
    }
}

fn work(definition: &CheckpointDefinition) -> Work {
    let execution = &definition.execution;
    let network = execution.network == Some(true);
    match execution.mode {
        Mode::HumanOnly => {
            let config = execution.human_only_config.clone();
            let (instructions, fields, artifact) = config.map_or_else(Default::default, |config| {
                let artifact = config.artifact_name.zip(config.artifact_format);
                let artifact = artifact.filter(|_| config.save_as_artifact);
                (config.instructions, config.input_fields, artifact)
            });
            let artifact = artifact.map(|(name, format)| (name.into(), format));
            Work::Form(Form { instructions: instructions.into(), fields, artifact })
        }
        Mode::Script => {
            let config = execution.script_config.as_ref();
            Work::Script(Script {
                path: config.map_or_else(Text::default, |script| script.script_path.as_str().into()),
                function: config.map_or_else(Text::default, |script| script.entry_function.as_str().into()),
                asks: config.is_some_and(|script| script.requires_user_input),
                question: config.and_then(|script| script.user_input_prompt.as_deref()).map(Into::into),
                parameters: config.and_then(|script| script.parameters.clone()),
                network,
            })
        }
        Mode::Agentic => {
            let (team, instructions) = (execution.agent_config.clone(), definition.instructions.clone());
            Work::Agents(Agents { team: team.unwrap_or_default(), instructions, network })
        }
    }
}

fn inputs(inputs: &Inputs) -> Vec<Input> {
    let previous = inputs.include_previous_version.then_some(Input::PreviousVersion);
    let outputs = inputs.include_checkpoint_outputs.iter().map(|reference| Input::Output {
        step: StepId::from(reference.checkpoint_id),
        artifacts: reference.artifact_ids.clone(),
        summarise: reference.use_summarization,
    });
    previous.into_iter().chain(outputs).collect()
}

fn outputs(output: &Output) -> Vec<OutputSpec> {
    let declared = output.artifacts.iter().map(|artifact| OutputSpec {
        artifact: artifact.artifact_id,
        name: artifact.name.as_str().into(),
        format: artifact.format,
        description: artifact.description.as_deref().map(Into::into),
        schema: artifact.schema.clone().map(Arc::new),
    });
    declared.collect()
}

fn checks(validation: &Validation) -> Vec<Check> {
    let mode = validation.validation_mode.filter(|_| on_check(validation).is_some());
    let judge = mode.map(|mode| {
        let by_schema = matches!(mode, ValidationMode::LlmSchema | ValidationMode::Both);
        let by_prompt = matches!(mode, ValidationMode::LlmCustom | ValidationMode::Both);
        let strictness = validation.schema_validation_strictness.unwrap_or(Strictness::Strict);
        let prompt = validation.custom_validation_prompt.as_deref().filter(|_| by_prompt);
        Judge { schema: by_schema.then_some(strictness), prompt: prompt.map(Into::into) }
    });
    std::iter::once(Check::Format).chain(judge.map(Check::Judge)).collect()
}

fn policy(definition: &CheckpointDefinition, work: &Work) -> Policy {
    let (execution, people) = (&definition.execution, &definition.human_interaction);
    let approvers: Arc<[Text]> = people.approvers.iter().map(|name| name.as_str().into()).collect();
    let approval = |asked: bool| Approval {
        when: if asked { When::Always } else { When::Never },
        approvers: approvers.clone(),
        needed: people.required_approvals,
        ..Approval::default()
    };
    let timeout = &execution.timeout_config;
    // Waiting for a person has its own deadline: a form's timeout is kept and never fires.
    let timed = timeout.enabled && !matches!(work, Work::Form(_));
    let limit = timeout.timeout_minutes.zip(timeout.on_timeout).filter(|_| timed);
    Policy {
        approve_start: approval(people.requires_approval_to_start),
        approve_complete: approval(people.requires_approval_to_complete),
        max_attempts: execution.retry_config.max_auto_retries + 1,
        max_revisions: people.max_revision_iterations,
        retry_delay_seconds: execution.retry_config.retry_delay_seconds.unwrap_or(DEFAULT_RETRY_DELAY),
        timeout: limit.map(|(minutes, then)| (u64::from(minutes) * 60, after_failure(then))),
        on_failure: after_failure(execution.retry_config.on_failure),
        on_check: on_check(&definition.output.validation).unwrap_or_default(),
        budget: execution.budget,
        ..Policy::default()
    }
}

fn after_failure(then: OnFailure) -> body::OnFailure {
    match then {
        OnFailure::RollbackCheckpoint => body::OnFailure::Rollback,
        OnFailure::PausePipeline => body::OnFailure::Pause,
    }
}

fn on_check(validation: &Validation) -> Option<OnCheck> {
    let (then, retries) = validation.on_validation_failure.zip(validation.max_validation_retries)?;
    let then = match then {
        OnValidationFailure::Retry => AfterCheck::Retry,
        OnValidationFailure::AskHuman => AfterCheck::Ask,
        OnValidationFailure::FailCheckpoint => AfterCheck::Fail,
    };
    validation.enabled.then_some(OnCheck { then, retries, ..OnCheck::default() })
}
