//! The same request twice: carried out once, and answered alike.

use holdpoint_core::event::Role;
use serde_json::{Value, json};

use crate::definitions::{form, pipeline};
use crate::harness::Home;

async fn issue(home: &Home, key: &str, body: &Value) -> crate::harness::Answer {
    home.send("POST", "/api/tokens", Some(body), &[("Idempotency-Key", key)]).await
}

#[tokio::test]
async fn a_repeated_request_makes_one_thing() {
    let home = Home::start().await;
    let body = json!({"name": "bob", "role": "viewer"});
    let first = issue(&home, "k1", &body).await.expect(201);
    // The order of the fields does not count.
    let again = format!(
        "POST /api/tokens HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Idempotency-Key: k1\r\nContent-Type: application/json\r\nContent-Length: 35\r\n\r\n\
         {{\"role\":\"viewer\",  \"name\" : \"bob\" }}",
        home.address, home.admin
    );
    let again = home.exchange(&again).await.expect(201);
    assert_eq!(again["token_id"], first["token_id"]);
    // A secret is shown once.
    assert!(first["token"].is_string() && again.get("token").is_none(), "{first} {again}");
    let other = issue(&home, "k1", &json!({"name": "eve", "role": "viewer"})).await;
    assert_eq!(other.refusal(), (422, "idempotency_key_reused".to_owned()));
    let another = issue(&home, "k2", &body).await.expect(201);
    assert_ne!(another["token_id"], first["token_id"]);
    // The key is its sender's own.
    let (second, _) = home.token("another admin", Role::Admin).await;
    let headers = [("Authorization", format!("Bearer {second}")), ("Idempotency-Key", "k1".to_owned())];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let theirs = home.bare("POST", "/api/tokens", Some(&body), &headers).await.expect(201);
    assert_ne!(theirs["token_id"], first["token_id"]);
}

#[tokio::test]
async fn a_repeated_request_has_the_same_bytes_after_the_configuration_has_changed() {
    let home = Home::start().await;
    let keyed = async |path: &str, body: &Value| {
        let answer = home.send("POST", path, Some(body), &[("Idempotency-Key", "k")]).await;
        (answer.status(), answer.body().to_owned())
    };
    let create = json!({"pipeline_name": "Research"});
    let made = keyed("/api/pipelines", &create).await;
    let pipeline: Value = serde_json::from_str(&made.1).expect("JSON");
    let path = format!("/api/pipelines/{}", pipeline["pipeline_id"].as_str().expect("an id"));
    let checkpoints = format!("{path}/checkpoints");
    let added = keyed(&checkpoints, &form("A")).await;
    let start = json!({"pipeline_id": pipeline["pipeline_id"]});
    let started = keyed("/api/runs", &start).await;
    assert_eq!((made.0, added.0, started.0), (201, 201, 201), "{made:?} {added:?} {started:?}");
    let run: Value = serde_json::from_str(&started.1).expect("JSON");
    let execution = &run["current_execution"]["execution_id"];
    let approve = format!("/api/executions/{}/approve-start", execution.as_str().expect("an id"));
    let approved = keyed(&approve, &json!({})).await;
    assert_eq!(approved.0, 200, "{approved:?}");
    let file = json!({"pipeline_name": "File", "checkpoints": []});
    let applied = keyed("/api/pipelines/apply", &file).await;
    assert_eq!(applied.0, 201, "{applied:?}");

    home.put(&path, &json!({"pipeline_name": "Renamed", "config": {"auto_advance": true}})).await.expect(200);
    let abort = format!("/api/runs/{}/abort", run["run_id"].as_str().expect("an id"));
    home.post(&abort, &json!({})).await.expect(200);
    // There are two of that name now, and a file that names neither would be refused.
    home.post("/api/pipelines", &json!({"pipeline_name": "File"})).await.expect(201);
    home.delete(&path).await.expect(200);

    assert_eq!(keyed("/api/pipelines", &create).await, made);
    assert_eq!(keyed(&checkpoints, &form("A")).await, added);
    assert_eq!(keyed("/api/runs", &start).await, started);
    assert_eq!(keyed(&approve, &json!({})).await, approved);
    assert_eq!(keyed("/api/pipelines/apply", &file).await, applied);
}

#[tokio::test]
async fn an_answer_says_what_a_look_says() {
    let home = Home::start().await;
    let (pipeline, _) = pipeline(&home, &["A"]).await;
    let started = home.post("/api/runs", &json!({"pipeline_id": pipeline})).await.expect(201);
    let run = format!("/api/runs/{}", started["run_id"].as_str().expect("an id"));
    let execution = started["current_execution"]["execution_id"].as_str().expect("an id").to_owned();
    let execution = format!("/api/executions/{execution}");
    let same = async |answer: &Value, path: &str| {
        let seen = home.get(path).await.expect(200);
        for (field, told) in answer.as_object().expect("an object") {
            if field != "current_execution" {
                assert_eq!(told, &seen[field], "{field}");
            }
        }
    };
    same(&started, &run).await;
    same(&started["current_execution"], &execution).await;
    for (action, body) in [
        ("approve-start", json!({})),
        ("submit", json!({"fields": {"topic": "birds"}})),
        ("reject", json!({"feedback": "shorter"})),
        ("submit", json!({"fields": {"topic": "owls"}})),
        ("approve-complete", Value::Null),
    ] {
        let body = match body {
            Value::Null => json!({"digest": home.get(&execution).await.expect(200)["waiting_for"]["digest"]}),
            body => body,
        };
        let answer = home.post(&format!("{execution}/{action}"), &body).await.expect(200);
        same(&answer, &execution).await;
        assert_eq!(answer.get("agent_conversation"), None, "an answer is short");
    }
    assert_eq!(home.get(&execution).await.expect(200)["status"], "completed");
}

#[tokio::test]
async fn a_refusal_binds_no_key() {
    let home = Home::start().await;
    let refused = issue(&home, "k", &json!({"name": " ", "role": "viewer"})).await;
    assert_eq!(refused.refusal(), (422, "invalid_fields".to_owned()));
    issue(&home, "k", &json!({"name": "bob", "role": "viewer"})).await.expect(201);
}

#[tokio::test]
async fn a_key_that_cannot_be_kept_is_refused() {
    let home = Home::start().await;
    let body = json!({"name": "bob", "role": "viewer"});
    for key in ["", " ", &"k".repeat(256), "schlüssel"] {
        assert_eq!(
            issue(&home, key, &body).await.refusal(),
            (400, "bad_idempotency_key".to_owned()),
            "{key}"
        );
    }
    let large = json!({"name": "x".repeat(2_000_000), "role": "viewer"});
    assert_eq!(issue(&home, "k", &large).await.refusal(), (413, "body_too_large".to_owned()));
}
