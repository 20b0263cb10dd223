//! Stored replies, kept beside the idempotency key of its request.
//!
//! A reply is written in the commit that carries the request out, so that either both are there or none is. A request
//! that comes again is answered with these bytes, whatever has changed since.

use std::sync::Arc;

use holdpoint_core::{Digest, Seq, Timestamp};

/// How long a key and its reply are kept, in microseconds.
pub const REPLIES_KEPT: i64 = 7 * 24 * 3600 * 1_000_000;

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status of the answer, as HTTP counts it.
    pub status: u16,
    /// The bytes of the answer.
    pub body: Arc<[u8]>,
}

/// A reply as a key keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptReply {
    /// The status of the answer.
    pub status: u16,
    /// Where its bytes are.
    pub body: KeptBody,
}

/// Where the bytes of a reply are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptBody {
    /// With the key; at most [`crate::SMALL_BLOB`].
    Inline(Arc<[u8]>),
    /// In a blob, which was durable before the key.
    Blob(Digest),
}

/// What a key was used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedKey {
    /// The request.
    pub request: Digest,
    /// When; after [`REPLIES_KEPT`] the key counts as unused.
    pub at: Timestamp,
    /// The positions of the request's first and last event; none: nothing had to be written.
    pub wrote: Option<(Seq, Seq)>,
    /// The reply.
    pub reply: KeptReply,
}

impl UsedKey {
    /// Whether the key still stands for its request.
    pub fn is_kept(&self, now: Timestamp) -> bool {
        self.at > kept_since(now)
    }
}

/// Keys that were used before this are over.
pub fn kept_since(now: Timestamp) -> Timestamp {
    Timestamp(now.0.saturating_sub(REPLIES_KEPT))
}
