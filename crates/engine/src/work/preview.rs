//! What agents would be told now, without telling them.

use holdpoint_agents::prompt::Brief;
use holdpoint_core::definition::CreationMode;
use holdpoint_core::{ExecutionId, State, StreamId};
use serde_json::json;

use super::agents::{META, defined, materials, rules};
use super::room::GivenFiles;
use crate::documents::context::{RenderedContext, rendered};
use crate::{Engine, SubmitError};

impl Engine {
    /// What the agents of an execution would be told now. Nothing is summarised for it.
    pub(crate) async fn would_tell(&self, id: ExecutionId) -> Result<Vec<RenderedContext>, SubmitError> {
        let (run, x) = self.locate_execution(id).await?;
        let loaded = self.view(StreamId::Run(run)).await?;
        let State::Run(state) = &loaded.state else { return Ok(Vec::new()) };
        let (Some(execution), Some(pipeline)) = (state.executions.get(&x), state.pipeline()) else {
            return Ok(Vec::new());
        };
        let loaded = self.view(StreamId::Pipeline(pipeline)).await?;
        let State::Pipeline(pipeline) = &loaded.state else { return Ok(Vec::new()) };
        let Some(definition) = execution.body.and_then(|digest| pipeline.bodies.get(&digest)) else {
            return Ok(Vec::new());
        };
        let Some(config) = &definition.execution.agent_config else { return Ok(Vec::new()) };
        // What is missing would be an error of the attempt; a preview shows the rest.
        let given = GivenFiles::of(self, id).await.unwrap_or_default();
        let materials = materials(&given, execution);
        let rules = rules(config, &definition.output.artifacts);
        let feedback: Vec<String> = execution.feedback.iter().map(ToString::to_string).collect();
        let tell = |name: &str, system: &str, task: &str| {
            let instructions = definition.instructions.as_ref();
            let brief = Brief {
                instructions,
                system,
                task,
                materials: &materials,
                feedback: &feedback,
                rules: &rules,
            };
            rendered(name, &json!(brief.told()))
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
}
