//! Recorded runs, run again without a network: the same, or where they first differ.

use serde_json::{Value, json};

use crate::agents::{agentic, pipeline, single};
use crate::place::{Place, Ran};
use crate::provider::{Provider, Say, answers, call, must_call, text};
use crate::safety::soon;
use crate::server::{Server, form, id};

fn replay(place: &Place, run: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["run", "--replay", run, "--json"];
    arguments.extend(more);
    place.run(&arguments)
}

/// The team of the examples, sent back once and then approved.
fn team(place: &Place) -> String {
    place.example("team");
    place.write("home/scripts/team.yaml", include_str!("../../../../examples/team/answers/team.yaml"));
    place.write("answers.yaml", "Plan:\n  - reject: Let the users watch.\n  - approve: true\n");
    let ran = place.run(&["run", "team/team.yaml", "--answers", "answers.yaml", "--json"]).expect(0).json();
    // Nobody answers from here on.
    std::fs::remove_file(place.path("home/scripts/team.yaml")).expect("removed");
    id(&ran["run_id"])
}

#[test]
fn a_recorded_run_is_the_same_again_and_leaves_no_trace() {
    let place = Place::new();
    let run = team(&place);
    let before = place.run(&["pipeline", "runs", "Team with review", "--json"]).expect(0).json();
    let told = replay(&place, &run, &[]).expect(0).json();
    assert_eq!((&told["same"], &told["run_id"]), (&json!(true), &json!(run)));
    assert_eq!(told["checkpoints"][0]["artifacts"], 1);
    assert!(told["checkpoints"][0]["messages"].as_u64() > Some(5), "{told}");
    assert_eq!(place.run(&["pipeline", "runs", "Team with review", "--json"]).expect(0).json(), before);
    assert!(place.path("tmp").read_dir().expect("a folder").next().is_none(), "the scratch home is removed");
    // The next version is given the one before it, then as now.
    place.write("home/scripts/team.yaml", include_str!("../../../../examples/team/answers/team.yaml"));
    place.write("answers.yaml", "Plan: {approve: true}\n");
    let next = place.run(&["run", "team/team.yaml", "--answers", "answers.yaml", "--json"]).expect(0).json();
    assert_eq!(replay(&place, &id(&next["run_id"]), &[]).expect(0).json()["same"], true);
}

#[test]
fn an_edited_pipeline_differs_where_it_was_edited() {
    let place = Place::new();
    let run = team(&place);
    let file = place.path("team/team.yaml");
    let text = std::fs::read_to_string(&file).expect("the example");
    std::fs::write(&file, text.replace("goes to ten users", "goes to twelve users")).expect("written");
    let told = replay(&place, &run, &["--definition", "team/team.yaml"]).expect(1).json();
    let first = &told["first_difference"];
    assert_eq!((&first["kind"], &first["checkpoint"]), (&json!("question"), &json!("Plan")));
    let diff = first["diff"].as_str().expect("a diff");
    assert!(diff.contains("+The first release goes to twelve users"), "{diff}");
    // The recorded definition still holds, until the pipeline is changed and asked for as it is now.
    place.run(&["pipeline", "apply", "team/team.yaml"]).expect(0);
    replay(&place, &run, &[]).expect(0);
    replay(&place, &run, &["--with-current"]).expect(1);
}

#[test]
fn scripts_are_run_again_as_they_were() {
    let place = Place::new();
    place.example("report");
    let ran = place.run(&["run", "report/report.yaml"]).expect(3);
    let run = ran.stdout.trim().to_owned();
    // It stood at a question, and stands there again.
    assert_eq!(replay(&place, &run, &[]).expect(0).json()["same"], true);
    let words: Vec<String> = ran.next();
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).expect(0);
    let told = replay(&place, &run, &[]).expect(0).json();
    assert_eq!(told["checkpoints"].as_array().map(Vec::len), Some(2));
    // Another script is another result, if the present one is asked for.
    let scripts = std::fs::read_dir(place.path("home/pipelines")).expect("pipelines").flatten();
    let folder =
        scripts.map(|entry| entry.path().join("scripts")).find(|path| path.is_dir()).expect("scripts");
    let script = std::fs::read_to_string(folder.join("report.py")).expect("the script");
    std::fs::write(folder.join("report.py"), script.replace("# Weekly report", "# Report")).expect("written");
    replay(&place, &run, &[]).expect(0);
    let told = replay(&place, &run, &["--with-current"]).expect(1).json();
    assert_eq!(told["first_difference"]["kind"], "artifact");
    assert!(
        told["first_difference"]["diff"].as_str().expect("a diff").contains("-# Weekly report\n+# Report"),
        "{told}"
    );
    let shown = place.run(&["run", "--replay", &run, "--with-current"]).expect(1);
    assert!(shown.stdout.contains("first difference: `report` of “Report” is another"), "{}", shown.stdout);
}

