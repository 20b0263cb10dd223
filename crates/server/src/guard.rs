//! Who is heard: only requests that address this machine by a name it knows, and from no foreign page.
//!
//! A browser lets any page send requests to a loopback port, and a page can give its own name a loopback
//! address. The first shows in `Origin`, the second in `Host`. Both are checked on every request, before
//! routing.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AsHeaderName, HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The names under which this server is addressed.
#[derive(Debug, Clone)]
pub struct Names(Arc<[String]>);

impl Names {
    /// The names of a loopback address, and the address itself.
    pub fn of(address: SocketAddr) -> Self {
        let own = match address {
            SocketAddr::V4(v4) => v4.ip().to_string(),
            SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        };
        Self(["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned(), own].into())
    }

    fn know(&self, authority: &Authority) -> bool {
        self.0.contains(&authority.host)
    }

    /// Whether a request with these headers is heard.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let host = self.host(uri, headers)?;
        check_origin(&host, headers)
    }

    fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Problem> {
        let text = match single(headers, HOST) {
            Single::One(text) => text,
            Single::None => return Err(Problem::host_not_allowed("the request has no `Host` header")),
            Single::Unclear => {
                return Err(Problem::host_not_allowed("the request has no single, readable `Host` header"));
            }
        };
        let host = Authority::parse(text).filter(|host| self.know(host)).ok_or_else(|| {
            Problem::host_not_allowed(format!("`{}` is not a name of this server", text.escape_debug()))
        })?;
        // A target with a host of its own counts for more than the header (RFC 9112, 3.2.2).
        match uri.authority().map(|target| Authority::parse(target.as_str())) {
            None => Ok(host),
            Some(Some(target)) if target == host => Ok(host),
            Some(_) => {
                Err(Problem::host_not_allowed("the request's target names another host than its `Host`"))
            }
        }
    }
}

/// A page may call only the server that it came from.
fn check_origin(host: &Authority, headers: &HeaderMap) -> Result<(), Problem> {
    let text = match single(headers, ORIGIN) {
        Single::None => return Ok(()),
        Single::One(text) => text,
        Single::Unclear => {
            return Err(Problem::origin_not_allowed("the request has no single, readable `Origin` header"));
        }
    };
    let origin = text.strip_prefix("http://").and_then(Authority::parse);
    if origin.as_ref() == Some(host) {
        return Ok(());
    }
    Err(Problem::origin_not_allowed(format!("pages of `{}` may not call this server", text.escape_debug())))
}

/// Refuses what [`Names::check`] refuses.
pub async fn guard(State(names): State<Names>, request: Request, next: Next) -> Response {
    match names.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

enum Single<'a> {
    None,
    One(&'a str),
    Unclear,
}

fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Single<'_> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Single::None,
        (Some(value), None) => value.to_str().map_or(Single::Unclear, Single::One),
        (Some(_), Some(_)) => Single::Unclear,
    }
}

/// A host in lower case with its port, in the plain form that browsers send: no user, no trailing dot.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Authority {
    host: String,
    port: u16,
}

impl Authority {
    fn parse(text: &str) -> Option<Self> {
        let end_of_host =
            if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
        let (host, port) = text.split_at(end_of_host);
        let port = match port.strip_prefix(':') {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
            None if port.is_empty() => 80,
            _ => return None,
        };
        Some(Self { host: host.to_ascii_lowercase(), port })
    }
}
