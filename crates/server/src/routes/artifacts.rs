//! Outputs: lists, what is known about one, and its bytes.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG};
use axum::response::{IntoResponse, Response};
use holdpoint_core::{ArtifactRecordId, Digest, ExecutionId, PipelineId, RunId};
use holdpoint_engine::documents::ArtifactDocument;
use holdpoint_engine::documents::artifact::ArtifactFilter;
use serde::Deserialize;
use tokio_util::io::ReaderStream;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Path, Query};
use crate::paging::{Listed, bounds};
use crate::problem::Problem;

/// How much of a file is read at once.
const CHUNK: usize = 64 * 1024;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get)).routes(routes!(download))
}

/// Which artifacts are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ArtifactQuery {
    /// Of one pipeline.
    pipeline_id: Option<PipelineId>,
    /// Of one run.
    run_id: Option<RunId>,
    /// Of one execution.
    execution_id: Option<ExecutionId>,
    /// Also those of earlier attempts and revisions.
    #[serde(default)]
    all: bool,
    /// How many at most.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

/// List artifacts
///
/// Newest first, without those that were rolled back.
#[utoipa::path(get, path = "/api/artifacts/list", tag = "artifacts", params(ArtifactQuery),
    responses((status = 200, description = "A page of artifacts", body = Listed<ArtifactDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ArtifactQuery>,
) -> Result<axum::Json<Listed<ArtifactDocument>>, Problem> {
    caller.look()?;
    let bounds = bounds(query.limit, query.cursor.as_deref())?;
    caller.see_filter(&app, query.pipeline_id, query.run_id, query.execution_id).await?;
    let filter = ArtifactFilter {
        pipeline: query.pipeline_id,
        run: query.run_id,
        execution: query.execution_id,
        all: query.all,
    };
    let mut page = app.engine()?.artifact_documents(filter, bounds).await?;
    page.items.retain(|artifact| caller.rights().sees(artifact.pipeline_id));
    Ok(axum::Json(page.into()))
}

/// The artifact, with the name of its bytes, for a caller who may look at it.
async fn seen(
    app: &App,
    caller: &Caller,
    id: ArtifactRecordId,
) -> Result<(ArtifactDocument, Digest), Problem> {
    caller.look()?;
    let run = app.engine()?.locate_artifact(id).await?;
    // Before the document, which says of what was rolled back that it was.
    caller.see_in(app, run, "artifact", id).await?;
    Ok(app.engine()?.artifact_document(id).await?)
}

/// Get what is known about an artifact
#[utoipa::path(get, path = "/api/artifacts/{id}", tag = "artifacts", params(("id" = ArtifactRecordId, Path)),
    responses((status = 200, description = "The artifact", body = ArtifactDocument)))]
async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ArtifactRecordId>,
) -> Result<axum::Json<ArtifactDocument>, Problem> {
    Ok(axum::Json(seen(&app, &caller, id).await?.0))
}

/// Download an artifact
///
/// Always as a file to keep, never as something that a browser shows or runs.
#[utoipa::path(get, path = "/api/artifacts/{id}/download", tag = "artifacts",
    params(("id" = ArtifactRecordId, Path)),
    responses((status = 200, description = "The bytes", content_type = "application/octet-stream", body = [u8])))]
async fn download(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<ArtifactRecordId>,
) -> Result<Response, Problem> {
    let (document, digest) = seen(&app, &caller, id).await?;
    let reader = app.engine()?.whole_blob(digest).await?;
    let body = Body::from_stream(ReaderStream::with_capacity(reader, CHUNK));
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, document.size_bytes.to_string()),
        (CONTENT_DISPOSITION, disposition(&document.file_name)),
        (ETAG, format!("\"{}\"", document.checksum)),
        // Whatever opens it all the same gives it no scripts, no forms and no origin.
        (CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; frame-ancestors 'none'".to_owned()),
    ];
    Ok((headers, body).into_response())
}

/// A file's name in a header: plain for old clients, exact for the others (RFC 6266).
fn disposition(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._- ".contains(c) { c } else { '_' }).collect();
    let exact: String = name
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_header() {
        let shown = disposition("a\"b\r\nSet-Cookie: x; ü.json");
        assert_eq!(
            shown,
            "attachment; filename=\"a_b__Set-Cookie_ x_ _.json\"; \
             filename*=UTF-8''a%22b%0D%0ASet-Cookie%3A%20x%3B%20%C3%BC.json"
        );
    }
}
