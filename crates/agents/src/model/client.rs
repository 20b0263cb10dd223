//! The model that asks real providers, patiently.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use genai::adapter::AdapterKind;
use genai::{ModelIden, WebConfig};
use reqwest::Url;
use reqwest::redirect::Policy;
use tracing::debug;

use super::names::{Named, Protocol, understand};
use super::prices::{Known, Price};
use super::relay::Goal;
use super::replay::Replay;
use super::settings::{Secret, Settings};
use super::trouble::Failed;
use super::wire::{self, Limits};
use super::{
    Answer, Delta, ErrorKind, Model, ModelError, Question, Told, anthropic, library, others, script,
};

/// Asks the provider that a question names.
///
/// Keys and addresses come from the settings alone: no variable and no proxy of the environment is read. A key
/// goes to the address that is set for it and to no other, wherever that points.
#[derive(Debug)]
pub struct Providers {
    settings: Settings,
    replay: Option<Replay>,
    clients: OnceLock<Clients>,
}

/// What carries questions: one connection pool, with and without the library.
#[derive(Debug)]
struct Clients {
    own: reqwest::Client,
    library: genai::Client,
}

impl Providers {
    /// With these settings. Nothing is contacted before the first question.
    pub fn new(settings: Settings) -> Self {
        Self { settings, replay: None, clients: OnceLock::new() }
    }

    /// Lets `replay/…` answer from a recording.
    #[must_use]
    pub fn with_replay(mut self, replay: Replay) -> Self {
        self.replay = Some(replay);
        self
    }

    /// What a model costs; none when that is not known, and then its answers cost nothing.
    pub fn price_of(&self, model: &str) -> Option<Price> {
        self.settings.prices.price_of(model)
    }

    /// How many tokens a question to a model and its answer may have, when that is known.
    pub fn window_of(&self, model: &str) -> Option<u64> {
        self.settings.prices.window_of(model)
    }

    /// Whether a model could be asked: its name is understood, its address is one and its key is there.
    pub fn check(&self, model: &str) -> Result<(), ModelError> {
        let named = understand(model, &self.settings)?;
        match named.protocol {
            Protocol::Script => script::load(&self.settings, named.model).map(drop),
            Protocol::Replay => self.replay().map(drop),
            Protocol::Anthropic | Protocol::OpenAi | Protocol::Gemini | Protocol::Ollama => {
                self.base(&named)?;
                self.key(&named).map(drop)
            }
        }
    }

    fn replay(&self) -> Result<&Replay, ModelError> {
        let missing = || Failed::new(ErrorKind::Unknown, "there is no recording to answer from").error;
        self.replay.as_ref().ok_or_else(missing)
    }

    /// A server of one's own may need no key; the provider itself does.
    fn key(&self, named: &Named<'_>) -> Result<Option<&Secret>, ModelError> {
        let set = self.settings.providers.get(named.provider);
        let key = set.and_then(|set| set.api_key.as_ref()).filter(|key| !key.expose().is_empty());
        let elsewhere = set.is_some_and(|set| set.base_url.is_some());
        let variable = named.protocol.key_variable();
        if key.is_none() && !elsewhere && !variable.is_empty() {
            let provider = named.provider;
            let message = format!(
                "there is no key for {provider}: set the variable {variable}, or `api_key` in `[llm.{provider}]`"
            );
            return Err(Failed::new(ErrorKind::Key, message).error);
        }
        Ok(key)
    }

    async fn ask_provider(
        &self,
        named: &Named<'_>,
        question: &Question,
        told: &Told<'_>,
    ) -> Result<Answer, ModelError> {
        let key = self.key(named)?;
        let known = self.settings.prices.known(&format!("{}/{}", named.provider, named.model));
        let limits = Limits { silence: self.settings.call_timeout, bytes: self.settings.max_answer_bytes };
        let search_domains = &self.settings.search_domains;
        let call = Call { named, question, base: self.base(named)?, key, known, limits, search_domains };
        let clients = self.clients()?;

        let tries = AtomicU32::new(0);
        let heard = AtomicBool::new(false);
        let tell = |delta: Delta| {
            heard.store(true, Ordering::Relaxed);
            told(delta);
        };
        let once = || async {
            tries.fetch_add(1, Ordering::Relaxed);
            if heard.swap(false, Ordering::Relaxed) {
                told(Delta::Again);
            }
            call.once(clients, &tell).await.map_err(|failed| failed.without(key))
        };
        let delays = self.settings.delays;
        let answered = once
            .retry(
                ExponentialBuilder::new()
                    .with_min_delay(delays.first)
                    .with_max_delay(delays.longest)
                    .with_max_times(self.settings.max_retries as usize)
                    .with_jitter(),
            )
            .when(|failed: &Failed| failed.again)
            .adjust(|failed, delay| {
                // One who wants to be left alone for long is not waited for.
                delay
                    .map(|delay| failed.error.retry_after.unwrap_or(delay))
                    .filter(|wait| failed.error.retry_after.is_none() || *wait <= delays.longest_told)
            })
            .notify(|failed, wait| {
                debug!(model = %question.model, ?wait, "asking again: {}", failed.error);
                told(Delta::Waits { why: failed.error.message.clone(), wait });
            })
            .await;
        let mut answer = answered.map_err(|failed| tried(failed, tries.load(Ordering::Relaxed)))?;
        let price = self.price_of(&answer.model).or_else(|| known.and_then(|known| known.price));
        answer.usage.cost_micros = price.map_or(0, |price| price.cost_micros(&answer.usage));
        Ok(answer)
    }

