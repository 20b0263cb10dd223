//! Speaking to the API: on a home through the same routes without a socket, or on a server over HTTP.
//!
//! Commands that work on both know only paths and documents, so what the server refuses they refuse, in the
//! same words.

mod local;
mod remote;
mod wait;

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::facts::Offers;
use holdpoint_core::{Actor, RunId};
use holdpoint_engine::Engine;
use holdpoint_engine::executor::Executor;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Failure, Problem};
use crate::settings::Settings;
use local::Local;
pub use local::Routes;
use remote::Remote;
pub use wait::{Waiter, Woken};

/// Says that an answer was written before its question existed.
const ASSURANCE: &str = "holdpoint-assurance";
/// How long the files of a home may take to follow the last commit.
const FILES: Duration = Duration::from_mins(1);

/// The API of a home or of a server.
pub struct Api {
    way: Way,
    runtime: Runtime,
    /// In whose name requests are sent, where it is not that of whoever started the command.
    speaker: RefCell<Option<Actor>>,
    /// Whether what is sent was written before the question existed.
    prepared: Cell<bool>,
}

enum Way {
    Home(Box<Local>),
    Server(Remote),
}

/// A body that is sent along.
pub enum Body {
    None,
    Json(Value),
    /// Bytes with their media type.
    Bytes(&'static str, Vec<u8>),
}

/// An answer as it came.
pub struct Answer {
    pub status: u16,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// The answer, unless it is a refusal.
    pub fn accepted(self) -> Result<Self, Problem> {
        if self.status >= 400 { Err(refused(&self)) } else { Ok(self) }
    }
}

/// An id that can stand in a path.
pub fn path_part(id: &str) -> Result<&str, Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !id.is_empty() && id.chars().all(plain) {
        return Ok(id);
    }
    Err(bad_id(id))
}

fn bad_id(id: &str) -> Problem {
    Problem::usage(
        "bad_id",
        format!("`{id}` is not an id"),
        "copy it from a list, for example `holdpoint inbox`",
    )
}

impl Api {
    /// The server that `--server` names, else the home.
    pub fn open(context: &Context<'_, '_>) -> Result<Self, Problem> {
        let runtime = runtime()?;
        let way = if let Some(url) = context.server() {
            Way::Server(Remote::new(url, context)?)
        } else {
            let home = context.home()?;
            Way::Home(Box::new(runtime.block_on(Local::open(&home, context))?))
        };
        Ok(Self::new(way, runtime))
    }

    /// Like [`Api::open`], for commands that make no home.
    pub fn existing(context: &Context<'_, '_>) -> Result<Self, Problem> {
        Self::must_exist(context)?;
        Self::open(context)
    }

    /// Refuses a home that was never used.
    pub fn must_exist(context: &Context<'_, '_>) -> Result<(), Problem> {
        if context.server().is_some() { Ok(()) } else { crate::wiring::must_exist(&context.home()?) }
    }

    /// For a list of a home that was never used: an empty list, which says that there is no home.
    pub fn nothing_there(context: &mut Context<'_, '_>) -> Result<bool, Failure> {
        let missing = match Self::must_exist(context) {
            Ok(()) => return Ok(false),
            Err(problem) if problem.code == "home_missing" => problem,
            Err(problem) => return Err(problem.into()),
        };
        context.output.say(&format!("{}; {}", missing.message, missing.hint));
        if context.output.is_json() {
            context.output.value(&serde_json::json!({"items": []}))?;
        }
        Ok(true)
    }

    fn new(way: Way, runtime: Runtime) -> Self {
        Self { way, runtime, speaker: RefCell::default(), prepared: Cell::default() }
    }

    /// Does something in somebody else's name. On a server the holder of the token speaks, whoever is named.
    pub fn speaking_as<T>(&self, actor: Actor, act: impl FnOnce(&Self) -> T) -> T {
        let before = self.speaker.replace(Some(actor));
        let done = act(self);
        self.speaker.replace(before);
        done
    }

    /// Sends an answer that was prepared, which counts for less than one that somebody gives now.
    pub fn prepared<T>(&self, act: impl FnOnce(&Self) -> T) -> T {
        let before = self.prepared.replace(true);
        let done = act(self);
        self.prepared.set(before);
        done
    }

    /// Like [`Api::open`], and on a home this process does the work of the runs that it starts or takes on.
    pub fn working(context: &Context<'_, '_>) -> Result<Self, Problem> {
        if context.server().is_some() {
            return Self::open(context);
        }
        let runtime = busy_runtime()?;
        let home = context.home()?;
        let local = runtime.block_on(Local::working(&home, context))?;
        Ok(Self::new(Way::Home(Box::new(local)), runtime))
    }

    /// A home of the caller's choice, with a worker of the caller's choice.
    pub fn on_home(
        home: &Home,
        settings: &Settings,
        executor: Arc<dyn Executor>,
        offers: Arc<dyn Offers>,
        actor: Actor,
    ) -> Result<Self, Problem> {
        let runtime = busy_runtime()?;
        let local = runtime.block_on(Local::with(home, settings, executor, offers, actor))?;
        Ok(Self::new(Way::Home(Box::new(local)), runtime))
    }

