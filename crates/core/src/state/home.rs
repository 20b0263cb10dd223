//! The state of a home: who may come in, and up to where the log is sealed.

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::Stamp;
use crate::event::{HomeEvent, Role, Text};
use crate::{Digest, Seq, Timestamp, TokenId};

/// The state of a home.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HomeState {
    /// Names this home among all homes; none before it is made.
    pub store: Option<uuid::Uuid>,
    /// Tokens that were not revoked.
    pub tokens: OrdMap<TokenId, Token>,
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
}

impl HomeState {
    /// Folds one event in.
    pub fn apply(&mut self, stamp: &Stamp<'_>, event: &HomeEvent) {
        match event {
            HomeEvent::Made { store } => self.store = Some(*store),
            HomeEvent::TokenIssued { token, name, role, secret, expires } => {
                let issued = Token {
                    name: name.clone(),
                    role: *role,
                    secret: *secret,
                    issued_at: stamp.at,
                    expires: *expires,
                };
                self.tokens.insert(*token, issued);
            }
            HomeEvent::TokenRevoked { token } => {
                self.tokens.remove(token);
            }
            HomeEvent::Sealed { upto, .. } => self.sealed = *upto,
        }
    }
}
