//! Telling what happens in a run: a line per event, and on a terminal a line that shows what is going on.

use std::time::Instant;

use serde_json::Value;

use crate::client::Api;
use crate::output::Output;
use crate::problem::Problem;
use crate::progress::Live;
use crate::table::text_of;

/// What is told. What is asked is told with the question itself.
const TYPES: &str = "execution.started,execution.restarted,execution.submitted,execution.attempt_failed,\
                     execution.checked,execution.approved,execution.rejected,execution.revision_requested,\
                     execution.retried,execution.completed,execution.failed,artifact.created,run.paused,\
                     run.resumed,run.completed,run.failed,run.aborted";
/// How many events are told at once at most.
const MOST: usize = 200;

/// Tells about one run.
pub struct Teller {
    run: String,
    /// The last event that was told.
    seen: u64,
    live: Live,
    /// What stands on the live line, and since when.
    doing: (String, Instant),
}

impl Teller {
    /// Tells what happens from now on, or from the beginning of the run.
    pub fn new(api: &Api, run: &str, from_the_beginning: bool, quiet: bool) -> Result<Self, Problem> {
        let mut teller = Self {
            run: run.to_owned(),
            seen: 0,
            live: Live::new(quiet),
            doing: (String::new(), Instant::now()),
        };
        if !from_the_beginning {
            teller.seen =
                teller.new_events(api)?.last().map_or(0, |event| event["seq"].as_u64().unwrap_or(0));
        }
        Ok(teller)
    }

    /// Tells what has happened since, and what is going on.
    pub fn tell(&mut self, api: &Api, run: &Value, output: &mut Output<'_>) -> Result<(), Problem> {
        if output.is_quiet() {
            return Ok(());
        }
        for event in self.new_events(api)? {
            self.seen = event["seq"].as_u64().unwrap_or(self.seen);
            self.live.clear();
            output.say(&text_of(&event["description"]));
        }
        let line = doing(run);
        if line != self.doing.0 {
            self.doing = (line, Instant::now());
        }
        match self.doing.0.as_str() {
            "" => self.live.clear(),
            line => self.live.show(&format!("{line} · {} s", self.doing.1.elapsed().as_secs())),
        }
        Ok(())
    }

    /// Makes room for something else on the terminal.
    pub fn clear(&mut self) {
        self.live.clear();
    }

    /// Events that were not told, oldest first.
    fn new_events(&self, api: &Api) -> Result<Vec<Value>, Problem> {
        let path = format!("/api/events?run_id={}&event_type={TYPES}", self.run);
        let mut page = api.get(&format!("{path}&limit={MOST}"))?;
        let mut events = match page["items"].take() {
            Value::Array(events) => events,
            _ => Vec::new(),
        };
        events.retain(|event| event["seq"].as_u64() > Some(self.seen));
        events.reverse();
        Ok(events)
    }
}

/// What a run does at the moment, in a few words; nothing when it waits or has ended.
fn doing(run: &Value) -> String {
    let execution = &run["current_execution"];
    if run["status"] != "in_progress"
        || execution["status"] != "in_progress"
        || !execution["waiting_for"].is_null()
    {
        return String::new();
    }
    let position = run["current_checkpoint_position"].as_u64().unwrap_or(0) + 1;
    let total = &run["metadata"]["total_checkpoints"];
    let attempt = execution["attempt_number"].as_u64().filter(|attempt| *attempt > 1);
    let attempt = attempt.map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
    let said = execution["agent_conversation"].as_array().and_then(|messages| messages.last());
    let who = said.map(|message| text_of(&message["agent_name"])).filter(|name| !name.is_empty());
    let who = who.map_or_else(String::new, |name| format!(", {name}"));
    format!("{position}/{total} {}{attempt}{who}", text_of(&execution["checkpoint_name"]))
}
