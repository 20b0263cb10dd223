//! The server over real HTTP, on a home of its own with SQLite: everything that a client can see.

#![allow(clippy::unwrap_used)] // a test says what it expects by failing
#![allow(clippy::disallowed_methods)] // tests prepare homes without a caller

mod access;
mod definitions;
mod harness;
mod idempotency;
mod matrix;
mod people;
mod reference;
mod scope;
mod stream;
mod tokens;
