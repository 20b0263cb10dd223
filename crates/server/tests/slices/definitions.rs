//! Pipelines and checkpoints: slices 1 to 5 of the main document.

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use serde_json::{Value, json};

use crate::harness::Home;

/// A checkpoint with a form, as the document writes it.
pub fn form(name: &str) -> Value {
    json!({
        "checkpoint_name": name,
        "checkpoint_description": "Somebody fills in a form.",
        "inputs": {"include_previous_version": false},
        "execution": {
            "mode": "human_only",
            "human_only_config": {
                "instructions": "Fill it in.",
                "input_fields": [{"name": "topic", "type": "text", "label": "Topic", "required": true}],
                "save_as_artifact": true,
                "artifact_name": "answers",
                "artifact_format": "json"
            },
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false}
        },
        "human_interaction": {
            "requires_approval_to_start": true,
            "requires_approval_to_complete": true,
            "max_revision_iterations": 3
        },
        "output": {"artifacts": [{"name": "answers", "format": "json"}]}
    })
}

/// A pipeline with checkpoints of these names; its id, and theirs.
pub async fn pipeline(home: &Home, names: &[&str]) -> (String, Vec<String>) {
    let made = home.post("/api/pipelines", &json!({"pipeline_name": "Research"})).await.expect(201);
    let id = made["pipeline_id"].as_str().expect("an id").to_owned();
    let mut checkpoints = Vec::new();
    for name in names {
        let added = home.post(&format!("/api/pipelines/{id}/checkpoints"), &form(name)).await.expect(201);
        checkpoints.push(added["checkpoint_id"].as_str().expect("an id").to_owned());
    }
    (id, checkpoints)
}

fn names(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().expect("items");
    items.iter().map(|item| item["pipeline_name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn slice_1_health_is_told_to_everybody() {
    let home = Home::start().await;
    let health = home.bare("GET", "/api/health", None, &[]).await.expect(200);
    assert_eq!(health["status"], "ok");
    assert_eq!(home.bare("GET", "/readyz", None, &[]).await.status(), 200);
}

#[tokio::test]
async fn slice_2_create_and_list_pipelines() {
    let home = Home::start().await;
    let body =
        json!({"pipeline_name": "One", "pipeline_description": "First", "config": {"auto_advance": true}});
    let one = home.post("/api/pipelines", &body).await.expect(201);
    assert_eq!(one["pipeline_name"], "One");
    assert_eq!((&one["config"]["auto_advance"], &one["checkpoint_order"]), (&json!(true), &json!([])));
    assert_eq!((&one["pipeline_definition_version"], &one["deleted_at"]), (&json!(1), &Value::Null));
    home.post("/api/pipelines", &json!({"pipeline_name": "Two"})).await.expect(201);
    let all = home.get("/api/pipelines").await.expect(200);
    assert_eq!((names(&all), &all["next_cursor"]), (vec!["Two", "One"], &Value::Null));
    let path = format!("/api/pipelines/{}", one["pipeline_id"].as_str().expect("an id"));
    assert_eq!(home.get(&path).await.expect(200), one);

    let first = home.get("/api/pipelines?limit=1").await.expect(200);
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let second = home.get(&format!("/api/pipelines?limit=1&cursor={cursor}")).await.expect(200);
    assert_eq!((names(&first), names(&second)), (vec!["Two"], vec!["One"]));
    assert_eq!(second["next_cursor"], Value::Null);
}

#[tokio::test]
async fn slice_2_what_is_wrong_with_a_pipeline_is_named() {
    let home = Home::start().await;
    let wrong = async |body: Value| {
        let answer = home.post("/api/pipelines", &body).await;
        assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()), "{body}");
        answer.json()["errors"][0].clone()
    };
    assert_eq!(wrong(json!({"pipeline_name": ""})).await["pointer"], "/pipeline_name");
    assert_eq!(wrong(json!({"pipeline_name": "x".repeat(201)})).await["pointer"], "/pipeline_name");
    let unknown = wrong(json!({"pipline_name": "x"})).await;
    assert_eq!(unknown["message"], "unknown key `pipline_name`; did you mean `pipeline_name`?");
    let deep = wrong(json!({"pipeline_name": "x", "config": {"auto_advanc": true}})).await;
    assert_eq!(deep["pointer"], "/config/auto_advanc");
    assert_eq!(home.get("/api/pipelines").await.expect(200)["items"], json!([]));
    for path in ["/api/pipelines/nothing", "/api/pipelines/01900000-0000-7000-8000-000000000000"] {
        assert_eq!(home.get(path).await.refusal(), (404, "not_found".to_owned()));
    }
}

