//! The plans of the runs at hand: each is read from its blob once, and lives as long as a state that has it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use holdpoint_core::{Digest, LoadedPlan, Plan, State};
use holdpoint_store::{BlobError, BlobStore};
use tokio::io::AsyncReadExt;

use crate::load::Loaded;
use crate::{Engine, SubmitError};

/// Names of plans that nobody has any more are looked for when there are this many.
const MIN_NAMES: usize = 64;

/// Plans by their names, so that runs of the same plan share it. A state holds its plan itself: nothing that happens
/// here can take a plan away from a decision.
#[derive(Default)]
pub(crate) struct Plans {
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    plans: HashMap<Digest, Weak<LoadedPlan>>,
    /// How many names there may be before those without a plan are removed.
    most: usize,
}

impl Plans {
    /// Gives a run its plan, if it has none yet.
    async fn attach(&self, blobs: &dyn BlobStore, loaded: &mut Loaded) -> Result<(), BlobError> {
        let Some(digest) = wanted(loaded) else { return Ok(()) };
        let plan = match self.find(digest) {
            Some(plan) => plan,
            None => self.share(read(blobs, digest).await?),
        };
        loaded.plan = Some(plan);
        Ok(())
    }

    fn find(&self, digest: Digest) -> Option<Arc<LoadedPlan>> {
        self.lock().plans.get(&digest)?.upgrade()
    }

    /// Remembers a plan; the one that others have already, if they do.
    pub fn share(&self, plan: Arc<LoadedPlan>) -> Arc<LoadedPlan> {
        let mut shared = self.lock();
        if let Some(known) = shared.plans.get(&plan.digest).and_then(Weak::upgrade) {
            return known;
        }
        shared.plans.insert(plan.digest, Arc::downgrade(&plan));
        if shared.plans.len() > shared.most.max(MIN_NAMES) {
            shared.plans.retain(|_, plan| plan.strong_count() > 0);
            shared.most = 2 * shared.plans.len();
        }
        plan
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Gives a run its plan.
    pub(crate) async fn attach_plan(&self, loaded: &mut Loaded) -> Result<(), SubmitError> {
        self.inner.plans.attach(&*self.inner.parts.blobs, loaded).await?;
        Ok(())
    }
}

/// The plan that a run still lacks.
pub(crate) fn wanted(loaded: &Loaded) -> Option<Digest> {
    match &loaded.state {
        State::Run(run) if loaded.plan.is_none() => run.plan,
        State::Run(_) | State::Home(_) | State::Pipeline(_) | State::Journal(_) => None,
    }
}

async fn read(blobs: &dyn BlobStore, digest: Digest) -> Result<Arc<LoadedPlan>, BlobError> {
    let mut bytes = Vec::new();
    let mut reader = blobs.get(digest).await?;
    reader.read_to_end(&mut bytes).await.map_err(|cause| BlobError::Io(cause.to_string()))?;
    let plan: Plan = serde_json::from_slice(&bytes).map_err(|_| BlobError::Corrupt(digest))?;
    plan.load().map(Arc::new).map_err(|_| BlobError::Corrupt(digest))
}
