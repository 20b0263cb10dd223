//! Limits of request bodies: how large they are, and how long one may pause.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, CONTENT_LENGTH};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::idempotency;
use crate::problem::Problem;
use crate::serve::Limits;

/// Refuses a body that announces too many bytes, without reading it, and watches the others for pauses.
///
/// A body that does not announce its size is counted while it is read.
pub async fn limit(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let most = if idempotency::is_form(request.headers()) { limits.form_bytes } else { limits.body_bytes };
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|bytes: u64| bytes > most as u64) {
        let mut response = Problem::body_too_large(most).into_response();
        // What the client is still sending must not be taken for its next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    next.run(request.map(|body| Body::new(Watched::new(body, limits.body_pause)))).await
}

/// The body made no progress for too long.
#[derive(Debug, thiserror::Error)]
#[error("nothing of the body arrived for {0:?}")]
struct Paused(Duration);

/// A body that fails when nothing arrives for a while.
struct Watched {
    body: Body,
    pause: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl Watched {
    fn new(body: Body, pause: Duration) -> Self {
        Self { body, pause, alarm: Box::pin(tokio::time::sleep(pause)) }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let next = Instant::now() + self.pause;
            self.alarm.as_mut().reset(next);
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        match self.alarm.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(Paused(self.pause).into()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
