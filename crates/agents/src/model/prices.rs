//! What models cost and can do, from a table that people may replace.
//!
//! A model that the table does not know costs nothing and is not priced: callers can tell the two apart.

use std::sync::{Arc, LazyLock};

use holdpoint_core::event::Usage;
use serde::Deserialize;

/// Dollars per million tokens, which is the same as millionths of a dollar per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens in that no cache had.
    pub input: f64,
    /// Tokens out.
    pub output: f64,
    /// Tokens read from a cache.
    #[serde(default)]
    pub cache_read: f64,
    /// Tokens written to a cache.
    #[serde(default)]
    pub cache_write: f64,
}

impl Price {
    /// What something cost, in millionths of a dollar.
    pub fn cost_micros(&self, usage: &Usage) -> u64 {
        let parts = [
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens, self.cache_read),
            (usage.cache_write_tokens, self.cache_write),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>().round() as u64
    }
}

/// How a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Thinking {
    /// It is given so many tokens to think with.
    #[default]
    Budget,
    /// It decides by itself, once asked to think.
    Adaptive,
    /// It thinks unless told not to.
    On,
    /// It thinks whatever it is told, and nobody can make it call a tool.
    Always,
    /// It cannot.
    Never,
}

/// What is known about models whose name begins so.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    /// `provider/name`; a `*` at the end stands for anything.
    name: String,
    /// What it costs.
    #[serde(default)]
    pub price: Option<Price>,
    /// How many tokens a question and its answer may have.
    #[serde(default)]
    pub window: Option<u64>,
    /// How it thinks.
    #[serde(default)]
    pub thinking: Thinking,
    /// Whether a temperature may be given.
    #[serde(default = "yes")]
    pub temperature: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// When the prices were looked up.
    as_of: String,
    /// First to last; the first that fits counts.
    models: Vec<Known>,
}

/// What models cost and can do.
#[derive(Clone, Debug)]
pub struct Prices(Arc<Table>);

static BUILT_IN: LazyLock<Prices> = LazyLock::new(|| {
    Prices::parse(include_str!("../../data/models.yaml")).expect("a test reads the built-in table")
});

impl Prices {
    /// The table that comes with the program.
    pub fn built_in() -> Self {
        BUILT_IN.clone()
    }

    /// Reads a table of one's own, in the form of the one that comes with the program.
    pub fn parse(yaml: &str) -> Result<Self, String> {
        let table: Table =
            serde_saphyr::from_str(yaml).map_err(|error| error.without_snippet().to_string())?;
        Ok(Self(Arc::new(table)))
    }

    /// When the prices were looked up.
    pub fn as_of(&self) -> &str {
        &self.0.as_of
    }

    /// What a model costs; none when that is not known.
    pub fn price_of(&self, model: &str) -> Option<Price> {
        self.known(model)?.price
    }

    /// How many tokens a question to a model and its answer may have, when that is known.
    pub fn window_of(&self, model: &str) -> Option<u64> {
        self.known(model)?.window
    }

    pub(super) fn known(&self, model: &str) -> Option<&Known> {
        let full = if model.contains('/') { model.to_owned() } else { format!("anthropic/{model}") };
        self.0.models.iter().find(|known| match known.name.strip_suffix('*') {
            Some(beginning) => full.starts_with(beginning),
            None => full == known.name,
        })
    }
}

/// What a model costs by the table that comes with the program; none when that is not known.
pub fn price_of(model: &str) -> Option<Price> {
    BUILT_IN.price_of(model)
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let price = price_of("claude-sonnet-4-5-20250929").expect("it is in the table");
        let usage = Usage {
            calls: 1,
            input_tokens: 100,
            output_tokens: 10,
            cache_read_tokens: 1000,
            cache_write_tokens: 200,
            cost_micros: 0,
        };
        assert_eq!(price.cost_micros(&usage), 300 + 150 + 300 + 750);
    }

    #[test]
    fn what_is_local_is_free_and_what_is_unknown_has_no_price() {
        assert_eq!(price_of("ollama/llama3"), Some(Price::default()));
        assert_eq!(price_of("elsewhere/llama3"), None);
        assert_eq!(price_of("openai/gpt-5-mini").map(|price| price.output), Some(2.0));
    }

    #[test]
    fn an_own_table_is_read_and_its_faults_are_placed() {
        let own = "as_of: today\nmodels:\n  - {name: 'local/*', price: {input: 1, output: 2}, window: 10}\n";
        let prices = Prices::parse(own).expect("it is right");
        assert_eq!(prices.window_of("local/x"), Some(10));
        let fault = Prices::parse("as_of: today\nmodels:\n  - {nam: x}\n").expect_err("it is wrong");
        assert!(fault.contains("line 3"), "{fault}");
    }
}
