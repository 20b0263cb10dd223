//! A store in memory, for tests and for the simulator.
//!
//! A [`MemoryDisk`] is what would survive a crash; a [`MemoryLog`] is one process that works on it, and its
//! [`MemoryBlobs`] are that process's way to bytes. What is promised is what the traits promise, plus:
//! - nothing here reads a clock, sleeps or draws a random number: time moves by [`MemoryDisk::advance`],
//!   chance comes from a seed;
//! - an append happens in one step, so that dropping its future leaves all of it or nothing;
//! - faults happen where a [`fault hook`](MemoryDisk::set_fault) says so, and nowhere else.

mod append;
mod blobs;
mod disk;
mod fault;
mod files;
mod log;
mod query;
mod work;

pub use blobs::MemoryBlobs;
pub use disk::{LEASE_MS, MemoryDisk};
pub use fault::{Fault, FaultHook, Step};
pub use log::MemoryLog;