    /// Where the provider is, without a slash or version at the end.
    fn base(&self, named: &Named<'_>) -> Result<String, ModelError> {
        let set = self.settings.providers.get(named.provider).and_then(|set| set.base_url.as_deref());
        let base = set.unwrap_or(named.protocol.home());
        check_address(base, named.provider)?;
        let base = base.trim_end_matches('/');
        Ok(base.strip_suffix("/v1").unwrap_or(base).to_owned())
    }

    fn clients(&self) -> Result<&Clients, ModelError> {
        if let Some(clients) = self.clients.get() {
            return Ok(clients);
        }
        let built = Clients::new().map_err(|why| {
            Failed::new(ErrorKind::Unreachable, format!("no client could be made: {why}")).error
        })?;
        Ok(self.clients.get_or_init(|| built))
    }
}

impl Model for Providers {
    fn ask<'a>(
        &'a self,
        question: Question,
        told: &'a Told<'a>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        async move {
            let named = understand(&question.model, &self.settings)?;
            match named.protocol {
                Protocol::Script => script::ask(&self.settings, named.model, &question, told).await,
                Protocol::Replay => self.replay()?.answer(&question, told),
                Protocol::Anthropic | Protocol::OpenAi | Protocol::Gemini | Protocol::Ollama => {
                    self.ask_provider(&named, &question, told).await
                }
            }
        }
        .boxed()
    }

    fn can_search(&self, model: &str) -> bool {
        let everywhere = self.settings.search_domains.is_empty();
        understand(model, &self.settings).is_ok_and(|named| {
            if everywhere { named.protocol.searches() } else { named.protocol.searches_in() }
        })
    }
}

impl Clients {
    fn new() -> Result<Self, String> {
        const CONNECT: Duration = Duration::from_secs(10);
        let own = WebConfig::default()
            .with_connect_timeout(CONNECT)
            .apply_to_builder(reqwest::Client::builder())
            .no_proxy()
            .redirect(Policy::none())
            .build()
            .map_err(|error| error.to_string())?;
        let library = genai::Client::builder().with_reqwest(own.clone()).build();
        Ok(Self { own, library: library.map_err(|error| error.to_string())? })
    }
}

/// Addresses end up in logs and in errors, so none may hold a secret. One that is refused is not repeated.
fn check_address(base: &str, provider: &str) -> Result<(), ModelError> {
    let refused =
        |why: &str| Failed::new(ErrorKind::Refused, format!("the `base_url` of {provider} {why}")).error;
    let url = Url::parse(base).map_err(|_| refused("is no address"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("holds a user or a password, which is not sent: set `api_key` instead"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("begins with neither `http:` nor `https:`"));
    }
    Ok(())
}

/// One question to one provider, as often as it takes.
struct Call<'a> {
    named: &'a Named<'a>,
    question: &'a Question,
    base: String,
    key: Option<&'a Secret>,
    known: Option<&'a Known>,
    limits: Limits,
    search_domains: &'a [String],
}

impl Call<'_> {
    async fn once(&self, clients: &Clients, told: &Told<'_>) -> Result<Answer, Failed> {
        let Named { provider, protocol, model, effort } = *self.named;
        if protocol == Protocol::Anthropic {
            let mut headers = self.key_as("x-api-key");
            headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
            let url = format!("{}/v1/messages", self.base);
            let body = anthropic::body(self.question, model, effort, self.known, self.search_domains);
            let sent = wire::Sent { url, headers, body };
            let mut reader = anthropic::AnswerReader::new(provider, model);
            return wire::ask(&clients.own, provider, sent, &mut reader, self.limits, told).await;
        }
        let (goal, model) = self.goal();
        let sent = library::Sent {
            goal,
            model,
            request: others::request(self.question, protocol),
            options: others::options(self.question, self.named, self.known),
        };
        let mut reader = others::AnswerReader::new(self.named);
        library::ask((&clients.library, &clients.own), provider, sent, &mut reader, self.limits, told).await
    }

    fn goal(&self) -> (Goal, ModelIden) {
        let (base, model) = (&self.base, self.named.model);
        let (kind, url, headers) = match self.named.protocol {
            Protocol::Gemini => {
                let url = format!("{base}/v1beta/models/{model}:streamGenerateContent?alt=sse");
                (AdapterKind::Gemini, url, self.key_as("x-goog-api-key"))
            }
            Protocol::Ollama => (AdapterKind::Ollama, format!("{base}/api/chat"), self.key_as_bearer()),
            Protocol::OpenAi | Protocol::Anthropic | Protocol::Script | Protocol::Replay => {
                (AdapterKind::OpenAI, format!("{base}/v1/chat/completions"), self.key_as_bearer())
            }
        };
        (Goal { url, headers }, ModelIden::new(kind, model.to_owned()))
    }

    fn key_as(&self, header: &str) -> Vec<(String, String)> {
        self.key.map(|key| (header.to_owned(), key.expose().to_owned())).into_iter().collect()
    }

    fn key_as_bearer(&self) -> Vec<(String, String)> {
        self.key
            .map(|key| ("authorization".to_owned(), format!("Bearer {}", key.expose())))
            .into_iter()
            .collect()
    }
}

fn tried(failed: Failed, tries: u32) -> ModelError {
    let mut error = failed.error;
    if tries > 1 {
        error.message = format!("{} (tried {tries} times)", error.message);
    }
    error
}
