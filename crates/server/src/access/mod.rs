//! Who calls: a token or a session becomes a [`Caller`] before any route is reached.
//!
//! Everything but the few routes of [`OPEN`] needs one. A token is read from the home's state on every request,
//! so a revoked one is refused at once, whichever process revoked it. Wrong ones are counted by address.

mod attempts;
mod secret;
mod sessions;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Mutex;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdpoint_core::{Digest, State as StreamState, StreamId, TokenId};

use crate::app::App;
use crate::caller::Caller;
use crate::crowd::Begun;
use crate::problem::{Code, Problem};
use attempts::Attempts;
use sessions::{Sessions, now};

pub use secret::Secret;

/// What answers without a token.
pub const OPEN: &[(&str, &str)] = &[
    ("GET", "/api/health"),
    ("GET", "/livez"),
    ("GET", "/readyz"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/docs"),
    ("GET", "/sign-in"),
    ("POST", "/api/sign-in"),
];

/// The address that a connection comes from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// What is kept about callers; in memory only, unless there is a file for sessions.
#[derive(Debug, Default)]
pub struct Access {
    sessions: Mutex<Sessions>,
    attempts: Mutex<Attempts>,
}

/// Why nobody was recognised.
enum Nobody {
    /// There was nothing to recognise somebody by.
    Nothing,
    /// There was, and it is not good.
    Wrong,
    /// The home could not be asked.
    Problem(Problem),
}

impl Access {
    /// Keeps sessions in a file, and takes up those that are there.
    pub fn keep_sessions_in(&self, file: PathBuf) {
        self.sessions.lock().expect("nothing panics under the lock").keep_in(file, now());
    }

    /// A one-time ticket that signs in the holder of a token.
    pub fn ticket(&self, token: TokenId) -> String {
        self.sessions.lock().expect("nothing panics under the lock").ticket(token, now())
    }

    /// Uses a ticket up.
    pub fn redeem(&self, ticket: &str) -> Option<TokenId> {
        self.sessions.lock().expect("nothing panics under the lock").redeem(ticket, now())
    }

    /// A session for the holder of a token: what the cookie holds.
    pub fn open(&self, token: TokenId) -> String {
        self.sessions.lock().expect("nothing panics under the lock").open(token, now())
    }

    /// Ends a session.
    pub fn close(&self, session: &str) {
        self.sessions.lock().expect("nothing panics under the lock").close(session, now());
    }

    fn session(&self, session: &str) -> Option<TokenId> {
        self.sessions.lock().expect("nothing panics under the lock").find(session, now())
    }

    /// Counts a wrong attempt; what the caller hears of it.
    pub fn wrong(&self, peer: Option<IpAddr>) -> Problem {
        let wait = self.attempts.lock().expect("nothing panics under the lock").count(peer);
        match wait {
            None => Problem::new(Code::Unauthenticated, "the token, session or ticket is not good"),
            Some(seconds) => {
                let detail = "too many wrong tokens, sessions or tickets came from this address";
                Problem::new(Code::TooManyAttempts, detail).retry_after(seconds)
            }
        }
    }
}

/// The holder of a good token.
pub async fn holder(app: &App, find: Find) -> Result<Option<Caller>, Problem> {
    let engine = app.engine()?;
    let loaded = engine.view(StreamId::Home).await?;
    let StreamState::Home(home) = &loaded.state else { return Ok(None) };
    let found = match find {
        Find::Secret(secret) => home.token_of(secret),
        Find::Token(id) => home.tokens.get(&id).map(|token| (id, token)),
    };
    let good = found.filter(|(_, token)| token.is_good(engine.now()));
    Ok(good.map(|(id, token)| Caller::holding(id, token)))
}

/// By what a token is looked for.
#[derive(Debug, Clone, Copy)]
pub enum Find {
    /// By the hash of its secret.
    Secret(Digest),
    /// By its name.
    Token(TokenId),
}

/// Lets through who is known, with a [`Caller`] in the request, and whatever [`OPEN`] names.
pub async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if is_open(&request) {
        return next.run(request).await;
    }
    let credential = credential(&app, &request);
    match recognise(&app, credential).await {
        Ok(caller) => {
            if let Some(begun) = request.extensions().get::<Begun>() {
                begun.keeps_its_place();
            }
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(Nobody::Problem(problem)) => problem.into_response(),
        Err(Nobody::Nothing) => {
            Problem::new(Code::Unauthenticated, "the request has no token and no session").into_response()
        }
        Err(Nobody::Wrong) => {
            let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
            app.access().wrong(peer).into_response()
        }
    }
}

fn is_open(request: &Request) -> bool {
    let Some(matched) = request.extensions().get::<MatchedPath>() else {
        // Nothing is there. Under `/api` that is told only to those who may know what is.
        let path = request.uri().path();
        return path != "/api" && !path.starts_with("/api/");
    };
    // What is open to no method at all says so to everybody.
    OPEN.iter().any(|(_, path)| *path == matched.as_str())
}

/// What the request names its caller by.
fn credential(app: &App, request: &Request) -> Result<Find, Nobody> {
    let headers = request.headers();
    let mut authorizations = headers.get_all(AUTHORIZATION).iter();
    match (authorizations.next(), authorizations.next()) {
        (Some(value), None) => {
            let bearer = value.to_str().ok().and_then(bearer).ok_or(Nobody::Wrong)?;
            Ok(Find::Secret(Digest::of(bearer.as_bytes())))
        }
        (Some(_), Some(_)) => Err(Nobody::Wrong),
        (None, _) => {
            let session = session_of(app, headers).ok_or(Nobody::Nothing)?;
            same_origin(request.method(), headers).map_err(Nobody::Problem)?;
            app.access().session(session).map(Find::Token).ok_or(Nobody::Wrong)
        }
    }
}

async fn recognise(app: &App, credential: Result<Find, Nobody>) -> Result<Caller, Nobody> {
    holder(app, credential?).await.map_err(Nobody::Problem)?.ok_or(Nobody::Wrong)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The session in the cookie of this server.
pub fn session_of<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = app.cookie();
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// A browser sends the cookie along whoever asks it to, so a change must come from a page of this server: its
/// `Origin`, which was compared with `Host` before, or its word that it is the same.
fn same_origin(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if method.is_safe() {
        return Ok(());
    }
    let site = headers.get("sec-fetch-site").map(axum::http::HeaderValue::as_bytes);
    let told = headers.contains_key(axum::http::header::ORIGIN);
    match site {
        Some(b"same-origin") => Ok(()),
        Some(b"none") | None if told => Ok(()),
        _ => Err(Problem::origin_not_allowed("the request does not come from a page of this server")),
    }
}
