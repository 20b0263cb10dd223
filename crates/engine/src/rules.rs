//! Evaluating what people wrote without holding up anybody else.
//!
//! A rule may take its whole time and a command may have many rules. While one is evaluated, its thread does not work
//! for others, so the runtime gives what waits there to another thread; all rules of a command share one budget; and of
//! one sender one rule is evaluated at a time, so that slow rules of one leave room for those of others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use holdpoint_core::facts::{Evaluator, Verdict};
use holdpoint_core::plan::Evaluated;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{Actor, ActorKind, Command, PipelineCommand, RunCommand};
use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long the rules of one command may take together.
const BUDGET: Duration = Duration::from_secs(5);
/// How many commands with rules are decided at once: each may hold a thread. The others wait without one.
const AT_ONCE: usize = 64;
/// How many of them may be of one sender.
const OF_ONE: usize = 16;

/// An evaluator for one command.
pub(crate) struct Budgeted<'a> {
    evaluator: &'a dyn Evaluator,
    left: Mutex<Duration>,
    /// Held while a rule is evaluated; none for the program's own commands.
    own: Option<Arc<Sender>>,
}

impl<'a> Budgeted<'a> {
    pub(crate) fn new(evaluator: &'a dyn Evaluator, turns: &Turns, sender: &Actor) -> Self {
        let own = (sender.kind != ActorKind::System).then(|| turns.of(sender));
        Self { evaluator, left: Mutex::new(BUDGET), own }
    }

    fn run<T>(&self, evaluate: impl FnOnce(&dyn Evaluator) -> T) -> Result<T, String> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.is_zero() {
            let seconds = BUDGET.as_secs();
            return Err(format!("the rules of this request took more than {seconds} s together"));
        }
        let (evaluated, took) = apart(|| {
            let own =
                self.own.as_ref().map(|own| own.evaluates.lock().unwrap_or_else(PoisonError::into_inner));
            let began = Instant::now();
            let evaluated = evaluate(self.evaluator);
            drop(own);
            (evaluated, began.elapsed())
        });
        *left = left.saturating_sub(took);
        Ok(evaluated)
    }
}

/// Does what blocks its thread. Only a runtime with several threads can give the thread's other work away.
fn apart<T>(work: impl FnOnce() -> T) -> T {
    let several =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if several { tokio::task::block_in_place(work) } else { work() }
}

impl Evaluator for Budgeted<'_> {
    fn expression(&self, source: &str, variables: &[(&'static str, Value)]) -> Result<Evaluated, String> {
        self.run(|evaluator| evaluator.expression(source, variables))?
    }

    fn expression_syntax(&self, source: &str) -> Result<(), String> {
        self.run(|evaluator| evaluator.expression_syntax(source))?
    }

    fn field(&self, validation: &str, value: &Value) -> Verdict {
        self.run(|evaluator| evaluator.field(validation, value)).unwrap_or_else(Verdict::Broken)
    }

    fn schema(&self, schema: &Value, value: &Value) -> Verdict {
        self.run(|evaluator| evaluator.schema(schema, value)).unwrap_or_else(Verdict::Broken)
    }

    fn field_syntax(&self, validation: &str) -> Result<(), String> {
        self.run(|evaluator| evaluator.field_syntax(validation))?
    }

    fn schema_syntax(&self, schema: &Value) -> Result<(), String> {
        self.run(|evaluator| evaluator.schema_syntax(schema))?
    }
}

/// Who has commands with rules decided.
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    senders: Mutex<HashMap<Actor, Arc<Sender>>>,
}

/// One of them.
struct Sender {
    turns: Arc<Semaphore>,
    evaluates: Mutex<()>,
}

impl Default for Sender {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(OF_ONE)), evaluates: Mutex::default() }
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(AT_ONCE)), senders: Mutex::default() }
    }
}

/// A turn, until it is dropped.
pub(crate) struct Turn {
    _sender: Arc<Sender>,
    _own: OwnedSemaphorePermit,
    _shared: OwnedSemaphorePermit,
}

impl Turns {
    /// Waits for a sender's turn; none is needed for commands without rules, and none for the program's own.
    pub(crate) async fn take(&self, sender: &Actor, command: &Command) -> Option<Turn> {
        if sender.kind == ActorKind::System || !has_rules(command) {
            return None;
        }
        let sender = self.of(sender);
        let own = sender.turns.clone().acquire_owned().await.ok()?;
        let shared = self.all.clone().acquire_owned().await.ok()?;
        Some(Turn { _sender: sender, _own: own, _shared: shared })
    }

    fn of(&self, sender: &Actor) -> Arc<Sender> {
        let mut senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = senders.get(sender) {
            return known.clone();
        }
        // Those that nobody uses are only kept here.
        senders.retain(|_, one| Arc::strong_count(one) > 1);
        senders.entry(sender.clone()).or_default().clone()
    }
}

/// Whether rules that people wrote may be evaluated while a command is decided.
fn has_rules(command: &Command) -> bool {
    match command {
        Command::Pipeline(_, command) => matches!(
            command,
            PipelineCommand::Apply(_)
                | PipelineCommand::AddCheckpoint(_)
                | PipelineCommand::UpdateCheckpoint(_)
        ),
        Command::Run(_, RunCommand::Answer(answer)) => {
            matches!(answer.kind, AskKind::Form | AskKind::Choice) || !answer.edits.is_empty()
        }
        Command::Run(_, RunCommand::Advance(_)) => true,
        _ => false,
    }
}
