//! What a model's name means: which provider is asked, in which protocol, and for which model.
//!
//! A name is `provider/model`, or a bare name of Anthropic's; `@low`, `@medium` or `@high` behind it asks the
//! model to think that hard, where it can.

use super::settings::{Provider, Settings};
use super::{ErrorKind, ModelError};

/// A name that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    /// The provider.
    pub provider: &'a str,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// The model, in the provider's word.
    pub model: &'a str,
    /// How hard the model is to think.
    pub effort: Option<Effort>,
}

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Anthropic's messages.
    Anthropic,
    /// Chat completions as `OpenAI` has them, which many others speak as well.
    OpenAi,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
    /// Answers from a file.
    Script,
    /// Answers from a recording.
    Replay,
}

/// How hard a model is to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// A little.
    Low,
    /// More.
    Medium,
    /// Much.
    High,
}

const BUILT_IN: [(&str, Protocol); 6] = [
    ("anthropic", Protocol::Anthropic),
    ("openai", Protocol::OpenAi),
    ("gemini", Protocol::Gemini),
    ("ollama", Protocol::Ollama),
    ("script", Protocol::Script),
    ("replay", Protocol::Replay),
];

impl Protocol {
    /// Where the provider is when nothing else is set, without a version.
    pub(super) fn home(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://127.0.0.1:11434",
            Self::Script | Self::Replay => "",
        }
    }

    /// Whether models can search the web by themselves. A script or a recording may say that they did.
    pub(super) fn searches(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini | Self::Script | Self::Replay => true,
            Self::OpenAi | Self::Ollama => false,
        }
    }

    /// Whether their search can be kept to some domains.
    pub(super) fn searches_in(self) -> bool {
        match self {
            Self::Anthropic | Self::Script | Self::Replay => true,
            Self::Gemini | Self::OpenAi | Self::Ollama => false,
        }
    }

    /// The variable that people keep the key in.
    pub(super) fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
            Self::Ollama | Self::Script | Self::Replay => "",
        }
    }
}

/// Understands a model's name.
pub(super) fn understand<'a>(name: &'a str, settings: &Settings) -> Result<Named<'a>, ModelError> {
    let (provider, rest) = name.split_once('/').unwrap_or(("anthropic", name));
    let Some(protocol) = protocol_of(provider, settings) else {
        return Err(unknown(format!("there is no provider `{provider}`; {}", what_exists(settings))));
    };
    let (model, effort) = match protocol {
        Protocol::Script | Protocol::Replay => (rest, None),
        Protocol::Anthropic | Protocol::OpenAi | Protocol::Gemini | Protocol::Ollama => split_effort(rest),
    };
    if model.is_empty() && protocol != Protocol::Replay {
        return Err(unknown(format!("`{name}` names no model; write `{provider}/<model>`")));
    }
    Ok(Named { provider, protocol, model, effort })
}

/// A name that has no address cannot be asked, so it is as unknown as one that was never written.
fn protocol_of(provider: &str, settings: &Settings) -> Option<Protocol> {
    let built_in = BUILT_IN.iter().find(|(name, _)| *name == provider).map(|(_, protocol)| *protocol);
    built_in.or_else(|| {
        let configured: &Provider = settings.providers.get(provider)?;
        configured.base_url.as_ref().map(|_| Protocol::OpenAi)
    })
}

fn split_effort(rest: &str) -> (&str, Option<Effort>) {
    let split = rest.rsplit_once('@').and_then(|(model, word)| {
        let effort = match word {
            "low" => Effort::Low,
            "medium" => Effort::Medium,
            "high" => Effort::High,
            _ => return None,
        };
        Some((model, Some(effort)))
    });
    split.unwrap_or((rest, None))
}

fn what_exists(settings: &Settings) -> String {
    let mut names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    names.extend(settings.providers.keys().map(String::as_str).filter(|name| {
        protocol_of(name, settings).is_some() && !BUILT_IN.iter().any(|(built_in, _)| built_in == name)
    }));
    format!(
        "there are {}; any other needs a `base_url` in the settings and is spoken to as OpenAI is",
        names.join(", ")
    )
}

fn unknown(message: String) -> ModelError {
    ModelError { kind: ErrorKind::Unknown, message, status: None, retry_after: None }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::{Expect, expect};

    use super::*;

    fn check(name: &str, wanted: &Expect) {
        let local = Provider { base_url: Some("http://127.0.0.1:1".to_owned()), api_key: None };
        let settings = Settings {
            providers: BTreeMap::from([
                ("local".to_owned(), local),
                ("nowhere".to_owned(), Provider::default()),
            ]),
            ..Settings::default()
        };
        let said = match understand(name, &settings) {
            Ok(named) => {
                format!("{} {:?} {} {:?}", named.provider, named.protocol, named.model, named.effort)
            }
            Err(error) => format!("{}: {error}", error.kind.name()),
        };
        wanted.assert_eq(&said);
    }

    #[test]
    fn names_say_provider_and_model() {
        check("claude-sonnet-4-5", &expect!["anthropic Anthropic claude-sonnet-4-5 None"]);
        check("claude-sonnet-4-5@high", &expect!["anthropic Anthropic claude-sonnet-4-5 Some(High)"]);
        check("openai/gpt-5", &expect!["openai OpenAi gpt-5 None"]);
        check("ollama/qwen3:8b", &expect!["ollama Ollama qwen3:8b None"]);
        check("local/org/model@x", &expect!["local OpenAi org/model@x None"]);
        check("script/demo/talk.yaml", &expect!["script Script demo/talk.yaml None"]);
    }

    #[test]
    fn unknown_names_are_told_what_exists() {
        check(
            "meta/llama",
            &expect![
                "model_unknown: there is no provider `meta`; there are anthropic, openai, gemini, ollama, script, replay, local; any other needs a `base_url` in the settings and is spoken to as OpenAI is"
            ],
        );
        check(
            "nowhere/x",
            &expect![
                "model_unknown: there is no provider `nowhere`; there are anthropic, openai, gemini, ollama, script, replay, local; any other needs a `base_url` in the settings and is spoken to as OpenAI is"
            ],
        );
        check("openai/", &expect!["model_unknown: `openai/` names no model; write `openai/<model>`"]);
    }
}
