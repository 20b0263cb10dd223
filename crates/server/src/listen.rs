//! Where the server listens, and what it refuses to listen on.
//!
//! Without named users and an encrypted connection everybody who reaches the port can do everything, so only
//! addresses of this machine itself are bound.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address to listen on: `127.0.0.1:4180`, `localhost:4180`, `[::1]:4180`. Port 0 takes a free one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen(SocketAddr);

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The text is no address.
    #[error("`{text}` is not an address to listen on")]
    NotAnAddress {
        /// What was given.
        text: String,
    },
    /// The address can be reached from other machines.
    #[error("{address} can be reached from other machines")]
    UnsafeBind {
        /// What was given.
        address: SocketAddr,
    },
    /// Something else listens there.
    #[error("{address} is in use")]
    InUse {
        /// What was given.
        address: SocketAddr,
    },
    /// The system does not let us.
    #[error("cannot listen on {address}: {source}")]
    Refused {
        /// What was given.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}

impl ListenError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAnAddress { .. } => "bad_address",
            Self::UnsafeBind { .. } => "unsafe_bind",
            Self::InUse { .. } => "port_in_use",
            Self::Refused { .. } => "bind_refused",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAnAddress { .. } => "write it as 127.0.0.1:4180, localhost:4180 or [::1]:4180",
            Self::UnsafeBind { .. } => "listen on 127.0.0.1 or [::1]; others reach it through a tunnel",
            Self::InUse { .. } => "choose another port with --port, or --port 0 for a free one",
            Self::Refused { .. } => "ports below 1024 need rights; choose another with --port",
        }
    }
}

impl Listen {
    /// The default: `127.0.0.1:4180`.
    pub const DEFAULT: Self = Self(SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4180));

    /// The same address with another port.
    #[must_use]
    pub fn with_port(self, port: u16) -> Self {
        Self(SocketAddr::new(self.0.ip(), port))
    }

    /// The address as numbers.
    pub fn address(self) -> SocketAddr {
        self.0
    }
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let numeric = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        let address: SocketAddr =
            numeric.parse().map_err(|_| ListenError::NotAnAddress { text: text.to_owned() })?;
        if address.ip().is_loopback() { Ok(Self(address)) } else { Err(ListenError::UnsafeBind { address }) }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_taken_and_no_others() {
        let told = |text: &str| match text.parse::<Listen>() {
            Ok(listen) => listen.to_string(),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(told("127.0.0.1:4180"), "127.0.0.1:4180");
        assert_eq!(told("127.0.0.9:0"), "127.0.0.9:0");
        assert_eq!(told("localhost:80"), "127.0.0.1:80");
        assert_eq!(told("[::1]:4180"), "[::1]:4180");
        for open in ["0.0.0.0:4180", "[::]:4180", "192.168.1.2:80", "[::ffff:127.0.0.1]:80"] {
            assert_eq!(told(open), "unsafe_bind", "{open}");
        }
        for wrong in ["", "4180", "localhost", "127.0.0.1", "127.0.0.1:99999", "::1:80", "example.org:80"] {
            assert_eq!(told(wrong), "bad_address", "{wrong}");
        }
    }
}
