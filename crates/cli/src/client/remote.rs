//! The API of a server, over HTTP.

use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{Request, Uri};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use holdpoint_core::Level;

use super::{ASSURANCE, Answer, Body};
use crate::context::Context;
use crate::problem::Problem;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take.
const ANSWER: Duration = Duration::from_mins(2);
/// The largest answer that is read.
const LARGEST: usize = 256 * 1024 * 1024;

/// A server at an address.
pub struct Remote {
    authority: String,
    token: Option<String>,
}

impl Remote {
    pub fn new(url: &str, context: &Context<'_, '_>) -> Result<Self, Problem> {
        let bad = |why: &str| {
            let message = format!("`{url}` is not the address of a server: {why}");
            Problem::usage("bad_server", message, "write it like --server http://127.0.0.1:4180")
        };
        let uri: Uri = url.parse().map_err(|_| bad("it is no URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(bad("this version speaks plain HTTP, to this machine or through a tunnel"));
            }
            _ => return Err(bad("it must begin with http://")),
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(bad("only a host and a port belong there"));
        }
        let authority = uri.authority().ok_or_else(|| bad("it has no host"))?;
        let port = authority.port_u16().unwrap_or(80);
        let authority = format!("{}:{port}", authority.host());
        Ok(Self { authority, token: context.token()? })
    }

    pub async fn send(
        &self,
        prepared: bool,
        method: &str,
        path: &str,
        body: Body,
    ) -> Result<Answer, Problem> {
        match timeout(ANSWER, self.exchange(prepared, method, path, body)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(why)) => Err(self.unreachable(&why)),
            Err(_) => Err(self.unreachable("it does not answer")),
        }
    }

    async fn exchange(&self, prepared: bool, method: &str, path: &str, body: Body) -> Result<Answer, String> {
        let connected = timeout(CONNECT, TcpStream::connect(&self.authority)).await;
        let stream =
            connected.map_err(|_| "nobody takes the connection")?.map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            http1::handshake::<_, HttpBody>(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let driver = tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path).header(HOST, &self.authority);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
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
        let request = request.map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(HttpBody::new(response.into_body()), LARGEST).await;
        let bytes = bytes.map_err(|error| error.to_string())?.to_vec();
        driver.abort();
        Ok(Answer { status, bytes })
    }

    fn unreachable(&self, why: &str) -> Problem {
        let message = format!("the server at {} cannot be asked: {why}", self.authority);
        Problem::failed(
            "server_unreachable",
            message,
            "start it with `holdpoint serve`, or leave --server out",
        )
    }
}
