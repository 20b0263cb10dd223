//! What Holdpoint needs of a store: an event log with work to claim, and blobs.
//!
//! The two traits are small enough to read on one screen each. The engine holds them as trait objects.

pub mod blobs;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod log;
pub mod memory;
pub mod picture;
pub mod query;
pub mod reply;

pub use blobs::{BlobError, BlobStore, SMALL_BLOB, Stored, Swept};
pub use futures_util::future::BoxFuture;
pub use log::{
    Append, Claimed, Diff, EventLog, Fence, Key, Lease, NewRow, OwnerId, Receipt, Refused, Row, SavedFold,
    SmallBlob, StoreError, WorkChange,
};
pub use picture::Picture;
pub use query::{DAY, EventFilter, Page, Query, Record, Spent, SpentBy, SpentFilter};
pub use reply::{KeptBody, KeptReply, REPLIES_KEPT, Reply, UsedKey, kept_since};
