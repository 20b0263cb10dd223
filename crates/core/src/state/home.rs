//! The state of a home: who may come in, and up to where the log is sealed.

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::Stamp;
use crate::event::{HomeEvent, Role, Text};
use crate::permission::Rights;
use crate::{Actor, ActorKind, Digest, PipelineId, Seq, Timestamp, TokenId};

/// The state of a home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HomeState {
    /// Names this home among all homes; none before it is made.
    pub store: Option<uuid::Uuid>,
    /// Tokens that were not revoked.
    pub tokens: OrdMap<TokenId, Token>,
    /// The same tokens by the hash of their secret.
    #[serde(default)]
    pub secrets: OrdMap<Digest, TokenId>,
    /// The position up to which heads are sealed.
    pub sealed: Seq,
}

/// A token as its home knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Whose it is.
    pub name: Text,
    /// What its holder may do.
    pub role: Role,
    /// The hash of its secret.
    pub secret: Digest,
    /// When it was made.
    pub issued_at: Timestamp,
    /// Until when it is good.
    pub expires: Option<Timestamp>,
    /// Whether its holder is an agent.
    #[serde(default)]
    pub agent: bool,
    /// The pipelines that it is good for; empty: all.
    #[serde(default)]
    pub pipelines: Vec<PipelineId>,
}

impl Token {
    /// What its holder may do.
    pub fn rights(&self) -> Rights {
        let kind = if self.agent { ActorKind::Agent } else { ActorKind::Person };
        Rights { role: self.role, kind, pipelines: self.pipelines.clone() }
    }

    /// Who its holder is in the log.
    pub fn actor(&self) -> Actor {
        if self.agent { Actor::agent(&self.name) } else { Actor::person(&self.name) }
    }

    /// Whether it is still good at a time.
    pub fn is_good(&self, at: Timestamp) -> bool {
        self.expires.is_none_or(|expires| at < expires)
    }
}

impl HomeState {
    /// The token with this secret, good or expired. Secrets are random and looked up by their hash, so the
    /// time that it takes says nothing about them.
    pub fn token_of(&self, secret: Digest) -> Option<(TokenId, &Token)> {
        let id = *self.secrets.get(&secret)?;
        Some((id, self.tokens.get(&id)?))
    }

    /// Folds one event in.
    pub fn apply(&mut self, stamp: &Stamp<'_>, event: &HomeEvent) {
        match event {
            HomeEvent::Made { store } => self.store = Some(*store),
            HomeEvent::TokenIssued { token, name, role, secret, expires, agent, pipelines } => {
                let issued = Token {
                    name: name.clone(),
                    role: *role,
                    secret: *secret,
                    issued_at: stamp.at,
                    expires: *expires,
                    agent: *agent,
                    pipelines: pipelines.clone(),
                };
                self.secrets.insert(*secret, *token);
                self.tokens.insert(*token, issued);
            }
            HomeEvent::TokenRevoked { token } => {
                if let Some(revoked) = self.tokens.remove(token) {
                    self.secrets.remove(&revoked.secret);
                }
            }
            HomeEvent::Sealed { upto, .. } => self.sealed = *upto,
        }
    }
}
