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

#[cfg(test)]
mod tests {
    use crate::commands::issue_token::IssueToken;
    use crate::event::Role;
    use crate::testing::{Scene, on_home};
    use crate::{Digest, HomeCommand};

    #[test]
    fn a_revoked_token_is_gone() {
        let mut scene = Scene::new();
        let (role, secret) = (Role::Viewer, Digest::of(b"secret"));
        let issue = IssueToken::new("ann", role, secret);
        let token = scene.run(on_home(HomeCommand::IssueToken(issue))).reply.token.expect("a token");
        let revoke = || on_home(HomeCommand::RevokeToken(token));
        scene.run(revoke());
        scene.check_code(revoke(), "not_found");
        scene.as_agent().check_code(revoke(), "not_a_person");
    }
}