#[tokio::test]
async fn slice_2_a_repeated_request_makes_one_pipeline() {
    let home = Home::start().await;
    let body = json!({"pipeline_name": "One"});
    let key = [("Idempotency-Key", "first")];
    let one = home.send("POST", "/api/pipelines", Some(&body), &key).await.expect(201);
    let again = home.send("POST", "/api/pipelines", Some(&body), &key).await.expect(201);
    assert_eq!(one, again);
    assert_eq!(home.get("/api/pipelines").await.expect(200)["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn slice_3_update_and_delete_pipelines() {
    let home = Home::start().await;
    let (id, _) = pipeline(&home, &[]).await;
    let path = format!("/api/pipelines/{id}");
    let changed = home.put(&path, &json!({"pipeline_description": "Why"})).await.expect(200);
    assert_eq!(
        (&changed["pipeline_name"], &changed["pipeline_description"]),
        (&json!("Research"), &json!("Why"))
    );
    // A whole document, changed in one place, is taken.
    let mut whole = changed.clone();
    whole["pipeline_name"] = json!("Studies");
    assert_eq!(home.put(&path, &whole).await.expect(200)["pipeline_name"], "Studies");
    let gone = home.put(&path, &json!({"pipeline_description": null})).await.expect(200);
    assert_eq!(gone["pipeline_description"], Value::Null);
    for wrong in
        [json!({"pipeline_id": "x"}), json!({"pipeline_definition_version": 9}), json!({"pipeline_nam": 1})]
    {
        let answer = home.put(&path, &wrong).await;
        assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()), "{wrong}");
    }

    home.delete(&path).await.expect(200);
    assert_eq!(home.get(&path).await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(home.get("/api/pipelines").await.expect(200)["items"], json!([]));
    assert_eq!(names(&home.get("/api/pipelines?deleted=true").await.expect(200)), ["Studies"]);
    assert!(home.get(&format!("{path}?deleted=true")).await.expect(200)["deleted_at"].is_string());
    let restored = home.post(&format!("{path}/restore"), &json!({})).await.expect(200);
    assert_eq!(restored["deleted_at"], Value::Null);
    assert_eq!(home.get(&path).await.status(), 200);
}

#[tokio::test]
async fn slice_4_create_simple_checkpoints() {
    let home = Home::start().await;
    let (id, checkpoints) = pipeline(&home, &["Topic", "Sources"]).await;
    let mut body = form("First of all");
    body["pipeline_id"] = json!(id);
    body["position"] = json!(0);
    let first = home.post("/api/checkpoints", &body).await.expect(201);
    assert_eq!((&first["checkpoint_position"], &first["pipeline_id"]), (&json!(0), &json!(id)));
    assert!(first["execution"]["human_only_config"]["input_fields"][0]["field_id"].is_string());
    let listed = home.get(&format!("/api/pipelines/{id}/checkpoints")).await.expect(200);
    let order: Vec<_> =
        listed["items"].as_array().expect("items").iter().map(|c| &c["checkpoint_id"]).collect();
    assert_eq!(order, [&first["checkpoint_id"], &json!(checkpoints[0]), &json!(checkpoints[1])]);
    let shown = home.get(&format!("/api/pipelines/{id}")).await.expect(200);
    assert_eq!(
        (&shown["checkpoint_order"], &shown["pipeline_definition_version"]),
        (&json!(order), &json!(4))
    );
    let path = format!("/api/checkpoints/{}", first["checkpoint_id"].as_str().expect("an id"));
    assert_eq!(home.get(&path).await.expect(200), first);

    let mut of_another_mode = form("Wrong");
    of_another_mode["execution"]["mode"] = json!("script");
    let answer = home.post(&format!("/api/pipelines/{id}/checkpoints"), &of_another_mode).await;
    assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()));
    assert!(answer.json()["errors"].as_array().is_some_and(|errors| errors.len() > 1), "{}", answer.0);
    for (pointer, wrong) in
        [("/checkpoint_nam", json!(1)), ("/position", json!(9)), ("/pipeline_id", json!("x"))]
    {
        let mut body = form("Wrong");
        body[&pointer[1..]] = wrong;
        let answer = home.post(&format!("/api/pipelines/{id}/checkpoints"), &body).await;
        assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()));
        assert_eq!(answer.json()["errors"][0]["pointer"], pointer);
    }
}

