//! Reading: the state of a stream as the log has it now, and lists.

use std::sync::Arc;

use holdpoint_core::{State, StreamId};
use holdpoint_store::{Page, Query};

use crate::load::{self, Loaded};
use crate::{Engine, SubmitError};

impl Engine {
    /// The state of a stream, with everything that any process has committed.
    pub async fn view(&self, stream: StreamId) -> Result<Arc<Loaded>, SubmitError> {
        let (slot, known) = self.load(stream).await?;
        let mut loaded = Loaded::clone(&known);
        let bytes = self.read_on(stream, &mut loaded).await?;
        if bytes == 0 {
            return Ok(known);
        }
        slot.grow(bytes);
        let loaded = Arc::new(loaded);
        slot.put(loaded.clone());
        Ok(loaded)
    }

    /// Folds in what others have written since; says how many bytes that was.
    pub(crate) async fn read_on(&self, stream: StreamId, loaded: &mut Loaded) -> Result<u64, SubmitError> {
        let bytes = self.noticed(load::catch_up(self.log(), stream, loaded).await)?;
        self.attach_plan(loaded).await?;
        Ok(bytes)
    }

    /// The state of a run, if it was made.
    pub async fn run(&self, run: holdpoint_core::RunId) -> Result<Option<Arc<Loaded>>, SubmitError> {
        let loaded = self.view(StreamId::Run(run)).await?;
        let made = matches!(&loaded.state, State::Run(state) if state.exists());
        Ok(made.then_some(loaded))
    }

    /// The state of a stream as this process last saw it, if it did: for those who only wait for their own
    /// work.
    pub fn peek(&self, stream: StreamId) -> Option<Arc<Loaded>> {
        self.inner.cache.slot(stream).get()
    }

    /// The position of the last durable event.
    pub fn log_head(&self) -> holdpoint_core::Seq {
        *self.log().head().borrow()
    }

    /// Follows the position of the last durable event.
    pub fn watch_head(&self) -> tokio::sync::watch::Receiver<holdpoint_core::Seq> {
        self.log().head()
    }

    /// A list or a look-up.
    pub async fn query(&self, query: Query) -> Result<Page, SubmitError> {
        Ok(self.log().query(query).await?)
    }
}
