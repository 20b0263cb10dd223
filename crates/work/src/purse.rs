//! What work may still spend: budgets of the execution, the run and the pipeline, looked at before each call of a
//! model and before each script.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use holdpoint_core::budget::{Account, Amounts, Budget, Reached, Scope, reached};
use holdpoint_core::event::Entry;
use holdpoint_core::plan::Body;
use holdpoint_core::{State, StreamId};

use holdpoint_engine::SubmitError;
use holdpoint_engine::WorkContext;

/// The purse of one piece of work.
pub(super) struct Purse {
    execution: Option<Budget>,
    begun: Instant,
    /// What was found used up.
    empty: Mutex<Option<Reached>>,
}

impl Purse {
    pub fn of(body: &Body) -> Self {
        Self { execution: body.policy.budget, begun: Instant::now(), empty: Mutex::default() }
    }

    /// The budget that is used up, if one is.
    pub async fn look(&self, desk: &WorkContext) -> Result<Option<Reached>, SubmitError> {
        let run = desk.engine.view(StreamId::Run(desk.run)).await?;
        let State::Run(run) = &run.state else { return Ok(None) };
        let mut accounts = Vec::new();
        // What this very work has taken is written down when it ends.
        let now = Amounts { time: millis(self.begun.elapsed()), ..Amounts::default() };
        if let Some(budget) = self.execution {
            let journal = desk.engine.view(StreamId::Journal(desk.execution)).await?;
            let spent = match &journal.state {
                State::Journal(journal) => Amounts::spent(&journal.usage, journal.took),
                State::Home(_) | State::Pipeline(_) | State::Run(_) => Amounts::default(),
            };
            let raised = run.execution(desk.effect.x).map(|execution| execution.raised).unwrap_or_default();
            accounts.push(Account { scope: Scope::Execution, budget, raised, spent: spent.plus(now) });
        }
        if let Some(pipeline) = desk.pipeline {
            let loaded = desk.engine.view(StreamId::Pipeline(pipeline)).await?;
            if let State::Pipeline(state) = &loaded.state {
                let budgets = state.config.budgets.unwrap_or_default();
                if let Some(budget) = budgets.run {
                    let spent = desk.spent(None, Some(desk.run)).await?.plus(now);
                    accounts.push(Account { scope: Scope::Run, budget, raised: run.raised, spent });
                }
                if let Some(budget) = budgets.pipeline {
                    let spent = desk.spent(Some(pipeline), None).await?.plus(now);
                    accounts.push(Account { scope: Scope::Pipeline, budget, raised: state.raised, spent });
                }
            }
        }
        let found = reached(&accounts);
        if let Ok(mut empty) = self.empty.lock() {
            *empty = found;
        }
        Ok(found)
    }

    /// Which budget the work stopped at.
    pub fn emptied(&self) -> Option<Reached> {
        self.empty.lock().ok().and_then(|empty| *empty)
    }

    /// How long the work took.
    pub fn took(&self) -> Entry {
        Entry::Took { ms: millis(self.begun.elapsed()) }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
