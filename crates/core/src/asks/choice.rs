//! A gate of the plan: continue, repeat a step, skip steps, pause, or end the run.

use std::sync::Arc;

use serde_json::Map;

use super::Answered;
use crate::advance;
use crate::commands::abort_run;
use crate::decision::Draft;
use crate::event::{Place, RunEvent};
use crate::plan::{Choice, ChoiceAction, NodeShape};
use crate::state::run::{Ask, Gate};
use crate::{ActorKind, BranchNo, GateId, Rejection, RunId};

/// Asks what the plan asks at a place.
pub fn ask(
    draft: &mut Draft<'_>,
    run: RunId,
    branch: BranchNo,
    place: Place,
    choice: &Arc<Choice>,
) -> Result<GateId, Rejection> {
    let gate = GateId(draft.ids.mint());
    let digest = super::shown(draft, run, gate, &Ask::Choice(choice.clone()), None, &[])?;
    let expires = choice.expires.map(|minutes| draft.envelope.at.plus_seconds(u64::from(minutes) * 60));
    let (choice, minimum) = (choice.clone(), choice.minimum);
    draft.on_run(run, RunEvent::GateAsked { gate, branch, place, choice, digest, minimum, expires });
    Ok(gate)
}

/// The rule.
pub(crate) fn answer(draft: &mut Draft<'_>, at: &Answered<'_>) -> Result<(), Rejection> {
    let Ask::Choice(choice) = &at.gate.ask else { return Err(Rejection::Stale { gate: at.id }) };
    let Some(option) = choice.options.iter().find(|option| option.label == at.answer.option) else {
        return Err(at.no_such_option());
    };
    let (run, branch, place) = (at.run, at.gate.branch, &at.gate.place);
    let feedback = at.answer.feedback.clone();
    draft.on_run(
        run,
        RunEvent::GateAnswered {
            gate: at.id,
            digest: at.gate.digest,
            assurance: at.assurance,
            option: option.label.clone(),
            feedback: feedback.clone(),
        },
    );
    match &option.action {
        ChoiceAction::Continue => advance::step_done(draft, run, branch, place, &Map::new()),
        ChoiceAction::Skip(steps) => advance::skip(draft, run, branch, place, steps),
        ChoiceAction::Repeat(step) => advance::repeat(draft, run, branch, place, step, feedback.as_ref()),
        ChoiceAction::Pause => pause(draft, run),
        ChoiceAction::Abort => abort_run::decide(draft, run, feedback.as_ref()),
    }
}

fn pause(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    if !draft.run(run)?.pause_requested {
        draft.on_run(run, RunEvent::PauseAsked {});
    }
    advance::settle(draft, run)
}

/// Asks again at the gates at which the run was paused. Where the person who resumes may decide, that is the decision
/// to continue.
pub fn ask_again(draft: &mut Draft<'_>, run: RunId, decides: bool) -> Result<(), Rejection> {
    for (branch, place, choice) in paused_at(draft, run)? {
        let gate = ask(draft, run, branch, place.clone(), &choice)?;
        let option = choice.options.iter().find(|option| option.action == ChoiceAction::Continue);
        let envelope = draft.envelope;
        let may =
            decides && envelope.actor.kind == ActorKind::Person && envelope.assurance.level >= choice.minimum;
        if let (Some(option), true) = (option, may) {
            let missing = || Rejection::GateAnswered { gate };
            let digest = draft.run(run)?.gates.get(&gate).ok_or_else(missing)?.digest;
            let (assurance, option) = (envelope.assurance, option.label.clone());
            draft.on_run(run, RunEvent::GateAnswered { gate, digest, assurance, option, feedback: None });
            advance::step_done(draft, run, branch, &place, &Map::new())?;
        }
    }
    Ok(())
}

