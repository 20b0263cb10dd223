//! Agents: models behind one trait, what agents are told and may do, and how they talk to each other.
//!
//! Nothing here keeps anything: what was said and done is handed to a journal before it is used, and asked back
//! from it after a crash.

#![cfg_attr(test, allow(clippy::needless_raw_string_hashes))]
// What agents are told is put together once and is short: a second way to write it would only be harder to read.
#![allow(clippy::format_push_string)]

pub mod mcp;
pub mod model;
pub mod prompt;
pub mod talk;
pub mod tools;
