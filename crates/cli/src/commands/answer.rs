//! `holdpoint answer`: approve, ask for a change, fill in a form, pick an option.

use serde_json::{Map, Value};

use crate::answering::{self, Asker, Prepared, Said, Unanswered, send, typed};
use crate::client::{Api, path_part};
use crate::context::Context;
use crate::follow::{self, follow};
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;

/// Answer what waits for you
///
/// ID is that of an execution, a question or a run, as `holdpoint inbox` shows it; without one the only thing that waits
/// is answered. Without an answer on the command line the question is put on the terminal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The execution, the question or the run
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// Say yes to what is shown; a step that waits to be started or tried again is
    #[arg(long, group = "answer")]
    approve: bool,

    /// Say no, and why: a result is done again with this
    #[arg(long, value_name = "TEXT", group = "answer")]
    reject: Option<String>,

    /// A value for a form's field; numbers, true and false are taken as such
    #[arg(long = "field", value_name = "NAME=VALUE", group = "answer")]
    fields: Vec<String>,

    /// A file for a form's field
    #[arg(long = "file", value_name = "NAME=PATH")]
    files: Vec<String>,

    /// A text, where a script or a failed check asks for one
    #[arg(long, value_name = "TEXT", group = "answer")]
    input: Option<String>,

    /// The option to pick, where a choice is asked for
    #[arg(long, value_name = "LABEL", group = "answer")]
    option: Option<String>,

    /// The digest of what you looked at; without it the present content is taken as looked at
    #[arg(long, value_name = "SHA256")]
    digest: Option<String>,

    /// Go on with the run afterwards, as `holdpoint resume` does
    #[arg(long)]
    resume: bool,
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    Api::must_exist(context)?;
    let api = if args.resume { Api::working(context)? } else { Api::open(context)? };
    let execution = match &args.id {
        Some(id) => find(&api, id)?,
        None => find_only(&api)?,
    };
    let waiting = &execution["waiting_for"];
    if waiting.is_null() {
        let message = format!("nothing is asked there: the execution is {}", text_of(&execution["status"]));
        return Err(Problem::failed("nothing_asked", message, "`holdpoint inbox` lists what waits").into());
    }
    let answer = match given(args, waiting)? {
        Some(answer) => answer,
        None => ask(&api, &execution, context)?,
    };
    let answered = send(&api, &execution, answer, args.digest.as_deref())?;
    if args.resume {
        let run = text_of(&execution["run_id"]);
        return follow(api, &run, false, &follow::Options::default(), Prepared::default(), context);
    }
    if context.output.is_json() {
        context.output.value(&answered)?;
    } else {
        let name = text_of(&answered["checkpoint_name"]);
        context.output.say(&format!("{name} is now {}", text_of(&answered["status"])));
        // An approval that is one of several changes nothing else.
        let waiting = &answered["waiting_for"];
        if waiting["who"]["approved_by"].as_array().is_some_and(|given| !given.is_empty()) {
            context.output.say(&text_of(&waiting["question"]));
        }
    }
    api.finish();
    Ok(Exit::Done)
}

/// Puts the question on the terminal.
fn ask(api: &Api, execution: &Value, context: &mut Context<'_, '_>) -> Result<Said, Failure> {
    let waiting = &execution["waiting_for"];
    if !answering::is_terminal() {
        let actions: Vec<String> = waiting["actions"].as_array().into_iter().flatten().map(text_of).collect();
        let message = format!("an answer is missing; possible here: {}", actions.join(", "));
        let hint = "give one of --approve, --reject TEXT, --field NAME=VALUE, --input TEXT, --option LABEL";
        return Err(Problem::usage("answer_missing", message, hint).into());
    }
    let mut waiter = api.waiter()?;
    let asked = Asker { api, waiter: &mut waiter, replaces: false }.ask(execution, context.output);
    asked.map_err(|why| match why {
        Unanswered::Failed(failure) => failure,
        Unanswered::Elsewhere => {
            let message = "somebody else has answered meanwhile";
            Problem::failed("nothing_asked", message, "`holdpoint inbox` lists what waits").into()
        }
        Unanswered::Interrupted | Unanswered::Later => {
            let message = "nothing was answered";
            let problem = Problem::failed("aborted", message, "answer again when you are ready");
            Problem { exit: Exit::Aborted, ..problem }.into()
        }
    })
}

/// The execution behind an id of either kind.
fn find(api: &Api, id: &str) -> Result<Value, Problem> {
    match api.get(&format!("/api/executions/{}", path_part(id)?)) {
        Err(problem) if problem.code == "not_found" => {}
        found => return found,
    }
    match api.get(&format!("/api/runs/{id}")) {
        Err(problem) if problem.code == "not_found" => {}
        found => return Ok(found?["current_execution"].take()),
    }
    let items = api.list("/api/inbox", 10_000)?;
    let asked = items.iter().find(|item| item["waiting_for"]["gate_id"] == *id);
    if let Some(item) = asked {
        return api.get(&format!("/api/executions/{}", text_of(&item["execution_id"])));
    }
    let message = format!("there is no execution, run or open question `{id}`");
    Err(Problem::failed("not_found", message, "`holdpoint inbox` lists what waits, with its ids"))
}

/// The only execution that waits for somebody.
fn find_only(api: &Api) -> Result<Value, Problem> {
    let items = api.list("/api/inbox", 2)?;
    match &items[..] {
        [only] => api.get(&format!("/api/executions/{}", text_of(&only["execution_id"]))),
        [] => Err(Problem::failed(
            "nothing_asked",
            "nothing waits for you",
            "`holdpoint pipeline run` starts a run",
        )),
        _ => {
            let message = "several things wait for you";
            Err(Problem::usage(
                "answer_unclear",
                message,
                "name one: `holdpoint inbox` lists them with their ids",
            ))
        }
    }
}

fn given(args: &Args, waiting: &Value) -> Result<Option<Said>, Problem> {
    if args.approve {
        return Ok(Some(Said::Yes));
    }
    if let Some(why) = &args.reject {
        return Ok(Some(Said::No(why.clone())));
    }
    if let Some(text) = &args.input {
        return Ok(Some(Said::Text(text.clone())));
    }
    if let Some(label) = &args.option {
        return Ok(Some(Said::Option(label.clone())));
    }
    if args.fields.is_empty() && args.files.is_empty() {
        return Ok(None);
    }
    let mut fields = Map::new();
    for pair in &args.fields {
        let (name, value) = split(pair)?;
        fields.insert(name.to_owned(), typed(waiting, name, value));
    }
    let files = args.files.iter().map(|pair| split(pair).map(|(name, path)| (name.to_owned(), path.into())));
    Ok(Some(Said::Fields(fields, files.collect::<Result<_, _>>()?)))
}

fn split(pair: &str) -> Result<(&str, &str), Problem> {
    pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        Problem::usage(
            "bad_field",
            format!("`{pair}` is not NAME=VALUE"),
            "write it like --field goal=\"Ship it\"",
        )
    })
}
