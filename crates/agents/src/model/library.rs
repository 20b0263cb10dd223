//! One try of one call through the library, for the protocols that it translates.
//!
//! What the library reads has passed a relay of ours, which counts what arrives, so that nothing is kept that may not
//! arrive.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use genai::chat::{ChatFrameSink, ChatOptions, ChatRequest, FrameCtx, RawFrameRef};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};

use super::others::AnswerReader;
use super::relay::{Goal, Relay};
use super::trouble::{self, Failed};
use super::wire::{Limits, Reader as _, cut};
use super::{Answer, ErrorKind, Told};

/// What is sent.
pub(super) struct Sent {
    /// Where to, and as whom.
    pub goal: Goal,
    /// The model, in the protocol that it is asked in.
    pub model: ModelIden,
    /// What is asked.
    pub request: ChatRequest,
    /// How it is asked.
    pub options: ChatOptions,
}

/// Asks once.
pub(super) async fn ask(
    (client, carrier): (&Client, &reqwest::Client),
    provider: &str,
    sent: Sent,
    reader: &mut AnswerReader,
    limits: Limits,
    told: &Told<'_>,
) -> Result<Answer, Failed> {
    let no_relay =
        |error: std::io::Error| Failed::new(ErrorKind::Unreachable, format!("no way to {provider}: {error}"));
    let relay = Relay::open().await.map_err(no_relay)?;
    let url = relay.url().map_err(no_relay)?;
    let target = ServiceTarget {
        endpoint: Endpoint::from_owned(format!("{url}/")),
        auth: AuthData::RequestOverride { url, headers: Headers::default() },
        model: sent.model,
    };
    let carry = relay.carry(carrier, provider, sent.goal, limits);
    let read = read(client, provider, target, sent.request, sent.options, reader, told);
    tokio::pin!(carry, read);
    let mut is_over = false;
    loop {
        // What went wrong on the way is asked first: the library only knows that it broke off.
        tokio::select! {
            biased;
            all = &mut carry, if !is_over => {
                all?;
                is_over = true;
            }
            answer = &mut read => return answer,
        }
    }
}

async fn read(
    client: &Client,
    provider: &str,
    target: ServiceTarget,
    request: ChatRequest,
    options: ChatOptions,
    reader: &mut AnswerReader,
    told: &Told<'_>,
) -> Result<Answer, Failed> {
    let tap = Arc::new(Tap::default());
    let options = options.with_raw_frame_sink_arc(tap.clone());
    let answered = client.exec_chat_stream(target, request, Some(&options)).await;
    let mut stream = answered.map_err(|error| trouble::of(&error, provider, false))?.stream;
    loop {
        let item = stream.next().await;
        for data in tap.take() {
            reader.frame(&data, told)?;
        }
        let ended = item.is_none();
        match item {
            Some(Ok(event)) => reader.event(event, told),
            Some(Err(error)) => return Err(trouble::of(&error, provider, reader.begun())),
            None => {}
        }
        if let Some(answer) = reader.whole()? {
            return Ok(answer);
        }
        if ended {
            return Err(cut(provider, reader.begun()));
        }
    }
}

/// Hears every frame before the library reads it.
#[derive(Default)]
struct Tap(Mutex<Vec<String>>);

impl Tap {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChatFrameSink for Tap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        if !frame.data.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(frame.data.to_owned());
        }
    }
}
