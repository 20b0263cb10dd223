//! Answers a gate of the plan: goes on, repeats, leaves out, or ends. A budget that is used up is raised or not; a
//! question inside a step takes any words.

use super::wrong_run;
use crate::budget::Reached;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{RunEvent, Text};
use crate::flow;
use crate::plan::ChoiceAction;
use crate::state::run::{GateKind, RunStatus};
use crate::{Digest, ExecNo, GateId, Rejection, RunId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct AnswerGate {
    /// The question.
    pub gate: GateId,
    /// The label that was picked.
    pub option: Text,
    /// What the person added.
    pub feedback: Option<Text>,
    /// What was shown, where the person says so.
    pub digest: Option<Digest>,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &AnswerGate) -> Result<(), Rejection> {
    draft.require_person()?;
    let state = draft.run(run)?;
    if state.status != RunStatus::InProgress {
        return Err(wrong_run(draft, run, "answer")?);
    }
    let missing = || Rejection::NotFound { what: "open gate", id: command.gate.to_string() };
    let gate = state.gates.get(&command.gate).cloned().ok_or_else(missing)?;
    if command.digest.is_some() && command.digest != gate.digest {
        return Err(Rejection::Stale { gate: command.gate });
    }
    if let (Some(x), Some((reached, _))) = (gate.x, gate.budget) {
        return answer_budget(draft, run, x, &reached, command);
    }
    if let (Some(x), GateKind::Input | GateKind::Guidance) = (gate.x, gate.kind) {
        let said = command.feedback.clone().unwrap_or_default();
        return super::give_input::decide(draft, run, x, &said);
    }
    let (branch, place, choice) = gate.choice.as_ref().ok_or_else(missing)?;
    let Some(option) = choice.options.iter().find(|option| option.label == command.option) else {
        let labels: Vec<_> = choice.options.iter().map(|option| &*option.label).collect();
        let fault = Fault::at("/option", format!("one of: {}", labels.join(", ")));
        return Err(Rejection::Invalid(vec![fault]));
    };
    draft.on_run(
        run,
        RunEvent::GateAnswered {
            gate: command.gate,
            option: command.option.clone(),
            feedback: command.feedback.clone(),
        },
    );
    match &option.action {
        ChoiceAction::Continue => flow::step_done(draft, run, *branch, place),
        ChoiceAction::Skip(steps) => flow::skip(draft, run, *branch, place, steps),
        ChoiceAction::Repeat(step) => {
            flow::repeat(draft, run, *branch, place, step, command.feedback.as_ref())
        }
        ChoiceAction::Abort => super::abort_run::decide(draft, run, command.feedback.as_ref()),
    }
}

/// What can be answered where a budget is used up.
pub const BUDGET: [&str; 2] = ["raise", "stop"];

/// Raises a budget by what the person adds, by as much again as it was where they add nothing, or stops the work.
fn answer_budget(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    reached: &Reached,
    command: &AnswerGate,
) -> Result<(), Rejection> {
    match &*command.option {
        "raise" => {
            let again = || Text::from(reached.measure.written(reached.limit).to_string());
            let amount = command.feedback.clone().unwrap_or_else(again);
            flow::answer_budget(draft, run, x, command.gate, &amount)
        }
        "stop" => flow::answer_budget(draft, run, x, command.gate, &"stop".into()),
        _ => {
            let fault = Fault::at("/option", format!("one of: {}", BUDGET.join(", ")));
            Err(Rejection::Invalid(vec![fault]))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use serde_json::json;

    use crate::plan::{Body, Choice, ChoiceAction, ChoiceOption, PlanKind, PlanStep, Task};
    use crate::rows::Table;
    use crate::testing::{Scene, answer, outcome_done, pause, resume, run_id, start_plan};
    use crate::{Plan, StepId, StreamId};

    fn step(id: &str, after: &[&str], kind: PlanKind) -> PlanStep {
        let after = after.iter().map(|id| StepId::new(id)).collect();
        PlanStep { id: StepId::new(id), name: id.into(), after, kind }
    }

    fn gate(options: &[(&str, ChoiceAction)]) -> PlanKind {
        let option = |(label, action): &(&str, ChoiceAction)| ChoiceOption {
            label: (*label).into(),
            action: action.clone(),
        };
        PlanKind::Gate(Choice { prompt: "Good?".into(), options: options.iter().map(option).collect() })
    }

    fn plan(steps: Vec<PlanStep>) -> Arc<Plan> {
        let ids = steps.iter().filter(|step| step.kind == PlanKind::Step).map(|step| step.id.clone());
        let task: Task = serde_json::from_value(json!({"executor": "any"})).expect("a task");
        let bodies = ids.map(|id| (id, Arc::new(Body::Task(task.clone())))).collect();
        Arc::new(Plan { steps, bodies })
    }

    /// A draft, a question about it, and a step behind both.
    fn questioned() -> Scene {
        let options = [
            ("on", ChoiceAction::Continue),
            ("again", ChoiceAction::Repeat(StepId::new("draft"))),
            ("without", ChoiceAction::Skip(vec![StepId::new("publish")])),
            ("stop", ChoiceAction::Abort),
        ];
        let mut scene = Scene::new();
        scene.run(start_plan(
            1,
            &plan(vec![
                step("draft", &[], PlanKind::Step),
                step("ask", &["draft"], gate(&options)),
                step("publish", &["ask"], PlanKind::Step),
            ]),
        ));
        scene.run(outcome_done(&scene, 1, 1));
        scene
    }

    #[test]
    fn going_on_begins_what_is_behind() {
        let mut scene = questioned();
        let on = answer(&scene, 1, "ask", "on");
        scene.check(
            on.clone(),
            expect![[r#"
            run R1: GateAnswered
            run R1: ExecutionMade x2 publish at 2
            run R1: AttemptBegan x2 revision 0 attempt 1 work
        "#]],
        );
        scene.check_code(on, "not_found");
    }

    #[test]
    fn a_repeat_leads_back_to_the_gate() {
        let mut scene = questioned();
        scene.check(
            answer(&scene, 1, "ask", "again"),
            expect![[r#"
                run R1: GateAnswered
                run R1: ExecutionMade x2 draft at 0
                run R1: AttemptBegan x2 revision 0 attempt 1 work
                run R1: FrontMoved
            "#]],
        );
        scene.check(
            outcome_done(&scene, 1, 2),
            expect![[r#"
                run R1: ExecutionCompleted x2
                run R1: GateAsked
                run R1: FrontMoved
            "#]],
        );
        assert_eq!(scene.execution(1, 2).place.visit, 2);
    }

    #[test]
    fn a_repeat_reaches_neither_what_is_beside_it_nor_waits_for_it() {
        let again = [("on", ChoiceAction::Continue), ("again", ChoiceAction::Repeat(StepId::new("a")))];
        let mut scene = Scene::new();
        scene.run(start_plan(
            1,
            &plan(vec![
                step("a", &[], PlanKind::Step),
                step("b", &[], PlanKind::Step),
                step("beside", &["a"], PlanKind::Step),
                step("ask", &["a", "b"], gate(&again)),
                step("end", &["ask", "beside"], PlanKind::Step),
            ]),
        ));
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(outcome_done(&scene, 1, 2));
        scene.check(
            answer(&scene, 1, "ask", "again"),
            expect![[r#"
                run R1: GateAnswered
                run R1: ExecutionMade x4 a at 0
                run R1: AttemptBegan x4 revision 0 attempt 1 work
                run R1: FrontMoved
            "#]],
        );
        // The second visit to `a` leads to the gate only, which does not wait for `b` again.
        scene.check(
            outcome_done(&scene, 1, 4),
            expect![[r#"
                run R1: ExecutionCompleted x4
                run R1: GateAsked
                run R1: FrontMoved
            "#]],
        );
        scene.run(answer(&scene, 1, "ask", "on"));
        scene.check(
            outcome_done(&scene, 1, 3),
            expect![[r#"
                run R1: ExecutionCompleted x3
                run R1: ExecutionMade x5 end at 4
                run R1: AttemptBegan x5 revision 0 attempt 1 work
                run R1: FrontMoved
            "#]],
        );
    }

    #[test]
    fn a_step_is_repeated_for_one_gate_at_a_time() {
        let again = [("on", ChoiceAction::Continue), ("again", ChoiceAction::Repeat(StepId::new("a")))];
        let mut scene = Scene::new();
        scene.run(start_plan(
            1,
            &plan(vec![
                step("a", &[], PlanKind::Step),
                step("left", &["a"], gate(&again)),
                step("right", &["a"], gate(&again)),
            ]),
        ));
        scene.run(outcome_done(&scene, 1, 1));
        scene.run(answer(&scene, 1, "left", "again"));
        let second = answer(&scene, 1, "right", "again");
        scene.check(
            second.clone(),
            expect![[r#"
            refused (wrong_state): cannot repeat the step: step a is being repeated already
        "#]],
        );
        scene.run(outcome_done(&scene, 1, 2));
        scene.run(second);
        scene.run(outcome_done(&scene, 1, 3));
        scene.run(answer(&scene, 1, "left", "on"));
        scene.run(answer(&scene, 1, "right", "on"));
        assert_eq!(scene.status(1), "completed");
    }

    #[test]
    fn what_is_left_out_is_passed() {
        let mut scene = questioned();
        scene.check(
            answer(&scene, 1, "ask", "without"),
            expect![[r#"
                run R1: GateAnswered
                run R1: StepSkipped
                run R1: FrontMoved
                run R1: Completed
            "#]],
        );
    }

    #[test]
    fn an_answer_can_end_the_run_and_stays_on_record() {
        let mut scene = questioned();
        scene.check(
            answer(&scene, 1, "ask", "stop"),
            expect![[r#"
            run R1: GateAnswered
            run R1: Aborted
        "#]],
        );
        let row = |column| scene.picture.cell(Table::Gate, StreamId::Run(run_id(1)), 0, column);
        assert_eq!((row("open"), row("answer")), (false.into(), "stop".into()));
    }

    #[test]
    fn only_a_person_picks_and_only_what_is_offered() {
        let mut scene = questioned();
        scene.check_faults(
            answer(&scene, 1, "ask", "maybe"),
            expect![[r#"
            /option: one of: on, again, without, stop
        "#]],
        );
        scene.run(pause(1));
        scene.check_code(answer(&scene, 1, "ask", "on"), "wrong_state");
        scene.run(resume(1));
        scene.as_agent().check_code(answer(&questioned(), 1, "ask", "on"), "not_a_person");
    }
}
