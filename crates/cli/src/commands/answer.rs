//! `holdpoint answer`: approve, ask for a change, fill in a form, pick an option.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::client::{Api, Body, path_part};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::text_of;
use crate::text;

/// Answer what waits for you
///
/// ID is that of an execution or of a question, as `holdpoint inbox` shows it; without one the only thing that waits
/// is answered. Without an answer on the command line the question is put on the terminal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The execution or the question
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
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let api = Api::open(context)?;
    let execution = match &args.id {
        Some(id) => find(&api, id)?,
        None => find_only(&api)?,
    };
    let waiting = execution["waiting_for"].clone();
    if waiting.is_null() {
        let message = format!("nothing is asked there: the execution is {}", text_of(&execution["status"]));
        return Err(Problem::failed("nothing_asked", message, "`holdpoint inbox` lists what waits").into());
    }
    let answer = match given(args, &waiting)? {
        Some(answer) => answer,
        None => ask(context, &execution, &waiting)?,
    };
    let answered = send(&api, &execution, &waiting, answer, args)?;
    if context.output.is_json() {
        context.output.value(&answered)?;
    } else {
        let name = text_of(&answered["checkpoint_name"]);
        context.output.say(&format!("{name} is now {}", text_of(&answered["status"])));
    }
    api.finish();
    Ok(Exit::Done)
}

/// What a person says.
enum Said {
    Yes,
    No(String),
    Fields(Map<String, Value>, Vec<(String, PathBuf)>),
    Text(String),
    Option(String),
}