#[test]
fn checks_retries_forms_and_people_are_played_from_the_recording() {
    // The first summary fails its check, and the second attempt passes.
    let provider = Provider::start(|question| {
        if must_call(question) == "verdict" {
            let passed = question.to_string().contains("second");
            let input =
                json!({"passed": passed, "reasons": if passed { json!([]) } else { json!(["too short"]) }});
            return Say::Parts(vec![call("v", "verdict", &input)]);
        }
        match answers(question) {
            0 => {
                let title = if question.to_string().contains("too short") { "second" } else { "first" };
                let content = json!({"title": title}).to_string();
                let input = json!({"operation": "write", "path": "summary.json", "content": content});
                Say::Parts(vec![call("c", "file_operations", &input)])
            }
            _ => text("It is written."),
        }
    });
    let place = Place::with(&[("ANTHROPIC_BASE_URL", &provider.url), ("ANTHROPIC_API_KEY", "k")]);
    let mut step = agentic(
        "Summary",
        single(&["file_operations"]),
        json!([{"name": "summary", "format": "json", "schema": {"type": "object", "properties": {}}}]),
    );
    step["output"]["validation"] = json!({
        "enabled": true, "validation_mode": "llm_custom", "custom_validation_prompt": "Is it long enough?",
        "on_validation_failure": "retry", "max_validation_retries": 2,
    });
    let pipeline = json!({"pipeline_name": "Work", "config": {"auto_advance": true}, "checkpoints": [form("Goals"), step]});
    place.write("work.json", &pipeline.to_string());
    place.write("answers.yaml", "Goals:\n  - approve: true\n  - fields: {answer: first}\n  - reject: more\n  - fields: {answer: second}\n  - approve: true\n");
    let ran = place.run(&["run", "work.json", "--answers", "answers.yaml", "--json"]).expect(0).json();
    let asked = provider.asked().len();
    let told = replay(&place, &id(&ran["run_id"]), &[]).expect(0).json();
    assert_eq!(told["same"], true, "{told:#}");
    assert_eq!(provider.asked().len(), asked, "no model was asked");

    // A step more needs an answer that nobody gave.
    let mut longer = pipeline.clone();
    longer["checkpoints"].as_array_mut().expect("a list").push(form("Last"));
    place.write("longer.json", &longer.to_string());
    let told = replay(&place, &id(&ran["run_id"]), &["--definition", "longer.json"]).expect(1).json();
    assert_eq!(told["first_difference"]["kind"], "reached", "{told:#}");
    // An agent more is a question that the recording cannot answer.
    let mut more: Value = pipeline.clone();
    let mut extra = more["checkpoints"][1].clone();
    extra["checkpoint_name"] = json!("Extra");
    extra["output"]["validation"] = json!({"enabled": false});
    more["checkpoints"].as_array_mut().expect("a list").insert(1, extra);
    place.write("more.json", &more.to_string());
    let told = replay(&place, &id(&ran["run_id"]), &["--definition", "more.json"]).expect(1).json();
    assert!(told.to_string().contains("the recording has no answer to the question"), "{told:#}");
    assert_eq!(provider.asked().len(), asked);
}

#[test]
fn what_is_not_recorded_is_said() {
    let place = Place::new();
    place.run(&["run", "--replay", "01890000-0000-7000-8000-000000000000"]).expect(1);
    place.run(&["init", "--home", "home"]).expect(0);
    let missing =
        place.run(&["run", "--replay", "01890000-0000-7000-8000-000000000000", "--json"]).expect(1).json();
    assert_eq!(missing["error"]["code"], "not_found");
    place.run(&["run"]).expect(64);
    place.run(&["run", "--replay", "x", "--server", "http://127.0.0.1:1"]).expect(64);
}

#[test]
fn a_note_comes_where_it_came() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let provider = Provider::start(move |question| match answers(question) {
        0 => {
            // The first answer comes when the note was left.
            let _ = wait.lock().expect("unbroken").recv();
            Say::Parts(vec![call("c", "file_operations", &json!({"operation": "list"}))])
        }
        _ => text("It is written."),
    });
    let server = Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)]);
    let made = pipeline(&server, &[agentic("Read", single(&["file_operations"]), json!([]))]);
    let run = server.run(&made);
    let execution = server.until(&run, |e| e["status"] == "in_progress");
    let at = format!("/api/executions/{}/note", id(&execution["execution_id"]));
    server.post(&at, &json!({"text": "Look at the users."})).expect(200);
    go.send(()).expect("it waits");
    server.until(&run, |e| e["status"] == "completed");
    assert!(provider.asked()[1].to_string().contains("Look at the users."));
    let told = server.command(&["run", "--replay", &id(&run["run_id"]), "--json"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stdout));
}

