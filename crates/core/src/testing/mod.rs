//! A scene to test rules in: given what happened, when this is asked, then these events.

mod commands;
mod definitions;
mod picture;
mod plans;
mod show;

pub(crate) use commands::*;
pub(crate) use definitions::*;
pub(crate) use picture::{Drawn, Picture};
pub(crate) use plans::*;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::Expect;
use serde_json::Value;
use show::show;
use uuid::Uuid;

use crate::command::Envelope;
use crate::decision::{Decision, World};
use crate::definition::CheckpointDefinition;
use crate::event::{Origin, encode};
use crate::facts::{Evaluator, Facts, Verdict};
use crate::plan::Evaluated;
use crate::state::{PipelineState, RunState};
use crate::{
    Actor, Assurance, CommandId, Digest, LoadedPlan, Plan, Rejection, State, StreamId, Timestamp, decide,
    needs,
};

/// A small world that commands act on.
#[derive(Clone)]
pub(crate) struct Scene {
    pub states: BTreeMap<StreamId, State>,
    plans: BTreeMap<Digest, Arc<LoadedPlan>>,
    commands: u64,
    pub now: Timestamp,
    pub actor: Actor,
    pub assurance: Assurance,
    /// Every row that was appended, in order.
    pub log: Vec<Row>,
    /// The tables beside the log.
    pub picture: Picture,
}

/// One row of the log.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub stream: StreamId,
    pub at: Timestamp,
    pub actor: Actor,
    pub command: CommandId,
    pub bytes: Vec<u8>,
}

pub(crate) struct Lenient;

impl Evaluator for Lenient {
    /// Knows `true`, `false`, numbers, lists and one path; everything else throws.
    fn expression(&self, source: &str, variables: &[(&'static str, Value)]) -> Result<Evaluated, String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let all = Value::Object(variables.collect());
        let pointer = format!("/{}", source.replace('.', "/"));
        let value = serde_json::from_str(source).ok().or_else(|| all.pointer(&pointer).cloned());
        let value = value.ok_or_else(|| format!("`{source}` threw"))?;
        Ok(Evaluated { holds: !matches!(value, Value::Null | Value::Bool(false)), value })
    }

    fn expression_syntax(&self, source: &str) -> Result<(), String> {
        if source == "broken(" { Err("line 1, column 8: it ends too early".to_owned()) } else { Ok(()) }
    }

    fn field(&self, validation: &str, value: &Value) -> Verdict {
        match validation {
            "never" => Verdict::No(vec![format!("{value} is never right")]),
            _ => Verdict::Yes,
        }
    }

    fn schema(&self, _schema: &Value, _value: &Value) -> Verdict {
        Verdict::Yes
    }

    fn field_syntax(&self, validation: &str) -> Result<(), String> {
        if validation == "broken" { Err("line 1, column 1: broken".to_owned()) } else { Ok(()) }
    }

    fn schema_syntax(&self, schema: &Value) -> Result<(), String> {
        if schema.get("broken").is_some() { Err("broken".to_owned()) } else { Ok(()) }
    }
}

#[allow(clippy::needless_pass_by_value)] // reads better where it is called
impl Scene {
    pub fn new() -> Self {
        Self {
            states: BTreeMap::new(),
            plans: BTreeMap::new(),
            commands: 0,
            now: Timestamp(1_000_000),
            actor: Actor::person("ann"),
            assurance: Assurance::default(),
            log: Vec::new(),
            picture: Picture::default(),
        }
    }

    /// With a pipeline of these checkpoints.
    pub fn with_pipeline(mut self, checkpoints: &[CheckpointDefinition]) -> Self {
        self.run(create("Pipeline"));
        for definition in checkpoints {
            self.run(add(definition.clone()));
        }
        self
    }

    /// With its first run started.
    pub fn with_run(mut self) -> Self {
        self.run(start(1));
        self
    }

    pub fn as_agent(&mut self) -> &mut Self {
        self.actor = Actor::agent("model");
        self
    }

    pub fn pipeline(&self) -> &PipelineState {
        match self.states.get(&StreamId::Pipeline(pipeline_id())) {
            Some(State::Pipeline(state)) => state,
            other => panic!("no pipeline: {other:?}"),
        }
    }

    pub fn state(&self, n: u32) -> &RunState {
        match self.states.get(&StreamId::Run(run_id(n))) {
            Some(State::Run(state)) => state,
            other => panic!("no run: {other:?}"),
        }
    }

    /// An execution of the n-th run that was not rolled back.
    pub fn execution(&self, n: u32, x: u32) -> &crate::state::run::Execution {
        self.state(n).execution(crate::ExecNo(x)).expect("an execution")
    }

    /// The digest of what the open gate of an execution shows.
    pub fn shown(&self, n: u32, x: u32) -> Option<crate::Digest> {
        let state = self.state(n);
        let gate = state.execution(crate::ExecNo(x)).and_then(|e| e.gate);
        gate.and_then(|gate| state.gates.get(&gate)).map(|gate| gate.digest)
    }

    /// The number that a run extends.
    pub fn extends(&self, n: u32) -> Option<u32> {
        match self.state(n).origin.as_ref() {
            Some(Origin::Pipeline { previous, .. }) => previous.map(|(_, number)| number),
            Some(Origin::File { .. }) | None => None,
        }
    }

    /// The status of a run and of its current execution.
    pub fn status(&self, n: u32) -> String {
        let state = self.state(n);
        let status = state.status.name();
        state
            .current()
            .map_or_else(|| status.to_owned(), |(x, e)| format!("{status}: {x} {}", e.state.name()))
    }

    /// Decides a command and, if it is not refused, makes its events real.
    pub fn try_run(&mut self, when: When) -> Result<Decision, Rejection> {
        let (envelope, decision) = self.decide(when)?;
        self.append(&envelope, &decision);
        Ok(decision)
    }

    /// Decides a command, and leaves it at that.
    pub fn decide(&mut self, when: When) -> Result<(Envelope, Decision), Rejection> {
        self.commands += 1;
        self.now = self.now.plus_seconds(1);
        let id =
            CommandId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(self.commands)));
        let envelope = Envelope {
            id,
            at: self.now,
            actor: self.actor.clone(),
            assurance: self.assurance,
            command: when.0,
        };
        let mut empty = BTreeMap::new();
        let decision = loop {
            let mut world = World::default();
            for (stream, state) in empty.iter().chain(&self.states) {
                world.insert(*stream, state);
            }
            self.plans.values().for_each(|plan| world.insert_plan(plan.clone()));
            let wanted = needs(&envelope.command, &world);
            if wanted.is_empty() {
                break decide(
                    &world,
                    &envelope,
                    Facts { evaluator: &Lenient, offers: &crate::facts::NothingKnown },
                )?;
            }
            empty.extend(wanted.into_iter().map(|stream| (stream, State::empty(stream))));
        };
        Ok((envelope, decision))
    }

