//! Taking a run of a scratch home as far as there are answers for what it asks.

use holdpoint_core::Actor;
use serde_json::Value;

use crate::answering::{self, Said};
use crate::client::{Api, Woken};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// Where a walk stands with a question.
pub struct Stands {
    /// The execution that asks.
    pub execution: Value,
    /// Why its answer was refused, if there was one.
    pub refused: Option<Problem>,
}

/// Who answers in a walk.
pub trait Players {
    /// The answer to what an execution asks, and who gives it.
    fn next(&mut self, execution: &Value) -> Result<Option<(Actor, Said)>, Problem>;
}

/// Walks until the run ends, or asks what nobody answers.
pub fn walk(
    api: &Api,
    run: &str,
    players: &mut dyn Players,
    context: &mut Context<'_, '_>,
) -> Result<Option<Stands>, Failure> {
    api.take_on(run)?;
    let mut waiter = api.waiter()?;
    let path = format!("/api/runs/{run}");
    loop {
        let now = api.get(&path)?;
        let execution = &now["current_execution"];
        let waiting = &execution["waiting_for"];
        if now["status"] == "in_progress" && waiting.is_null() {
            if api.wait(&mut waiter, false) == Woken::Interrupted {
                let problem = Problem::failed("aborted", "it was broken off", "start it again");
                return Err(Problem { exit: Exit::Aborted, ..problem }.into());
            }
            continue;
        }
        if waiting.is_null() {
            return Ok(None);
        }
        let Some((actor, said)) = players.next(execution)? else {
            return Ok(Some(Stands { execution: execution.clone(), refused: None }));
        };
        context.output.say(&format!(
            "{}: {}",
            text_of(&execution["checkpoint_name"]),
            text_of(&waiting["question"])
        ));
        let sent = api.speaking_as(actor, |api| answering::send(api, execution, said, None));
        if let Err(problem) = sent {
            context.output.say(&format!("refused: {}", problem.message));
            return Ok(Some(Stands { execution: execution.clone(), refused: Some(problem) }));
        }
    }
}
