//! Running code that an agent wrote: Python in the sandbox, whose words come back.

use std::fmt::Write as _;
use std::time::Duration;

use holdpoint_agents::tools::Done;
use holdpoint_sandbox::{Limits, Order, Status};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Worker;
use super::room::Room;
use super::script::{env, limit, python};
use super::stop::Stop;

/// The longest program.
const LARGEST: usize = 1024 * 1024;
/// How much of its words comes back.
const WORDS: usize = 64 * 1024;
/// How long it may take.
const LONGEST: Duration = Duration::from_mins(2);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    code: String,
}

impl Worker {
    /// Runs code, or says why not.
    pub(super) async fn code(
        &self,
        room: &Room,
        network: bool,
        input: &Value,
        cancel: &CancellationToken,
    ) -> Result<Done, Stop> {
        let wanted: Wanted = match serde_json::from_value(input.clone()) {
            Ok(wanted) => wanted,
            Err(cause) => return Ok(Done::error(format!("refused: {cause}"))),
        };
        if wanted.code.len() > LARGEST {
            return Ok(Done::error(format!("refused: a program has at most {LARGEST} bytes")));
        }
        let found = self.machine.found().await;
        let mut order = Order::python(python(found)?, &room.workspace);
        order.args = ["-B", "-u", "-"].map(str::to_owned).to_vec();
        order.env = env(room);
        order.network = network;
        order.read_write.push(room.staging.clone());
        order.read_only.push(room.inputs.clone());
        order.stdin = wanted.code.into_bytes();
        order.limits =
            Limits { wall: LONGEST.min(self.settings.limits.wall), ..self.settings.limits.clone() };
        order.cancel = cancel.clone();
        let mut running = found
            .sandbox
            .run(order)
            .await
            .map_err(|cause| Stop::new(cause.code(), format!("{cause}; {}", cause.hint())))?;
        let (mut words, mut left_out) = (String::new(), 0);
        while let Some(line) = running.next().await {
            if words.len() + line.text.len() < WORDS {
                words.push_str(&line.text);
                words.push('\n');
            } else {
                left_out += line.text.len() as u64 + 1;
            }
        }
        let ended = running.end().await;
        left_out += ended.dropped_bytes;
        if left_out > 0 {
            let _ = writeln!(words, "[… {left_out} more bytes were left out]");
        }
        let (how, failed) = match ended.status {
            Status::Exited(0) => (String::new(), false),
            Status::Exited(code) => (format!("exit status {code}\n"), true),
            Status::Signalled(signal) => (format!("ended by signal {signal}\n"), true),
            Status::TimedOut => (format!("ended after {} s\n", LONGEST.as_secs()), true),
            Status::Cancelled => return Err(Stop::new("cancelled", "the work was stopped")),
            Status::Lost => {
                return Err(Stop::new("sandbox_lost", "the sandbox was lost with the code in it"));
            }
            Status::Quota(what) => (format!("ended: {}\n", limit(what)), true),
        };
        let words = if words.is_empty() && how.is_empty() { "(it said nothing)".to_owned() } else { words };
        Ok(Done { content: format!("{how}{words}"), is_error: failed, wrote: true })
    }
}