/// The gates of the plan that were reached and are not asked.
fn paused_at(draft: &Draft<'_>, run: RunId) -> Result<Vec<(BranchNo, Place, Arc<Choice>)>, Rejection> {
    let (state, plan) = (draft.run(run)?, draft.plan(run)?);
    let is_asked = |branch: BranchNo, place: &Place| {
        state.gates.values().any(|gate: &Arc<Gate>| gate.branch == branch && gate.place == *place)
    };
    let mut found = Vec::new();
    for (no, branch) in state.live_branches() {
        for place in &branch.front.todo {
            let Some(node) = plan.find(&place.step) else { continue };
            let NodeShape::Gate(choice) = &plan.nodes[node].kind else { continue };
            if !is_asked(no, place) {
                found.push((no, place.clone(), choice.clone()));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;

    use crate::plan::{Body, Choice, ChoiceAction, ChoiceOption, PlanKind, PlanStep};
    use crate::rows::Table;
    use crate::testing::{
        Scene, When, answer, on_run, outcome_done, outcome_failed, pause, resume, retry, run_id, start_plan,
    };
    use crate::{Assurance, Level, RunCommand};
    use crate::{Plan, StepId, StreamId};

    fn step(id: &str, after: &[&str], kind: PlanKind) -> PlanStep {
        let after = after.iter().map(|id| StepId::new(id)).collect();
        PlanStep::new(StepId::new(id), after, kind)
    }

    fn gate(options: &[(&str, ChoiceAction)]) -> PlanKind {
        let option = |(label, action): &(&str, ChoiceAction)| ChoiceOption {
            label: (*label).into(),
            action: action.clone(),
        };
        let options = options.iter().map(option).collect();
        PlanKind::Gate(Choice { prompt: "Good?".into(), options, ..Choice::default() })
    }

    fn plan(steps: Vec<PlanStep>) -> Arc<Plan> {
        let ids = steps.iter().filter(|step| step.kind == PlanKind::Step).map(|step| step.id.clone());
        let bodies = ids.map(|id| (id, Arc::new(Body::command(["any"])))).collect();
        Arc::new(Plan { steps, bodies, ..Plan::default() })
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
                run R1: AttemptBegan x2 revision 0 attempt 1
            "#]],
        );
        scene.check_code(on, "gate_answered");
    }

    #[test]
    fn a_repeat_leads_back_to_the_gate() {
        let mut scene = questioned();
        scene.check(
            answer(&scene, 1, "ask", "again"),
            expect![[r#"
                run R1: GateAnswered
                run R1: ExecutionMade x2 draft at 0
                run R1: AttemptBegan x2 revision 0 attempt 1
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
                run R1: AttemptBegan x4 revision 0 attempt 1
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
                run R1: AttemptBegan x5 revision 0 attempt 1
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

    /// A gate at which a run can be paused.
    fn pausable(minimum: Level, expires: Option<u32>) -> Scene {
        let options = [("on", ChoiceAction::Continue), ("later", ChoiceAction::Pause)];
        let mut ask = step("ask", &["draft"], gate(&options));
        if let PlanKind::Gate(choice) = &mut ask.kind {
            (choice.minimum, choice.expires) = (minimum, expires);
        }
        let steps = vec![step("draft", &[], PlanKind::Step), ask, step("publish", &["ask"], PlanKind::Step)];
        let mut scene = Scene::new();
        scene.run(start_plan(1, &plan(steps)));
        scene.run(outcome_done(&scene, 1, 1));
        scene
    }

    fn resume_deciding() -> When {
        on_run(1, RunCommand::Resume { decides: true, max: None })
    }

    #[test]
    fn a_run_paused_at_a_gate_is_asked_again() {
        let mut scene = pausable(Level::Local, None);
        let later = answer(&scene, 1, "ask", "later");
        scene.check(
            later.clone(),
            expect![[r#"
                run R1: GateAnswered
                run R1: PauseAsked
                run R1: Paused Asked
            "#]],
        );
        scene.check_code(later, "gate_answered");
        scene.check(
            resume(1),
            expect![[r#"
                run R1: Resumed
                run R1: GateAsked
            "#]],
        );
        let on = answer(&scene, 1, "ask", "on");
        scene.check(
            on,
            expect![[r#"
            run R1: GateAnswered
            run R1: ExecutionMade x2 publish at 2
            run R1: AttemptBegan x2 revision 0 attempt 1
        "#]],
        );
    }

    #[test]
    fn a_retry_that_drops_a_pause_asks_again_at_the_gate() {
        let options = [("on", ChoiceAction::Continue), ("later", ChoiceAction::Pause)];
        let mut scene = Scene::new();
        let steps = vec![
            step("beside", &[], PlanKind::Step),
            step("fails", &[], PlanKind::Step),
            step("ask", &[], gate(&options)),
        ];
        scene.run(start_plan(1, &plan(steps)));
        scene.run(answer(&scene, 1, "ask", "later"));
        scene.run(outcome_failed(&scene, 1, 2));
        scene.check(
            retry(1, 2),
            expect![[r#"
            run R1: RetryGranted x2
            run R1: PauseDropped
            run R1: GateAsked
            run R1: AttemptBegan x2 revision 0 attempt 2
        "#]],
        );
    }

    #[test]
    fn resuming_is_the_decision_of_who_may_decide() {
        let mut scene = pausable(Level::Local, None);
        scene.run(answer(&scene, 1, "ask", "later"));
        scene.check(
            resume_deciding(),
            expect![[r#"
                run R1: Resumed
                run R1: GateAsked
                run R1: GateAnswered
                run R1: ExecutionMade x2 publish at 2
                run R1: AttemptBegan x2 revision 0 attempt 1
            "#]],
        );
        let row = |column| scene.picture.cell(Table::Gate, StreamId::Run(run_id(1)), 1, column);
        assert_eq!((row("open"), row("answer")), (false.into(), "on".into()));
        // Better proved than the person who resumes: the gate asks.
        let mut scene = pausable(Level::Terminal, None);
        scene.assurance = Assurance { level: Level::Terminal };
        scene.run(answer(&scene, 1, "ask", "later"));
        scene.assurance = Assurance::default();
        scene.check(
            resume_deciding(),
            expect![[r#"
            run R1: Resumed
            run R1: GateAsked
        "#]],
        );
    }

    #[test]
    fn an_answer_names_what_was_shown() {
        let mut scene = questioned();
        let mut on = answer(&scene, 1, "ask", "on");
        on.decision().digest = Some(crate::Digest::of(b"something else"));
        scene.check_code(on.clone(), "stale_decision");
        on.decision().digest = None;
        scene.check_code(on, "digest_missing");
        scene.run(answer(&scene, 1, "ask", "on"));
    }

    #[test]
    fn a_gate_can_ask_for_a_better_proof() {
        let mut scene = pausable(Level::Terminal, None);
        let on = answer(&scene, 1, "ask", "on");
        scene.check(on.clone(), expect![[r#"
            refused (assurance_too_low): gate 01900000-0000-7b92-a72f-e3c2bbbcbb3b needs an answer at level terminal, and this one is local
        "#]]);
        scene.assurance = Assurance::PREPARED;
        scene.check_code(on.clone(), "assurance_too_low");
        scene.assurance = Assurance { level: Level::Passkey };
        scene.run(on);
        assert_eq!(scene.status(1), "in_progress: x2 in_progress");
    }

    #[test]
    fn a_gate_can_expire() {
        let mut scene = pausable(Level::Local, Some(1));
        let on = answer(&scene, 1, "ask", "on");
        scene.now = scene.now.plus_seconds(60);
        scene.check_code(on, "gate_expired");
        assert_eq!(scene.state(1).gates.len(), 1, "nothing passes");
    }
}
