//! The application: what answers where, and what every request passes on its way.
//!
//! From the outside in: headers, panics, `Host` and `Origin`, the body's limits, the count of requests, who
//! calls, the idempotency key, then the route. Inside the process the same routes answer a caller who is known
//! already, without a socket.

use std::any::Any;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use holdpoint_core::TokenId;
use holdpoint_engine::Engine;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::access::{self, Access};
use crate::caller::Caller;
use crate::counts::{self, Counts};
use crate::dry_runs::DryRuns;
use crate::guard::{self, Names};
use crate::problem::{Code, Problem};
use crate::routes::health::{AlwaysReady, Health};
use crate::serve::Limits;
use crate::{api, body, console, headers, idempotency};

/// How many endless answers are given at once.
const STREAMS: usize = 256;

/// What handlers share. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
    stopping: CancellationToken,
    /// The name of the session's cookie. Cookies do not know ports, so each server has a name of its own.
    cookie: Arc<str>,
}

struct Inner {
    health: Box<dyn Health>,
    engine: OnceLock<Engine>,
    /// Why the engine is not to be used any more.
    closed: OnceLock<String>,
    access: Access,
    dry_runs: OnceLock<Box<dyn DryRuns>>,
    streams: Arc<Semaphore>,
    counts: Counts,
}

impl Default for App {
    fn default() -> Self {
        Self::new(AlwaysReady)
    }
}

impl App {
    /// An application that is ready when `health` is. Before [`App::open`] its routes answer that it is not.
    pub fn new(health: impl Health) -> Self {
        let inner = Inner {
            health: Box::new(health),
            engine: OnceLock::new(),
            closed: OnceLock::new(),
            access: Access::default(),
            dry_runs: OnceLock::new(),
            streams: Arc::new(Semaphore::new(STREAMS)),
            counts: Counts::default(),
        };
        Self {
            inner: Arc::new(inner),
            stopping: CancellationToken::new(),
            cookie: "holdpoint_session".into(),
        }
    }

    /// Puts the engine behind the routes, once.
    pub fn open(&self, engine: Engine) {
        // The first one stays: there is one home behind one server.
        let _ = self.inner.engine.set(engine);
    }

    /// From now on the routes answer that the server is not ready, and why.
    pub fn close(&self, reason: String) {
        // The first reason stays.
        let _ = self.inner.closed.set(reason);
    }

    /// The engine, for looking. Changes go through [`Caller::submit`] alone.
    pub fn engine(&self) -> Result<&Engine, Problem> {
        if let Some(reason) = self.inner.closed.get() {
            return Err(Problem::not_ready(reason)
                .hint("Stop this server, look at the folder of its home, and start it again."));
        }
        self.inner.engine.get().ok_or_else(|| Problem::not_ready("the home is being opened"))
    }

    /// Says who makes dry runs, once.
    pub fn dry_run_by(&self, makes: impl DryRuns) {
        // The first one stays, as the engine does.
        let _ = self.inner.dry_runs.set(Box::new(makes));
    }

    pub(crate) fn dry_runs(&self) -> Result<&dyn DryRuns, Problem> {
        let makes = self.inner.dry_runs.get();
        makes.map(|makes| &**makes).ok_or_else(|| Problem::not_ready("nobody makes dry runs here"))
    }

    /// Room for one more endless answer.
    pub(crate) fn stream_room(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let room = self.inner.streams.clone().try_acquire_owned();
        room.map_err(|_| Problem::new(Code::TooManyStreams, format!("{STREAMS} streams are open already")))
    }

    /// How many endless answers are open.
    pub(crate) fn open_streams(&self) -> usize {
        STREAMS - self.inner.streams.available_permits()
    }

    /// A one-time ticket, good for ten minutes, that signs in the holder of a token.
    pub fn ticket(&self, token: TokenId) -> String {
        self.inner.access.ticket(token)
    }

    /// Keeps the sessions of browsers in a file, so that they outlast the server.
    pub fn keep_sessions_in(&self, file: PathBuf) {
        self.inner.access.keep_sessions_in(file);
    }

    /// Cancelled when the server begins to stop. A handler whose answer has no end of its own ends it then.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// The whole application for use inside the process: every request comes from `caller`.
    pub fn local(engine: Engine, caller: Caller, limits: Limits) -> Router {
        let app = Self::default();
        app.open(engine);
        app.guarded(Router::new(), limits, |routes, _| routes.layer(axum::Extension(caller)))
    }

    pub(crate) fn health(&self) -> &dyn Health {
        &*self.inner.health
    }

    pub(crate) fn access(&self) -> &Access {
        &self.inner.access
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.inner.counts
    }

    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) fn stopping_with(self, stopping: CancellationToken) -> Self {
        Self { stopping, ..self }
    }

    /// The whole application behind its checks, listening at `address`.
    pub(crate) fn router(mut self, more: Router<Self>, address: SocketAddr, limits: Limits) -> Router {
        self.cookie = format!("holdpoint_session_{}", address.port()).into();
        self.guarded(more.merge(console::routes()), limits, |routes, app| {
            routes.layer(from_fn_with_state(app, access::guard))
        })
        .layer(from_fn_with_state(Names::of(address), guard::guard))
        .layer(from_fn(catch_panics))
        .layer(from_fn(headers::add))
    }

    /// The routes behind a way to know who calls, and behind the limits of bodies; `more` has no such way.
    fn guarded(
        self,
        more: Router<Self>,
        limits: Limits,
        known: impl FnOnce(Router<Self>, Self) -> Router<Self>,
    ) -> Router {
        let routes = api::routes()
            .fallback(not_found)
            .method_not_allowed_fallback(method_not_allowed)
            .layer(from_fn_with_state(limits, idempotency::note));
        let counted = from_fn_with_state(self.clone(), counts::count);
        known(routes, self.clone())
            .layer(counted)
            .merge(more.method_not_allowed_fallback(method_not_allowed))
            .with_state(self)
            .layer(axum::Extension(limits))
            .layer(DefaultBodyLimit::max(limits.body_bytes))
            .layer(from_fn_with_state(limits, body::limit))
    }
}

async fn not_found(request: Request) -> Response {
    if console::is_looked_at(&request) {
        return console::missing().await;
    }
    Problem::not_found(request.uri().path()).into_response()
}

async fn method_not_allowed(request: Request) -> Problem {
    Problem::method_not_allowed(request.method().as_str(), request.uri().path())
}

/// A handler that panics fails its own request and nothing else.
async fn catch_panics(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            tracing::error!(path, panic = panic_text(&*panic), "a handler panicked");
            Problem::internal().into_response()
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
