//! The application: what answers where, and what every request passes on its way.
//!
//! From the outside in: headers, panics, `Host` and `Origin`, the body's limits, then the route.

use std::any::Any;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::guard::{self, Names};
use crate::health::{self, AlwaysReady, Health};
use crate::problem::Problem;
use crate::serve::Limits;
use crate::{body, headers};

/// What handlers share. Cheap to clone.
#[derive(Clone)]
pub struct App {
    health: Arc<dyn Health>,
    stopping: CancellationToken,
}

impl Default for App {
    fn default() -> Self {
        Self::new(AlwaysReady)
    }
}

impl App {
    /// An application that is ready when `health` is.
    pub fn new(health: impl Health) -> Self {
        Self { health: Arc::new(health), stopping: CancellationToken::new() }
    }

    /// Cancelled when the server begins to stop. A handler whose answer has no end of its own ends it then.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    pub(crate) fn health(&self) -> &dyn Health {
        &*self.health
    }

    pub(crate) fn stopping_with(self, stopping: CancellationToken) -> Self {
        Self { stopping, ..self }
    }

    fn routes() -> Router<Self> {
        Router::new()
            .route("/api/health", get(health::status))
            .route("/livez", get(health::alive))
            .route("/readyz", get(health::ready))
    }

    /// The whole application behind its checks, listening at `address`.
    pub(crate) fn router(self, more: Router<Self>, address: SocketAddr, limits: Limits) -> Router {
        Self::routes()
            .merge(more)
            .fallback(not_found)
            .method_not_allowed_fallback(method_not_allowed)
            .with_state(self)
            .layer(axum::Extension(limits))
            .layer(DefaultBodyLimit::max(limits.body_bytes))
            .layer(from_fn_with_state(limits, body::limit))
            .layer(from_fn_with_state(Names::of(address), guard::guard))
            .layer(from_fn(catch_panics))
            .layer(from_fn(headers::add))
    }
}

async fn not_found(request: Request) -> Problem {
    Problem::not_found(request.uri().path())
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
