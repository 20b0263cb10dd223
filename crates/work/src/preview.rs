//! What agents would be told now, without telling them.

use holdpoint_agents::prompt::{Brief, Material, Shortened, TooLarge};
use holdpoint_core::definition::{Compiled, CreationMode};
use holdpoint_core::{ExecutionId, State, StreamId};
use serde_json::{Value, json};

use super::agents::{META, defined, materials, rules};
use super::room::{GivenFiles, Missing};
use super::shorten::wanted;
use holdpoint_engine::documents::context::{RenderedContext, rendered};
use holdpoint_engine::{Engine, SubmitError};

/// What the agents of an execution would be told now, where they may be told `budget` tokens at first. Nothing is summarised
/// for it: what would be is marked.
pub(super) async fn preview(
    engine: &Engine,
    id: ExecutionId,
    budget: u64,
) -> Result<Vec<RenderedContext>, SubmitError> {
    let (run, x) = engine.locate_execution(id).await?;
    let loaded = engine.view(StreamId::Run(run)).await?;
    let State::Run(state) = &loaded.state else { return Ok(Vec::new()) };
    let (Some(execution), Some(pipeline)) = (state.execution(x), state.pipeline()) else {
        return Ok(Vec::new());
    };
    let loaded = engine.view(StreamId::Pipeline(pipeline)).await?;
    let State::Pipeline(pipeline) = &loaded.state else { return Ok(Vec::new()) };
    let compiled = execution.body.and_then(|digest| pipeline.bodies.get(&digest));
    let Some(body) = compiled.map(Compiled::body) else { return Ok(Vec::new()) };
    let Some(agents) = body.agents() else { return Ok(Vec::new()) };
    let (config, instructions) = (&agents.team, agents.instructions.as_ref());
    // What is missing is an error of the attempt; a preview shows the rest.
    let given = GivenFiles::of(engine, run, x, Missing::LeaveOut).await.unwrap_or_default();
    let materials = materials(&given, execution);
    let short = wanted(&materials, instructions, &given, budget);
    let rules = rules(config, &body.outputs);
    let feedback: Vec<String> = execution.feedback.iter().map(ToString::to_string).collect();
    let tell = |name: &str, system: &str, task: &str| {
        let brief =
            Brief { instructions, system, task, materials: &materials, feedback: &feedback, rules: &rules };
        let mut told = json!(brief.told());
        mark(&mut told["parts"], &materials, short.as_ref());
        rendered(name, &told)
    };
    Ok(match config.creation_mode {
        CreationMode::MetaAgent => {
            vec![tell("Meta-agent", META, config.meta_agent_instructions.as_deref().unwrap_or_default())]
        }
        CreationMode::Predefined | CreationMode::Single => {
            defined(config).iter().map(|agent| tell(&agent.name, &agent.system, &agent.task)).collect()
        }
    })
}

/// Says of each file what would become of it: `would_be` is `summarised`, `path_only`, or `too_large` where not even that
/// would be enough.
fn mark(
    parts: &mut Value,
    materials: &[Material],
    short: Result<&Vec<(usize, usize, Shortened)>, &TooLarge>,
) {
    let files = materials.iter().enumerate().flat_map(|(m, material)| {
        material.files.iter().enumerate().map(move |(f, file)| (m, f, file.name.as_str()))
    });
    // Files stand in their order behind the system prompt and the task.
    let parts = parts.as_array_mut().into_iter().flatten().filter(|part| part["layer"] != "CRITICAL");
    for (part, (m, f, name)) in parts.zip(files) {
        debug_assert_eq!(part["name"], name);
        match short {
            Ok(short) => {
                if let Some((_, _, how)) = short.iter().find(|(a, b, _)| (*a, *b) == (m, f)) {
                    part["would_be"] = json!(how);
                }
            }
            Err(_) => part["would_be"] = json!("too_large"),
        }
    }
}