/// The execution behind an id of either kind.
fn find(api: &Api, id: &str) -> Result<Value, Problem> {
    match api.get(&format!("/api/executions/{}", path_part(id)?)) {
        Err(problem) if problem.code == "not_found" => {}
        found => return found,
    }
    let items = api.list("/api/inbox", 10_000)?;
    let asked = items.iter().find(|item| item["waiting_for"]["gate_id"] == *id);
    if let Some(item) = asked {
        return api.get(&format!("/api/executions/{}", text_of(&item["execution_id"])));
    }
    let message = format!("there is no execution and no open question `{id}`");
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

/// The value that the form's field wants.
fn typed(waiting: &Value, name: &str, text: &str) -> Value {
    let fields = waiting["form"]["input_fields"].as_array();
    let field = fields.into_iter().flatten().find(|field| field["name"] == name || field["field_id"] == name);
    let kind = field.map(|field| text_of(&field["type"])).unwrap_or_default();
    match kind.as_str() {
        "number" | "boolean" => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

fn send(api: &Api, execution: &Value, waiting: &Value, said: Said, args: &Args) -> Result<Value, Problem> {
    let id = text_of(&execution["execution_id"]);
    let at = |action: &str| format!("/api/executions/{id}/{action}");
    let digest = args.digest.clone().map_or_else(|| waiting["digest"].clone(), Value::from);
    match said {
        // Yes to a step that waits for nothing else begins it, or tries it again.
        Said::Yes => match text_of(&waiting["kind"]).as_str() {
            "start" => api.post("/api/executions/start", json!({"run_id": execution["run_id"]})),
            "retry" => api.post(&at("retry"), json!({})),
            _ => api.post(&at("approve"), json!({"digest": digest})),
        },
        Said::No(why) if why.trim().is_empty() => api.post(&at("reject"), json!({})),
        Said::No(why) => api.post(&at("reject"), json!({"feedback": why})),
        Said::Text(text) => api.post(&at("submit"), json!({"user_input": text})),
        Said::Option(label) => {
            let gate = text_of(&waiting["gate_id"]);
            api.post(&format!("/api/gates/{gate}/answer"), json!({"option": label}))
        }
        Said::Fields(fields, files) if files.is_empty() => api.post(&at("submit"), json!({"fields": fields})),
        Said::Fields(fields, files) => {
            let (kind, body) = multipart(&fields, &files)?;
            api.call("POST", &at("submit"), Body::Bytes(kind, body))
        }
    }
}

const BOUNDARY: &str = "holdpoint-7f0c3f3a9b1d4c55";

/// A multipart body: the fields as JSON, and a part per file.
fn multipart(
    fields: &Map<String, Value>,
    files: &[(String, PathBuf)],
) -> Result<(&'static str, Vec<u8>), Problem> {
    let mut body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"fields\"\r\nContent-Type: application/json\r\n\r\n{}\r\n",
        Value::Object(fields.clone())
    )
    .into_bytes();
    for (name, path) in files {
        let bytes = std::fs::read(path).map_err(|error| {
            let message = format!("`{}` cannot be read: {error}", path.display());
            Problem::bad_input("file_unreadable", message, "check the path and its rights")
        })?;
        let filename = path.file_name().unwrap_or_else(|| Path::new("file").as_os_str()).to_string_lossy();
        let quoted = |text: &str| text.replace(['"', '\r', '\n', '\\'], "_");
        body.extend(format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: application/octet-stream\r\n\r\n",
            quoted(name),
            quoted(&filename)
        ).into_bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
    Ok(("multipart/form-data; boundary=holdpoint-7f0c3f3a9b1d4c55", body))
}

/// Puts the question on the terminal.
fn ask(context: &mut Context<'_, '_>, execution: &Value, waiting: &Value) -> Result<Said, Failure> {
    if !std::io::stdin().is_terminal() {
        let actions: Vec<String> = waiting["actions"].as_array().into_iter().flatten().map(text_of).collect();
        let message = format!("an answer is missing; possible here: {}", actions.join(", "));
        let hint = "give one of --approve, --reject TEXT, --field NAME=VALUE, --input TEXT, --option LABEL";
        return Err(Problem::usage("answer_missing", message, hint).into());
    }
    context.output.say(&text_of(&waiting["question"]));
    for artifact in execution["artifacts_generated"].as_array().into_iter().flatten() {
        context.output.say(&format!(
            "  {} ({} bytes)",
            text_of(&artifact["file_path"]),
            artifact["size_bytes"]
        ));
    }
    match text_of(&waiting["kind"]).as_str() {
        "form" => ask_form(context, waiting),
        "script_input" | "guidance" => Ok(Said::Text(line("your answer")?)),
        "choice" => {
            for option in waiting["options"].as_array().into_iter().flatten() {
                context.output.say(&format!("  - {}", text_of(option)));
            }
            Ok(Said::Option(line("your choice")?))
        }
        _ => match line("yes, or what should be different")?.as_str() {
            "y" | "yes" => Ok(Said::Yes),
            "n" | "no" => Ok(Said::No(line("why")?)),
            why => Ok(Said::No(why.to_owned())),
        },
    }
}

fn ask_form(context: &mut Context<'_, '_>, waiting: &Value) -> Result<Said, Failure> {
    context.output.say(&text_of(&waiting["form"]["instructions"]));
    let (mut fields, mut files) = (Map::new(), Vec::new());
    for field in waiting["form"]["input_fields"].as_array().into_iter().flatten() {
        let name = text_of(&field["name"]);
        let default = field.get("default").filter(|value| !value.is_null()).map(text_of);
        let extra = match (&default, field["required"] == true) {
            (Some(default), _) => format!(" [{default}]"),
            (None, true) => " (required)".to_owned(),
            (None, false) => String::new(),
        };
        let said = line(&format!("{}{extra}", text_of(&field["label"])))?;
        if said.is_empty() {
            continue;
        }
        if field["type"] == "file" {
            files.push((name, said.into()));
        } else {
            let value = typed(waiting, &name, &said);
            fields.insert(name, value);
        }
    }
    Ok(Said::Fields(fields, files))
}

/// One line from the terminal.
fn line(question: &str) -> Result<String, Failure> {
    let mut err = std::io::stderr();
    write!(err, "{}: ", text::line(question))?;
    err.flush()?;
    let mut said = String::new();
    let read = std::io::stdin().lock().read_line(&mut said)?;
    if read == 0 {
        return Err(Problem { exit: Exit::Aborted, ..ended() }.into());
    }
    Ok(said.trim_end_matches(['\r', '\n']).trim().to_owned())
}

fn ended() -> Problem {
    Problem::failed(
        "aborted",
        "the input ended before the answer was complete",
        "answer again when you are ready",
    )
}
