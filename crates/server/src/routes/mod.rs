//! The routes, one file per area. Each file describes its routes where it writes them and lists them in a
//! function `routes`, which is named here.

mod artifacts;
mod audit;
mod checkpoints;
mod compare;
pub mod docs;
mod dry_runs;
mod events;
mod executions;
mod files;
pub mod health;
mod maybe;
mod metrics;
mod people;
mod pipelines;
mod rollback;
mod runs;
mod sections;
pub mod sign_in;
mod stream;
pub mod tokens;
mod usage;

use std::time::Duration;

use holdpoint_engine::Submitted;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::problem::Problem;

/// How long an answer waits for the files.
const FILES: Duration = Duration::from_millis(250);

/// Adds all routes to a description.
pub fn all(described: OpenApiRouter<App>) -> OpenApiRouter<App> {
    described
        .merge(health::routes())
        .merge(docs::routes())
        .merge(sign_in::routes())
        .merge(tokens::routes())
        .merge(pipelines::routes())
        .merge(files::routes())
        .merge(audit::routes())
        .merge(dry_runs::routes())
        .merge(checkpoints::routes())
        .merge(runs::routes())
        .merge(executions::routes())
        .merge(rollback::routes())
        .merge(artifacts::routes())
        .merge(people::routes())
        .merge(compare::routes())
        .merge(events::routes())
        .merge(stream::routes())
        .merge(usage::routes())
        .merge(metrics::routes())
}

/// Lets the files of the tree follow what was done, for a moment: whoever reads them after the answer finds them.
async fn settled(app: &App, done: &Submitted) -> Result<(), Problem> {
    if let Some(receipt) = &done.receipt {
        // What takes longer follows after the answer: the log has it, and the next start would write it.
        app.engine()?.files_settled(receipt.last, FILES).await;
    }
    Ok(())
}
