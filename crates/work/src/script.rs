//! Running scripts: a Python function, or any executable file, in the sandbox.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::event::{Entry, Level, Text, Usage};
use holdpoint_core::plan::body::Script;
use holdpoint_planted::{Moment, dies_at};
use holdpoint_sandbox::{Ended, Interpreter, Line, Order, Quota, Status, Stream};
use rustix::fs::OFlags;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, timeout_at};

use super::collect::collect;
use super::room::{GivenFiles, Room, empty, make};
use super::stop::Stop;
use super::{Found, Worker};
use holdpoint_engine::executor::Job;
use holdpoint_engine::work_context::{WorkContext, log_line};

/// What calls a Python function.
const CALLER: &str = include_str!("script.py");
/// The largest script.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Lines are written down at least this often.
const SOON: Duration = Duration::from_millis(200);
/// And when they are this many bytes.
const MANY: usize = 64 * 1024;
/// The largest returned value that is read.
const LARGEST_VALUE: u64 = 64 * 1024 * 1024;
/// The largest returned value that stands in the log.
const SMALL_VALUE: usize = 16 * 1024;
/// How much feedback a variable holds.
const LONGEST_VARIABLE: usize = 32 * 1024;
/// How much of the last words stands in place of a trace.
const LAST_WORDS: usize = 4 * 1024;

/// What the caller of a Python function wrote down.
#[derive(Debug, Default, Deserialize)]
struct Told {
    #[serde(default)]
    value: Option<Value>,
    #[serde(default)]
    unwritable: Option<String>,
    #[serde(default)]
    error: Option<Raised>,
}

/// What a script raised.
#[derive(Debug, Deserialize)]
struct Raised {
    #[serde(rename = "type")]
    kind: String,
    message: String,
    trace: String,
}

impl Worker {
    /// Does the work of a script step.
    pub(super) async fn script(&self, job: &Job, config: &Script) -> Result<Outcome, Stop> {
        let desk = &job.desk;
        let before = desk.open().await?;
        let room = Room::of(desk)?;
        let given = self.given(desk).await?;
        if job.restarted || !before.is_empty() {
            room.reset(desk.fence.epoch)?;
        } else {
            empty(&room.staging)?;
        }
        room.furnish(&given).await?;
        if !before.is_empty() {
            let text = "the script was cut off and begins again, as the same attempt";
            desk.log(Level::Warning, text, None).await?;
        }
        let script = self.pin(desk, &room, config, &before).await?;
        if let Some(rehearsal) = &self.rehearsal {
            desk.log(Level::Info, &format!("{} is not run in a dry run", config.path), None).await?;
            rehearsal.part(job).hand_in(&room)?;
            let declared = &job.body.outputs;
            let artifacts = collect(desk, &room.staging, declared, None, self.settings.file_bytes).await?;
            return Ok(Outcome::done(None, artifacts, Usage::default()));
        }
        let found = self.machine.found().await;
        let mut order = self.order(job, &room, &given, config, &script, found)?;
        order.network = config.network;
        let level = found.sandbox.level();
        let text = format!("{} starts", config.path);
        desk.log(Level::Info, &text, Some(json!({"sandbox": level.as_str(), "network": order.network})))
            .await?;
        let (ended, words) = self.run(desk, order).await?;
        dies_at(Moment::ScriptEnded);
        let told = read_told(&room.base.join("run/told.json")).await?;
        let value = judge_end(config, &ended, told, &words)?;
        let artifacts =
            collect(desk, &room.staging, &job.body.outputs, value.as_ref(), self.settings.file_bytes).await?;
        dies_at(Moment::OutputsCollected);
        let output = value.filter(|value| value.to_string().len() <= SMALL_VALUE);
        Ok(Outcome::done(output, artifacts, Usage::default()))
    }

