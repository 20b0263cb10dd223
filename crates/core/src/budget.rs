//! Budgets: how much models may cost, in tokens, money and time, for an execution, a run and a pipeline.
//!
//! A budget is looked at before each call of a model and before each script. What has reached it waits for a
//! person, who raises it or stops the work; nothing that is under way is cut off.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::definition::Fault;
use crate::event::Usage;

/// No budget is larger, in its own unit.
const MOST: f64 = 1e12;

/// How much may be spent. What is left out has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Tokens in and out, those of caches included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Minutes of work; waiting for people does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
}

/// What a budget belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One visit to a step, with all its attempts.
    Execution,
    /// A run.
    Run,
    /// All runs of a pipeline.
    Pipeline,
}

impl Scope {
    /// The name that answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Run => "run",
            Self::Pipeline => "pipeline",
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Tokens.
    Tokens,
    /// Millionths of a dollar.
    Cost,
    /// Thousandths of a second.
    Time,
}

/// Amounts of everything that is counted, in the units of [`Measure`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// Tokens.
    #[serde(default)]
    pub tokens: u64,
    /// Millionths of a dollar.
    #[serde(default)]
    pub cost: u64,
    /// Thousandths of a second.
    #[serde(default)]
    pub time: u64,
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Whose.
    pub scope: Scope,
    /// Of what.
    pub measure: Measure,
    /// What it was, with all that it had been raised by.
    pub limit: u64,
    /// What is spent.
    pub spent: u64,
}

/// A budget, what it was raised by, and what is spent of it.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// Whose.
    pub scope: Scope,
    /// As it is defined.
    pub budget: Budget,
    /// What people have added.
    pub raised: Amounts,
    /// What is spent.
    pub spent: Amounts,
}

impl Budget {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with it.
    pub fn faults(&self, pointer: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.tokens == Some(0) {
            faults.push(Fault::at(format!("{pointer}/tokens"), "at least 1"));
        }
        for (field, value) in [("cost_usd", self.cost_usd), ("minutes", self.minutes)] {
            if value.is_some_and(|value| !(value > 0.0 && value <= MOST)) {
                faults.push(Fault::at(format!("{pointer}/{field}"), "more than 0"));
            }
        }
        if self.is_empty() {
            faults.push(Fault::at(pointer, "one of `tokens`, `cost_usd`, `minutes`"));
        }
        faults
    }

    fn limit(&self, measure: Measure) -> Option<u64> {
        match measure {
            Measure::Tokens => self.tokens,
            Measure::Cost => self.cost_usd.map(|usd| measure.units(usd)),
            Measure::Time => self.minutes.map(|minutes| measure.units(minutes)),
        }
    }
}

impl Measure {
    /// All of them, in the order in which they are looked at.
    pub const ALL: [Self; 3] = [Self::Cost, Self::Tokens, Self::Time];

    /// The name that answers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Cost => "cost_usd",
            Self::Time => "minutes",
        }
    }

    /// How many units are one of what people write.
    fn scale(self) -> f64 {
        match self {
            Self::Tokens => 1.0,
            Self::Cost => 1e6,
            Self::Time => 60_000.0,
        }
    }

    /// What people write, in units; at least one.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded before
    pub fn units(self, written: f64) -> u64 {
        (written.clamp(0.0, MOST) * self.scale()).round().max(1.0) as u64
    }

    /// Units as people write them.
    #[allow(clippy::cast_precision_loss)] // far below what a number can hold
    pub fn written(self, units: u64) -> f64 {
        units as f64 / self.scale()
    }

    /// An amount in words.
    pub fn words(self, units: u64) -> String {
        match self {
            Self::Tokens => format!("{units} tokens"),
            // Less than a cent is not nothing.
            Self::Cost if units > 0 && units < 10_000 => format!("${:.4}", self.written(units)),
            Self::Cost => format!("${:.2}", self.written(units)),
            Self::Time => format!("{:.1} minutes", self.written(units)),
        }
    }

    /// Reads what a person wants to add.
    pub fn read(self, text: &str) -> Result<u64, Fault> {
        let text = text.trim().trim_start_matches('$').replace(['_', ','], "");
        match text.parse::<f64>() {
            Ok(amount) if amount > 0.0 && amount <= MOST => Ok(self.units(amount)),
            Ok(_) | Err(_) => {
                let unit = match self {
                    Self::Tokens => "tokens",
                    Self::Cost => "dollars",
                    Self::Time => "minutes",
                };
                Err(Fault::at("/user_input", format!("how many {unit} to add, more than 0; or `stop`")))
            }
        }
    }
}

