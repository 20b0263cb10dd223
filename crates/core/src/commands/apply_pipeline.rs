//! Makes a pipeline be what a whole description of it says: one order, carried out whole or not at all.
//!
//! Applying the same description twice changes nothing. Checkpoints are known again by id or name, and what
//! stands inside them keeps its ids by name. The rules are those of the orders that change one thing each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use uuid::Uuid;

use super::add_checkpoint::{MAX_CHECKPOINTS, fill_in};
use super::{create_pipeline, delete_pipeline, update_pipeline};
use crate::decision::Draft;
use crate::definition::{
    CheckpointDefinition, Fault, OutputReference, PipelineConfig, examine, examine_offered, examine_syntax,
};
use crate::event::{PipelineEvent, Text};
use crate::state::PipelineState;
use crate::{ArtifactId, CheckpointId, PipelineId, Rejection};

/// What is asked for: all of the pipeline. What is not in it is taken away.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyPipeline {
    /// What people call it.
    pub name: Text,
    /// What it is for.
    pub description: Option<Text>,
    /// Its settings.
    pub config: PipelineConfig,
    /// Its checkpoints, in their order.
    pub checkpoints: Vec<ApplyCheckpoint>,
}

/// A checkpoint of a described pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyCheckpoint {
    /// The checkpoint that it is, where not its name says so.
    pub checkpoint: Option<CheckpointId>,
    /// Its definition without what refers to other checkpoints; ids inside it may be left out.
    pub definition: CheckpointDefinition,
    /// The names or ids of the checkpoints that it depends on.
    pub required: Vec<Text>,
    /// The outputs that it reads.
    pub outputs: Vec<ApplyOutput>,
}

/// Outputs of another checkpoint, by names or ids.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyOutput {
    /// The checkpoint.
    pub checkpoint: Text,
    /// Its artifacts; all, if not given.
    pub artifacts: Option<Vec<Text>>,
    /// Whether a summary will do.
    pub use_summarization: bool,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, id: PipelineId, command: &ApplyPipeline) -> Result<(), Rejection> {
    describe(draft, id, command)?;
    let before = draft.pipeline(id)?.clone();
    if command.checkpoints.len() > MAX_CHECKPOINTS {
        return Err(Rejection::LimitReached { what: "checkpoints", limit: MAX_CHECKPOINTS as u64 });
    }
    let wanted = wanted(draft, &before, command)?;
    let order: Vec<_> = wanted.iter().map(|wanted| wanted.id).collect();
    if !before.order.iter().eq(order.iter()) {
        delete_pipeline::changeable(draft, id, "change the order of checkpoints")?;
    }
    write(draft, id, &before, wanted);
    Ok(())
}

/// The pipeline itself: made, or changed.
fn describe(draft: &mut Draft<'_>, id: PipelineId, command: &ApplyPipeline) -> Result<(), Rejection> {
    let ApplyPipeline { name, description, config, .. } = command.clone();
    if draft.pipeline(id).is_err() {
        return create_pipeline::decide(
            draft,
            id,
            &create_pipeline::CreatePipeline { name, description, config },
        );
    }
    let (name, description, config) = (Some(name), Some(description), Some(config));
    update_pipeline::decide(draft, id, &update_pipeline::UpdatePipeline { name, description, config })
}

/// A checkpoint as it shall be.
struct Wanted {
    id: CheckpointId,
    before: Option<Arc<CheckpointDefinition>>,
    definition: CheckpointDefinition,
    warnings: Vec<Fault>,
}

/// All checkpoints as they shall be, or everything that is wrong with them.
fn wanted(
    draft: &mut Draft<'_>,
    before: &PipelineState,
    command: &ApplyPipeline,
) -> Result<Vec<Wanted>, Rejection> {
    let mut faults = Vec::new();
    let mut wanted = recognise(draft, before, command, &mut faults);
    for (i, asked) in command.checkpoints.iter().enumerate() {
        let (required, outputs) = resolve(&wanted, asked, i, &mut faults);
        wanted[i].definition.dependencies.required_checkpoint_ids = required;
        wanted[i].definition.inputs.include_checkpoint_outputs = outputs;
    }
    // What a name leads to is not known: more faults would only follow from that.
    if faults.is_empty() {
        check(draft, &mut wanted, &mut faults);
    }
    if faults.is_empty() { Ok(wanted) } else { Err(Rejection::Invalid(faults)) }
}

