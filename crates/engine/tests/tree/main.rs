//! The file tree on a real disk, through the engine: what people see in the folders, and what becomes of it when
//! somebody changes them.

// Snapshots are written by their tool, which always uses raw strings.
#![allow(clippy::needless_raw_string_hashes)]

#[allow(dead_code)] // each test uses a part of it
#[path = "../common/mod.rs"]
mod common;
mod drift;
mod life;
mod retention;
mod scene;
