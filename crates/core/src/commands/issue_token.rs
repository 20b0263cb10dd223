//! Makes an access token. The secret never comes here, only its hash.

use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Event, HomeEvent, Role, Text};
use crate::{Digest, Rejection, StreamId, Timestamp, TokenId};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct IssueToken {
    /// Whose it is.
    pub name: Text,
    /// What its holder may do.
    pub role: Role,
    /// The hash of its secret.
    pub secret: Digest,
    /// Until when it is good.
    pub expires: Option<Timestamp>,
}

/// How many tokens a home may have.
const MAX_TOKENS: usize = 10_000;

/// The rule.
pub fn decide(draft: &mut Draft<'_>, command: &IssueToken) -> Result<(), Rejection> {
    draft.refuse_agents()?;
    let home = draft.home();
    if command.name.trim().is_empty() {
        return Err(Rejection::Invalid(vec![Fault::at("/name", "a name is required")]));
    }
    if home.tokens.len() >= MAX_TOKENS {
        return Err(Rejection::LimitReached { what: "tokens", limit: MAX_TOKENS as u64 });
    }
    let token = TokenId(draft.ids.mint());
    let IssueToken { name, role, secret, expires } = command.clone();
    draft.emit(StreamId::Home, Event::Home(HomeEvent::TokenIssued { token, name, role, secret, expires }));
    draft.reply.token = Some(token);
    Ok(())
}
