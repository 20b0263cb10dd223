//! Anthropic's protocol, which is also the form that conversations are kept in.
//!
//! What is sent is written and read here, without the library, so that every block goes back in its place and
//! unchanged, whatever it is.

mod answer;
mod body;

pub(super) use answer::AnswerReader;
pub(super) use body::body;

/// The type of a part of ours that keeps what a text refers to. It is not sent.
pub(super) const CITATIONS: &str = "citations";
