//! Messages between the server, the watcher and the entrance: a length, then that many bytes.
//!
//! They go over a socket on standard input, which each process replaces before it starts the next one. So a
//! confined program never holds one and cannot speak for its watcher.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Longer than any order: what follows a wrong length is not read.
const MAX: usize = 256 * 1024 * 1024;

/// What the watcher and the entrance report.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// Everything is laid on and the program begins.
    Ready,
    /// Something could not be laid on, and the program was not begun.
    Failed(String),
    /// The program and everything that it started is gone.
    Ended { code: Option<i32>, signal: Option<i32> },
}

/// A message as bytes.
pub(crate) fn frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + 4);
    bytes.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A value as a message.
pub(crate) fn frame_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok(frame(&serde_json::to_vec(value)?))
}

/// Takes exactly one message off a socket.
pub(crate) fn read(mut from: &UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut payload = vec![0; checked(length)?];
    from.read_exact(&mut payload)?;
    Ok(payload)
}

/// Takes one value off a socket.
pub(crate) fn read_json<T: DeserializeOwned>(from: &UnixStream) -> io::Result<T> {
    Ok(serde_json::from_slice(&read(from)?)?)
}

/// Sends a report.
pub(crate) fn report(mut to: &UnixStream, report: &Report) -> io::Result<()> {
    to.write_all(&frame_json(report)?)
}

/// Takes one report off a socket, in the server.
pub(crate) async fn next_report(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Report> {
    let mut length = [0; 4];
    from.read_exact(&mut length).await?;
    let mut payload = vec![0; checked(length)?];
    from.read_exact(&mut payload).await?;
    Ok(serde_json::from_slice(&payload)?)
}

fn checked(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long"));
    }
    Ok(length)
}
