//! Filling in a form, with files or without, and answering a question inside a step.

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request, State};
use axum::response::Response;
use futures_util::TryStreamExt;
use holdpoint_core::command::{Fields, Upload};
use holdpoint_core::event::Role;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{Answer, Digest, ExecNo, ExecutionId, RunCommand, RunId, State as Fold};
use holdpoint_engine::documents::ExecutionAnswer;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::io::StreamReader;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{find, order, shown};
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Json, Path};
use crate::idempotency::{Idempotent, is_form};
use crate::problem::{Code, Problem};
use crate::serve::Limits;

/// The largest part `fields` of a form.
const FIELDS: usize = 1024 * 1024;
/// How many files a form may bring.
const FILES: usize = 100;
/// What a part counts for beside its content.
const PART: usize = 64;

pub(super) fn routes() -> OpenApiRouter<App> {
    // A form with files may be larger than other bodies, so it is counted where it is read.
    OpenApiRouter::new().routes(routes!(submit)).layer(DefaultBodyLimit::disable())
}

/// What a person filled in.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Submission {
    /// Values by field name or id.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    fields: Option<Fields>,
    /// A text, where a script or a failed check asks for one.
    #[serde(default)]
    user_input: Option<String>,
    /// What was shown, from `waiting_for.digest`.
    #[serde(default)]
    digest: Option<String>,
}

/// What came, whichever way.
#[derive(Default)]
struct Came {
    submission: Submission,
    files: Vec<Upload>,
    /// The digests of a multipart body's parts.
    parts: Option<Vec<Digest>>,
}

/// Fill in a form, or answer a question inside a step
///
/// With files as `multipart/form-data`: a part `fields` with JSON, and one part per file, named after its field.
#[utoipa::path(post, path = "/api/executions/{id}/submit", tag = "executions",
    params(("id" = ExecutionId, Path)),
    request_body(content((Submission = "application/json"), (Submission = "multipart/form-data"))),
    responses((status = 200, description = "The execution", body = ExecutionAnswer)))]
async fn submit(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    Path(id): Path<ExecutionId>,
    Extension(limits): Extension<Limits>,
    request: Request,
) -> Result<Response, Problem> {
    let (run, x) = find(&app, &caller, Role::Operator, id).await?;
    let came = if is_form(request.headers()) {
        read_form(&app, limits, request).await?
    } else {
        let (head, body) = request.into_parts();
        let bytes = to_bytes(body, FIELDS).await.map_err(|_| Problem::body_too_large(FIELDS))?;
        let request = Request::from_parts(head, Body::from(bytes));
        let Json(submission) = Json::<Submission>::from_request(request, &app).await?;
        Came { submission, ..Came::default() }
    };
    let key = match &came.parts {
        Some(parts) => key.over(parts),
        None => key,
    };
    let command = command(&app, run, x, came).await?;
    order(&app, &caller, key, id, run, command).await
}

/// What is asked decides what the answer is.
async fn command(app: &App, run: RunId, x: ExecNo, came: Came) -> Result<RunCommand, Problem> {
    let loaded = app.engine()?.run(run).await?;
    let asked = loaded.and_then(|loaded| match &loaded.state {
        Fold::Run(run) => run.gates.get(&run.execution(x)?.gate?).map(|gate| gate.ask.kind()),
        Fold::Home(_) | Fold::Pipeline(_) | Fold::Journal(_) => None,
    });
    let Submission { fields, user_input, digest } = came.submission;
    let digest = shown(digest.as_deref())?;
    let answer = |kind, option: &str| Answer { digest, ..Answer::of(x, kind, option) };
    if asked == Some(AskKind::Budget) {
        let amount =
            || fields.as_ref()?.get("raise_by").map(|by| by.as_str().map_or(by.to_string(), Into::into));
        let said = user_input.or_else(amount).ok_or_else(|| {
            Problem::new(Code::InvalidFields, "an amount is asked for here, or `stop`")
                .field("/user_input", "is required")
        })?;
        let stops = said.trim().eq_ignore_ascii_case("stop");
        let (option, feedback) = if stops { ("stop", None) } else { ("raise", Some(said.into())) };
        return Ok(RunCommand::Answer(Answer { feedback, ..answer(AskKind::Budget, option) }));
    }
    let asks_for_text = matches!(asked, Some(AskKind::Input | AskKind::Guidance));
    if asks_for_text || fields.is_none() && user_input.is_some() {
        let from_fields = || fields.as_ref()?.get("user_input")?.as_str().map(ToOwned::to_owned);
        let text = user_input.or_else(from_fields).ok_or_else(|| {
            Problem::new(Code::InvalidFields, "a text is asked for here").field("/user_input", "is required")
        })?;
        let guides = asked == Some(AskKind::Guidance);
        let (kind, option) = if guides { (AskKind::Guidance, "retry") } else { (AskKind::Input, "submit") };
        return Ok(RunCommand::Answer(Answer { feedback: Some(text.into()), ..answer(kind, option) }));
    }
    let fields = fields.unwrap_or_default();
    Ok(RunCommand::Answer(Answer { fields, files: came.files, ..answer(AskKind::Form, "submit") }))
}

