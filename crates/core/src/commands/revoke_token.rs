//! Withdraws an access token.

use crate::decision::Draft;
use crate::event::{Event, HomeEvent};
use crate::{Rejection, StreamId, TokenId};

/// The rule.
pub fn decide(draft: &mut Draft<'_>, token: TokenId) -> Result<(), Rejection> {
    draft.refuse_agents()?;
    if !draft.home().tokens.contains_key(&token) {
        return Err(Rejection::NotFound { what: "token", id: token.to_string() });
    }
    draft.emit(StreamId::Home, Event::Home(HomeEvent::TokenRevoked { token }));
    draft.reply.token = Some(token);
    Ok(())
}
