//! Dry runs: the whole way with made-up answers, priced, and nothing done in earnest.

use serde_json::{Value, json};

use crate::agents::{agentic, single};
use crate::place::{Place, Ran};
use crate::provider::{Provider, text};
use crate::server::Server;

fn dry(place: &Place, file: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["run", file, "--dry-run", "--json"];
    arguments.extend(more);
    place.run(&arguments)
}

fn pipeline(place: &Place, checkpoints: &[Value]) -> String {
    let pipeline = json!({
        "pipeline_name": "Walked",
        "pipeline_description": "d",
        "config": {"auto_advance": true},
        "checkpoints": checkpoints,
    });
    place.write("walked.json", &pipeline.to_string());
    "walked.json".to_owned()
}

/// An agent that writes one output, as text.
fn writes(name: &str, output: &str, format: &str) -> Value {
    agentic(name, single(&[]), json!([{"name": output, "format": format}]))
}

/// Lets a model check what a step makes.
fn judged(mut step: Value) -> Value {
    step["output"]["validation"] = json!({
        "enabled": true,
        "validation_mode": "llm_custom",
        "custom_validation_prompt": "Is it good?",
        "on_validation_failure": "retry",
        "max_validation_retries": 2,
    });
    step
}

/// Whether the home is as it was before: not there.
fn is_untouched(place: &Place) -> bool {
    !place.home().exists() && place.path("tmp").read_dir().expect("a folder").next().is_none()
}

#[test]
fn every_example_is_walked_to_its_end_and_leaves_no_trace() {
    let place = Place::new();
    for (example, file) in [
        ("first-pipeline.yaml", "first-pipeline.yaml"),
        ("report", "report/report.yaml"),
        ("team", "team/team.yaml"),
    ] {
        place.example(example);
        let told = dry(&place, file, &["--stubs"]);
        let walked = told.json();
        assert_eq!(walked["not_reached"], json!([]), "{file}: {walked:#}");
        assert_eq!(walked["status"], "completed", "{file}: {walked:#}");
        let gates = walked["checkpoints"].as_array().expect("a list").iter();
        assert!(gates.flat_map(|each| each["gates"].as_array().expect("a list")).count() > 0, "{walked:#}");
        assert!(is_untouched(&place), "{file}");
        // The option may stand before the file.
        place.run(&["run", "--dry-run", "--stubs", file]).expect(told.exit.expect("an end"));
    }
}

#[test]
fn no_model_is_asked_and_the_plan_is_priced() {
    let provider = Provider::start(|_| text("never"));
    let place = Place::with(&[("ANTHROPIC_BASE_URL", &provider.url), ("ANTHROPIC_API_KEY", "sk-test")]);
    let mut second = writes("Second", "summary", "txt");
    second["inputs"]["include_checkpoint_outputs"] =
        json!([{"checkpoint_id": "First", "artifact_ids": ["plan"], "use_summarization": false}]);
    second["dependencies"] = json!({"required_checkpoint_ids": ["First"]});
    let file = pipeline(&place, &[judged(writes("First", "plan", "md")), second]);
    let walked = dry(&place, &file, &[]).expect(0).json();
    assert_eq!(walked["estimate"]["calls"], 3, "two agents and one judge: {walked:#}");
    assert_eq!(walked["estimate"]["output_tokens"], 1500);
    assert!(walked["estimate"]["cost_usd"].as_f64() > Some(0.0), "{walked:#}");
    assert_eq!(walked["estimate"]["complete"], true);
    assert!(provider.asked().is_empty(), "nobody is asked");
    // Another length of answers is another price.
    place.write("stubs.yaml", "First: {tokens: 5000}\n");
    let dearer = dry(&place, &file, &["--stubs", "stubs.yaml"]).expect(0).json();
    assert_eq!(dearer["estimate"]["output_tokens"], 10_500);
    assert!(dearer["estimate"]["cost_usd"].as_f64() > walked["estimate"]["cost_usd"].as_f64());
    assert!(is_untouched(&place));
}

#[test]
fn what_a_stub_makes_is_given_on_and_checked() {
    let place = Place::with(&[("ANTHROPIC_API_KEY", "sk-test")]);
    let mut second = writes("Second", "summary", "txt");
    second["inputs"]["include_checkpoint_outputs"] =
        json!([{"checkpoint_id": "First", "artifact_ids": ["plan"], "use_summarization": false}]);
    second["dependencies"] = json!({"required_checkpoint_ids": ["First"]});
    let file = pipeline(&place, &[judged(writes("First", "plan", "md")), second]);
    let long = "word ".repeat(4_000);
    place.write(
        "stubs.yaml",
        &format!(
            "First:\n  - artifacts: {{plan: short}}\n    verdict: {{passed: false, reasons: [too short]}}\n  - \
             artifacts: {{plan: \"{long}\"}}\n    verdict: true\n"
        ),
    );
    let walked = dry(&place, &file, &["--stubs", "stubs.yaml"]).expect(0).json();
    let first = &walked["checkpoints"][0];
    assert_eq!((&first["attempts"], &first["check"]["passed"]), (&json!(2), &json!(true)), "{first:#}");
    let second = &walked["checkpoints"][1];
    assert_eq!(second["inputs"], json!(["plan"]));
    assert!(second["told"][0]["tokens"].as_u64() > Some(5_000), "{second:#}");
}

