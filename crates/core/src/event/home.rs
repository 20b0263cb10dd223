//! Events of a home: who may come in, and seals over the log.

use serde::{Deserialize, Serialize};

use super::Text;
use crate::{Digest, PipelineId, Seq, Timestamp, TokenId};

/// Events of a home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HomeEvent {
    /// The home was made.
    #[serde(rename = "home_made")]
    Made {
        /// Names this home among all homes.
        store: uuid::Uuid,
    },
    /// A token was made; its secret is known only by its hash.
    #[serde(rename = "token_issued")]
    TokenIssued {
        /// Its public name.
        token: TokenId,
        /// Whose it is.
        name: Text,
        /// What its holder may do.
        role: Role,
        /// The hash of its secret.
        secret: Digest,
        /// Until when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        /// Whether its holder is an agent, who never decides.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        agent: bool,
        /// The pipelines that it is good for; empty: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pipelines: Vec<PipelineId>,
    },
    /// A token was withdrawn.
    #[serde(rename = "token_revoked")]
    TokenRevoked {
        /// Which.
        token: TokenId,
    },
    /// The heads of all streams that moved since the last seal were hashed together.
    #[serde(rename = "sealed")]
    Sealed {
        /// The position up to which the log is covered.
        upto: Seq,
        /// How many streams had moved.
        streams: u64,
        /// The hash over their heads.
        heads: Digest,
    },
}

kinds!(HomeEvent {
    Made = "home_made" => Some("home.created"),
    TokenIssued = "token_issued" => Some("token.issued"),
    TokenRevoked = "token_revoked" => Some("token.revoked"),
    Sealed = "sealed" => Some("audit.sealed"),
});

/// What a person may do; each role may do all that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look.
    Viewer,
    /// Start and steer runs.
    Operator,
    /// Decide at gates.
    Approver,
    /// Everything.
    Admin,
}

impl Role {
    /// All roles, each with the rights of those before it.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Approver, Self::Admin];

    /// The role's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}
