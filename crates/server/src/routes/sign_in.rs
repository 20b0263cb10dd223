//! Signing in: a token or a one-time ticket becomes the cookie of a session. Looking at the page changes nothing.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query as RawQuery, Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use holdpoint_core::Digest;
use holdpoint_core::event::Role;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Find, Peer, holder, session_of};
use crate::app::App;
use crate::caller::Caller;
use crate::extract::{self, Query};
use crate::html::{escape, policy};
use crate::problem::{Code, Problem};

/// How long a browser keeps the cookie.
const KEPT_SECONDS: u32 = 12 * 60 * 60;

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(page))
        .routes(routes!(sign_in))
        .routes(routes!(sign_out))
        .routes(routes!(ticket))
        .routes(routes!(me))
}

/// One of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    /// A token, `hp_…`.
    token: Option<String>,
    /// A one-time ticket, as the link has it that the server prints.
    ticket: Option<String>,
    /// The page of this server that a form goes on to [default: `/`].
    next: Option<String>,
}

/// Who calls.
#[derive(Debug, Serialize, ToSchema)]
struct Me {
    /// The token's name.
    name: String,
    /// `person` or `agent`.
    #[schema(value_type = String)]
    kind: holdpoint_core::ActorKind,
    /// What they may do: `viewer`, `operator`, `approver` or `admin`. Each may do all that the ones before it may.
    #[schema(value_type = String)]
    role: Role,
    /// The pipelines that the token is limited to; empty: all.
    pipelines: Vec<String>,
}

/// A link that signs in.
#[derive(Debug, Serialize, ToSchema)]
struct Ticket {
    /// Good once, for ten minutes.
    ticket: String,
    /// The page that it is for, on this server.
    path: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Link {
    /// The ticket of a link.
    ticket: Option<String>,
    /// The page of this server to go on to.
    next: Option<String>,
}

/// The page to go on to: a path of this server, and never another place.
fn page_of(next: Option<&str>) -> &str {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '\\' | '"' | '<' | '>');
    let inside = |path: &&str| path.starts_with('/') && !path.starts_with("//");
    next.filter(inside).filter(|path| path.len() <= 512 && path.chars().all(plain)).unwrap_or("/")
}

/// Signs in.
///
/// Answers 204 with a cookie; a form that a page sends is answered with 303 to the console.
#[utoipa::path(post, path = "/api/sign-in", tag = "sign-in", request_body = SignIn,
    responses((status = 204, description = "Signed in: the cookie holds the session.")))]
async fn sign_in(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let form = is_form(request.headers());
    let wanted = read(request, &app, form).await?;
    let find = match (wanted.token, wanted.ticket) {
        (Some(token), None) => Some(Find::Secret(Digest::of(token.trim().as_bytes()))),
        (None, Some(ticket)) => app.access().redeem(&ticket).map(Find::Token),
        _ => {
            let wrong = ("/token".to_owned(), "give either `token` or `ticket`".to_owned());
            return Err(Problem::invalid_fields([wrong]));
        }
    };
    let caller = match find {
        Some(find) => holder(&app, find).await?,
        None => None,
    };
    let token = caller.and_then(|caller| caller.token()).ok_or_else(|| app.access().wrong(peer))?;
    let cookie = cookie(&app, &app.access().open(token), KEPT_SECONDS);
    Ok(if form {
        let page = page_of(wanted.next.as_deref());
        let page = HeaderValue::from_str(page).unwrap_or_else(|_| HeaderValue::from_static("/"));
        (StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, page)]).into_response()
    } else {
        (StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response()
    })
}

async fn read(request: Request, app: &App, form: bool) -> Result<SignIn, Problem> {
    use axum::extract::FromRequest as _;

    if !form {
        return Ok(extract::Json::from_request(request, app).await?.0);
    }
    let unreadable = || Problem::body_unreadable("the form could not be read");
    let bytes = Bytes::from_request(request, app).await.map_err(|_| unreadable())?;
    let text = std::str::from_utf8(&bytes).map_err(|_| unreadable())?;
    // A form is written like a query.
    let uri: Uri = format!("/?{text}").parse().map_err(|_| unreadable())?;
    Ok(RawQuery::try_from_uri(&uri).map_err(|_| unreadable())?.0)
}