#[test]
fn what_would_fail_is_found_and_ends_with_1() {
    let place = Place::new();
    let file = pipeline(&place, &[writes("First", "plan", "json"), writes("Second", "summary", "txt")]);
    // What is no JSON is no output of that format; nobody has a key.
    place.write("stubs.yaml", "First: {artifacts: {plan: no JSON}}\n");
    let walked = dry(&place, &file, &["--stubs", "stubs.yaml"]).expect(1).json();
    assert_eq!(walked["status"], "paused");
    assert_eq!(walked["not_reached"], json!(["Second"]));
    let findings = walked["findings"].as_array().expect("a list");
    let found =
        |word: &str| findings.iter().any(|each| each["message"].as_str().is_some_and(|m| m.contains(word)));
    assert!(found("is not JSON") && found("no key"), "{findings:#?}");
    place.write("stubs.yaml", "First: {error: the model is down}\n");
    let walked = dry(&place, &file, &["--stubs", "stubs.yaml"]).expect(1);
    assert!(walked.stdout.contains("the model is down"), "{walked:#?}");
    assert!(is_untouched(&place));
}

#[test]
fn scripts_are_looked_for_and_not_run() {
    let place = Place::new();
    place.example("report");
    let script = place.path("report/scripts/report.py");
    std::fs::write(&script, "raise SystemExit('it was run')").expect("written");
    dry(&place, "report/report.yaml", &[]).expect(0);
    std::fs::remove_file(&script).expect("removed");
    let walked = dry(&place, "report/report.yaml", &[]).expect(1).json();
    assert!(walked["findings"].to_string().contains("script_missing"), "{walked:#}");
}

#[test]
fn budgets_ask_in_a_dry_run_too() {
    let place = Place::with(&[("ANTHROPIC_API_KEY", "sk-test")]);
    let mut step = judged(writes("First", "plan", "md"));
    step["execution"]["budget"] = json!({"tokens": 300});
    let file = pipeline(&place, &[step]);
    let walked = dry(&place, &file, &[]).expect(0).json();
    let gates = walked["checkpoints"][0]["gates"].as_array().expect("a list");
    assert!(gates.iter().any(|gate| gate["kind"] == "budget"), "{walked:#}");
}

#[test]
fn a_known_pipeline_is_walked_by_its_name_and_prepared_answers_are_used() {
    let place = Place::new();
    place.example("first-pipeline.yaml");
    place.run(&["pipeline", "apply", "first-pipeline.yaml"]).expect(0);
    let names = place.run(&["pipeline", "list", "--json"]).expect(0).json();
    let name = names["items"][0]["pipeline_name"].as_str().expect("a name").to_owned();
    let before = place.run(&["audit", "export"]).stdout;
    place.write("answers.yaml", "Goals: [{fields: {goal: Mine, weeks: 2}}, {reject: again}]\n");
    let walked = dry(&place, &name, &["--answers", "answers.yaml"]).expect(0).json();
    let gates = walked["checkpoints"][0]["gates"].as_array().expect("a list").clone();
    assert_eq!(gates[0]["answer"]["fields"]["goal"], "Mine");
    assert_eq!((&gates[0]["made_up"], &gates[1]["answer"]["no"]), (&json!(false), &json!("again")));
    assert!(gates.len() > 3 && gates[2]["made_up"] == true, "{gates:#?}");
    assert_eq!(place.run(&["audit", "export"]).stdout, before, "nothing was written");
}

#[test]
fn what_is_no_stub_is_refused_with_a_hint() {
    let place = Place::new();
    place.example("report");
    for (stubs, word) in [
        ("Repot: {}\n", "Repot"),
        ("Nothing: {artefacts: {}}\n", "artefacts"),
        ("- a\n", "stubs.yaml"),
        (": [", "stubs.yaml"),
    ] {
        place.write("stubs.yaml", stubs);
        let ran = dry(&place, "report/report.yaml", &["--stubs", "stubs.yaml"]).expect(65);
        assert!(ran.stdout.contains("stubs_invalid") && ran.stdout.contains(word), "{ran:#?}");
    }
    dry(&place, "report/report.yaml", &["--stubs", "gone.yaml"]).expect(65);
    place.run(&["run", "report/report.yaml", "--stubs", "stubs.yaml"]).expect(64);
    place.run(&["run", "--dry-run"]).expect(64);
    place.run(&["run", "report/report.yaml", "--dry-run", "--replay", "x"]).expect(64);
    assert!(is_untouched(&place));
}

