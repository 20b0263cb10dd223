//! Tools of other programs, through the Model Context Protocol: reaching a server, what it offers, and calling it.
//!
//! A server is somebody else's program. What it says is data, and there is a limit to all of it: how long it may
//! take, how much it may send and how many tools it may have. What it offers is pinned, so that a description
//! that changes after somebody has seen it is noticed before a model reads it.

mod http;
mod names;
mod offer;
mod pins;
mod process;
mod session;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

pub use names::{legal, told_as};
pub use offer::{Changed, Offer, OfferedTool};
pub use pins::{PinError, Pins};
pub use session::Session;

use crate::model::Secret;

/// A server as it is configured.
#[derive(Clone, Debug)]
pub struct Server {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub reach: Reach,
    /// How long it may take to begin, and to answer.
    pub timeout: Duration,
    /// The tools that may be used; none: all of them.
    pub tools: Option<Vec<String>>,
    /// Whether it may be used.
    pub enabled: bool,
}

impl Server {
    /// Whether one of its tools may be used.
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|allowed| allowed.iter().any(|name| name == tool))
    }
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// A program, spoken to on its standard input and output. It sees these variables and no others.
    Program {
        /// What starts it and ends it with this process; nothing: it is started as it is.
        keeper: Vec<OsString>,
        /// The program and what it is called with.
        command: Vec<String>,
        /// Its whole environment.
        env: BTreeMap<String, Secret>,
    },
    /// An address that speaks streamable HTTP.
    Address {
        /// Where.
        url: String,
        /// What proves who asks.
        token: Option<Secret>,
    },
}

/// Why a server is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server `{server}` {why}")]
pub struct McpError {
    /// The server.
    pub server: String,
    /// What is wrong with it.
    pub why: String,
}

impl McpError {
    pub(crate) fn new(server: &str, why: impl Into<String>) -> Self {
        Self { server: server.to_owned(), why: why.into() }
    }
}
