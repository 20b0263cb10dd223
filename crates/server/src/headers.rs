//! Headers that every answer carries, so that no page can frame it, sniff it, run it or keep it.
//!
//! An answer that states one of them itself keeps its own.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

const HEADERS: [(HeaderName, &str); 5] = [
    (X_FRAME_OPTIONS, "DENY"),
    (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'; default-src 'none'"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
];

/// Adds the headers to whatever comes back.
pub async fn add(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
