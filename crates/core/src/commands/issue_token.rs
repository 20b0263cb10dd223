//! Makes an access token. The secret never comes here, only its hash.

use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Event, HomeEvent, Role, Text};
use crate::{Digest, PipelineId, Rejection, StreamId, Timestamp, TokenId};

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
    /// Whether its holder is an agent, who never decides.
    pub agent: bool,
    /// The pipelines that it is good for; empty: all.
    pub pipelines: Vec<PipelineId>,
}

impl IssueToken {
    /// A person's token, good everywhere and for ever.
    pub fn new(name: &str, role: Role, secret: Digest) -> Self {
        Self { name: name.into(), role, secret, expires: None, agent: false, pipelines: Vec::new() }
    }
}

/// How many tokens a home may have.
const MAX_TOKENS: usize = 10_000;
/// How many pipelines a token may be limited to.
const MAX_PIPELINES: usize = 100;

/// The rule.
pub fn decide(draft: &mut Draft<'_>, command: &IssueToken) -> Result<(), Rejection> {
    draft.refuse_agents()?;
    let home = draft.home();
    if command.name.trim().is_empty() {
        return Err(Rejection::Invalid(vec![Fault::at("/name", "a name is required")]));
    }
    if command.agent && command.role > Role::Operator {
        return Err(Rejection::Invalid(vec![Fault::at("/role", "an agent is at most an operator")]));
    }
    if command.pipelines.len() > MAX_PIPELINES {
        return Err(Rejection::LimitReached { what: "pipelines of a token", limit: MAX_PIPELINES as u64 });
    }
    if let Some((token, _)) = home.token_of(command.secret) {
        return Err(Rejection::Exists { what: "token", id: token.to_string() });
    }
    if home.tokens.len() >= MAX_TOKENS {
        return Err(Rejection::LimitReached { what: "tokens", limit: MAX_TOKENS as u64 });
    }
    let token = TokenId(draft.ids.mint());
    let IssueToken { name, role, secret, expires, agent, pipelines } = command.clone();
    let issued = HomeEvent::TokenIssued { token, name, role, secret, expires, agent, pipelines };
    draft.emit(StreamId::Home, Event::Home(issued));
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
        on_home(HomeCommand::IssueToken(IssueToken::new(name, Role::Approver, Digest::of(name.as_bytes()))))
    }

    #[test]
    fn a_token_is_issued_by_a_person_with_a_name() {
        let mut scene = Scene::new();
        let issued = scene.run(issue("ann")).reply.token.expect("a token");
        let Some(crate::State::Home(home)) = scene.states.get(&StreamId::Home) else { panic!("no home") };
        assert_eq!((&*home.tokens[&issued].name, home.tokens[&issued].role), ("ann", Role::Approver));
        scene.check_code(issue(" "), "invalid_fields");
        scene.check_code(issue("ann"), "already_exists");
        scene.as_agent().check(
            issue("model"),
            expect![[r#"
            refused (not_a_person): only a person can decide here
        "#]],
        );
    }

    #[test]
    fn an_agent_is_at_most_an_operator() {
        let agent = |role| {
            let secret = Digest::of(Role::name(role).as_bytes());
            on_home(HomeCommand::IssueToken(IssueToken {
                agent: true,
                ..IssueToken::new("model", role, secret)
            }))
        };
        let mut scene = Scene::new();
        scene.check_code(agent(Role::Approver), "invalid_fields");
        let issued = scene.run(agent(Role::Operator)).reply.token.expect("a token");
        let Some(crate::State::Home(home)) = scene.states.get(&StreamId::Home) else { panic!("no home") };
        assert_eq!(home.tokens[&issued].actor(), crate::Actor::agent("model"));
    }
}
