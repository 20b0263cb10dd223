//! Makes a run: the next number of a pipeline, or a plan made from a file.

use std::sync::Arc;

use crate::advance;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Origin, PipelineEvent, RunEvent, Text};
use crate::plan::PlanFault;
use crate::{PipelineId, Plan, Rejection, RunId, SessionId, StepId, StreamId, canonical};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// The run's id.
    pub run: RunId,
    /// What to execute.
    pub source: Source,
    /// Whether it begins at once.
    pub start: bool,
}

/// What a run executes.
#[derive(Clone, Debug)]
pub enum Source {
    /// The present order of a pipeline.
    Pipeline(PipelineId),
    /// A plan.
    Plan {
        /// The plan.
        plan: Arc<Plan>,
        /// What people call it.
        title: Text,
        /// The workstream that it belongs to; its own, if not given.
        session: Option<SessionId>,
    },
}

/// The streams that the rule looks at.
pub(super) fn needs(command: &StartRun, wanted: &mut Vec<StreamId>) {
    if let Source::Pipeline(pipeline) = command.source {
        wanted.push(StreamId::Pipeline(pipeline));
    }
    wanted.push(StreamId::Run(command.run));
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, command: &StartRun) -> Result<(), Rejection> {
    let run = command.run;
    draft.reply.run = Some(run);
    if draft.any_run(run).is_ok() {
        return Err(Rejection::Exists { what: "run", id: run.to_string() });
    }
    let (plan, origin) = match &command.source {
        Source::Pipeline(pipeline) => number(draft, run, *pipeline)?,
        Source::Plan { plan, title, session } => {
            let session = session.unwrap_or_else(|| run.into());
            (plan.clone(), Origin::File { title: title.clone(), session })
        }
    };
    let invalid = |fault: PlanFault| Rejection::Invalid(vec![Fault::at("/plan", fault.to_string())]);
    let loaded = plan.load().map_err(invalid)?;
    loaded.check_expressions(draft.facts.evaluator).map_err(invalid)?;
    let digest = draft.keep_blob(canonical(&*plan));
    let total = loaded.total();
    draft.keep_plan(Arc::new(loaded));
    if let Origin::Pipeline { pipeline, number, .. } = &origin {
        draft.on_pipeline(*pipeline, PipelineEvent::RunOpened { run, number: *number });
    }
    draft.on_run(run, RunEvent::Made { origin, plan: digest, total });
    if command.start {
        begin(draft, run)?;
    }
    Ok(())
}

/// Begins a run and its first steps.
pub(super) fn begin(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    draft.on_run(run, RunEvent::Began {});
    advance::start_plan(draft, run)
}

fn number(draft: &Draft<'_>, run: RunId, id: PipelineId) -> Result<(Arc<Plan>, Origin), Rejection> {
    let pipeline = super::delete_pipeline::live(draft, id, "start a run")?;
    if pipeline.order.is_empty() {
        return Err(Rejection::WrongState {
            action: "start a run",
            what: "pipeline",
            id: id.to_string(),
            state: "without checkpoints",
            possible: vec!["add a checkpoint"],
        });
    }
    let steps = pipeline.ordered().map(|(id, d)| (StepId::from(id), d.checkpoint_name.as_str().into()));
    let origin = Origin::Pipeline {
        pipeline: id,
        definition_version: pipeline.definition_version,
        number: pipeline.next_number,
        previous: pipeline.latest().map(|(number, run)| (run, number)).filter(|(other, _)| *other != run),
    };
    Ok((Arc::new(Plan::linear(steps)), origin))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::testing::{Scene, approve_all, form, human, start};

    #[test]
    fn the_first_checkpoint_starts_with_the_run() {
        let mut scene = Scene::new().with_pipeline(&[human("A"), human("B")]);
        scene.check(
            start(1),
            expect![[r#"
                pipeline: RunOpened { run: R1, number: 1 }
                run R1: Made { v1 of definition 3 }
                run R1: Began
                run R1: ExecutionMade x1 A at 0
                run R1: Asked x1 approve_start
            "#]],
        );
        assert_eq!(scene.status(1), "in_progress: x1 waiting_approval_to_start");
    }

    #[test]
    fn without_approval_the_first_checkpoint_is_in_progress() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]);
        scene.run(start(1));
        assert_eq!(scene.status(1), "in_progress: x1 in_progress");
    }

    #[test]
    fn the_next_run_extends_the_one_before() {
        let mut scene = Scene::new().with_pipeline(&[form("A")]);
        scene.run(start(1));
        approve_all(&mut scene, 1);
        scene.check(
            start(2),
            expect![[r#"
                pipeline: RunOpened { run: R2, number: 2 }
                run R2: Made { v2 of definition 2, extends v1 }
                run R2: Began
                run R2: ExecutionMade x1 A at 0
                run R2: AttemptBegan x1 revision 0 attempt 1
                run R2: Asked x1 form
            "#]],
        );
    }

    #[test]
    fn a_pipeline_without_checkpoints_cannot_run() {
        Scene::new().with_pipeline(&[]).check(start(1), expect![[r#"
            refused (wrong_state): cannot start a run: pipeline 00000000-0000-7000-8000-000000000001 is without checkpoints
        "#]]);
    }
}
