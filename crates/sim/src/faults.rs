//! Faults of the disk: errors, crashes and power cuts at any step of a write.

use std::sync::Arc;

use holdpoint_store::memory::{Fault, FaultHook, Step};

use crate::rng::Rng;
use crate::scenery::Scenery;

/// How often each fault happens, in ten thousand steps.
struct Odds {
    error: u64,
    crash: u64,
    power: u64,
}

fn odds(step: Step) -> Odds {
    match step {
        Step::BeforeCommit => Odds { error: 60, crash: 60, power: 15 },
        Step::AfterCommit => Odds { error: 40, crash: 80, power: 15 },
        Step::BlobWrite | Step::BlobSync | Step::BlobRename | Step::BlobSyncFolder => {
            Odds { error: 150, crash: 150, power: 100 }
        }
    }
}

/// A hook that plants faults by chance, more or less often.
pub fn hook(scenery: Arc<Scenery>, mut rng: Rng, weight: u64) -> FaultHook {
    Box::new(move |step| {
        let odds = odds(step);
        let drawn = rng.below(10_000);
        let (error, crash) = (odds.error * weight, (odds.error + odds.crash) * weight);
        let fault = match drawn {
            drawn if drawn < error => Fault::Error,
            drawn if drawn < crash => Fault::Crash,
            drawn if drawn < crash + odds.power * weight => Fault::PowerCut,
            _ => return Fault::None,
        };
        scenery.note(&format!("{fault:?} at {step:?}"));
        fault
    })
}
