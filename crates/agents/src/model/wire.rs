//! One try of one call: what is sent, what arrives piece by piece, and when it is over.
//!
//! No more is kept than may arrive, whether it has lines or not. A stream that ends before its protocol's end is
//! a cut answer, never a short one. Nothing runs on when the future is dropped.

use std::future::Future;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::bytes::Bytes;

use super::sse::Events;
use super::trouble::{self, Failed};
use super::{Answer, ErrorKind, Told};

/// What is sent.
pub(super) struct Sent {
    /// Where to.
    pub url: String,
    /// As whom.
    pub headers: Vec<(String, String)>,
    /// What is asked.
    pub body: Value,
}

/// Puts an answer together from what arrives.
pub(super) trait Reader: Send {
    /// Takes a piece as it came over the wire.
    fn frame(&mut self, data: &str, told: &Told<'_>) -> Result<(), Failed>;

    /// The answer, once it is whole.
    fn whole(&mut self) -> Result<Option<Answer>, Failed>;

    /// Whether anything was understood so far.
    fn begun(&self) -> bool;
}

/// How patient a try is.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// How long nothing may arrive.
    pub silence: Duration,
    /// How much may arrive.
    pub bytes: u64,
}

/// Asks once, and reads server-sent events.
pub(super) async fn ask(
    client: &Client,
    provider: &str,
    sent: Sent,
    reader: &mut dyn Reader,
    limits: Limits,
    told: &Told<'_>,
) -> Result<Answer, Failed> {
    let mut response = send(client, provider, sent, limits).await?;
    let mut events = Events::default();
    let mut arrived = 0;
    loop {
        let piece = next(provider, &mut response, limits, reader.begun()).await?;
        arrived += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        if arrived > limits.bytes {
            return Err(too_large(provider, limits.bytes));
        }
        let came = match &piece {
            Some(piece) => events.take(piece),
            None => events.rest(),
        };
        for data in came.map_err(|_| trouble::not_understood(provider, "it is not text"))? {
            if piece.is_none() && serde_json::from_str::<IgnoredAny>(&data).is_err() {
                return Err(cut(provider, reader.begun()));
            }
            reader.frame(&data, told)?;
            if let Some(answer) = reader.whole()? {
                return Ok(answer);
            }
        }
        if piece.is_none() {
            return Err(cut(provider, reader.begun()));
        }
    }
}

/// The next piece of an answer; none: that was all. `begun` says whether some of it was understood.
pub(super) async fn next(
    provider: &str,
    response: &mut Response,
    limits: Limits,
    begun: bool,
) -> Result<Option<Bytes>, Failed> {
    in_time(provider, limits, response.chunk())
        .await?
        .map_err(|error| trouble::of_transport(&error, provider, begun))
}

/// Sends a question, and waits for the beginning of an answer to it.
pub(super) async fn send(
    client: &Client,
    provider: &str,
    sent: Sent,
    limits: Limits,
) -> Result<Response, Failed> {
    let mut request =
        client.post(sent.url).header(CONTENT_TYPE, "application/json").body(sent.body.to_string());
    for (name, value) in sent.headers {
        request = request.header(name, value);
    }
    let response = in_time(provider, limits, request.send())
        .await?
        .map_err(|error| trouble::of_transport(&error, provider, false))?;
    if response.status().is_success() { Ok(response) } else { Err(refusal(provider, response, limits).await) }
}

/// What a status that is no success means. People are shown only the beginning of what comes with it, so no more
/// is read, and nothing is missed that does not come.
async fn refusal(provider: &str, mut response: Response, limits: Limits) -> Failed {
    const MOST: u64 = 64 << 10;
    let status = response.status().as_u16();
    let told = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let most = limits.bytes.min(MOST) as usize;
    let mut body = Vec::new();
    let read = async {
        while body.len() < most
            && let Ok(Some(piece)) = response.chunk().await
        {
            let room = most - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
    };
    let _ = timeout(limits.silence, read).await;
    trouble::by_status(provider, status, &String::from_utf8_lossy(&body), told.as_deref())
}

async fn in_time<T>(provider: &str, limits: Limits, wait: impl Future<Output = T>) -> Result<T, Failed> {
    timeout(limits.silence, wait).await.map_err(|_| silent(provider, limits.silence))
}

/// Nothing came for too long.
pub(super) fn silent(provider: &str, silence: Duration) -> Failed {
    let message = format!("nothing to read came from {provider} for {} seconds", silence.as_secs_f64());
    Failed::new(ErrorKind::Unreachable, message)
}

/// Asking again would bring as much again.
pub(super) fn too_large(provider: &str, bytes: u64) -> Failed {
    let message = format!("the answer of {provider} has more than {bytes} bytes, which is too large");
    Failed { again: false, ..Failed::new(ErrorKind::Garbled, message) }
}

/// The stream ended, the answer did not.
pub(super) fn cut(provider: &str, begun: bool) -> Failed {
    if begun {
        Failed::new(ErrorKind::CutOff, format!("the answer of {provider} broke off before its end"))
    } else {
        trouble::not_understood(provider, "it has no beginning of an answer")
    }
}
