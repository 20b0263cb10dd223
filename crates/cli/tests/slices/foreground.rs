//! Commands that do a run's work themselves, on a home without a server.

use serde_json::{Value, json};

use crate::agents::{agentic, single};
use crate::place::Place;
use crate::provider::{Provider, Say, answers, call, text};
use crate::server::{Server, id};

/// A pipeline file with these checkpoints.
fn file(place: &Place, checkpoints: &[Value]) -> String {
    let text = json!({"pipeline_name": "Work", "config": {"auto_advance": true}, "checkpoints": checkpoints});
    place.write("work.json", &text.to_string()).display().to_string()
}

fn script(name: &str, path: &str) -> Value {
    let artifacts =
        json!([{"name": "figures", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let mut step = agentic(name, Value::Null, artifacts);
    step["execution"]["mode"] = json!("script");
    step["execution"].as_object_mut().expect("an object").remove("agent_config");
    step["execution"]["script_config"] = json!({"script_path": path, "requires_user_input": false});
    step
}

fn strings(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The executions of a run, as they stand.
fn executions(place: &Place, run: &str) -> Vec<Value> {
    let server = Server::on(&place.home());
    let all = server.get(&format!("/api/runs/{run}/checkpoints")).expect(200);
    all["items"].as_array().expect("executions").clone()
}

#[test]
fn a_file_is_run_to_its_end_without_a_server() {
    let place = Place::new();
    place.example("report");
    let ran = place.run(&["run", "report/report.yaml"]).expect(3);
    assert!(ran.stderr.contains("“Figures” is completed."), "{}", ran.stderr);
    assert!(ran.stderr.contains("Is the result of “Report” good?"), "{}", ran.stderr);
    let run = ran.stdout.trim().to_owned();
    // It waits, however often somebody goes on with it.
    place.run(&["resume", &run, "--non-interactive"]).expect(3);
    let answered = place.run(&strings(&ran.next())).expect(0);
    assert!(answered.stderr.contains("v1 of “Weekly report” is completed"), "{}", answered.stderr);
    let again = place.run(&["resume", &run, "--json"]).expect(0).json();
    assert_eq!((&again["run_id"], &again["status"]), (&json!(run), &json!("completed")));
}

#[test]
fn prepared_answers_are_given_in_their_order_and_recorded_as_such() {
    let place = Place::new();
    place.example("team");
    place.write("home/scripts/team.yaml", include_str!("../../../../examples/team/answers/team.yaml"));
    place.write("answers.yaml", "Plan:\n  - reject: Let the users watch.\n  - approve: true\n");
    let ran = place.run(&["run", "team/team.yaml", "--answers", "answers.yaml", "--json"]).expect(0).json();
    assert_eq!(ran["status"], "completed");
    assert_eq!(executions(&place, &id(&ran["run_id"]))[0]["revision_iteration"], 1);
    let server = Server::on(&place.home());
    let events = server.get("/api/events?type=execution.approved,execution.revision_requested").expect(200);
    let events = events["items"].as_array().expect("events").clone();
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event["actor"]["name"] == "ann (prepared answers)"), "{events:#?}");

    let wrong = place.run(&["run", "team/team.yaml", "--answers", "nothing.yaml"]).expect(65);
    assert!(wrong.stderr.starts_with("error: "), "{}", wrong.stderr);
    place.write("answers.yaml", "Plann: {approve: true}\n");
    let wrong = place.run(&["run", "team/team.yaml", "--answers", "answers.yaml"]).expect(65);
    assert!(wrong.stderr.contains("did you mean `Plan`?"), "{}", wrong.stderr);
}

#[test]
fn a_failed_step_ends_with_one_and_says_how_to_try_again() {
    let place = Place::new();
    let file = file(&place, &[script("Count", "count.py")]);
    let script = place.write("scripts/count.py", "def main():\n    raise ValueError('no figures')\n");
    let ran = place.run(&["run", &file]).expect(1);
    assert!(ran.stderr.contains("count.py raised ValueError: no figures"), "{}", ran.stderr);
    let json = place.run(&["run", "Work", "--json"]).expect(1).json();
    assert_eq!((&json["status"], &json["pause_reason"]), (&json!("paused"), &json!("checkpoint_failed")));
    place.run(&["resume", &id(&json["run_id"])]).expect(1);
    std::fs::write(script, "def main():\n    return {'a': 1}\n").expect("written");
    // The file is brought in again, and the first run has it as well.
    place.run(&["run", &file]).expect(0);
    let retry = ran.stderr.lines().last().expect("a hint").split('`').nth(1).expect("a command").to_owned();
    let words: Vec<&str> = retry.split(' ').skip(1).collect();
    place.run(&words).expect(0);
}

#[test]
fn what_cannot_be_run_is_told_what_can() {
    let place = Place::new();
    place.write("flow.yaml", "phases: []\n");
    let ran = place.run(&["run", "flow.yaml", "--json"]).expect(65).json();
    assert_eq!(ran["error"]["code"], "format_unknown");
    assert!(ran["error"]["hint"].as_str().expect("a hint").contains("pipeline files"), "{ran}");
    place.run(&["run", "missing.yaml"]).expect(65);
    place.run(&["run", "Nobody"]).expect(1);
    place.run(&["resume", "01890000-0000-7000-8000-000000000000"]).expect(1);
    place.run(&["resume", "x y"]).expect(64);
    let pipelines = place.run(&["pipeline", "list", "--json"]).expect(0).json();
    assert_eq!(pipelines["items"], json!([]));
}

#[test]
fn a_server_on_the_same_home_may_decide_and_end_the_run() {
    let server = Server::start();
    let pipeline = server.pipeline(&["A"], true);
    let name = "Research";
    let detached = server.command(&["pipeline", "run", name, "--detach", "--json"]);
    let run: Value = serde_json::from_slice(&detached.stdout).expect("JSON");
    assert_eq!(detached.status.code(), Some(3));
    // Over the server the same command follows the same run.
    let url = server.url();
    let waits = server.command(&["resume", &id(&run["run_id"]), "--server", &url, "--json"]);
    assert_eq!(waits.status.code(), Some(3), "{}", String::from_utf8_lossy(&waits.stderr));
    let waits: Value = serde_json::from_slice(&waits.stdout).expect("JSON");
    assert_eq!(waits["run_id"], run["run_id"]);
    assert!(waits["next"][0].as_str().expect("a command").ends_with(&format!("--server {url}")), "{waits:#}");
    server.post(&format!("/api/runs/{}/pause", id(&run["run_id"])), &json!({})).expect(200);
    let resumed = server.command(&["resume", &id(&run["run_id"])]);
    assert_eq!(resumed.status.code(), Some(3));
    assert_eq!(server.run_of(&run)["status"], "in_progress");
    server.post(&format!("/api/runs/{}/abort", id(&run["run_id"])), &json!({})).expect(200);
    let aborted = server.command(&["resume", &id(&run["run_id"])]);
    assert_eq!(aborted.status.code(), Some(2));
    assert_eq!(server.get(&format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]))).status, 200);
}

