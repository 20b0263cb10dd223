//! What clients hand in, and why it is refused.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Text;
use crate::Digest;

/// JSON of a client: in the event where it is small, else as bytes beside the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// The value.
    #[serde(rename = "v")]
    Inline(Value),
    /// Its canonical JSON.
    #[serde(rename = "d")]
    Stored(Digest, u64),
}

/// Larger content is stored beside the log: a fold keeps what waits for a person.
const INLINE: u64 = 4 * 1024;

impl Content {
    /// How content of this size is kept.
    pub fn is_inline(size: u64) -> bool {
        size <= INLINE
    }

    /// The SHA-256 of its canonical JSON.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Inline(value) => Digest::of_json(value),
            Self::Stored(digest, _) => *digest,
        }
    }
}

/// Tells whether a repeated call hands in the same: eight bytes of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark(u64);

/// The mark of what a call hands in.
pub fn mark(output: Option<Digest>, context: &Map<String, Value>) -> Mark {
    let digest = Digest::of_json(&(output, context));
    Mark(digest.0[..8].iter().fold(0, |mark, byte| mark << 8 | u64::from(*byte)))
}

/// Why what a client handed in is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blocker {
    /// A stable code.
    pub code: Text,
    /// One sentence.
    pub message: Text,
    /// What it is about, what was expected and what came, as the client's protocol has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Value>,
}