    /// The script's bytes as they were when the attempt began, in a file of the attempt's own.
    async fn pin(
        &self,
        desk: &WorkContext,
        room: &Room,
        config: &Script,
        before: &[Entry],
    ) -> Result<PathBuf, Stop> {
        let known = before.iter().find_map(|entry| match entry {
            Entry::Pinned { digest, .. } => Some(*digest),
            _ => None,
        });
        let bytes = if let Some(digest) = known {
            desk.bytes(digest).await?
        } else {
            let played = self.played(desk).await?;
            let bytes = match played.and_then(|played| played.pinned.get(&*config.path).cloned()) {
                Some(bytes) => bytes,
                None => self.find(room, &config.path).await?,
            };
            let (digest, _) = desk.keep(bytes.clone()).await?;
            desk.write(vec![Entry::Pinned { name: config.path.clone(), digest }]).await?;
            bytes
        };
        let folder = room.base.join("run");
        let _ = tokio::fs::remove_dir_all(&folder).await;
        make(&folder)?;
        let name = Path::new(&*config.path).file_name().unwrap_or_default();
        let script = folder.join(name);
        tokio::fs::write(&script, &bytes).await?;
        tokio::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).await?;
        tokio::fs::write(folder.join(".caller.py"), CALLER).await?;
        Ok(script)
    }

    /// Looks a script up: in the pipeline's `scripts/`, or at an absolute path that the settings allow.
    async fn find(&self, room: &Room, path: &str) -> Result<Vec<u8>, Stop> {
        let wanted = Path::new(path);
        let missing =
            |hint: String| Stop::new("script_missing", format!("there is no script `{path}`: {hint}"));
        let file = if wanted.is_absolute() {
            let real = tokio::fs::canonicalize(wanted).await.map_err(|cause| missing(cause.to_string()))?;
            if !self.settings.script_folders.iter().any(|folder| real.starts_with(folder)) {
                let message = format!("`{path}` is outside the folders in execution.script_folders");
                return Err(Stop::new("script_not_allowed", message));
            }
            real
        } else {
            if !wanted.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(Stop::new(
                    "script_not_allowed",
                    format!("`{path}` leaves the folder of scripts"),
                ));
            }
            let hint = format!("put it into the pipeline's folder {}", room.scripts.display());
            let real = tokio::fs::canonicalize(room.scripts.join(wanted)).await;
            let real = real.map_err(|_| missing(hint))?;
            let inside = tokio::fs::canonicalize(&room.scripts).await?;
            if !real.starts_with(&inside) {
                return Err(Stop::new(
                    "script_not_allowed",
                    format!("`{path}` leads out of the folder of scripts"),
                ));
            }
            real
        };
        let mut bytes = Vec::new();
        let opened = tokio::fs::File::open(&file).await.map_err(|cause| missing(cause.to_string()))?;
        if !opened.metadata().await?.is_file() {
            return Err(missing("it is not a file".to_owned()));
        }
        opened.take(LARGEST + 1).read_to_end(&mut bytes).await?;
        if bytes.len() as u64 > LARGEST {
            return Err(Stop::new("script_not_allowed", format!("`{path}` is larger than 16 MiB")));
        }
        Ok(bytes)
    }

    fn order(
        &self,
        job: &Job,
        room: &Room,
        given: &GivenFiles,
        config: &Script,
        script: &Path,
        found: &Found,
    ) -> Result<Order, Stop> {
        let facts = json!({
            "parameters": config.parameters.clone().unwrap_or_default(),
            "inputs": given.told(room),
            "user_input": job.execution.input,
            "feedback": job.execution.feedback,
        });
        let folder = room.base.join("run");
        let (mut order, stdin) = if script.extension().is_some_and(|extension| extension == "py") {
            let mut order = facts;
            order["script"] = json!(script);
            order["function"] = json!(config.function);
            order["folder"] = json!(room.scripts);
            order["result"] = json!(folder.join("told.json"));
            let caller = folder.join(".caller.py").display().to_string();
            let mut run = Order::python(python(found)?, &room.workspace);
            run.args = vec!["-B".to_owned(), "-u".to_owned(), caller];
            (run, order)
        } else {
            (Order::new(script, &room.workspace), facts)
        };
        order.env = env(room);
        order.env.extend(feedback(&job.execution.feedback));
        order.read_write.extend([room.staging.clone(), folder]);
        order.read_only.extend([room.inputs.clone(), room.scripts.clone()]);
        order.stdin = stdin.to_string().into_bytes();
        order.limits = self.settings.limits.clone();
        order.cancel = job.cancel.clone();
        Ok(order)
    }

    /// Runs an order to its end; its lines are written down while it runs.
    async fn run(&self, desk: &WorkContext, order: Order) -> Result<(Ended, String), Stop> {
        let mut running = self.machine.found().await.sandbox.run(order).await.map_err(|cause| {
            let message = format!("{cause}; {}", cause.hint());
            Stop::new(cause.code(), message)
        })?;
        let mut words = String::new();
        let mut waiting: Vec<Line> = Vec::new();
        let mut since = Instant::now();
        loop {
            let next = if waiting.is_empty() {
                Ok(running.next().await)
            } else {
                timeout_at(since + SOON, running.next()).await
            };
            match next {
                Ok(Some(line)) => {
                    if waiting.is_empty() {
                        since = Instant::now();
                    }
                    if line.stream == Stream::Stderr {
                        words.push_str(&line.text);
                        words.push('\n');
                    }
                    waiting.push(line);
                    if waiting.iter().map(|line| line.text.len()).sum::<usize>() >= MANY {
                        write(desk, &mut waiting).await?;
                    }
                }
                Ok(None) => break,
                Err(_) => write(desk, &mut waiting).await?,
            }
        }
        let end = running.end();
        tokio::pin!(end);
        let ended = match timeout_at(since + SOON, &mut end).await {
            Ok(ended) => ended,
            // It has closed its output and works on: nobody waits for its end to read its lines.
            Err(_) => {
                write(desk, &mut waiting).await?;
                end.await
            }
        };
        desk.say_last(waiting.into_iter().map(entry));
        if ended.dropped_bytes > 0 {
            let text = format!("{} more bytes of output were dropped", ended.dropped_bytes);
            desk.say_last([log_line(Level::Warning, &text, None)]);
        }
        let from = words.len().saturating_sub(LAST_WORDS);
        let from = (from..words.len()).find(|at| words.is_char_boundary(*at)).unwrap_or(words.len());
        Ok((ended, words.split_off(from)))
    }
}

