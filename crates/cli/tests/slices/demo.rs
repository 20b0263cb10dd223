//! `holdpoint demo`, as somebody who tries it out goes through it.

use serde_json::{Value, json};

use crate::examples::output;
use crate::place::Place;
use crate::server::{Server, id};

fn runs(server: &Server, name: &str) -> Vec<Value> {
    let pipelines = server.get("/api/pipelines").expect(200);
    let items = pipelines["items"].as_array().expect("pipelines");
    let pipeline = items.iter().find(|each| each["pipeline_name"] == name).expect("the pipeline");
    let runs = server.get(&format!("/api/runs?pipeline_id={}", id(&pipeline["pipeline_id"]))).expect(200);
    runs["items"].as_array().expect("runs").clone()
}

#[test]
fn a_run_waits_and_everything_that_is_promised_can_be_done() {
    let (mut server, told) = Server::demo(None);
    assert_eq!(told["opened"], false);
    let execution = server.execution(&id(&told["execution_id"]));
    assert_eq!(execution["status"], "waiting_approval_to_complete");
    assert!(output(&server, &execution).contains("New in this version"));
    let messages = execution["agent_conversation"].as_array().expect("messages").iter();
    let mut said = messages.filter(|message| message["role"] == "assistant");
    assert!(said.all(|message| message["scripted"] == true));

    // v2 stands beside v1, and they differ.
    let team = runs(&server, "Team with review");
    assert_eq!(
        team.iter().map(|run| run["status"].clone()).collect::<Vec<_>>(),
        ["in_progress", "completed"]
    );
    let compared = server
        .get(&format!("/api/compare?a={}&b={}", id(&team[1]["run_id"]), id(&team[0]["run_id"])))
        .expect(200);
    assert!(compared.to_string().contains("New in this version"), "{compared:#}");
    assert_eq!(runs(&server, "Weekly report")[0]["status"], "completed");
    let form = server.run_of(&runs(&server, "First pipeline")[0]);
    assert_eq!(form["current_execution"]["waiting_for"]["kind"], "form");

    // A change is asked for, and comes; then it is approved, rolled back, and that is undone.
    let at = |action: &str| format!("/api/executions/{}/{action}", id(&told["execution_id"]));
    server.post(&at("reject"), &json!({"feedback": "Let the users watch."})).expect(200);
    let run = json!({"run_id": told["run_id"]});
    let changed =
        server.until(&run, |e| e["revision_iteration"] == 1 && e["status"] == "waiting_approval_to_complete");
    assert!(output(&server, &changed).contains("Changed as asked for"));
    server.post(&at("approve-complete"), &json!({"digest": changed["waiting_for"]["digest"]})).expect(200);
    let back = json!({
        "rollback_type": "run_level", "source_run_id": team[0]["run_id"], "target_run_id": team[1]["run_id"],
        "target_checkpoint_position": 0,
    });
    let rollback = server.post("/api/rollback", &back).expect(201);
    assert_eq!(runs(&server, "Team with review").len(), 1);
    server.post(&format!("/api/rollback/{}/undo", id(&rollback["rollback_id"])), &json!({})).expect(200);
    assert_eq!(runs(&server, "Team with review").len(), 2);
    assert_eq!(server.interrupt(), Some(0));
    assert!(server.said().contains("nothing is lost: `holdpoint demo --home"), "{}", server.said());
}

#[test]
fn the_link_signs_in_and_leads_to_the_review() {
    let (server, told) = Server::demo(None);
    let link = id(&told["sign_in"]);
    let path = link.strip_prefix(&server.url()).expect("a link to this server").to_owned();
    let page = server.send("GET", &path, None, "", b"");
    let text = String::from_utf8(page.body).expect("a page");
    let review = format!("/review/{}", id(&told["execution_id"]));
    assert!(text.contains(&format!("name=\"next\" value=\"{review}\"")), "{text}");
    let ticket = path.split("ticket=").nth(1).and_then(|rest| rest.split('&').next()).expect("a ticket");
    let head = format!("Content-Type: application/x-www-form-urlencoded\r\nOrigin: {}\r\n", server.url());
    let body = format!("ticket={ticket}&next={review}");
    let signed = server.send("POST", "/api/sign-in", None, &head, body.as_bytes());
    assert_eq!(signed.status, 303);
    assert!(
        signed.headers.to_ascii_lowercase().contains(&format!("location: {review}")),
        "{}",
        signed.headers
    );
}

#[test]
fn a_second_demo_on_the_same_home_goes_on() {
    let (mut server, told) = Server::demo(None);
    server.kill();
    let (again, told_again) = Server::demo(Some(server.home()));
    assert_eq!(told_again["execution_id"], told["execution_id"]);
    assert_eq!(runs(&again, "Team with review").len(), 2);
    assert_eq!(runs(&again, "First pipeline").len(), 1);
    assert_eq!(again.get("/api/pipelines").expect(200)["items"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_home_that_somebody_works_with_is_left_alone() {
    let place = Place::new();
    place.write("own.json", r#"{"pipeline_name": "Own", "checkpoints": []}"#);
    place.run(&["pipeline", "apply", "own.json"]).expect(0);
    let home = place.home().display().to_string();
    let refused = place.run(&["demo", "--home", &home, "--json"]).expect(64).json();
    assert_eq!(refused["error"]["code"], "home_in_use");
    assert!(!place.path("home/demo.json").exists());
}
