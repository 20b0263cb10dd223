//! The web console: one page for all of its addresses, and the files that the page names.
//!
//! Nobody has to be known for it: it holds nothing but code, and asks the API like any other client. Only its own
//! addresses answer with the page as if all were well; where there is nothing, a browser gets the page with 404.

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use holdpoint_console::File;

use crate::app::App;
use crate::html;
use crate::problem::Problem;

/// The addresses at which the console stands; it finds its way from there.
const PAGES: &[&str] = &[
    "/",
    "/inbox",
    "/review/{*rest}",
    "/pipelines",
    "/pipelines/{*rest}",
    "/runs/{*rest}",
    "/compare",
    "/events",
    "/artifacts",
    "/artifacts/{*rest}",
    "/usage",
    "/settings",
    "/settings/{*rest}",
    "/sessions",
    "/sessions/{*rest}",
    "/loops",
    "/loops/{*rest}",
];

/// Where the page has the word that its own styles carry.
const NONCE: &str = "__NONCE__";

/// Names of built files hold their content's hash, so what stands under one never changes.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// The routes of the console.
pub fn routes() -> Router<App> {
    let pages = PAGES.iter().fold(Router::new(), |router, path| router.route(path, get(page)));
    pages.route("/assets/{*path}", get(asset)).route(
        "/favicon.svg",
        get(|headers: HeaderMap| async move { file("favicon.svg", &headers, ASK_AGAIN) }),
    )
}

async fn page() -> Response {
    let Some(File { bytes, .. }) = holdpoint_console::file("index.html") else { return not_built() };
    let nonce = nonce();
    let page = String::from_utf8_lossy(&bytes).replace(NONCE, &nonce);
    let headers = [
        (CONTENT_SECURITY_POLICY, policy(&nonce)),
        (CACHE_CONTROL, ASK_AGAIN),
        // Under `no-referrer` a browser would not say where a form comes from.
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ];
    (headers, Html(page)).into_response()
}

/// Whether somebody looks at an address with a browser, outside of the API.
pub fn is_looked_at(request: &Request) -> bool {
    let path = request.uri().path();
    let accepts = request.headers().get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepts.flat_map(|value| value.split(','));
    request.method() == Method::GET
        && !path.starts_with("/api")
        && kinds.any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "text/html"))
}

/// The page at an address where nothing is: it says so, and leads on.
pub async fn missing() -> Response {
    (StatusCode::NOT_FOUND, page().await).into_response()
}

async fn asset(Path(path): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    match file(&format!("assets/{path}"), &headers, FOR_EVER) {
        answer if answer.status() == StatusCode::NOT_FOUND => Problem::not_found(uri.path()).into_response(),
        answer => answer,
    }
}

fn file(path: &str, headers: &HeaderMap, kept: HeaderValue) -> Response {
    let Some(File { bytes, brotli }) = holdpoint_console::file(path) else {
        return Problem::not_found(&format!("/{path}")).into_response();
    };
    let kind = HeaderValue::from_static(kind_of(path));
    let always =
        [(CONTENT_TYPE, kind), (CACHE_CONTROL, kept), (VARY, HeaderValue::from_static("accept-encoding"))];
    match brotli.filter(|_| takes_brotli(headers)) {
        Some(packed) => (always, [(CONTENT_ENCODING, HeaderValue::from_static("br"))], packed.into_owned())
            .into_response(),
        None => (always, bytes.into_owned()).into_response(),
    }
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("woff2") => "font/woff2",
        Some("woff") => "font/woff",
        _ => "application/octet-stream",
    }
}

fn takes_brotli(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|part| {
            let mut words = part.split(';').map(str::trim);
            words.next().is_some_and(|coding| coding.eq_ignore_ascii_case("br"))
                && !words.any(|word| matches!(word, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    })
}

fn nonce() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Nothing is loaded from anywhere else, and no script runs but the built ones. Styles that a library adds while
/// the page runs carry the page's word.
fn policy(nonce: &str) -> HeaderValue {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; font-src 'self'; \
         img-src 'self' data: blob:; connect-src 'self'; frame-src 'self' blob:; worker-src 'self'; \
         object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("a policy is ASCII")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:20vh auto;padding:0 1rem;\
    color:#191e27;background:#fdfdfe}code{font-family:ui-monospace,monospace}\
    @media(prefers-color-scheme:dark){body{color:#ebedef;background:#15181c}}";

/// The page of a binary that was built without a console.
fn not_built() -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Holdpoint</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style><h1>No console in this build</h1>\
         <p>The server runs, and its API answers at <code>/api</code>. The console was not built when this program \
         was compiled.</p><p>Run <code>make run</code> in the repository, or <code>make console</code> and build the \
         program again.</p>"
    );
    ([(CONTENT_SECURITY_POLICY, html::policy(STYLE, "'none'"))], Html(page)).into_response()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn brotli_is_sent_only_to_who_takes_it() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_brotli(&headers)
        };
        assert!(takes("br") && takes("gzip, deflate, BR") && takes("gzip;q=1.0, br;q=0.5"));
        assert!(
            !takes("gzip")
                && !takes("br;q=0")
                && !takes("gzip, br; q=0.0")
                && !takes_brotli(&HeaderMap::new())
        );
    }

    #[test]
    fn the_policy_runs_nothing_but_built_scripts() {
        let nonce = nonce();
        let policy = policy(&nonce);
        let policy = policy.to_str().expect("ASCII");
        assert!(policy.contains("script-src 'self';") && policy.contains(&format!("'nonce-{nonce}'")));
        assert!(!policy.contains("unsafe"));
    }
}