    /// Makes the events of a decision real.
    pub fn append(&mut self, envelope: &Envelope, decision: &Decision) {
        for (digest, bytes) in &decision.blobs {
            if let Ok(plan) = serde_json::from_slice::<Plan>(bytes)
                && let Ok(loaded) = plan.load()
            {
                self.plans.insert(*digest, Arc::new(loaded));
            }
        }
        for write in &decision.writes {
            write.changes.iter().for_each(|changes| self.picture.apply(write.stream, changes));
            let bytes = encode(&write.events);
            let Envelope { id, at, actor, .. } = envelope.clone();
            self.log.push(Row { stream: write.stream, at, actor, command: id, bytes });
        }
        self.states.extend(decision.after.clone());
    }

    /// Runs a command that must not be refused.
    pub fn run(&mut self, when: When) -> Decision {
        let shown = format!("{:?}", when.0);
        self.try_run(when).unwrap_or_else(|rejection| panic!("{shown} was refused: {rejection}"))
    }

    /// When this is asked, then that happens.
    pub fn check(&mut self, when: When, then: Expect) {
        then.assert_eq(&match self.try_run(when) {
            Ok(decision) if decision.writes.is_empty() => "in effect already\n".to_owned(),
            Ok(decision) => show(&decision),
            Err(rejection) => format!("refused ({}): {rejection}\n", rejection.code()),
        });
    }

    /// When this is asked, it is refused with a code.
    pub fn check_code(&mut self, when: When, code: &str) {
        let refused = self.try_run(when).err().map(|rejection| rejection.code());
        assert_eq!(refused, Some(code));
    }

    /// When this is asked, these faults are named.
    pub fn check_faults(&mut self, when: When, then: Expect) {
        let mut shown = String::new();
        match self.try_run(when) {
            Err(Rejection::Invalid(faults)) => {
                for fault in faults {
                    writeln!(shown, "{}: {}", fault.pointer, fault.message).expect("text grows");
                }
            }
            other => panic!("expected faults: {other:?}"),
        }
        then.assert_eq(&shown);
    }

    /// Lets the next timer of run 1 fire in time.
    pub fn fire(&mut self) -> When {
        let (timer, at) = self.state(1).next_timer().expect("a timer");
        self.now = at;
        fire(1, timer)
    }
}
