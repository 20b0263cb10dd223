//! Summaries by the content that they are of, so that nobody pays twice for the same one.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use holdpoint_core::Digest;

/// How many are remembered.
const MOST: usize = 500;

/// The summaries that this process has made.
#[derive(Debug, Default)]
pub(super) struct Summaries(Mutex<VecDeque<(Digest, String)>>);

impl Summaries {
    pub fn get(&self, of: Digest) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(digest, _)| *digest == of).map(|(_, text)| text.clone())
    }

    pub fn put(&self, of: Digest, text: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST {
            known.pop_front();
        }
        known.push_back((of, text));
    }
}
