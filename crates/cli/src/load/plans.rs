//! What the load runs: plans of every shape, and pipelines of forms.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdpoint_core::StepId;
use holdpoint_core::definition::CheckpointDefinition;
use holdpoint_core::plan::body::{Approval, OnFailure, Policy};
use holdpoint_core::plan::{Body, Choice, ChoiceAction, ChoiceOption, Loop, Plan, PlanKind, PlanStep};
use serde_json::{Value, json};

use super::numbers::Numbers;

/// A plan of some shape.
pub fn plan(numbers: &mut Numbers) -> Plan {
    let mut shape = Shape { numbers, bodies: BTreeMap::new(), count: 0 };
    let steps = shape.level(2);
    Plan { steps, bodies: shape.bodies, ..Plan::default() }
}

struct Shape<'a> {
    numbers: &'a mut Numbers,
    bodies: BTreeMap<StepId, Arc<Body>>,
    count: u32,
}

impl Shape<'_> {
    /// A chain whose members may be groups, loops and gates.
    fn level(&mut self, deep: u32) -> Vec<PlanStep> {
        let mut steps: Vec<PlanStep> = Vec::new();
        for _ in 0..=self.numbers.below(3) {
            let before = steps.last().map(|step| step.id.clone());
            let kind = match self.numbers.below(10) {
                0 | 1 if deep > 0 => PlanKind::Group(self.side_by_side()),
                2 | 3 if deep > 0 => {
                    PlanKind::Loop(Loop::times(self.level(deep - 1), 1 + self.numbers.below(3) as u32))
                }
                4 if before.is_some() => PlanKind::Gate(choice(before.as_ref())),
                _ => PlanKind::Step,
            };
            steps.push(self.step(before.into_iter().collect(), kind));
        }
        steps
    }

    fn side_by_side(&mut self) -> Vec<PlanStep> {
        (0..2 + self.numbers.below(2)).map(|_| self.step(Vec::new(), PlanKind::Step)).collect()
    }

    fn step(&mut self, after: Vec<StepId>, kind: PlanKind) -> PlanStep {
        self.count += 1;
        let id = StepId::new(&format!("s{}", self.count));
        if kind == PlanKind::Step {
            let body = self.body();
            self.bodies.insert(id.clone(), Arc::new(body));
        }
        PlanStep::new(id, after, kind)
    }

    fn body(&mut self) -> Body {
        let command = match self.numbers.below(10) {
            0..=4 => "note",
            5..=8 => "nap",
            _ => "flaky",
        };
        let note = "n".repeat(self.numbers.below(200) as usize);
        let policy = Policy {
            max_attempts: 2,
            approve_start: Approval::when(self.numbers.percent(10)),
            approve_complete: Approval::when(self.numbers.percent(15)),
            max_revisions: 2,
            timeout: self.numbers.percent(20).then_some((60, OnFailure::Pause)),
            ..Policy::default()
        };
        Body { policy, ..Body::command([command, &note]) }
    }
}

fn choice(before: Option<&StepId>) -> Choice {
    let option = |label: &str, action| ChoiceOption { label: label.into(), action };
    let mut options = vec![option("go on", ChoiceAction::Continue), option("stop", ChoiceAction::Abort)];
    options.extend(before.map(|step| option("again", ChoiceAction::Repeat(step.clone()))));
    Choice { prompt: "Go on?".into(), options, ..Choice::default() }
}

/// A checkpoint that a person does: a form, with or without a file, approved at its ends or not.
pub fn checkpoint(numbers: &mut Numbers, name: &str) -> CheckpointDefinition {
    let file = numbers.percent(50);
    let mut fields = vec![json!({"name": "answer", "type": "text", "label": "Answer", "required": true})];
    if file {
        fields.push(json!({"name": "doc", "type": "file", "label": "Document", "required": true}));
    }
    let value = definition(name, &json!(fields), numbers.percent(40), numbers.percent(80));
    serde_json::from_value(value).expect("the definition is written out below")
}

fn definition(name: &str, fields: &Value, start: bool, complete: bool) -> Value {
    json!({
        "checkpoint_name": name,
        "checkpoint_description": "",
        "inputs": {"include_previous_version": false},
        "execution": {
            "mode": "human_only",
            "human_only_config": {
                "instructions": "fill it in",
                "input_fields": fields,
                "save_as_artifact": true,
                "artifact_name": "a",
                "artifact_format": "json"
            },
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false}
        },
        "human_interaction": {
            "requires_approval_to_start": start,
            "requires_approval_to_complete": complete,
            "max_revision_iterations": 2
        },
        "output": {"artifacts": [], "validation": {"enabled": false}},
        "instructions": {
            "task_prompt": "do it",
            "injection_points": {
                "previous_version_context": "before_task_prompt",
                "checkpoint_references": "before_task_prompt"
            }
        }
    })
}
