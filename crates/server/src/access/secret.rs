//! Secrets: random words that only their holder knows. What is kept of one is its hash.

use std::fmt;

use holdpoint_core::Digest;

/// How many letters and digits: together they hold 256 bits.
const LENGTH: usize = 43;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A secret as its holder has it. It is shown once and never printed by mistake.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new token: `hp_` and 43 letters and digits.
    pub fn token() -> Self {
        Self(format!("hp_{}", random()))
    }

    /// A new session or ticket, which is no token.
    pub(super) fn word() -> Self {
        Self(random())
    }

    /// A secret that somebody has.
    pub fn known(text: &str) -> Option<Self> {
        let text = text.trim();
        let letters = text.strip_prefix("hp_")?;
        let whole = letters.len() == LENGTH && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
        whole.then(|| Self(text.to_owned()))
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

fn random() -> String {
    let mut text = String::with_capacity(LENGTH);
    let mut bytes = [0u8; 64];
    while text.len() < LENGTH {
        getrandom::fill(&mut bytes).expect("the system has random numbers");
        // Bytes from 248 on would make the first letters likelier than the rest.
        let letters = bytes.iter().filter(|byte| **byte < 248).map(|byte| ALPHABET[usize::from(byte % 62)]);
        text.extend(letters.take(LENGTH - text.len()).map(char::from));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_recognised_and_not_shown() {
        let token = Secret::token();
        assert_eq!(token.reveal().len(), 46);
        assert_eq!(Secret::known(&format!(" {}\n", token.reveal())), Some(token.clone()));
        assert_ne!(token, Secret::token());
        assert_eq!(format!("{token:?}"), "Secret(…)");
        for wrong in ["", "hp_", "hp_short", Secret::word().reveal(), &format!("{}!", token.reveal())] {
            assert_eq!(Secret::known(wrong), None, "{wrong}");
        }
    }
}
