//! The API of a home, through the server's own routes without a socket.

use std::time::Duration;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::http::Request;
use axum::http::header::CONTENT_TYPE;
use holdpoint_core::event::Role;
use holdpoint_server::{App, Caller};
use tower::ServiceExt as _;

use super::{Answer, Body};
use crate::context::Context;
use crate::home::Home;
use crate::problem::Problem;
use crate::wiring::{self, HomeOptions, OpenHome};

/// The largest answer that is read.
const LARGEST: usize = 256 * 1024 * 1024;

/// An open home and its routes.
pub struct Local {
    router: Router,
    open: OpenHome,
}

impl Local {
    pub async fn open(home: &Home, context: &Context<'_, '_>) -> Result<Self, Problem> {
        let settings = context.settings(home, &[])?.settings;
        let options = HomeOptions { files: settings.files, ..HomeOptions::default() };
        let open = wiring::open_home(home, options).await?;
        // Whoever can write the home's files needs no token.
        let caller = Caller::known(context.actor(), Role::Admin);
        let router = App::local(open.engine.clone(), caller, wiring::limits(&settings.limits));
        Ok(Self { router, open })
    }

    pub async fn send(&self, method: &str, path: &str, body: Body) -> Result<Answer, Problem> {
        let request = Request::builder().method(method).uri(path);
        let request = match body {
            Body::None => request.body(HttpBody::empty()),
            Body::Json(value) => {
                request.header(CONTENT_TYPE, "application/json").body(HttpBody::from(value.to_string()))
            }
            Body::Bytes(kind, bytes) => request.header(CONTENT_TYPE, kind).body(HttpBody::from(bytes)),
        };
        let request = request.map_err(|error| {
            Problem::usage("bad_argument", format!("`{path}` is not a path: {error}"), "check the arguments")
        })?;
        let response = self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), LARGEST).await;
        let bytes = bytes.map_err(|error| {
            Problem::failed("answer_unreadable", format!("the answer of `{path}`: {error}"), "try again")
        })?;
        Ok(Answer { status, bytes: bytes.to_vec() })
    }

    /// Waits until the files show what was done.
    pub async fn finish(self, patience: Duration) {
        let engine = &self.open.engine;
        if !engine.files_settled(engine.log_head(), patience).await {
            tracing::warn!("the files of pipelines were not written in time; the next start writes them");
        }
    }
}
