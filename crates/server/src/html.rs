//! What the few pages of the server itself are made of: text that cannot become markup, and a policy under
//! which nothing is loaded and nothing runs.

use axum::http::HeaderValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use holdpoint_core::Digest;

/// Text as it stands in a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The policy of a page with this one style, whose forms may go to `forms`: `'none'` or `'self'`.
pub fn policy(style: &str, forms: &str) -> HeaderValue {
    let style = STANDARD.encode(Digest::of(style.as_bytes()).0);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; frame-ancestors 'none'; form-action {forms}"
    );
    HeaderValue::from_str(&policy).expect("a policy is ASCII")
}
