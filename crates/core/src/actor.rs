//! Who does something: people, agents and the system itself.

use serde::{Deserialize, Serialize};

/// The kinds of actors. An agent can never decide at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// Somebody at a terminal, in the console, or behind a token of theirs.
    Person,
    /// A model, or an outside coding agent.
    Agent,
    /// Holdpoint itself: timers, outcomes of effects, policies.
    System,
}

/// Who gave a command, as it is recorded with every event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// What kind of actor it is.
    pub kind: ActorKind,
    /// A name that people recognise.
    pub name: std::sync::Arc<str>,
}

impl Actor {
    /// A person by name.
    pub fn person(name: &str) -> Self {
        Self { kind: ActorKind::Person, name: name.into() }
    }

    /// An agent by name.
    pub fn agent(name: &str) -> Self {
        Self { kind: ActorKind::Agent, name: name.into() }
    }

    /// Holdpoint itself.
    pub fn system() -> Self {
        Self { kind: ActorKind::System, name: "holdpoint".into() }
    }
}
