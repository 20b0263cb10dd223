//! Agents and scripts whose server is killed in the middle of what they do: what was written down is never asked again, and work
//! that is done twice is marked.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdpoint_planted::{DIE_AT, Moment};
use serde_json::{Value, json};

use crate::agents::{agentic, pipeline, single};
use crate::provider::{Provider, Say, answers, call, text};
use crate::scripts::{script, with_script};
use crate::server::{Server, id};

/// How many answers one execution takes.
const ANSWERS: usize = 8;
/// How often work may be cut off.
const RESTARTS: u64 = 3;

/// Numbers that are the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The answers that the journal of a run's execution holds.
fn recorded(server: &Server, run: &Value) -> (Value, usize) {
    let executions = server.run_of(run)["checkpoint_execution_history"].clone();
    let execution = server.execution(executions[0].as_str().expect("an id"));
    let messages = execution["agent_conversation"].as_array().expect("messages").clone();
    let count = messages.iter().filter(|message| message["role"] == "assistant").count();
    (execution, count)
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was proven is worth reading")]
fn crash_what_agents_were_answered_is_never_asked_again() {
    let kills = number("HOLDPOINT_KILLS").unwrap_or(30) * 2 / 3;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_micros() as u64;
    let seed = number("HOLDPOINT_KILL_SEED").unwrap_or(now);
    let mut numbers = Numbers(seed);
    // Each question carries how many answers the journal must have had at least.
    let floor = Arc::new(AtomicUsize::new(0));
    let again = Arc::new(AtomicUsize::new(0));
    let (least, wrong) = (Arc::clone(&floor), Arc::clone(&again));
    let provider = Provider::start(move |question| {
        let n = answers(question);
        if n < least.load(Ordering::SeqCst) {
            wrong.fetch_add(1, Ordering::SeqCst);
        }
        // tidy: sleep, because a provider takes its time, and a kill should find work under way
        std::thread::sleep(Duration::from_millis(3));
        if n + 1 == ANSWERS {
            return text("It is written.");
        }
        // Done twice, the second of these would fail, and say so in the file.
        let input = if n == 0 {
            json!({"operation": "write", "path": "summary.json", "content": "{\"title\": \"0\"}"})
        } else {
            let (old, new) = (format!("\"{}\"", n - 1), format!("\"{n}\""));
            json!({"operation": "edit", "path": "summary.json", "old_text": old, "new_text": new})
        };
        Say::Parts(vec![call(&format!("c{n}"), "file_operations", &input)])
    });
    let mut server = Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)]);
    let artifacts =
        json!([{"name": "summary", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let made = pipeline(&server, &[agentic("Summary", single(&["file_operations"]), artifacts)]);
    let (mut killed, mut runs, mut in_the_middle) = (0, 0, 0);
    while killed < kills {
        // Work that is cut off more often than this fails.
        let most = kills.min(killed + RESTARTS);
        floor.store(0, Ordering::SeqCst);
        let run = server.run(&made);
        runs += 1;
        let execution = id(&run["current_execution"]["execution_id"]);
        loop {
            if killed < most {
                // tidy: sleep, because a kill comes at any moment
                std::thread::sleep(Duration::from_millis(numbers.below(60)));
                server.kill();
                killed += 1;
                // What stands in the log now must never be asked again; the provider is told before the server.
                floor.store(server.answers_on_disk(&execution), Ordering::SeqCst);
                in_the_middle += usize::from((1..ANSWERS).contains(&floor.load(Ordering::SeqCst)));
                server.restart();
            }
            let (now, _) = recorded(&server, &run);
            match now["status"].as_str() {
                Some("completed") => break,
                Some("failed") => panic!("seed {seed}: {now:#}"),
                _ if killed == most => {
                    server.until(&run, |e| e["status"] != "in_progress");
                }
                _ => {}
            }
        }
        let (ended, count) = recorded(&server, &run);
        assert_eq!(count, ANSWERS, "seed {seed}: {ended:#}");
        assert_eq!(ended["usage"]["calls"], ANSWERS, "seed {seed}");
        let record = id(&ended["artifacts_generated"][0]["artifact_record_id"]);
        let bytes = server.get(&format!("/api/artifacts/{record}/download")).body;
        let title: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(title["title"], (ANSWERS - 2).to_string(), "seed {seed}");
    }
    assert_eq!(again.load(Ordering::SeqCst), 0, "seed {seed}: questions that had been answered came again");
    let told = format!("seed {seed}: {killed} kills, {in_the_middle} in the middle, {runs} runs");
    assert!(in_the_middle * 4 > killed as usize, "{told}");
    eprintln!("{told}");
}

/// Makes what a list of names and bytes alone would lose.
const MAKES: &str = r"
import os
os.makedirs('empty/inside')
os.symlink('../elsewhere', 'link')
open(b'n\xfe', 'w').write('one')
open(b'n\xff', 'w').write('two')
open('run.sh', 'w').write('#!/bin/sh')
os.chmod('run.sh', 0o750)
";

const LISTS: &str = r"
import os
print('LINK', os.readlink('link'), 'EMPTY', os.listdir('empty/inside'), 'MODE', oct(os.stat('run.sh').st_mode & 0o777))
print('TWO', open(b'n\xfe').read(), open(b'n\xff').read(), 'ALL', len(os.listdir('.')))
";

#[test]
fn crash_links_empty_folders_modes_and_odd_names_come_back() {
    let (asked, is_asked) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let hold = Mutex::new(Some(released));
    let provider = Provider::start(move |question| match answers(question) {
        0 => Say::Parts(vec![call("c0", "code_execution", &json!({"code": MAKES}))]),
        1 => {
            if let Some(released) = hold.lock().expect("no panic").take() {
                asked.send(()).expect("the test waits");
                let _ = released.recv();
            }
            Say::Parts(vec![call("c1", "code_execution", &json!({"code": LISTS}))])
        }
        _ => text("{\"title\": \"T\"}"),
    });
    let mut server = Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)]);
    let artifacts =
        json!([{"name": "summary", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let made = pipeline(&server, &[agentic("Summary", single(&["code_execution"]), artifacts)]);
    let run = server.run(&made);
    is_asked.recv().expect("the first call is done and written down");
    server.kill();
    // What the crash left: nothing of what was there, and something that was not.
    let execution = id(&run["current_execution"]["execution_id"]);
    let workspace = server.folder(&made).join(format!(".temp/exec_{execution}/workspace"));
    std::fs::remove_dir_all(&workspace).expect("removed");
    std::fs::create_dir_all(workspace.join("link/inside")).expect("made");
    std::fs::write(workspace.join("left"), "by the crash").expect("written");
    release.send(()).expect("the provider waits");
    server.restart();
    server.until(&run, |e| e["status"] == "completed");
    let last = provider.asked().last().expect("a question").to_string();
    assert!(last.contains("LINK ../elsewhere EMPTY [] MODE 0o750"), "{last}");
    assert!(last.contains("TWO one two ALL 5"), "{last}");
}

#[test]
fn a_script_that_was_killed_with_its_outputs_written_begins_in_empty_folders() {
    let mut server = Server::start();
    let artifacts =
        json!([{"name": "left", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let step = script("Report", "report.py", artifacts);
    let pipeline = with_script(&server, &step, "report.py", "");
    let scripts = server.folder(&pipeline).join("scripts");
    let go = scripts.join("go");
    // It hands in everything, says so, and ends only when the test lets it: then it was killed once.
    let text = format!(
        "import json, os, time\n\
         def main():\n\
         \x20   staging, workspace = os.environ['HOLDPOINT_STAGING'], os.environ['HOLDPOINT_WORKSPACE']\n\
         \x20   left = sorted(os.listdir(staging)) + sorted(os.listdir(workspace))\n\
         \x20   again = os.path.exists({go:?})\n\
         \x20   with open(staging + '/left.json', 'w') as file: json.dump({{'left': left}}, file)\n\
         \x20   if not again: open(staging + '/extra.txt', 'w').close()\n\
         \x20   open('half.txt', 'w').close()\n\
         \x20   print('all is written', flush=True)\n\
         \x20   while not os.path.exists({go:?}): time.sleep(0.01)\n"
    );
    std::fs::write(scripts.join("report.py"), text).expect("written");
    let run = server.run(&pipeline);
    server.until(&run, |e| e["execution_logs"].to_string().contains("all is written"));
    server.kill();
    std::fs::write(&go, "").expect("written");
    server.restart();
    let execution = server.until(&run, |e| e["status"] == "completed" || e["status"] == "failed");
    assert_eq!(execution["status"], "completed", "{execution:#}");
    let made = execution["artifacts_generated"].as_array().expect("some").clone();
    let names: Vec<&Value> = made.iter().map(|made| &made["artifact_name"]).collect();
    assert_eq!(names, ["left"], "what the first start left is not handed in");
    let record = id(&made[0]["artifact_record_id"]);
    let bytes = server.get(&format!("/api/artifacts/{record}/download")).body;
    let left: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(left, json!({"left": []}));
}

/// Counts what scripts do outside, by the folder that they do it in.
struct Effects {
    port: u16,
    seen: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Effects {
    fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::<Mutex<BTreeMap<String, usize>>>::default();
        let counts = seen.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut said = String::new();
                let mut stream = stream.expect("a connection");
                // A script that is killed with its server says only half.
                if stream.read_to_string(&mut said).is_ok() && said.ends_with('\n') {
                    *counts.lock().expect("no panic").entry(said.trim().to_owned()).or_default() += 1;
                    let _ = stream.write_all(b"seen");
                }
            }
        });
        Self { port, seen }
    }

    /// How often the script of an execution did it.
    fn of(&self, execution: &str) -> usize {
        let seen = self.seen.lock().expect("no panic");
        seen.iter().filter(|(folder, _)| folder.contains(execution)).map(|(_, count)| count).sum()
    }

    /// A script that does something outside, hands in two files, and says something last.
    fn script(&self) -> String {
        format!(
            "import json, os, socket\n\
             def main():\n\
             \x20   staging, workspace = os.environ['HOLDPOINT_STAGING'], os.environ['HOLDPOINT_WORKSPACE']\n\
             \x20   left = sorted(os.listdir(staging)) + sorted(os.listdir(workspace))\n\
             \x20   with socket.create_connection(('127.0.0.1', {})) as outside:\n\
             \x20       outside.sendall((workspace + '\\n').encode())\n\
             \x20       outside.shutdown(socket.SHUT_WR)\n\
             \x20       outside.recv(4)\n\
             \x20   with open(staging + '/left.json', 'w') as file: json.dump({{'left': left}}, file)\n\
             \x20   with open(staging + '/extra.txt', 'w') as file: file.write('more')\n\
             \x20   open('half.txt', 'w').close()\n\
             \x20   print('the last words')\n",
            self.port
        )
    }

    fn pipeline(&self, server: &Server) -> Value {
        let artifacts =
            json!([{"name": "left", "format": "json", "schema": {"type": "object", "properties": {}}}]);
        let mut step = script("Report", "report.py", artifacts);
        step["execution"]["network"] = json!(true);
        with_script(server, &step, "report.py", &self.script())
    }

    /// Checks a script that has ended; answers whether it was started again.
    #[track_caller]
    fn check(&self, server: &Server, execution: &Value, about: &str) -> bool {
        assert_eq!(execution["status"], "completed", "{about}: {execution:#}");
        let made = execution["artifacts_generated"].as_array().expect("some").clone();
        let names: Vec<&Value> = made.iter().map(|made| &made["artifact_name"]).collect();
        assert_eq!(names, ["extra", "left"], "{about}");
        let record = id(&made[1]["artifact_record_id"]);
        let bytes = server.get(&format!("/api/artifacts/{record}/download")).body;
        let left: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(left, json!({"left": []}), "{about}: it began in empty folders");
        let logs = execution["execution_logs"].to_string();
        assert!(logs.contains("the last words"), "{about}: {logs}");
        let id = id(&execution["execution_id"]);
        let attempts = server.get(&format!("/api/executions/{id}/attempts")).expect(200);
        let attempts = attempts["items"].as_array().expect("attempts");
        assert_eq!(attempts.len(), 1, "{about}: {attempts:?}");
        let restarted = attempts[0]["restarted"] == true;
        let effects = self.of(&id);
        assert!(
            effects == 1 || (restarted && effects > 0),
            "{about}: {effects} times, restarted: {restarted}"
        );
        restarted
    }
}

/// Kills the server at a moment of a script's end, and lets the next one finish it.
fn killed_at(moment: Moment) {
    let effects = Effects::listen();
    let folder = tempfile::tempdir().expect("a folder");
    let died = folder.path().join("died");
    let at = format!("{}:{}", moment.name(), died.display());
    let mut server = Server::start_with(&[(DIE_AT, &at)]);
    let pipeline = effects.pipeline(&server);
    let run = server.run(&pipeline);
    let execution = id(&run["current_execution"]["execution_id"]);
    server.dies();
    assert!(died.exists(), "it died by itself");
    assert_eq!(effects.of(&execution), 1);
    server.restart();
    let ended = server.until(&run, |e| e["status"] == "completed" || e["status"] == "failed");
    assert!(effects.check(&server, &ended, moment.name()), "it is marked: {ended:#}");
    assert_eq!(effects.of(&execution), 2);
}

#[test]
fn crash_right_after_a_script_has_ended() {
    killed_at(Moment::ScriptEnded);
}

#[test]
fn crash_right_after_the_outputs_of_a_script_were_collected() {
    killed_at(Moment::OutputsCollected);
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was proven is worth reading")]
fn crash_each_script_acts_once_or_is_marked_as_restarted() {
    let kills = number("HOLDPOINT_SCRIPT_KILLS").unwrap_or(6);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_micros() as u64;
    let seed = number("HOLDPOINT_KILL_SEED").unwrap_or(now);
    let mut numbers = Numbers(seed);
    let effects = Effects::listen();
    let mut server = Server::start();
    let pipeline = effects.pipeline(&server);
    let (mut killed, mut runs, mut again) = (0, 0, 0);
    while killed < kills {
        let run = server.run(&pipeline);
        runs += 1;
        // Work that is cut off more often than this fails.
        let most = kills.min(killed + RESTARTS);
        while killed < most {
            // tidy: sleep, because a kill comes at any moment
            std::thread::sleep(Duration::from_millis(numbers.below(250)));
            server.kill();
            killed += 1;
            server.restart();
            let (now, _) = recorded(&server, &run);
            if now["status"] == "completed" || now["status"] == "failed" {
                break;
            }
        }
        let ended = server.until(&run, |e| e["status"] == "completed" || e["status"] == "failed");
        again += usize::from(effects.check(&server, &ended, &format!("seed {seed}, run {runs}")));
    }
    eprintln!("seed {seed}: {killed} kills, {runs} runs, {again} started again");
}
