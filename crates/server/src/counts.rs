//! How many requests were answered, by route and status. There are as many counters as there are routes and
//! statuses: what a client makes up is counted as `other`.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

/// Requests by method, route and status.
#[derive(Debug, Default)]
pub struct Counts(Mutex<BTreeMap<(&'static str, String, u16), u64>>);

impl Counts {
    /// All counters, in the order of their names.
    pub fn all(&self) -> Vec<((&'static str, String, u16), u64)> {
        let counts = self.0.lock().expect("nothing panics under the lock");
        counts.iter().map(|(name, count)| (name.clone(), *count)).collect()
    }

    fn add(&self, method: &'static str, route: String, status: u16) {
        *self.0.lock().expect("nothing panics under the lock").entry((method, route, status)).or_default() +=
            1;
    }
}

/// Counts a request when its answer begins.
pub async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let method = known(request.method());
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or_else(|| "other".to_owned(), |path| path.as_str().to_owned());
    let begin = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    // The route and not the path: somebody may have put a secret there.
    tracing::debug!(method, route, status, micros = begin.elapsed().as_micros() as u64, "answered");
    app.counts().add(method, route, status);
    response
}

fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}
