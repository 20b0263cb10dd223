//! A way through which the library is given an answer: it is read here, with a limit, and handed on piece by piece.
//!
//! The library keeps a line that does not end, and the whole body of an error. So it speaks to a socket of this very
//! call on the loopback device, under a name that nobody can guess, and what it sends there goes to the provider in
//! the same way as a question to Anthropic. Keys never pass the socket. Nothing runs on when the future is dropped.

use std::io;

use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::trouble::{self, Failed};
use super::wire::{self, Limits, too_large};

/// The longest line: the library looks at all of it again with every piece.
const LINE: usize = 4 << 20;
/// The largest question.
const QUESTION: u64 = 256 << 20;
/// The longest head of a request of our own.
const HEAD: u64 = 64 << 10;

/// A socket for one question.
pub(super) struct Relay {
    listener: TcpListener,
    name: String,
}

/// Where a question really goes, and as whom.
pub(super) struct Goal {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl Relay {
    pub(super) async fn open() -> io::Result<Self> {
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let name = format!("{:032x}", u128::from_be_bytes(name));
        Ok(Self { listener: TcpListener::bind("127.0.0.1:0").await?, name })
    }

    /// Where the library sends its question.
    pub(super) fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}/{}", self.listener.local_addr()?, self.name))
    }

    /// Carries one question to its goal, and the answer back. A failure is the provider's own; when all was carried, the
    /// library has it all.
    pub(super) async fn carry(
        self,
        client: &Client,
        provider: &str,
        goal: Goal,
        limits: Limits,
    ) -> Result<(), Failed> {
        let broken = |error: io::Error| trouble::not_understood(provider, error);
        let (mut library, body) = loop {
            let (stream, _) = self.listener.accept().await.map_err(broken)?;
            // Whoever does not know the name is nobody.
            if let Some(asked) = question(stream, &self.name).await.map_err(broken)? {
                break asked;
            }
        };
        let sent = wire::Sent { url: goal.url, headers: goal.headers, body };
        let mut response = wire::send(client, provider, sent, limits).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or("application/octet-stream");
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        );
        // A library that has heard enough hangs up, and that is no failure.
        if library.write_all(head.as_bytes()).await.is_err() {
            return Ok(());
        }
        let (mut arrived, mut line) = (0, 0);
        while let Some(piece) = wire::next(provider, &mut response, limits, arrived > 0).await? {
            arrived += piece.len() as u64;
            line = piece
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(line + piece.len(), |at| piece.len() - at);
            if arrived > limits.bytes || line > LINE {
                return Err(too_large(
                    provider,
                    limits.bytes.min(if line > LINE { LINE as u64 } else { u64::MAX }),
                ));
            }
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(&piece);
            chunk.extend_from_slice(b"\r\n");
            if !piece.is_empty() && library.write_all(&chunk).await.is_err() {
                return Ok(());
            }
        }
        let _ = library.write_all(b"0\r\n\r\n").await;
        let _ = library.shutdown().await;
        Ok(())
    }
}

/// The question that comes over a connection, if it is ours.
async fn question(stream: TcpStream, name: &str) -> io::Result<Option<(TcpStream, Value)>> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut length = None;
    loop {
        let before = head.len();
        let read = (&mut reader).take(HEAD - before as u64).read_line(&mut head).await?;
        let line = &head[before..];
        if read == 0 || !line.ends_with('\n') {
            return Ok(None);
        }
        if before == 0 && !line.starts_with(&format!("POST /{name} ")) {
            return Ok(None);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse::<u64>().ok();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let Some(length) = length.filter(|length| *length <= QUESTION) else { return Ok(None) };
    let mut body = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    reader.read_exact(&mut body).await?;
    Ok(Some((reader.into_inner(), serde_json::from_slice(&body)?)))
}