    /// A home that is only looked at: nothing is made, and nothing is written.
    pub fn looking(home: &Home, settings: &Settings, actor: Actor) -> Result<Self, Problem> {
        let runtime = runtime()?;
        let local = {
            let _guard = runtime.enter();
            Local::looking(home, settings, actor)?
        };
        Ok(Self::new(Way::Home(Box::new(local)), runtime))
    }

    /// Waits for something of the engine's; none on a server.
    pub fn engine<T>(&self, ask: impl AsyncFnOnce(&Engine) -> T) -> Option<T> {
        match &self.way {
            Way::Home(local) => Some(self.runtime.block_on(ask(local.engine()))),
            Way::Server(_) => None,
        }
    }

    /// Takes on the work of a run, unless another process does it. A server does its own work.
    pub fn take_on(&self, run: &str) -> Result<(), Problem> {
        if let Way::Home(local) = &self.way {
            local.engine().take_on(RunId(run.parse().map_err(|_| bad_id(run))?));
        }
        Ok(())
    }

    /// Whether the work is done by this process, or by another on the same home.
    pub fn is_home(&self) -> bool {
        matches!(self.way, Way::Home(_))
    }

    /// The server at an address, whether `--server` names one or not.
    pub fn on_server(url: &str, context: &Context<'_, '_>) -> Result<Self, Problem> {
        Ok(Self::new(Way::Server(Remote::new(url, context)?), runtime()?))
    }

    pub fn get(&self, path: &str) -> Result<Value, Problem> {
        self.call("GET", path, Body::None)
    }

    pub fn post(&self, path: &str, body: Value) -> Result<Value, Problem> {
        self.call("POST", path, Body::Json(body))
    }

    /// Sends a request and reads its answer as JSON.
    pub fn call(&self, method: &str, path: &str, body: Body) -> Result<Value, Problem> {
        let answer = self.send(method, path, body)?;
        if answer.bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer.bytes).map_err(|error| unreadable(path, &error.to_string()))
    }

    /// Sends a request; a refusal becomes a problem.
    pub fn send(&self, method: &str, path: &str, body: Body) -> Result<Answer, Problem> {
        let answer = match &self.way {
            Way::Home(local) => {
                let speaker = self.speaker.borrow().clone();
                self.runtime.block_on(local.send(speaker, self.prepared.get(), method, path, body))
            }
            Way::Server(remote) => {
                self.runtime.block_on(remote.send(self.prepared.get(), method, path, body))
            }
        }?;
        answer.accepted()
    }

    /// All items of a list, page by page, at most so many.
    pub fn list(&self, path: &str, most: usize) -> Result<Vec<Value>, Problem> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let cursor_part = cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            let mut page = self.get(&format!("{path}{joint}limit=200{cursor_part}"))?;
            if let Some(Value::Array(more)) = page.get_mut("items").map(Value::take) {
                items.extend(more);
            }
            cursor = page.get("next_cursor").and_then(Value::as_str).map(ToOwned::to_owned);
            if cursor.is_none() || items.len() >= most {
                items.truncate(most);
                return Ok(items);
            }
        }
    }

    /// Gives up work that is under way, as a crash would: whoever takes it on next goes on with it.
    pub fn abandon(&self) {
        if let Way::Home(local) = &self.way {
            local.engine().abandon();
        }
    }

    /// Waits until the files of a home show what was done.
    pub fn finish(self) {
        if let Way::Home(local) = self.way {
            self.runtime.block_on(local.finish(FILES));
        }
    }
}

/// A problem document, as the command line tells it.
fn refused(answer: &Answer) -> Problem {
    let document: Value = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
    let text = |name: &str| document.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let mut message = text("detail")
        .or_else(|| text("title"))
        .unwrap_or_else(|| format!("the server answered with status {} and no explanation", answer.status));
    let mut fields = Vec::new();
    for error in document.get("errors").and_then(Value::as_array).into_iter().flatten() {
        let part = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (pointer, wrong) = (part("pointer"), part("message"));
        // A string takes everything.
        let _ = write!(message, "; {pointer}: {wrong}");
        fields.push((pointer, wrong));
    }
    let hint = text("hint").unwrap_or_else(|| "ask again, or look at the server's log".to_owned());
    let code = text("code").unwrap_or_else(|| format!("http_{}", answer.status));
    let problem = match answer.status {
        400 | 413 | 415 | 422 => Problem::bad_input(code, message, hint),
        _ => Problem::failed(code, message, hint),
    };
    Problem { fields, ..problem }
}

fn unreadable(path: &str, why: &str) -> Problem {
    let message = format!("the answer of `{path}` cannot be read: {why}");
    Problem::failed("answer_unreadable", message, "is the address that of a Holdpoint server?")
}

fn runtime() -> Result<Runtime, Problem> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(not_started)
}

/// Work goes on while a command waits for something else.
fn busy_runtime() -> Result<Runtime, Problem> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(not_started)
}

fn not_started(error: impl std::fmt::Display) -> Problem {
    let message = format!("the command cannot work: {error}");
    Problem::failed("not_started", message, "look at the limits of this system")
}
