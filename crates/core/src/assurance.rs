//! How sure the system is that a person, and not a program, gave an answer.

use serde::{Deserialize, Serialize};

/// How an answer was proved, weakest first.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = AssuranceLevel)]
pub enum Level {
    /// The answer was written before the question existed.
    Prepared,
    /// Access alone: a token, a file of the home, a user id.
    #[default]
    Local,
    /// A person at a terminal passed the presence check.
    Terminal,
    /// A browser session that was opened with a passkey.
    Session,
    /// A passkey signed this very decision.
    Passkey,
}

impl Level {
    /// The documented name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Local => "local",
            Self::Terminal => "terminal",
            Self::Session => "session",
            Self::Passkey => "passkey",
        }
    }

    /// The level with a name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Prepared, Self::Local, Self::Terminal, Self::Session, Self::Passkey];
        all.into_iter().find(|level| level.name() == name)
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    pub(crate) fn is_local(&self) -> bool {
        *self == Self::Local
    }
}

/// The proof that came with a command. Events omit it where it is `local`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assurance {
    /// How sure.
    pub level: Level,
}

impl Assurance {
    /// An answer that was written before the question existed.
    pub const PREPARED: Self = Self { level: Level::Prepared };

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    pub(crate) fn is_local(&self) -> bool {
        self.level.is_local()
    }
}