/// Agents that take so many answers for one step; each kept question carries how many were given before.
fn steady(count: usize) -> Provider {
    Provider::start(move |question| {
        let n = answers(question);
        // tidy: sleep, because a provider takes its time, and a kill should find work under way
        std::thread::sleep(std::time::Duration::from_millis(60));
        if n + 1 == count {
            return text("It is written.");
        }
        let input = match n {
            0 => json!({"operation": "write", "path": "summary.json", "content": "{\"title\": \"0\"}"}),
            n => {
                let (old, new) = (format!("\"{}\"", n - 1), format!("\"{n}\""));
                json!({"operation": "edit", "path": "summary.json", "old_text": old, "new_text": new})
            }
        };
        Say::Parts(vec![call(&format!("c{n}"), "file_operations", &input)])
    })
}

fn scripts_and_agents(place: &Place) -> String {
    let artifacts =
        json!([{"name": "summary", "format": "json", "schema": {"type": "object", "properties": {}}}]);
    let file = file(
        place,
        &[script("Count", "count.py"), agentic("Summary", single(&["file_operations"]), artifacts)],
    );
    place.write("scripts/count.py", "def main():\n    return {'a': 1}\n");
    file
}

#[test]
fn after_a_kill_nothing_finished_is_done_twice() {
    let provider = steady(12);
    let place = Place::with(&[("ANTHROPIC_BASE_URL", &provider.url), ("ANTHROPIC_API_KEY", "k")]);
    let file = scripts_and_agents(&place);
    let mut process = place.spawn(&["run", &file]);
    let run = place.until_file("stdout", |text| text.ends_with('\n')).trim().to_owned();
    while provider.asked().len() < 5 {
        std::thread::yield_now();
    }
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    let before = provider.asked().len();
    let first = executions(&place, &run)[0].clone();
    assert_eq!(first["status"], "completed");

    let ran = place.run(&["resume", &run, "--json"]).expect(0).json();
    assert_eq!(ran["status"], "completed");
    let after = executions(&place, &run);
    assert_eq!(after[0], first, "the script was not run again");
    assert_eq!(after[1]["attempt_number"], 1);
    assert_eq!(after[1]["usage"]["calls"], 12);
    // At most the question whose answer was on its way is asked again.
    let asked = provider.asked();
    assert!(asked.len() <= 13, "{} questions", asked.len());
    assert!(asked[before..].iter().all(|question| answers(question) + 1 >= before), "{before}");
}

#[test]
fn ctrl_c_ends_the_command_and_not_the_run() {
    let provider = steady(12);
    let place = Place::with(&[("ANTHROPIC_BASE_URL", &provider.url), ("ANTHROPIC_API_KEY", "k")]);
    let file = scripts_and_agents(&place);
    let mut process = place.spawn(&["run", &file]);
    while provider.asked().len() < 3 {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(process.wait().expect("it ends").code(), Some(2));
    let said = std::fs::read_to_string(place.path("stderr")).expect("said");
    let resume =
        said.lines().last().expect("a line").split("holdpoint ").nth(1).expect("a command").to_owned();
    let words: Vec<&str> = resume.split(' ').collect();
    place.run(&words).expect(0);
    assert!(provider.asked().len() <= 13);
}
