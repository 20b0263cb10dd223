//! Doing work without its effects: what models would answer and scripts would make is made up, or comes from stubs.
//! Whatever stands around that is real: what agents are told, routing, gates, checks, budgets.

mod made_up;
mod stubs;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_agents::model::{Answer, Part, Price, Question, Stop as AnswerStop};
use holdpoint_agents::prompt::tokens;
use holdpoint_agents::talk::Halt;
use holdpoint_agents::tools::FILE_OPERATIONS;
use holdpoint_core::ExecutionId;
use holdpoint_core::event::Usage;
use holdpoint_core::plan::body::OutputSpec;
use serde_json::{Value, json};

use super::room::{Room, put};
use super::stop::Stop;
use holdpoint_engine::executor::Job;
use made_up::{Fill, from_schema, text_for};
pub use stubs::{Stub, Stubs};

/// How many tokens an answer is taken to have, where nobody says.
pub const ANSWER_TOKENS: u64 = 500;
/// The stable word of an attempt that a stub lets fail.
const STUB_ERROR: &str = "stub_error";

/// Says what a model's tokens cost.
pub type PriceOf = Arc<dyn Fn(&str) -> Option<Price> + Send + Sync>;

/// A rehearsal of one run.
pub struct Rehearsal {
    stubs: Stubs,
    price_of: PriceOf,
    /// The attempts of each execution, in their order: each takes the next stub.
    begun: Mutex<BTreeMap<ExecutionId, Vec<(u32, u32)>>>,
}

impl Rehearsal {
    /// A rehearsal with these stubs.
    pub fn new(stubs: Stubs, price_of: PriceOf) -> Self {
        Self { stubs, price_of, begun: Mutex::default() }
    }

    /// What one attempt, or its check, is played with.
    pub(super) fn part(&self, job: &Job) -> Played {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let attempts = begun.entry(job.execution.id).or_default();
        let this = (job.effect.revision, job.effect.attempt);
        let number = attempts.iter().position(|attempt| *attempt == this).unwrap_or_else(|| {
            attempts.push(this);
            attempts.len() - 1
        });
        let stub =
            self.stubs.of(job.execution.name.as_deref().unwrap_or(&job.execution.place.step.0), number);
        let has_files = job
            .body
            .agents()
            .is_some_and(|agents| agents.team.tools.iter().any(|tool| tool == FILE_OPERATIONS));
        Played { stub, outputs: job.body.outputs.clone(), has_files, price_of: self.price_of.clone() }
    }
}

/// One piece of work that is played.
pub(super) struct Played {
    stub: Stub,
    outputs: Vec<OutputSpec>,
    /// Whether outputs are handed in as files.
    has_files: bool,
    price_of: PriceOf,
}

impl Played {
    /// Puts the outputs of a script where it would have written them.
    pub fn hand_in(&self, room: &Room) -> Result<(), Stop> {
        if let Some(error) = &self.stub.error {
            return Err(Stop::new(STUB_ERROR, error));
        }
        for artifact in &self.outputs {
            put(&room.staging, &artifact.file_name(), self.content(artifact).as_bytes())?;
        }
        Ok(())
    }

    /// What a model could have said, and what that would have cost.
    pub fn answer(&self, question: &Question) -> Result<Answer, Halt> {
        let content = if let Some(tool) = &question.must_call {
            vec![self.call(question, tool)]
        } else {
            if let Some(error) = &self.stub.error {
                return Err(Halt::new(STUB_ERROR, error.clone()));
            }
            self.turn(question)
        };
        let calls = content.iter().any(|part| matches!(part, Part::ToolUse { .. }));
        let stop = if calls { AnswerStop::ToolUse } else { AnswerStop::EndTurn };
        let said = content.iter().map(|part| tokens(&json!(part).to_string())).sum::<u64>();
        let output_tokens = self.stub.tokens.unwrap_or_else(|| said.max(ANSWER_TOKENS));
        let mut usage = Usage { calls: 1, input_tokens: asked(question), output_tokens, ..Usage::default() };
        usage.cost_micros = (self.price_of)(&question.model).map_or(0, |price| price.cost_micros(&usage));
        Ok(Answer { content, stop, usage, model: question.model.clone(), scripted: true })
    }

    /// The call of a tool that must be called.
    fn call(&self, question: &Question, tool: &str) -> Part {
        let schema = question.tools.iter().find(|spec| spec.name == tool).map(|spec| &spec.input_schema);
        let input = match (&self.stub.verdict, schema) {
            (Some(verdict), _) if tool == "verdict" => {
                json!({"passed": verdict.passed, "reasons": verdict.reasons})
            }
            (None, _) if tool == "verdict" => json!({"passed": true, "reasons": []}),
            // As many agents as there may be: the plan is priced by its most expensive form.
            (_, Some(schema)) => from_schema(schema, Fill::Most),
            (_, None) => Value::Null,
        };
        Part::ToolUse { id: format!("made_up_{}", question.messages.len()), name: tool.to_owned(), input }
    }

    /// A turn of an agent: its files first, if it has the tool for them, then its words.
    fn turn(&self, question: &Question) -> Vec<Part> {
        let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
        let last = question.messages.last();
        let handed_in = last.is_some_and(|message| message.content.iter().any(is_result));
        if self.has_files && !handed_in && !self.outputs.is_empty() {
            let write = |(n, artifact): (usize, &OutputSpec)| Part::ToolUse {
                id: format!("made_up_{}_{n}", question.messages.len()),
                name: FILE_OPERATIONS.to_owned(),
                input: json!({
                    "operation": "write", "path": artifact.file_name(), "content": self.content(artifact),
                }),
            };
            return self.outputs.iter().enumerate().map(write).collect();
        }
        let text = match (&self.stub.says, self.outputs.as_slice()) {
            (Some(says), _) => says.clone(),
            (None, [artifact]) if !self.has_files => self.content(artifact),
            (None, _) => made_up::WORDS.to_owned(),
        };
        vec![Part::Text { text }]
    }

    fn content(&self, artifact: &OutputSpec) -> String {
        match self.stub.artifacts.get(&*artifact.name) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
            None => text_for(artifact),
        }
    }
}

/// About how many tokens a question has.
fn asked(question: &Question) -> u64 {
    let frame = question.system.iter().map(|text| tokens(text)).sum::<u64>();
    let said = question.messages.iter().flat_map(|message| &message.content).map(|part| match part {
        Part::Text { text } => tokens(text),
        other => tokens(&json!(other).to_string()),
    });
    let tools = question.tools.iter().map(|tool| tokens(&json!(tool).to_string())).sum::<u64>();
    frame + said.sum::<u64>() + tools
}