/// What the work finds in its environment.
pub(super) fn env(room: &Room) -> Vec<(String, String)> {
    [
        ("HOLDPOINT_STAGING", &room.staging),
        ("HOLDPOINT_WORKSPACE", &room.workspace),
        ("HOLDPOINT_INPUTS", &room.inputs),
    ]
    .map(|(name, path)| (name.to_owned(), path.display().to_string()))
    .to_vec()
}

/// What is to be different this time, for a program that reads no JSON.
fn feedback(said: &[Text]) -> Option<(String, String)> {
    // A variable with a NUL byte, or a long one, would keep the program from starting. The JSON has all of it.
    let text = said.join("\n\n").replace('\0', "");
    let end = (0..=text.len().min(LONGEST_VARIABLE)).rev().find(|at| text.is_char_boundary(*at))?;
    (end > 0).then(|| ("HOLDPOINT_FEEDBACK".to_owned(), text[..end].to_owned()))
}

fn entry(line: Line) -> Entry {
    let level = match line.stream {
        Stream::Stdout => Level::Info,
        Stream::Stderr => Level::Warning,
    };
    log_line(level, &line.text, None)
}

async fn write(desk: &WorkContext, lines: &mut Vec<Line>) -> Result<(), Stop> {
    let entries: Vec<Entry> = std::mem::take(lines).into_iter().map(entry).collect();
    if entries.is_empty() { Ok(()) } else { Ok(desk.write(entries).await?) }
}

/// The Python of a machine.
pub(super) fn python(found: &Found) -> Result<&Interpreter, Stop> {
    found.python.as_ref().ok_or_else(|| {
        let message = "there is no python3 on this machine; install it (Debian: apt-get install python3)";
        Stop::new("python_missing", message)
    })
}

/// What a program took too much of, in words.
pub(super) fn limit(what: Quota) -> &'static str {
    match what {
        Quota::Cpu => "it used too much time on the processors",
        Quota::WorkspaceBytes => "it wrote too many bytes",
        Quota::WorkspaceFiles => "it wrote too many files",
    }
}

async fn read_told(path: &Path) -> Result<Told, Stop> {
    // The script could put anything there: a link or a pipe says nothing.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let opened = tokio::fs::File::options().read(true).custom_flags(flags as i32).open(path).await;
    let Ok(file) = opened else { return Ok(Told::default()) };
    if !file.metadata().await?.is_file() {
        return Ok(Told::default());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_VALUE + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > LARGEST_VALUE {
        return Err(Stop::new(
            "script_error",
            "the returned value is larger than 64 MiB; write a file instead",
        ));
    }
    match serde_json::from_slice(&bytes) {
        Err(cause) if cause.to_string().contains("recursion limit") => Err(Stop::new(
            "script_error",
            "the returned value is nested more than 120 deep; write a file instead",
        )),
        // Nobody but the script itself could have written something else there.
        told => Ok(told.unwrap_or_default()),
    }
}

/// What a script's end means: its value, or why the attempt has failed.
fn judge_end(config: &Script, ended: &Ended, told: Told, words: &str) -> Result<Option<Value>, Stop> {
    let name = &config.path;
    if let Some(Raised { kind, message, trace }) = told.error {
        return Err(Stop::new("script_error", format!("{name} raised {kind}: {message}")).traced(&trace));
    }
    match &ended.status {
        Status::Exited(0) => {}
        Status::Exited(code) => {
            let stop = Stop::new("script_error", format!("{name} ended with exit status {code}"));
            return Err(stop.traced(words));
        }
        Status::Signalled(signal) => {
            let stop = Stop::new("script_error", format!("{name} was ended by signal {signal}"));
            return Err(stop.traced(words));
        }
        Status::TimedOut => return Err(Stop::new("timeout", format!("{name} took too long"))),
        Status::Cancelled => return Err(Stop::new("cancelled", format!("{name} was stopped"))),
        Status::Lost => {
            return Err(
                Stop::new("sandbox_lost", format!("the sandbox was lost with {name} in it")).traced(words)
            );
        }
        Status::Quota(what) => {
            return Err(
                Stop::new("script_limit", format!("{name} was ended: {}", limit(*what))).traced(words)
            );
        }
    }
    if let Some(why) = told.unwritable {
        return Err(Stop::new(
            "script_error",
            format!("what {name} returned cannot be written as JSON: {why}"),
        ));
    }
    Ok(told.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_fits_into_a_variable() {
        let value = |said: &[&str]| {
            let said: Vec<Text> = said.iter().map(|text| (*text).into()).collect();
            feedback(&said).map(|(_, value)| value)
        };
        assert_eq!(value(&[]), None);
        assert_eq!(value(&["shorter", "a\0b"]).as_deref(), Some("shorter\n\nab"));
        let long = "ä".repeat(LONGEST_VARIABLE);
        assert_eq!(value(&[&format!("x{long}")]).map(|text| text.len()), Some(LONGEST_VARIABLE - 1));
    }
}
