//! A server at an address: streamable HTTP, with a limit to what it may send.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::process::Meter;

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Carries messages to an address. No proxy of the environment is used, and no redirection is followed: a token
/// goes to the address that is set for it and to no other.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    client: Client,
    meter: Arc<Meter>,
}

/// Why a message was not carried.
#[derive(Debug, thiserror::Error)]
pub(super) enum CarrierError {
    #[error("{}", innermost(.0))]
    Http(#[from] reqwest::Error),
    #[error("it said more than it may")]
    TooMuch,
}

/// The outer errors name the address; the innermost says what happened.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

type Failed = StreamableHttpError<CarrierError>;

impl Carrier {
    pub(super) fn new(meter: Arc<Meter>) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(std::time::Duration::from_secs(10))
            .build()?;
        Ok(Self { client, meter })
    }

    async fn sent(&self, request: RequestBuilder) -> Result<Response, Failed> {
        request.send().await.map_err(|error| StreamableHttpError::Client(error.into()))
    }

    /// All of an answer.
    async fn whole(&self, mut response: Response) -> Result<Vec<u8>, Failed> {
        let mut all = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|e| StreamableHttpError::Client(e.into()))? {
            if self.meter.add(piece.len()) {
                return Err(StreamableHttpError::Client(CarrierError::TooMuch));
            }
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// The events of an answer.
    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let state = Some((response, self.meter.clone()));
        let pieces = stream::unfold(state, |state| async move {
            let (mut response, meter) = state?;
            match response.chunk().await {
                Ok(Some(piece)) if meter.add(piece.len()) => Some((Err(CarrierError::TooMuch), None)),
                Ok(Some(piece)) => Some((Ok(piece), Some((response, meter)))),
                Ok(None) => None,
                Err(error) => Some((Err(error.into()), None)),
            }
        });
        SseStream::from_bytes_stream(pieces.boxed()).boxed()
    }
}

impl StreamableHttpClient for Carrier {
    type Error = CarrierError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let request = self
            .client
            .post(uri.as_ref())
            .header(ACCEPT, format!("{EVENTS}, {JSON}"))
            .header(CONTENT_TYPE, JSON)
            .body(body);
        let response = self.sent(dressed(request, session.as_deref(), token, headers)).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default().to_owned();
        let session = header(SESSION).map(ToOwned::to_owned);
        if !status.is_success() {
            let body = if kind.starts_with(JSON) { self.whole(response).await? } else { Vec::new() };
            return refused(&message, status, &body, session);
        }
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        let body = self.whole(response).await?;
        match serde_json::from_slice(&body) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            // Only a request needs an answer.
            Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(_) => {
                Err(StreamableHttpError::UnexpectedServerResponse(Cow::Borrowed("no JSON-RPC message")))
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let request = self.client.delete(uri.as_ref());
        self.sent(dressed(request, Some(&session), token, headers)).await.map(drop)
    }

    /// Nobody listens to what a server says without being asked.
    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn dressed(
    mut request: RequestBuilder,
    session: Option<&str>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some(session) = session {
        request = request.header(SESSION, session);
    }
    headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// What a refusal comes to: an error of the protocol keeps its words, a server that does not know the newest way to
/// begin is asked in the older one, and anything else is a failure.
fn refused(
    message: &ClientJsonRpcMessage,
    status: StatusCode,
    body: &[u8],
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let known = !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if known && let ClientJsonRpcMessage::Request(request) = message {
        let told = match serde_json::from_slice(body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
            _ if status.is_client_error() && matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
                Some(ErrorData::invalid_request(format!("HTTP {status}"), None))
            }
            _ => None,
        };
        if let Some(error) = told {
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(answer, session));
        }
    }
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}"))))
}
