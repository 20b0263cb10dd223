//! What is said to a worker and what it says: a length in four bytes, then so many bytes of JSON.
//!
//! Values travel as text inside it, so that they may be as deep as anywhere else.

use std::io::{self, Read};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ExprError;
use crate::js::{Answer, Question};

/// The most bytes of a question: the largest artifact that a schema is held against, escaped.
pub const MAX_QUESTION: usize = 256 << 20;

/// The most bytes of a reply.
pub const MAX_REPLY: usize = 16 << 20;

/// A question.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// What an expression comes to.
    Expression(Question),
    /// What is wrong with a value, or only with the schema.
    Schema {
        /// The schema.
        schema: String,
        /// The value, if there is one.
        value: Option<String>,
        /// How many seconds of work it may take at most.
        seconds: u64,
    },
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// It has set its limits and waits for questions.
    Ready,
    /// To an expression.
    Expression(Result<Answer, ExprError>),
    /// To a schema.
    Schema(Result<Vec<String>, String>),
}

/// Something as it travels.
pub fn frame(message: &impl Serialize, most: usize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    if length > most {
        return Err(io::Error::other(format!("more than {most} bytes")));
    }
    let length = u32::try_from(length).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// The length of what follows.
pub fn length(bytes: [u8; 4], most: usize) -> io::Result<usize> {
    let length = u32::from_le_bytes(bytes) as usize;
    if length > most { Err(io::Error::other("something else")) } else { Ok(length) }
}

/// The next message; none when the other side has closed.
pub fn read<T: DeserializeOwned>(mut from: impl Read, most: usize) -> io::Result<Option<T>> {
    let mut head = [0; 4];
    match from.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut body = vec![0; length(head, most)?];
    from.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

/// A value as text inside of JSON.
pub mod text {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use serde_json::Value;

    pub fn serialize<S: Serializer>(value: &Value, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        serde_json::from_str(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}
