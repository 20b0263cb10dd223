//! Plans and checkpoint definitions to make worlds of.

use std::sync::Arc;

use holdpoint_core::StepId;
use holdpoint_core::definition::CheckpointDefinition;
use holdpoint_core::definition::Format;
use holdpoint_core::plan::body::{
    Approval, Check, Criteria, OnFailure, OutputSpec, Policy, SnapshotSpec, Task, Work,
};
use holdpoint_core::plan::{
    AtLimit, Body, Choice, ChoiceAction, ChoiceOption, Condition, Count, Expr, Loop, OnError, Op, Over, Plan,
    PlanKind, PlanStep, Test,
};
use holdpoint_store::SMALL_BLOB;
use serde_json::{Value, json};

use crate::rng::Rng;

/// The context keys that steps leave and conditions read.
pub const KEYS: [&str; 3] = ["count", "ready", "list"];

/// What a step leaves under a key: numbers that a condition can miss or meet, and lists to go through.
pub fn left(rng: &mut Rng, key: &str) -> Value {
    match key {
        "list" => (0..rng.below(4)).map(Value::from).collect(),
        "ready" => json!(rng.percent(60)),
        _ => json!(rng.below(4)),
    }
}

/// Makes a plan: chains, groups, loops, gates, conditions, and work for a client.
pub fn plan(rng: &mut Rng) -> Plan {
    let for_client = rng.percent(30);
    let mut maker = Maker { rng, plan: Plan::default(), count: 0, for_client };
    let mut last: Option<StepId> = None;
    for _ in 0..maker.rng.between(1, 5) {
        let kind = maker.kind(last.as_ref());
        let step = maker.step(kind, last.take().into_iter().collect());
        last = Some(step.id.clone());
        maker.plan.steps.push(step);
    }
    // A second beginning, which joins at the end.
    if maker.rng.percent(30) {
        let beside = maker.step(PlanKind::Step, Vec::new());
        let after = last.into_iter().chain([beside.id.clone()]).collect();
        maker.plan.steps.push(beside);
        let end = maker.step(PlanKind::Step, after);
        maker.plan.steps.push(end);
    }
    maker.skips();
    maker.plan
}

struct Maker<'r> {
    rng: &'r mut Rng,
    plan: Plan,
    count: u32,
    /// Whether a client does most of the work.
    for_client: bool,
}

