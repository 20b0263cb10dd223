//! A client marks values of the context as critical, whatever their names say.

use super::wrong_run;
use crate::decision::Draft;
use crate::event::{RunEvent, Text};
use crate::state::run::{FrontChange, FrontDelta, Layer, Var};
use crate::{NodeNo, Rejection, RunId};

/// The rule. Keys that are not there are passed over.
pub fn decide(draft: &mut Draft<'_>, run: RunId, node: NodeNo, keys: &[Text]) -> Result<(), Rejection> {
    let state = draft.run(run)?;
    let missing = || Rejection::NotFound { what: "node", id: format!("{} of run {run}", node.0) };
    let branch = state.graph.node(node).ok_or_else(missing)?.branch;
    let live = state.graph.branch(branch).filter(|branch| branch.is_live());
    let Some(live) = live.filter(|_| state.status.is_active()) else {
        return Err(wrong_run(draft, run, "mark values")?);
    };
    let known = keys.iter().filter_map(|key| Some((key.clone(), live.front.context.get(key)?.clone())));
    let marked = known.filter(|(_, var)| var.layer != Layer::Critical);
    let changes: Vec<FrontChange> = marked
        .map(|(key, var)| FrontChange::Context(key, Some(Var { layer: Layer::Critical, ..var })))
        .collect();
    if !changes.is_empty() {
        let delta = FrontDelta { changes, ..FrontDelta::default() };
        draft.on_run(run, RunEvent::FrontMoved { branch, delta });
    }
    Ok(())
}
