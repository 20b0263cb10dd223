//! The API of a home, through the server's own routes without a socket.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::http::Request;
use axum::http::header::CONTENT_TYPE;
use holdpoint_core::event::Role;
use holdpoint_core::facts::Offers;
use holdpoint_core::{Actor, Level};
use holdpoint_engine::executor::Executor;
use holdpoint_engine::{Drained, Engine, Works};
use holdpoint_server::{App, Caller, Limits};
use holdpoint_store_sqlite::SqliteLog;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{ASSURANCE, Answer, Body};
use crate::context::Context;
use crate::home::Home;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::tool_servers;
use crate::wiring::{self, HomeOptions, OpenHome};

/// The largest answer that is read.
const LARGEST: usize = 256 * 1024 * 1024;

/// The routes of an engine in this process, for one caller.
#[derive(Clone)]
pub struct Routes(Router);

/// An open home and its routes.
pub struct Local {
    routes: Routes,
    engine: Engine,
    _log: Arc<SqliteLog>,
    limits: Limits,
    works: Option<Working>,
}

/// The work that this process does meanwhile.
struct Working {
    stop: CancellationToken,
    ends: JoinHandle<Drained>,
}

impl Routes {
    /// The routes for one actor. Whoever can write the home's files needs no token.
    pub fn new(engine: &Engine, actor: Actor, limits: Limits) -> Self {
        Self(App::local(engine.clone(), Caller::known(actor, Role::Admin), limits))
    }

    /// Sends a request.
    pub async fn send(&self, method: &str, path: &str, body: Body) -> Result<Answer, Problem> {
        self.exchange(false, method, path, body).await
    }

    /// Sends a request, with an answer that was prepared or not.
    async fn exchange(
        &self,
        prepared: bool,
        method: &str,
        path: &str,
        body: Body,
    ) -> Result<Answer, Problem> {
        let mut request = Request::builder().method(method).uri(path);
        if prepared {
            request = request.header(ASSURANCE, Level::Prepared.name());
        }
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
        let response = self.0.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), LARGEST).await;
        let bytes = bytes.map_err(|error| {
            Problem::failed("answer_unreadable", format!("the answer of `{path}`: {error}"), "try again")
        })?;
        Ok(Answer { status, bytes: bytes.to_vec() })
    }
}

impl Local {
    pub async fn open(home: &Home, context: &Context<'_, '_>) -> Result<Self, Problem> {
        let settings = context.settings(home, &[])?.settings;
        let offers = tool_servers::offers(home, &settings, context.surroundings())?;
        let options = HomeOptions { offers, ..HomeOptions::of(&settings) };
        let open = wiring::open_home(home, options).await?;
        Ok(Self::of(open, context.actor(), &settings, None))
    }

    /// A home whose runs this process works on, as far as it starts them or takes them on.
    pub async fn working(home: &Home, context: &Context<'_, '_>) -> Result<Self, Problem> {
        let settings = context.settings(home, &[])?.settings;
        let (worker, _) = crate::worker::worker(home, &settings, context.surroundings())?;
        let offers = tool_servers::offers(home, &settings, context.surroundings())?;
        Self::with(home, &settings, Arc::new(worker), offers, context.actor()).await
    }

    /// A home whose runs this process works on with a worker of the caller's choice.
    pub async fn with(
        home: &Home,
        settings: &Settings,
        executor: Arc<dyn Executor>,
        offers: Arc<dyn Offers>,
        actor: Actor,
    ) -> Result<Self, Problem> {
        let options = HomeOptions { works: Works::Own, executor, offers, ..HomeOptions::of(settings) };
        let open = wiring::open_home(home, options).await?;
        let stop = CancellationToken::new();
        let ends = tokio::spawn({
            let (engine, stop) = (open.engine.clone(), stop.clone());
            async move { engine.run_until(stop).await }
        });
        Ok(Self::of(open, actor, settings, Some(Working { stop, ends })))
    }

    /// A home that is only looked at.
    pub fn looking(home: &Home, settings: &Settings, actor: Actor) -> Result<Self, Problem> {
        let log = wiring::look_at(home)?;
        let engine = wiring::looking_engine(home, &log, &settings.files)?;
        let limits = wiring::limits(&settings.limits);
        Ok(Self { routes: Routes::new(&engine, actor, limits), engine, limits, works: None, _log: log })
    }

    fn of(open: OpenHome, actor: Actor, settings: &Settings, works: Option<Working>) -> Self {
        let limits = wiring::limits(&settings.limits);
        let OpenHome { engine, log, .. } = open;
        Self { routes: Routes::new(&engine, actor, limits), engine, _log: log, limits, works }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Sends a request, in somebody else's name where one is given.
    pub async fn send(
        &self,
        speaker: Option<Actor>,
        prepared: bool,
        method: &str,
        path: &str,
        body: Body,
    ) -> Result<Answer, Problem> {
        let routes = speaker.map(|actor| Routes::new(&self.engine, actor, self.limits));
        routes.as_ref().unwrap_or(&self.routes).exchange(prepared, method, path, body).await
    }

    /// Waits until the files show what was done, and stops working.
    pub async fn finish(self, patience: Duration) {
        let engine = &self.engine;
        if let Some(Working { stop, ends }) = self.works {
            stop.cancel();
            // It has told what it could not end.
            let _ = ends.await;
        }
        if !engine.files_settled(engine.log_head(), patience).await {
            tracing::warn!("the files of pipelines were not written in time; the next start writes them");
        }
    }
}