#[tokio::test]
async fn slice_5_update_delete_and_reorder_checkpoints() {
    let home = Home::start().await;
    let (id, checkpoints) = pipeline(&home, &["A", "B", "C"]).await;
    let path = format!("/api/checkpoints/{}", checkpoints[0]);
    let before = home.get(&path).await.expect(200);
    let interaction = json!({"requires_approval_to_start": false, "requires_approval_to_complete": false,
        "max_revision_iterations": 0});
    let change = json!({"checkpoint_name": "A2", "human_interaction": interaction});
    let after = home.put(&path, &change).await.expect(200);
    assert_eq!((&after["checkpoint_name"], &after["human_interaction"]), (&json!("A2"), &interaction));
    // What was omitted stayed, with the ids inside.
    assert_eq!((&after["execution"], &after["output"]), (&before["execution"], &before["output"]));
    // Nested ids are matched by name when they are left out.
    let mut execution = form("A")["execution"].clone();
    execution["human_only_config"]["instructions"] = json!("Once more.");
    let again = home.put(&path, &json!({"execution": execution})).await.expect(200);
    let field =
        |document: &Value| document["execution"]["human_only_config"]["input_fields"][0]["field_id"].clone();
    assert_eq!(field(&again), field(&before));
    // The whole document can be sent back as it is; what is read-only cannot be changed.
    assert_eq!(home.put(&path, &again).await.expect(200), again);
    let answer = home.put(&path, &json!({"checkpoint_position": 2, "checkpoint_id": "x"})).await;
    assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()));
    assert_eq!(answer.json()["errors"].as_array().map(Vec::len), Some(2));

    let order = json!({"checkpoint_order": [checkpoints[2], checkpoints[0], checkpoints[1]]});
    let reorder = format!("/api/pipelines/{id}/checkpoint-order");
    let turned = home.put(&reorder, &order).await.expect(200);
    assert_eq!(
        (&turned["checkpoint_order"], &turned["pipeline_definition_version"]),
        (&order["checkpoint_order"], &json!(5))
    );
    for wrong in [json!([]), json!([checkpoints[0], checkpoints[0], checkpoints[1]])] {
        let answer = home.put(&reorder, &json!({"checkpoint_order": wrong})).await;
        assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()));
    }
    home.delete(&path).await.expect(200);
    assert_eq!(home.get(&path).await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(home.delete(&path).await.refusal(), (404, "not_found".to_owned()));
    let left = home.get(&format!("/api/pipelines/{id}")).await.expect(200);
    assert_eq!(left["checkpoint_order"], json!([checkpoints[2], checkpoints[1]]));
}

#[tokio::test]
async fn a_token_for_some_pipelines_sees_no_others() {
    let home = Home::start().await;
    let ((mine, _), (other, others)) = (pipeline(&home, &["A"]).await, pipeline(&home, &["B"]).await);
    let pipelines = vec![mine.parse().expect("an id")];
    let (token, _) =
        home.issue(|secret| IssueToken { pipelines, ..IssueToken::new("bob", Role::Admin, secret) }).await;
    let ask = async |method: &str, path: &str, body: Option<&Value>| {
        home.as_holder(&token, method, path, body).await.status()
    };
    assert_eq!(ask("GET", &format!("/api/pipelines/{mine}"), None).await, 200);
    assert_eq!(ask("GET", &format!("/api/pipelines/{other}"), None).await, 404);
    assert_eq!(ask("GET", &format!("/api/pipelines/{other}/runs"), None).await, 404);
    assert_eq!(ask("GET", &format!("/api/checkpoints/{}", others[0]), None).await, 404);
    assert_eq!(ask("DELETE", &format!("/api/checkpoints/{}", others[0]), None).await, 404);
    assert_eq!(ask("DELETE", &format!("/api/pipelines/{other}"), None).await, 404);
    assert_eq!(ask("POST", "/api/pipelines", Some(&json!({"pipeline_name": "New"}))).await, 403);
    assert_eq!(ask("GET", "/api/tokens", None).await, 404);
    let listed = home.as_holder(&token, "GET", "/api/pipelines", None).await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
}