#[test]
fn a_note_left_during_the_last_answer_is_taken_up() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let provider = Provider::start(move |question| match answers(question) {
        0 => {
            let _ = wait.lock().expect("unbroken").recv();
            text("A report.")
        }
        _ => text("A report about users."),
    });
    let server = Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)]);
    let outputs = json!([{"name": "report", "format": "md"}]);
    let made = pipeline(&server, &[agentic("Write", single(&[]), outputs)]);
    let run = server.run(&made);
    let execution = server.until(&run, |e| e["status"] == "in_progress");
    soon("the question is there", || provider.asked().len() == 1);
    let at = format!("/api/executions/{}/note", id(&execution["execution_id"]));
    server.post(&at, &json!({"text": "Look at the users."})).expect(200);
    go.send(()).expect("it waits");
    let done = server.until(&run, |e| e["status"] == "completed");
    let asked = provider.asked();
    assert_eq!(asked.len(), 2, "{asked:#?}");
    assert!(asked[1].to_string().contains("Look at the users.\\n\\nTake this up"), "{:#}", asked[1]);
    let attempts = format!("/api/executions/{}/attempts", id(&done["execution_id"]));
    let attempts = server.get(&attempts).expect(200);
    let record = id(&attempts["items"][0]["artifacts"][0]["artifact_record_id"]);
    let report = server.get(&format!("/api/artifacts/{record}/download")).body;
    assert_eq!(String::from_utf8_lossy(&report).trim(), "A report about users.");
    let told = server.command(&["run", "--replay", &id(&run["run_id"]), "--json"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stdout));
}

#[test]
fn a_summary_that_was_used_again_is_part_of_the_recording() {
    let provider = Provider::start(|question| {
        let told = question["messages"].to_string();
        if told.contains("Summarise this file") {
            text("in short")
        } else if told.contains("REFERENCED OUTPUT") {
            text("built on it")
        } else {
            text("a long story")
        }
    });
    let place = Place::with(&[("ANTHROPIC_BASE_URL", &provider.url), ("ANTHROPIC_API_KEY", "k")]);
    let first = agentic("Story", single(&[]), json!([{"name": "story", "format": "md"}]));
    let mut second = agentic("Design", single(&[]), json!([{"name": "design", "format": "md"}]));
    second["inputs"]["include_checkpoint_outputs"] =
        json!([{"checkpoint_id": "Story", "use_summarization": true}]);
    let pipeline =
        json!({"pipeline_name": "Work", "config": {"auto_advance": true}, "checkpoints": [first, second]});
    place.write("work.json", &pipeline.to_string());
    let asked = |run: &Value| {
        let told = replay(&place, &id(&run["run_id"]), &[]).expect(0).json();
        assert_eq!(told["same"], true, "{told:#}");
        provider.asked().len()
    };
    let one = place.run(&["run", "work.json", "--json"]).expect(0).json();
    assert_eq!(asked(&one), 3);
    // The same text has the same summary, which is not asked for again.
    let two = place.run(&["run", "work.json", "--json"]).expect(0).json();
    assert_eq!(provider.asked().len(), 5);
    assert_eq!(asked(&two), 5);
}

#[test]
fn a_start_that_was_refused_and_asked_for_again_is_played() {
    let provider = Provider::start(|_| text("it is done"));
    let server = Server::start_with(&[("ANTHROPIC_BASE_URL", &provider.url)]);
    let mut step = agentic("Step", single(&[]), json!([{"name": "out", "format": "md"}]));
    step["human_interaction"]["requires_approval_to_start"] = json!(true);
    let made = pipeline(&server, &[step]);
    let run = server.run(&made);
    let at = format!("/api/executions/{}", server.current(&run));
    server.post(&format!("{at}/reject"), &json!({})).expect(200);
    server.post("/api/executions/start", &json!({"run_id": run["run_id"]})).expect(200);
    server.post(&format!("{at}/approve-start"), &json!({})).expect(200);
    server.until_run(&run, |run| run["status"] == "completed");
    let ran = server.command(&["run", "--replay", &id(&run["run_id"]), "--json"]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
}