impl Maker<'_> {
    fn kind(&mut self, before: Option<&StepId>) -> PlanKind {
        match (self.rng.below(10), before) {
            (0, _) if self.rng.percent(10) => PlanKind::Group(self.wide()),
            (0, _) => PlanKind::Group(self.several(false)),
            (1, _) => {
                let chained = self.rng.percent(50);
                let body = self.several(chained);
                PlanKind::Loop(self.repeated(body))
            }
            (2 | 3, Some(before)) => PlanKind::Gate(choice(before)),
            _ => PlanKind::Step,
        }
    }

    /// A loop of any kind, which ends or reaches its limit.
    fn repeated(&mut self, body: Vec<PlanStep>) -> Loop {
        let times = self.rng.between(1, 3) as u32;
        let over = match self.rng.below(10) {
            0..5 => return Loop::times(body, times),
            5 => Over::Times(Count::Of(self.expr())),
            6 => Over::While(self.expr()),
            7 => Over::Until(self.expr()),
            _ => Over::Each(Expr::Test(Test::Var("list".into()))),
        };
        let at_limit = match self.rng.below(10) {
            0 => AtLimit::Fail,
            1..4 => AtLimit::Pause,
            _ => AtLimit::Continue,
        };
        let fail_if = self.rng.percent(5).then(|| self.expr());
        Loop { over, fail_if, at_limit, whole: self.rng.percent(30), ..Loop::times(body, times) }
    }

    /// An expression that holds now and then. Nothing evaluates scripts here, so one of those never can be.
    fn expr(&mut self) -> Expr {
        match self.rng.below(10) {
            0 => Expr::Js("context.count > 1".into()),
            1..5 => Expr::Test(Test::Var("ready".into())),
            _ => Expr::Test(Test::Is("count".into(), Op::Gt, json!(self.rng.below(3)))),
        }
    }

    /// Lets each gate leave out some step of the plan, most often one that is still to come.
    fn skips(&mut self) {
        let steps: Vec<StepId> = self.plan.steps.iter().map(|step| step.id.clone()).collect();
        for (at, step) in self.plan.steps.iter_mut().enumerate() {
            let PlanKind::Gate(choice) = &mut step.kind else { continue };
            let later = if at + 1 < steps.len() { &steps[at + 1..] } else { &steps[..] };
            let skipped = self.rng.pick(later).cloned().into_iter().collect();
            choice.options.push(option("skip", ChoiceAction::Skip(skipped)));
        }
    }

    fn several(&mut self, chained: bool) -> Vec<PlanStep> {
        let mut steps: Vec<PlanStep> = Vec::new();
        for _ in 0..self.rng.between(1, 3) {
            let before = steps.last().map(|step| step.id.clone());
            let after = before.filter(|_| chained).into_iter().collect();
            steps.push(self.step(PlanKind::Step, after));
        }
        steps
    }

    /// Many steps side by side, which all write at once.
    fn wide(&mut self) -> Vec<PlanStep> {
        (0..64).map(|_| self.step(PlanKind::Step, Vec::new())).collect()
    }

    fn step(&mut self, kind: PlanKind, after: Vec<StepId>) -> PlanStep {
        self.count += 1;
        let id = StepId::new(&format!("s{}", self.count));
        if kind == PlanKind::Step {
            let body = Arc::new(self.body());
            self.plan.bodies.insert(id.clone(), body);
        }
        let on_error = if self.rng.percent(50) { OnError::Skip } else { OnError::Enter };
        let when = self.rng.percent(6).then(|| Condition { expr: self.expr(), on_error });
        PlanStep { when, ..PlanStep::new(id, after, kind) }
    }

    fn body(&mut self) -> Body {
        match self.rng.below(100) {
            0..4 => return Body::new(Work::Snapshot(SnapshotSpec::default())),
            n if self.for_client && n < 75 => return self.task(),
            _ => {}
        }
        let mut body = Body::command(["sim"]);
        if self.rng.percent(20) {
            let (name, format) = ("out".into(), Format::Txt);
            body.outputs = vec![OutputSpec { artifact: None, name, format, description: None, schema: None }];
        }
        // A plan with this in it is too large to travel with an append.
        if self.rng.percent(5) {
            body = Body { outputs: body.outputs, ..Body::command(["sim", &"x".repeat(SMALL_BLOB)]) };
        }
        body.policy = Policy {
            max_attempts: 1 + self.rng.below(3) as u32,
            retry_delay_seconds: self.rng.below(6) as u32,
            approve_start: Approval::when(self.rng.percent(15)),
            approve_complete: Approval::when(self.rng.percent(20)),
            max_revisions: self.rng.below(3) as u32,
            timeout: self.rng.percent(25).then(|| (self.rng.between(3, 20), OnFailure::Pause)),
            on_failure: self.on_failure(),
            ..Policy::default()
        };
        body
    }

    /// Work for a client, whose result is looked at.
    fn task(&mut self) -> Body {
        let mut body = Body::new(Work::Outside(Task { prompt: "do it".into() }));
        if self.rng.percent(60) {
            let min_length = self.rng.below(6) as u32;
            body.checks = vec![Check::Notes(Criteria { min_length, ..Criteria::default() })];
        }
        body.policy = Policy {
            approve_start: Approval::when(self.rng.percent(10)),
            approve_complete: Approval::when(self.rng.percent(25)),
            max_blocked: self.rng.between(1, 4) as u32,
            on_failure: self.on_failure(),
            ..Policy::default()
        };
        body
    }

    /// Mostly a person decides. A run that ends with a failure has little to tell afterwards.
    fn on_failure(&mut self) -> OnFailure {
        match self.rng.below(20) {
            0 => OnFailure::Fail,
            1..=4 => OnFailure::Skip,
            _ => OnFailure::Pause,
        }
    }
}

