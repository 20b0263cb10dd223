//! The plans of the runs at hand, read from their blobs once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use holdpoint_core::facts::Plans;
use holdpoint_core::{Digest, LoadedPlan, Plan, State};
use holdpoint_store::{BlobError, BlobStore};
use tokio::io::AsyncReadExt;

use crate::load::Loaded;

/// How many plans are kept.
const CAPACITY: usize = 512;

/// Plans by their names.
#[derive(Default)]
pub(crate) struct PlanCache {
    plans: RwLock<HashMap<Digest, Arc<LoadedPlan>>>,
}

impl Plans for PlanCache {
    fn plan(&self, digest: Digest) -> Option<Arc<LoadedPlan>> {
        self.plans.read().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned()
    }
}

impl PlanCache {
    /// Makes sure that the plan of a run is at hand.
    pub async fn ensure(&self, blobs: &dyn BlobStore, loaded: &Loaded) -> Result<(), BlobError> {
        let State::Run(run) = &loaded.state else { return Ok(()) };
        let Some(digest) = run.plan.filter(|digest| self.plan(*digest).is_none()) else { return Ok(()) };
        let mut bytes = Vec::new();
        let mut reader = blobs.get(digest).await?;
        reader.read_to_end(&mut bytes).await.map_err(|cause| BlobError::Io(cause.to_string()))?;
        let plan: Plan = serde_json::from_slice(&bytes).map_err(|_| BlobError::Corrupt(digest))?;
        let loaded = plan.load().map_err(|_| BlobError::Corrupt(digest))?;
        self.keep(digest, loaded);
        Ok(())
    }

    fn keep(&self, digest: Digest, plan: LoadedPlan) {
        let mut plans = self.plans.write().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= CAPACITY {
            plans.clear();
        }
        plans.insert(digest, Arc::new(plan));
    }
}
