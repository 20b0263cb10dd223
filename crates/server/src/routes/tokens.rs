//! Tokens: who may come in. A secret is shown once, in the answer that makes it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use holdpoint_core::state::home::Token;
use holdpoint_core::{Command, HomeCommand, PipelineId, State as StreamState, StreamId, Timestamp, TokenId};
use holdpoint_engine::Settled;
use holdpoint_engine::documents::Position;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::respond;
use crate::access::Secret;
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{self, Path, Query};
use crate::idempotency::Idempotent;
use crate::paging::{Listed, bounds};
use crate::problem::Problem;

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, issue)).routes(routes!(revoke))
}

/// A token as it is asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    /// Whose it is, or what for.
    name: String,
    /// `viewer`, `operator`, `approver` or `admin`; an agent is at most an operator.
    #[schema(value_type = String)]
    role: Role,
    /// Whether an agent holds it, who never decides.
    #[serde(default)]
    agent: bool,
    /// For how many seconds it is good; for ever, if not given.
    lasts_seconds: Option<u64>,
    /// The pipelines that it is good for; all, if not given.
    #[serde(default)]
    pipelines: Vec<Uuid>,
}

/// A token as its home knows it.
#[derive(Debug, Serialize, ToSchema)]
struct TokenDocument {
    /// Its public name.
    #[schema(value_type = Uuid)]
    token_id: TokenId,
    /// Whose it is, or what for.
    name: String,
    /// What its holder may do.
    #[schema(value_type = String)]
    role: Role,
    /// Whether an agent holds it.
    agent: bool,
    /// The pipelines that it is good for; empty: all.
    #[schema(value_type = Vec<Uuid>)]
    pipelines: Vec<PipelineId>,
    /// When it was made.
    #[schema(format = DateTime)]
    issued_at: String,
    /// Until when it is good; null: for ever.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The token itself: only in the answer that makes it, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl TokenDocument {
    fn new(id: TokenId, token: &Token) -> Self {
        Self {
            token_id: id,
            name: token.name.to_string(),
            role: token.role,
            agent: token.agent,
            pipelines: token.pipelines.clone(),
            issued_at: token.issued_at.rfc3339(),
            expires_at: token.expires.map(Timestamp::rfc3339),
            token: None,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// How many at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists the tokens that were not revoked.
#[utoipa::path(get, path = "/api/tokens", tag = "tokens", params(Which),
    responses((status = 200, body = Listed<TokenDocument>)))]
async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(which): Query<Which>,
) -> Result<Json<Listed<TokenDocument>>, Problem> {
    caller.require(Role::Admin)?;
    caller.see("token", "outside the caller's pipelines", None)?;
    let bounds = bounds(which.limit, which.cursor.as_deref())?;
    let loaded = app.engine()?.view(StreamId::Home).await?;
    let StreamState::Home(home) = &loaded.state else { return Err(Problem::internal()) };
    let mut all: Vec<_> = home.tokens.iter().map(|(id, token)| (place(*id, token), *id, token)).collect();
    all.sort_by_key(|(place, ..)| std::cmp::Reverse(*place));
    let rest = all.iter().filter(|(place, ..)| bounds.after.is_none_or(|after| *place < after));
    let mut page: Vec<_> = rest.take(bounds.limit as usize + 1).collect();
    let more = page.len() > bounds.limit as usize;
    page.truncate(bounds.limit as usize);
    let next = page.last().filter(|_| more).map(|(place, ..)| *place);
    let items = page.into_iter().map(|(_, id, token)| TokenDocument::new(*id, token)).collect();
    Ok(Json(Listed::new(items, next)))
}

/// Where a token stands in the list: newest first, and tokens of one moment by their ids.
fn place(id: TokenId, token: &Token) -> Position {
    Position { seq: token.issued_at.0.unsigned_abs(), n: id.0.as_u128() as u32 }
}

/// Makes a token. The answer shows its secret, and no other ever does.
#[utoipa::path(post, path = "/api/tokens", tag = "tokens", request_body = NewToken,
    responses((status = 201, body = TokenDocument)))]
async fn issue(
    State(app): State<App>,
    caller: Caller,
    key: Idempotent,
    extract::Json(wanted): extract::Json<NewToken>,
) -> Result<Response, Problem> {
    let secret = Secret::token();
    let engine = app.engine()?;
    let issue = IssueToken {
        name: wanted.name.into(),
        role: wanted.role,
        secret: secret.digest(),
        expires: wanted.lasts_seconds.map(|seconds| engine.now().plus_seconds(seconds)),
        agent: wanted.agent,
        pipelines: wanted.pipelines.into_iter().map(PipelineId).collect(),
    };
    let told = |settled: &Settled<'_>| {
        let id = settled.names.token.unwrap_or_default();
        Settled::json(201, &TokenDocument::new(id, settled.token(id)?))
    };
    let issued = caller.submit(&app, key, Command::Home(HomeCommand::IssueToken(issue)), told).await?;
    if issued.replayed {
        return Ok(respond(issued));
    }
    // A secret is shown once and never kept, so it is no part of the reply that is stored.
    let mut document: Map<String, Value> =
        serde_json::from_slice(&issued.reply.body).map_err(|_| Problem::internal())?;
    document.insert("token".to_owned(), secret.reveal().into());
    Ok((StatusCode::CREATED, Json(document)).into_response())
}

/// Withdraws a token at once.
#[utoipa::path(delete, path = "/api/tokens/{id}", tag = "tokens",
    params(("id" = Uuid, Path, description = "`token_id`")), responses((status = 204)))]
async fn revoke(State(app): State<App>, caller: Caller, Path(id): Path<Uuid>) -> Result<StatusCode, Problem> {
    let revoke = Command::Home(HomeCommand::RevokeToken(TokenId(id)));
    let told = |_: &Settled<'_>| Settled::json(204, &());
    caller.submit(&app, Idempotent::default(), revoke, told).await?;
    Ok(StatusCode::NO_CONTENT)
}
