//! One try of one call through the library, for the protocols that it translates.
//!
//! The library hands over whole lines, and keeps one that does not end, as it keeps the whole body of an error:
//! what may arrive is counted by lines here, and only time bounds the rest.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use genai::chat::{ChatFrameSink, ChatOptions, ChatRequest, FrameCtx, RawFrameRef};
use genai::{Client, ServiceTarget};
use tokio::time::timeout;

use super::others::AnswerReader;
use super::trouble::{self, Failed};
use super::wire::{Limits, Reader as _, cut, silent, too_large};
use super::{Answer, Told};

/// What is sent.
pub(super) struct Sent {
    /// Where to, and as whom.
    pub target: ServiceTarget,
    /// What is asked.
    pub request: ChatRequest,
    /// How it is asked.
    pub options: ChatOptions,
}

/// Asks once.
pub(super) async fn ask(
    client: &Client,
    provider: &str,
    sent: Sent,
    reader: &mut AnswerReader,
    limits: Limits,
    told: &Told<'_>,
) -> Result<Answer, Failed> {
    let tap = Arc::new(Tap::new(limits.bytes));
    let options = sent.options.with_raw_frame_sink_arc(tap.clone());
    let answered = client.exec_chat_stream(sent.target, sent.request, Some(&options)).await;
    let mut stream = answered.map_err(|error| trouble::of(&error, provider, false))?.stream;
    loop {
        let before = tap.count();
        let item = match timeout(limits.silence, stream.next()).await {
            Ok(item) => item,
            // Something arrived, though nothing worth an event.
            Err(_) if tap.count() > before => continue,
            Err(_) => return Err(silent(provider, limits.silence)),
        };
        for data in tap.take() {
            reader.frame(&data, told)?;
        }
        if tap.is_over() {
            return Err(too_large(provider, limits.bytes));
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

/// Hears every frame before the library reads it, and counts what has arrived.
struct Tap {
    most: u64,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    frames: Vec<String>,
    count: u64,
    bytes: u64,
}

impl Tap {
    fn new(most: u64) -> Self {
        Self { most, heard: Mutex::default() }
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) -> u64 {
        self.heard().count
    }

    fn is_over(&self) -> bool {
        self.heard().bytes > self.most
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.heard().frames)
    }
}

impl ChatFrameSink for Tap {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut heard = self.heard();
        heard.count += 1;
        heard.bytes += frame.data.len() as u64;
        // What is refused anyway is not kept.
        if heard.bytes <= self.most && !frame.data.is_empty() {
            heard.frames.push(frame.data.to_owned());
        }
    }
}
