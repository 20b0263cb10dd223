//! What people may set about models: where providers are, their keys, and how patient a call is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::prices::Prices;

/// Everything that calls of models need to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Providers by name. Those that are built in need no entry unless something of theirs is set.
    pub providers: BTreeMap<String, Provider>,
    /// How often a call is tried again.
    pub max_retries: u32,
    /// How long nothing may arrive before a call is given up.
    pub call_timeout: Duration,
    /// Where models may search the web; everywhere, where none is named.
    pub search_domains: Vec<String>,
    /// How large an answer may be, as it comes over the wire.
    pub max_answer_bytes: u64,
    /// How long to wait between tries.
    pub delays: Delays,
    /// Where the files of the `script` provider are; without it there are none.
    pub scripts_folder: Option<PathBuf>,
    /// What models cost.
    pub prices: Prices,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            providers: BTreeMap::new(),
            max_retries: 4,
            call_timeout: Duration::from_mins(2),
            search_domains: Vec::new(),
            max_answer_bytes: 16 << 20,
            delays: Delays::default(),
            scripts_folder: None,
            prices: Prices::built_in(),
        }
    }
}

/// A provider.
#[derive(Clone, Default)]
pub struct Provider {
    /// Where it is, without `/v1`. A user or a password in it is refused.
    pub base_url: Option<String>,
    /// What proves who asks.
    pub api_key: Option<Secret>,
}

impl fmt::Debug for Provider {
    /// An address that may hold a password is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.base_url.as_deref().map(|url| if url.contains('@') { "…" } else { url });
        f.debug_struct("Provider").field("base_url", &base_url).field("api_key", &self.api_key).finish()
    }
}

/// How long to wait before a call is tried again, where the provider does not say.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// The first wait; each later one is twice as long. Up to as much again is added by chance, so that many
    /// callers do not come back at once.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// A provider that asks for a longer wait than this is not waited for: the error says how long it wants.
    pub longest_told: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            longest_told: Duration::from_hours(1),
        }
    }
}

/// A key. It is sent to its provider and shown nowhere.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the wire only.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_or_a_password_never_shows() {
        let provider = Provider {
            base_url: Some("http://me:hidden@127.0.0.1:1".to_owned()),
            api_key: Some(Secret::new("sk-hidden")),
        };
        let settings = Settings {
            providers: BTreeMap::from([("anthropic".to_owned(), provider)]),
            ..Settings::default()
        };
        assert!(!format!("{settings:?}").contains("hidden"));
    }
}
