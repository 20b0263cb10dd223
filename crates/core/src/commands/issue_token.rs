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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::HomeCommand;
    use crate::testing::{Scene, When, on_home};

    fn issue(name: &str) -> When {
        let (role, secret) = (Role::Approver, Digest::of(b"secret"));
        on_home(HomeCommand::IssueToken(IssueToken { name: name.into(), role, secret, expires: None }))
    }

    #[test]
    fn a_token_is_issued_by_a_person_with_a_name() {
        let mut scene = Scene::new();
        let issued = scene.run(issue("ann")).reply.token.expect("a token");
        let Some(crate::State::Home(home)) = scene.states.get(&StreamId::Home) else { panic!("no home") };
        assert_eq!((&*home.tokens[&issued].name, home.tokens[&issued].role), ("ann", Role::Approver));
        scene.check_code(issue(" "), "invalid_fields");
        scene.as_agent().check(
            issue("model"),
            expect![[r#"
            refused (not_a_person): only a person can decide here
        "#]],
        );
    }
}