fn is_form(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

fn cookie(app: &App, session: &str, seconds: u32) -> HeaderValue {
    let text = format!("{}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}", app.cookie());
    HeaderValue::from_str(&text).expect("a session is letters and digits")
}

/// Signs out: ends the session of the cookie.
#[utoipa::path(post, path = "/api/sign-out", tag = "sign-in",
    responses((status = 204, description = "Signed out.")))]
async fn sign_out(State(app): State<App>, _: Caller, headers: HeaderMap) -> Response {
    if let Some(session) = session_of(&app, &headers) {
        app.access().close(session);
    }
    (StatusCode::NO_CONTENT, [(SET_COOKIE, cookie(&app, "", 0))]).into_response()
}

/// Makes a one-time ticket for a browser of the caller's own.
#[utoipa::path(post, path = "/api/sign-in/tickets", tag = "sign-in",
    responses((status = 201, body = Ticket)))]
async fn ticket(State(app): State<App>, caller: Caller) -> Result<Response, Problem> {
    caller.look()?;
    let token = caller
        .token()
        .ok_or_else(|| Problem::new(Code::Forbidden, "only the holder of a token can sign in a browser"))?;
    let ticket = app.ticket(token);
    let path = format!("/sign-in?ticket={ticket}");
    Ok((StatusCode::CREATED, Json(Ticket { ticket, path })).into_response())
}

/// Says who calls.
#[utoipa::path(get, path = "/api/me", tag = "sign-in", responses((status = 200, body = Me)))]
async fn me(caller: Caller) -> Json<Me> {
    let rights = caller.rights();
    Json(Me {
        name: caller.actor().name.to_string(),
        kind: rights.kind,
        role: rights.role,
        pipelines: rights.pipelines.iter().map(ToString::to_string).collect(),
    })
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:24rem;margin:20vh auto;padding:0 1rem;\
    color:#1c1c1c;background:#fff}input,button{font:inherit;width:100%;box-sizing:border-box;padding:.6rem;\
    margin:.4rem 0;border:1px solid #888;border-radius:.4rem}button{background:#1c1c1c;color:#fff;cursor:pointer}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}button{background:#ddd;color:#161616}}";

/// The page for signing in; looking at it uses nothing up.
#[utoipa::path(get, path = "/sign-in", tag = "sign-in", params(Link),
    responses((status = 200, content_type = "text/html", body = String)))]
async fn page(Query(link): Query<Link>) -> Response {
    let input = match link.ticket {
        Some(ticket) => format!("<input type=\"hidden\" name=\"ticket\" value=\"{}\">", escape(&ticket)),
        None => {
            "<label>Token<input type=\"password\" name=\"token\" required autocomplete=\"current-password\" \
                 placeholder=\"hp_…\"></label>"
                .to_owned()
        }
    };
    let next = match page_of(link.next.as_deref()) {
        "/" => String::new(),
        next => format!("<input type=\"hidden\" name=\"next\" value=\"{}\">", escape(next)),
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sign in to Holdpoint</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style><h1>Holdpoint</h1>\
         <form method=\"post\" action=\"/api/sign-in\">{input}{next}<button>Sign in</button></form>"
    );
    let policy = policy(STYLE, "'self'");
    // Under `no-referrer` a browser would not say where the form comes from.
    let referrer = HeaderValue::from_static("same-origin");
    ([(CONTENT_SECURITY_POLICY, policy), (REFERRER_POLICY, referrer)], Html(page)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_goes_on_to_this_server_only() {
        for page in ["/", "/review/01890000-0000-7000-8000-000000000000", "/a?b=c&d#e"] {
            assert_eq!(page_of(Some(page)), page);
        }
        let long = format!("/{}", "x".repeat(600));
        for page in
            ["//evil.example", "/\\evil.example", "https://evil.example", "a", "", "/a b", "/\u{e9}", &long]
        {
            assert_eq!(page_of(Some(page)), "/", "{page}");
        }
        assert_eq!(page_of(None), "/");
    }
}