/// Which checkpoint each one is, with the ids that it had or gets.
fn recognise(
    draft: &mut Draft<'_>,
    before: &PipelineState,
    command: &ApplyPipeline,
    faults: &mut Vec<Fault>,
) -> Vec<Wanted> {
    let mut free: Vec<_> = before.ordered().map(|(id, definition)| (id, definition.clone())).collect();
    let mut names = BTreeSet::new();
    let all = &command.checkpoints;
    let by_id: BTreeSet<_> = all.iter().filter_map(|asked| asked.checkpoint).collect();
    let mut wanted = Vec::new();
    for (i, asked) in all.iter().enumerate() {
        let name = &asked.definition.checkpoint_name;
        if !names.insert(name.as_str()) && asked.checkpoint.is_none() {
            let message = "another checkpoint of the file has this name";
            faults.push(Fault::at(format!("/checkpoints/{i}/checkpoint_name"), message));
        }
        let at = match asked.checkpoint {
            Some(id) => free.iter().position(|(known, _)| *known == id),
            None => free.iter().position(|(id, d)| d.checkpoint_name == *name && !by_id.contains(id)),
        };
        if let (Some(id), None) = (asked.checkpoint, at) {
            let message = format!("the pipeline has no checkpoint {id}, or it stands here twice");
            faults.push(Fault::at(format!("/checkpoints/{i}/checkpoint_id"), message));
        }
        let known = at.map(|at| free.remove(at));
        let id = known.as_ref().map_or_else(|| CheckpointId(draft.ids.mint()), |(id, _)| *id);
        let before = known.map(|(_, definition)| definition);
        let mut definition = asked.definition.clone();
        fill_in(draft, &mut definition, before.as_deref());
        wanted.push(Wanted { id, before, definition, warnings: Vec::new() });
    }
    wanted
}

/// What a checkpoint refers to, as ids.
fn resolve(
    wanted: &[Wanted],
    asked: &ApplyCheckpoint,
    i: usize,
    faults: &mut Vec<Fault>,
) -> (Vec<CheckpointId>, Vec<OutputReference>) {
    let base = format!("/checkpoints/{i}");
    let mut required = Vec::new();
    for (j, name) in asked.required.iter().enumerate() {
        match find(wanted, name) {
            Ok(other) => required.push(other.id),
            Err(message) => {
                faults.push(Fault::at(format!("{base}/dependencies/required_checkpoint_ids/{j}"), message));
            }
        }
    }
    let mut outputs = Vec::new();
    for (j, output) in asked.outputs.iter().enumerate() {
        let pointer = format!("{base}/inputs/include_checkpoint_outputs/{j}");
        let other = match find(wanted, &output.checkpoint) {
            Ok(other) => other,
            Err(message) => {
                faults.push(Fault::at(format!("{pointer}/checkpoint_id"), message));
                continue;
            }
        };
        let artifacts = output.artifacts.as_ref().map(|names| artifacts(other, names, &pointer, faults));
        outputs.push(OutputReference {
            checkpoint_id: other.id,
            artifact_ids: artifacts,
            use_summarization: output.use_summarization,
        });
    }
    (required, outputs)
}

/// The checkpoint that a name or an id stands for.
fn find<'w>(wanted: &'w [Wanted], name: &str) -> Result<&'w Wanted, String> {
    let mut named = wanted.iter().filter(|other| other.definition.checkpoint_name == name);
    match (named.next(), named.next()) {
        (Some(other), None) => return Ok(other),
        (Some(_), Some(_)) => return Err(format!("several checkpoints are called `{name}`; give an id")),
        (None, _) => {}
    }
    let id = Uuid::parse_str(name).ok().map(CheckpointId);
    let found = wanted.iter().find(|other| Some(other.id) == id);
    found.ok_or_else(|| format!("no checkpoint is called `{name}`"))
}

/// Artifacts of a checkpoint, as ids.
fn artifacts(other: &Wanted, names: &[Text], pointer: &str, faults: &mut Vec<Fault>) -> Vec<ArtifactId> {
    let mut ids = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let id = Uuid::parse_str(name).ok().map(ArtifactId);
        let mut declared = other.definition.output.artifacts.iter();
        let found = declared.find(|a| *a.name == **name || (id.is_some() && a.artifact_id == id));
        match found.and_then(|artifact| artifact.artifact_id) {
            Some(id) => ids.push(id),
            None => faults.push(Fault::at(
                format!("{pointer}/artifact_ids/{k}"),
                format!("`{}` declares no artifact `{name}`", other.definition.checkpoint_name),
            )),
        }
    }
    ids
}