fn option(label: &str, action: ChoiceAction) -> ChoiceOption {
    ChoiceOption { label: label.into(), action }
}

fn choice(before: &StepId) -> Choice {
    let options = vec![
        option("on", ChoiceAction::Continue),
        option("again", ChoiceAction::Repeat(before.clone())),
        option("later", ChoiceAction::Pause),
        option("end", ChoiceAction::Abort),
    ];
    Choice { prompt: "and now?".into(), options, ..Choice::default() }
}

/// Makes a checkpoint's definition: a form, or a script of some kind.
pub fn checkpoint(rng: &mut Rng, name: &str) -> CheckpointDefinition {
    let form = rng.percent(45);
    let failing = if rng.percent(70) { "pause_pipeline" } else { "rollback_checkpoint" };
    let retry = json!({
        "max_auto_retries": if form { 0 } else { rng.below(3) },
        "retry_delay_seconds": rng.below(5),
        "on_failure": failing
    });
    let execution = if form { form_execution(rng, &retry) } else { script_execution(rng, &retry, failing) };
    let artifacts =
        if !form && rng.percent(40) { json!([{"name": "report", "format": "txt"}]) } else { json!([]) };
    let validation = if !form && rng.percent(35) { judge(rng) } else { json!({"enabled": false}) };
    let definition = json!({
        "checkpoint_name": name,
        "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": execution,
        "human_interaction": {
            "requires_approval_to_start": rng.percent(25),
            "requires_approval_to_complete": rng.percent(50),
            "max_revision_iterations": rng.below(3),
            "approvers": if rng.percent(10) { json!(["ann", "bob", "eve"]) } else { json!([]) },
            "required_approvals": if rng.percent(20) { 2 } else { 1 }
        },
        "output": {"artifacts": artifacts, "validation": validation},
        "instructions": {
            "task_prompt": "do it",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt"
            }
        }
    });
    serde_json::from_value(definition).expect("the stock holds good definitions")
}

fn form_execution(rng: &mut Rng, retry: &Value) -> Value {
    let fields = json!([{"name": "answer", "type": "multiline_text", "label": "Answer", "required": true}]);
    let mut config = json!({"instructions": "fill it in", "input_fields": fields, "save_as_artifact": false});
    if rng.percent(70) {
        config["save_as_artifact"] = json!(true);
        config["artifact_name"] = json!("a");
        config["artifact_format"] = json!("json");
    }
    json!({
        "mode": "human_only",
        "human_only_config": config,
        "retry_config": retry,
        "timeout_config": {"enabled": false}
    })
}

fn script_execution(rng: &mut Rng, retry: &Value, failing: &str) -> Value {
    let mut config = json!({"script_path": "a.py", "requires_user_input": false});
    if rng.percent(25) {
        config = json!({"script_path": "a.py", "requires_user_input": true, "user_input_prompt": "Which?"});
    }
    let mut timeout = json!({"enabled": false});
    if rng.percent(25) {
        timeout = json!({"enabled": true, "timeout_minutes": 1, "on_timeout": failing});
    }
    json!({"mode": "script", "script_config": config, "retry_config": retry, "timeout_config": timeout})
}

fn judge(rng: &mut Rng) -> Value {
    let then = ["retry", "ask_human", "fail_checkpoint"][rng.below(3) as usize];
    json!({
        "enabled": true,
        "validation_mode": "llm_custom",
        "custom_validation_prompt": "is it good?",
        "on_validation_failure": then,
        "max_validation_retries": rng.below(3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_can_run() {
        for seed in 0..300 {
            let plan = plan(&mut Rng::new(seed));
            assert!(plan.load().is_ok(), "seed {seed}: {:?}", plan.load().err());
        }
    }

    #[test]
    fn every_definition_is_good() {
        for seed in 0..300 {
            let definition = checkpoint(&mut Rng::new(seed), "A");
            let found = holdpoint_core::definition::examine(&definition, &[], &[]);
            assert_eq!(found.errors, [], "seed {seed}");
        }
    }
}
