//! Staying with a run in the foreground until it ends or waits for somebody.
//!
//! The run does not depend on it: this process may do its work, but whatever was answered or finished stands in
//! the log, and the next `holdpoint resume` goes on from there.

mod ending;
mod teller;

use serde_json::Value;

use crate::answering::{self, Asker, Prepared, Unanswered};
use crate::client::{Api, Waiter, Woken, path_part};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;
use teller::Teller;

/// How a run is followed.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// Never ask on the terminal: end with 3 where a person is asked
    #[arg(long)]
    pub non_interactive: bool,

    /// Prepared answers by checkpoint, in a YAML file
    #[arg(long, value_name = "FILE")]
    pub answers: Option<std::path::PathBuf>,
}

/// Where a run stands.
enum Stands<'a> {
    /// Somebody works on it.
    Works,
    /// It asks something.
    Asks(&'a Value),
    /// It has ended, or is paused.
    Rests,
}

impl Options {
    /// The answers of the file, if there is one. It is read before anything is started.
    pub fn prepared(&self, context: &Context<'_, '_>) -> Result<Prepared, Problem> {
        match &self.answers {
            Some(file) => Prepared::read(&context.resolve(file)?),
            None => Ok(Prepared::default()),
        }
    }
}

/// Follows a run; `fresh` when it was started just now.
pub fn follow(
    api: Api,
    run: &str,
    fresh: bool,
    args: &Options,
    mut prepared: Prepared,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    api.take_on(run)?;
    let mut waiter = api.waiter()?;
    let mut teller = Teller::new(&api, run, fresh, context.output.is_quiet())?;
    let asks = !args.non_interactive && !context.output.is_json() && answering::is_terminal();
    let path = format!("/api/runs/{}", path_part(run)?);
    // A question that was withdrawn while the person was asked, so that the next one says that it is another one.
    let mut withdrawn = false;
    loop {
        let now = api.get(&path)?;
        teller.tell(&api, &now, context.output)?;
        match stands(&now) {
            Stands::Works => match api.wait(&mut waiter, false) {
                Woken::Interrupted => {
                    teller.clear();
                    return interrupted(api, run, context);
                }
                Woken::Changed | Woken::Line(_) => {}
            },
            Stands::Rests => {
                drop(teller);
                api.finish();
                return ending::ended(&now, context);
            }
            Stands::Asks(execution) => {
                teller.clear();
                if let Some(said) = prepared.next(execution)? {
                    let actor = context.prepared_actor();
                    api.prepared(|api| {
                        api.speaking_as(actor, |api| answering::send(api, execution, said, None))
                    })?;
                    continue;
                }
                let answered = if asks {
                    ask(&api, &mut waiter, execution, withdrawn, context)
                } else {
                    Err(Unanswered::Later)
                };
                withdrawn = matches!(answered, Err(Unanswered::Elsewhere));
                match answered {
                    Ok(()) | Err(Unanswered::Elsewhere) => {}
                    Err(Unanswered::Interrupted) => return interrupted(api, run, context),
                    Err(Unanswered::Later) => {
                        api.finish();
                        return ending::waits(&now, execution, context);
                    }
                    Err(Unanswered::Failed(failure)) => return Err(failure),
                }
            }
        }
    }
}

fn stands(run: &Value) -> Stands<'_> {
    let execution = &run["current_execution"];
    match text_of(&run["status"]).as_str() {
        "in_progress" if execution["waiting_for"].is_null() => Stands::Works,
        "in_progress" => Stands::Asks(execution),
        _ => Stands::Rests,
    }
}

/// Asks at the terminal and sends what is said. A refused answer is asked for again.
fn ask(
    api: &Api,
    waiter: &mut Waiter,
    execution: &Value,
    replaces: bool,
    context: &mut Context<'_, '_>,
) -> Result<(), Unanswered> {
    let said = Asker { api, waiter, replaces }.ask(execution, context.output)?;
    match answering::send(api, execution, said, None) {
        Ok(_) => Ok(()),
        Err(problem) => {
            context.output.problem(&problem);
            match &*problem.code {
                "gate_answered" | "stale_decision" | "rolled_back" => Err(Unanswered::Elsewhere),
                _ => Ok(()),
            }
        }
    }
}

/// Ends the command, not the run.
fn interrupted(api: Api, run: &str, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = api.is_home();
    api.abandon();
    api.finish();
    let resume = format!("holdpoint resume {run}{}", context.same_place());
    if context.output.is_json() {
        context.output.value(&serde_json::json!({"run_id": run, "interrupted": true, "next": resume}))?;
    } else if home {
        context.output.say(&format!("the run is not ended; go on with: {resume}"));
    } else {
        context.output.say(&format!("the server goes on with the run; follow it again with: {resume}"));
    }
    Ok(Exit::Aborted)
}