/// Examines every definition at its place, and reads the rules of those that are new.
fn check(draft: &Draft<'_>, wanted: &mut [Wanted], faults: &mut Vec<Fault>) {
    let definitions: Vec<_> = wanted.iter().map(|wanted| (wanted.id, wanted.definition.clone())).collect();
    let all: Vec<_> = definitions.iter().map(|(id, definition)| (*id, definition)).collect();
    for (i, wanted) in wanted.iter_mut().enumerate() {
        let mut found = examine(&wanted.definition, &all[..i], &all[i + 1..]);
        if wanted.before.as_deref() != Some(&wanted.definition) {
            found.errors.extend(examine_syntax(&wanted.definition, draft.facts.evaluator));
            let tools = examine_offered(&wanted.definition, draft.facts.offers);
            found.errors.extend(tools.errors);
            found.warnings.extend(tools.warnings);
        }
        wanted.warnings = found.warnings;
        faults.extend(found.errors.into_iter().map(|mut fault| {
            fault.pointer = format!("/checkpoints/{i}{}", fault.pointer);
            fault
        }));
    }
}

/// Writes down what is different: what goes, what changes, what stands elsewhere, what comes.
fn write(draft: &mut Draft<'_>, id: PipelineId, before: &PipelineState, wanted: Vec<Wanted>) {
    let places: BTreeMap<_, _> = wanted.iter().enumerate().map(|(i, wanted)| (wanted.id, i)).collect();
    for checkpoint in before.order.iter().copied().filter(|id| !places.contains_key(id)) {
        draft.on_pipeline(id, PipelineEvent::CheckpointRemoved { checkpoint });
    }
    let kept: Vec<_> = before.order.iter().copied().filter(|id| places.contains_key(id)).collect();
    let order: Vec<_> = wanted.iter().filter(|w| w.before.is_some()).map(|wanted| wanted.id).collect();
    if kept != order {
        draft.on_pipeline(id, PipelineEvent::Reordered { order });
    }
    for (position, Wanted { id: checkpoint, before, definition, warnings }) in wanted.into_iter().enumerate()
    {
        let definition = Arc::new(definition);
        let position = position as u32;
        draft.on_pipeline(
            id,
            match before {
                Some(before) if before == definition => continue,
                Some(_) => PipelineEvent::CheckpointChanged { checkpoint, definition, warnings },
                None => PipelineEvent::CheckpointAdded { checkpoint, position, definition, warnings },
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::event::Event;
    use crate::testing::{Scene, apply, approve_all, form, human, reporting, script, start};

    fn of(definitions: &[CheckpointDefinition]) -> ApplyPipeline {
        let checkpoints = definitions.iter().map(|definition| ApplyCheckpoint {
            checkpoint: None,
            definition: definition.clone(),
            required: Vec::new(),
            outputs: Vec::new(),
        });
        ApplyPipeline {
            name: "Research".into(),
            description: None,
            config: PipelineConfig::default(),
            checkpoints: checkpoints.collect(),
        }
    }

    /// A script, and a form that reads what it made.
    fn reading() -> ApplyPipeline {
        let mut command = of(&[reporting(script("Draft", 0)), form("Review")]);
        command.checkpoints[1].required = vec!["Draft".into()];
        let artifacts = Some(vec!["report".into()]);
        command.checkpoints[1].outputs =
            vec![ApplyOutput { checkpoint: "Draft".into(), artifacts, use_summarization: true }];
        command
    }

    fn names(scene: &Scene) -> Vec<&str> {
        scene.pipeline().ordered().map(|(_, definition)| definition.checkpoint_name.as_str()).collect()
    }

    #[test]
    fn a_pipeline_is_made_whole_and_a_second_time_nothing_happens() {
        let mut scene = Scene::new();
        scene.run(apply(reading()));
        let state = scene.pipeline().clone();
        assert_eq!((names(&scene), state.definition_version), (vec!["Draft", "Review"], 3));
        let draft = state.definition(state.order[0]).expect("a definition");
        let review = state.definition(state.order[1]).expect("a definition");
        let output = &review.inputs.include_checkpoint_outputs[0];
        assert_eq!(review.dependencies.required_checkpoint_ids, [state.order[0]]);
        assert_eq!(output.artifact_ids, Some(vec![draft.output.artifacts[0].artifact_id.expect("an id")]));
        scene.check(
            apply(reading()),
            expect![[r#"
            in effect already
        "#]],
        );
        // The same with the ids in place of the names.
        let mut by_ids = reading();
        by_ids.checkpoints[1].required = vec![state.order[0].to_string().into()];
        by_ids.checkpoints[0].checkpoint = Some(state.order[0]);
        scene.check(
            apply(by_ids),
            expect![[r#"
            in effect already
        "#]],
        );
    }

    #[test]
    fn what_is_different_changes_and_nothing_else() {
        let mut scene = Scene::new();
        scene.run(apply(of(&[form("A"), form("B"), form("C")])));
        let [a, b, c] = [0, 1, 2].map(|i| scene.pipeline().order[i]);
        let mut command = of(&[form("C"), form("D"), human("A")]);
        command.name = "Other".into();
        let decision = scene.run(apply(command.clone()));
        let kinds = decision.writes[0].events.iter().map(Event::kind).collect::<Vec<_>>();
        expect![[r#"
            pipe_changed
            cp_removed
            cp_order
            cp_added
            cp_changed"#]]
        .assert_eq(&kinds.join("\n"));
        assert_eq!(names(&scene), ["C", "D", "A"]);
        let order = &scene.pipeline().order;
        assert_eq!((order[0], order[2], order.contains(&b)), (c, a, false));
        scene.check(
            apply(command),
            expect![[r#"
            in effect already
        "#]],
        );
        // With its id a checkpoint keeps being itself under another name.
        let mut renamed = of(&[form("Z"), form("D"), human("A")]);
        (renamed.name, renamed.checkpoints[0].checkpoint) = ("Other".into(), Some(c));
        scene.run(apply(renamed));
        assert_eq!((names(&scene), scene.pipeline().order[0]), (vec!["Z", "D", "A"], c));
    }

    #[test]
    fn everything_that_is_wrong_is_named_and_nothing_is_done() {
        let mut scene = Scene::new();
        let mut command = reading();
        command.checkpoints.push(command.checkpoints[0].clone());
        command.checkpoints[0].required = vec!["Nobody".into()];
        command.checkpoints[1].outputs[0].artifacts = Some(vec!["report".into(), "nothing".into()]);
        command.checkpoints[1].checkpoint = Some(CheckpointId(Uuid::nil()));
        scene.check_faults(apply(command), expect![[r#"
            /checkpoints/1/checkpoint_id: the pipeline has no checkpoint 00000000-0000-0000-0000-000000000000, or it stands here twice
            /checkpoints/2/checkpoint_name: another checkpoint of the file has this name
            /checkpoints/0/dependencies/required_checkpoint_ids/0: no checkpoint is called `Nobody`
            /checkpoints/1/dependencies/required_checkpoint_ids/0: several checkpoints are called `Draft`; give an id
            /checkpoints/1/inputs/include_checkpoint_outputs/0/checkpoint_id: several checkpoints are called `Draft`; give an id
        "#]]);
        let mut command = reading();
        command.checkpoints.reverse();
        command.checkpoints[1].definition.execution.retry_config.max_auto_retries = 9;
        scene.check_faults(apply(command), expect![[r#"
            /checkpoints/0/inputs/include_checkpoint_outputs/0/checkpoint_id: checkpoint `Draft` comes later, so its outputs cannot be read here
            /checkpoints/1/execution/retry_config/max_auto_retries: between 0 and 5
        "#]]);
        assert!(scene.states.is_empty());
        scene.check_code(apply(ApplyPipeline { name: " ".into(), ..reading() }), "invalid_fields");
    }

    #[test]
    fn checkpoints_of_the_same_name_are_told_apart_by_ids() {
        let mut scene = Scene::new().with_pipeline(&[form("A"), form("A")]);
        let ids: Vec<_> = scene.pipeline().order.iter().copied().collect();
        let mut command = ApplyPipeline { name: "Pipeline".into(), ..of(&[form("A"), form("A")]) };
        command.checkpoints[1].required = vec![ids[0].to_string().into()];
        scene.check_code(apply(command.clone()), "invalid_fields");
        (command.checkpoints[0].checkpoint, command.checkpoints[1].checkpoint) = (Some(ids[0]), Some(ids[1]));
        scene.run(apply(command.clone()));
        command.checkpoints[1].required = vec!["A".into()];
        scene.check_faults(
            apply(command),
            expect![[r#"
                /checkpoints/1/dependencies/required_checkpoint_ids/0: several checkpoints are called `A`; give an id
            "#]],
        );
    }

    #[test]
    fn an_active_run_keeps_the_order_but_not_the_content() {
        let mut scene = Scene::new();
        scene.run(apply(of(&[form("A"), form("B")])));
        scene.run(start(1));
        scene.check(
            apply(of(&[form("B"), form("A")])),
            expect![[r#"
            refused (runs_active): 1 active run(s) use this definition
        "#]],
        );
        scene.check_code(apply(of(&[form("A")])), "runs_active");
        scene.check_code(apply(of(&[form("A"), form("B"), form("C")])), "runs_active");
        scene.run(apply(of(&[form("A"), human("B")])));
        approve_all(&mut scene, 1);
        scene.run(apply(of(&[form("A")])));
        assert_eq!(names(&scene), ["A"]);
    }
}