impl Amounts {
    /// One amount.
    pub fn of(measure: Measure, units: u64) -> Self {
        let mut amounts = Self::default();
        *amounts.place(measure) = units;
        amounts
    }

    /// What calls of models cost.
    pub fn spent(usage: &Usage, time: u64) -> Self {
        let read = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens).saturating_add(read);
        Self { tokens, cost: usage.cost_micros, time }
    }

    /// Whether nothing is counted.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.saturating_add(other.cost),
            time: self.time.saturating_add(other.time),
        }
    }

    /// The amount of one measure.
    pub fn get(mut self, measure: Measure) -> u64 {
        *self.place(measure)
    }

    fn place(&mut self, measure: Measure) -> &mut u64 {
        match measure {
            Measure::Tokens => &mut self.tokens,
            Measure::Cost => &mut self.cost,
            Measure::Time => &mut self.time,
        }
    }
}

/// About how many tokens a text has: four bytes are one.
pub fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// The first budget that is used up, the widest one first: raising a narrower one would not help.
pub fn reached(accounts: &[Account]) -> Option<Reached> {
    let mut accounts: Vec<&Account> = accounts.iter().collect();
    accounts.sort_by_key(|account| match account.scope {
        Scope::Pipeline => 0,
        Scope::Run => 1,
        Scope::Execution => 2,
    });
    accounts.into_iter().find_map(|Account { scope, budget, raised, spent }| {
        Measure::ALL.into_iter().find_map(|measure| {
            let limit = budget.limit(measure)?.saturating_add(raised.get(measure));
            let spent = spent.get(measure);
            (spent >= limit).then_some(Reached { scope: *scope, measure, limit, spent })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(scope: Scope, budget: Budget, raised: u64, spent: u64) -> Account {
        let of = |units| Amounts { tokens: units, cost: units, time: units };
        Account { scope, budget, raised: of(raised), spent: of(spent) }
    }

    #[test]
    fn the_widest_budget_that_is_used_up_is_asked_about() {
        let tokens = |n| Budget { tokens: Some(n), ..Budget::default() };
        let run = account(Scope::Run, tokens(100), 0, 100);
        let execution = account(Scope::Execution, tokens(10), 0, 100);
        let found = reached(&[execution, run]).map(|reached| (reached.scope, reached.limit));
        assert_eq!(found, Some((Scope::Run, 100)));
        assert_eq!(reached(&[account(Scope::Run, tokens(100), 1, 100)]), None, "raised");
        assert_eq!(reached(&[account(Scope::Run, tokens(100), 0, 99)]), None, "one is left");
        assert_eq!(reached(&[account(Scope::Run, Budget::default(), 0, u64::MAX)]), None);
    }

    #[test]
    fn amounts_are_read_as_people_write_them() {
        assert_eq!(Measure::Cost.read(" $2.50 "), Ok(2_500_000));
        assert_eq!(Measure::Tokens.read("10,000"), Ok(10_000));
        assert_eq!(Measure::Time.read("0.5"), Ok(30_000));
        for wrong in ["", "0", "-1", "NaN", "inf", "more", "1e300"] {
            assert!(Measure::Cost.read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_limits_something() {
        let faults = |budget: Budget| budget.faults("/b").len();
        assert_eq!(faults(Budget::default()), 1);
        assert_eq!(faults(Budget { tokens: Some(0), ..Budget::default() }), 1);
        assert_eq!(faults(Budget { cost_usd: Some(f64::NAN), ..Budget::default() }), 1);
        assert_eq!(faults(Budget { cost_usd: Some(-1.0), minutes: Some(0.0), tokens: None }), 2);
        assert_eq!(faults(Budget { cost_usd: Some(0.1), minutes: Some(1.0), tokens: Some(1) }), 0);
    }
}