/// What a server is asked to walk.
fn walk(steps: &[Value], more: &Value) -> Value {
    let mut body =
        json!({"definition": {"pipeline_name": "Walked", "pipeline_description": "d", "checkpoints": steps}});
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

#[test]
fn a_server_walks_a_definition_that_nobody_saved() {
    let server = Server::start_with(&[("ANTHROPIC_API_KEY", "sk-test")]);
    let before = server.get("/api/events").expect(200);
    let mut first = judged(writes("First", "plan", "md"));
    first["human_interaction"]["requires_approval_to_complete"] = json!(true);
    let steps = [first, writes("Second", "summary", "txt")];
    let stubs = json!({"First": [{"artifacts": {"plan": "short"}, "verdict": false}, {"artifacts": {"plan": "# Long"}}]});
    let more = json!({"until": "First", "stubs": stubs, "answers": {"First": [{"reject": "once more"}]}});
    let walked = server.post("/api/dry-runs", &walk(&steps, &more)).expect(200);
    assert_eq!((&walked["status"], &walked["not_reached"]), (&json!("completed"), &json!([])), "{walked:#}");
    let first = &walked["checkpoints"][0];
    assert_eq!(first["made"], json!([{"name": "plan", "text": "# Long\n", "cut": false}]), "{first:#}");
    assert_eq!(first["gates"][0]["answer"]["no"], "once more", "{first:#}");
    assert!(first["told"][0]["user"].as_str().is_some_and(|told| !told.is_empty()), "{first:#}");
    assert_eq!(server.get("/api/events").expect(200), before, "nothing was written");
    let left = std::fs::read_dir(server.temporary()).expect("a folder").flatten();
    assert!(left.into_iter().all(|each| !each.file_name().to_string_lossy().contains("dry-run")));
}

#[test]
fn a_server_says_what_is_wrong_with_what_it_is_to_walk() {
    let server = Server::start();
    let steps = [writes("First", "plan", "md")];
    let refused = |more: Value, status, code: &str| {
        server.post("/api/dry-runs", &walk(&steps, &more)).refused(status, code)
    };
    refused(json!({"until": "Frist"}), 422, "invalid_fields");
    refused(json!({"stubs": {"Frist": {}}}), 422, "dry_run_refused");
    refused(json!({"stubs": {"First": {"artefacts": {}}}}), 422, "dry_run_refused");
    refused(json!({"answers": {"First": {"files": {"plan": "/etc/passwd"}}}}), 422, "invalid_fields");
    refused(json!({"answers": {"First": [{"files": {"plan": "/etc/passwd"}}]}}), 422, "invalid_fields");
    refused(json!({"pipeline_id": "018f0000-0000-7000-8000-000000000000"}), 404, "not_found");
    refused(json!({"definition": {"pipeline_name": "A", "checkpoints": [{}]}}), 422, "invalid_fields");
    refused(
        json!({"definition": {"pipeline_name": "A", "checkpoints": 7}, "until": "A"}),
        422,
        "invalid_fields",
    );
}

#[test]
fn a_server_names_the_fields_of_a_form_that_are_wrong() {
    let server = Server::start();
    let answers = json!({"Goals": [{"approve": true}, {"fields": {"answer": ""}}]});
    let walked =
        server.post("/api/dry-runs", &walk(&[crate::server::form("Goals")], &json!({"answers": answers})));
    let walked = walked.expect(200);
    assert_eq!(walked["status"], "stopped", "{walked:#}");
    assert_eq!(walked["findings"][0]["errors"][0]["pointer"], "/fields/answer", "{walked:#}");
}

#[test]
fn a_server_looks_for_the_scripts_of_the_pipeline() {
    let server = Server::start();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/report/report.yaml");
    let definition: Value =
        serde_saphyr::from_str(&std::fs::read_to_string(file).expect("an example")).expect("YAML");
    let applied = server.post("/api/pipelines/apply", &definition).expect(201);
    let ask = json!({"definition": definition, "pipeline_id": applied["pipeline"]["pipeline_id"]});
    let missing = server.post("/api/dry-runs", &ask).expect(200);
    assert!(missing["findings"].to_string().contains("script_missing"), "{missing:#}");
    assert!(!missing.to_string().contains("/tmp/"), "nobody else's folder is named: {missing:#}");
    let scripts = server.folder(&applied["pipeline"]).join("scripts");
    std::fs::create_dir_all(&scripts).expect("made");
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/report/scripts");
    for name in ["figures.py", "report.py"] {
        std::fs::copy(examples.join(name), scripts.join(name)).expect("copied");
    }
    let walked = server.post("/api/dry-runs", &ask).expect(200);
    assert_eq!(walked["status"], "completed", "{walked:#}");
}