async fn read_form(app: &App, limits: Limits, request: Request) -> Result<Came, Problem> {
    let mut form = Multipart::from_request(request, app)
        .await
        .map_err(|error| Problem::new(Code::BadForm, error.body_text()))?;
    let mut came = Came::default();
    let mut parts = Vec::new();
    let too_large = || Problem::body_too_large(limits.form_bytes);
    let mut left = limits.form_bytes;
    while let Some(part) = form.next_field().await.map_err(|error| broken(&error))? {
        let name = part.name().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(Problem::new(Code::BadForm, "a part of the form has no name"));
        }
        left = left.checked_sub(PART).ok_or_else(too_large)?;
        if part.file_name().is_none() {
            let text = small(part).await?;
            left = left.checked_sub(text.len()).ok_or_else(too_large)?;
            parts.push(Digest::of_json(&(&name, Digest::of(text.as_bytes()))));
            take_text(&mut came.submission, &name, &text)?;
        } else if came.files.len() == FILES {
            return Err(Problem::new(Code::BadForm, format!("a form brings at most {FILES} files")));
        } else {
            let upload = keep(app, &name, part, limits.file_bytes).await?;
            left =
                left.checked_sub(usize::try_from(upload.size).unwrap_or(usize::MAX)).ok_or_else(too_large)?;
            parts.push(Digest::of_json(&(&name, &upload.filename, upload.digest)));
            came.files.push(upload);
        }
    }
    came.parts = Some(parts);
    Ok(came)
}

/// A part that is no file: `fields` as JSON, `user_input`, or a single field.
fn take_text(submission: &mut Submission, name: &str, text: &str) -> Result<(), Problem> {
    match name {
        "fields" => {
            let fields: Fields = serde_json::from_str(text).map_err(|error| {
                Problem::new(Code::InvalidFields, "the part `fields` is no JSON object")
                    .field("/fields", error.to_string())
            })?;
            submission.fields.get_or_insert_default().extend(fields);
        }
        "user_input" => submission.user_input = Some(text.to_owned()),
        "digest" => submission.digest = Some(text.to_owned()),
        name => {
            submission.fields.get_or_insert_default().insert(name.to_owned(), Value::from(text));
        }
    }
    Ok(())
}

async fn small(mut part: Field<'_>) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    while let Some(chunk) = part.chunk().await.map_err(|error| broken(&error))? {
        if bytes.len() + chunk.len() > FIELDS {
            return Err(Problem::body_too_large(FIELDS));
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| Problem::new(Code::BadForm, "a part of the form is not UTF-8 text"))
}

/// Stores a file while it comes in.
async fn keep(app: &App, name: &str, part: Field<'_>, limit: u64) -> Result<Upload, Problem> {
    let filename = part.file_name().unwrap_or_default().to_owned();
    // A part of a form cannot outlive its request, so it comes through a pipe.
    let (mut into, from) = tokio::io::duplex(64 * 1024);
    let engine = app.engine()?.clone();
    let kept = tokio::spawn(async move { engine.keep(Box::new(from), limit).await });
    let mut reader = StreamReader::new(part.map_err(std::io::Error::other));
    let copied = tokio::io::copy(&mut reader, &mut into).await;
    drop(into);
    let kept = kept.await.map_err(|_| Problem::internal())?;
    // Whoever reads stops first when the file is too large, and the copy then finds nobody.
    let (digest, size) = kept?;
    copied.map_err(|error| Problem::body_unreadable(format!("the file could not be read: {error}")))?;
    Ok(Upload { field: name.into(), filename: filename.into(), digest, size })
}

fn broken(error: &MultipartError) -> Problem {
    Problem::new(Code::BadForm, format!("the form cannot be read: {}", error.body_text()))
}
