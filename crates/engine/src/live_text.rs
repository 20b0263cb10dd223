//! What agents say while they say it. Listeners of this process receive it, and it is kept nowhere: the whole message
//! follows in the journal.

use std::sync::Arc;

use holdpoint_core::{ExecutionId, PipelineId, RunId};
use tokio::sync::broadcast;

use crate::{Engine, WorkContext};

/// How many pieces a listener may be behind before it misses some.
const BEHIND: usize = 1024;

/// A piece of something that an agent is saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveText {
    /// The pipeline.
    pub pipeline: Option<PipelineId>,
    /// The run.
    pub run: RunId,
    /// The execution.
    pub execution: ExecutionId,
    /// Who speaks.
    pub agent: Arc<str>,
    /// What is said.
    pub text: Arc<str>,
    /// Whether it is a thought.
    pub thinking: bool,
    /// Whether the text so far of this message is void.
    pub again: bool,
}

/// A piece of text as an executor passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words of the answer.
    Text(String),
    /// A thought.
    Thinking(String),
    /// The answer begins again.
    Again,
}

/// The channel of live text.
pub(crate) struct LiveTexts(broadcast::Sender<LiveText>);

impl Default for LiveTexts {
    fn default() -> Self {
        Self(broadcast::channel(BEHIND).0)
    }
}

impl Engine {
    /// What agents of this process say from now on.
    pub fn live_texts(&self) -> broadcast::Receiver<LiveText> {
        self.inner.live_texts.0.subscribe()
    }
}

impl WorkContext {
    /// Passes a piece of what an agent says on to those who listen.
    pub fn say_live(&self, agent: &str, piece: Piece) {
        let (text, thinking, again) = match piece {
            Piece::Text(text) => (text, false, false),
            Piece::Thinking(text) => (text, true, false),
            Piece::Again => (String::new(), false, true),
        };
        // Nobody has to listen.
        let _ = self.engine.inner.live_texts.0.send(LiveText {
            pipeline: self.pipeline,
            run: self.run,
            execution: self.execution,
            agent: agent.into(),
            text: text.into(),
            thinking,
            again,
        });
    }
}
