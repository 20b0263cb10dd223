//! What lies outside a token's pipelines is told as what does not exist.

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use serde_json::{Value, json};

use crate::definitions::{form, pipeline};
use crate::harness::Home;

/// Anything that can be named, of which there is none.
const NOTHING: &str = "01900000-0000-7000-8000-000000000000";

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}

/// A run that waits at its first checkpoint; its id and that of its execution.
async fn start(home: &Home, pipeline: &str) -> (String, String) {
    let run = home.post("/api/runs", &json!({"pipeline_id": pipeline})).await.expect(201);
    (text(&run["run_id"]), text(&run["current_execution"]["execution_id"]))
}

#[tokio::test]
async fn foreign_and_missing_ids_answer_alike() {
    let home = Home::start().await;
    let (mine, _) = pipeline(&home, &["A"]).await;
    let (other, checkpoints) = pipeline(&home, &["A"]).await;
    let pipelines = vec![mine.parse().expect("an id")];
    let (token, _) =
        home.issue(|secret| IssueToken { pipelines, ..IssueToken::new("bob", Role::Admin, secret) }).await;

    let (first, execution) = start(&home, &other).await;
    let act = async |action: &str, body: Value| {
        home.post(&format!("/api/executions/{execution}/{action}"), &body).await.expect(200)
    };
    act("approve-start", json!({})).await;
    let filled = act("submit", json!({"fields": {"topic": "owls"}})).await;
    let (gate, digest) = (text(&filled["waiting_for"]["gate_id"]), &filled["waiting_for"]["digest"]);
    let artifact = text(&filled["artifacts_generated"][0]["artifact_record_id"]);
    act("approve-complete", json!({"digest": digest})).await;
    let (second, gone) = start(&home, &other).await;
    let back = json!({"rollback_type": "run_level", "source_run_id": second, "target_run_id": first,
        "target_checkpoint_position": 0});
    let rollback = text(&home.post("/api/rollback", &back).await.expect(201)["rollback_id"]);

    let run_level = |id: &str, dry_run: bool| {
        json!({"rollback_type": "run_level", "source_run_id": id, "target_run_id": id,
            "target_checkpoint_position": 0, "dry_run": dry_run})
    };
    let (nothing, name) = (json!({}), json!({"pipeline_name": "B"}));
    let mut asked: Vec<(&str, String, Option<Value>, String)> = Vec::new();
    let mut ask = |method: &'static str, path: &str, body: Option<Value>, id: &str| {
        // `@id` is put in below: once the right one, and once the one that does not exist.
        asked.push((method, path.to_owned(), body, id.to_owned()));
    };
    for path in ["", "/runs", "/checkpoints", "/export", "/history", "/history/diff?from=1&to=2"] {
        ask("GET", &format!("/api/pipelines/@id{path}"), None, &other);
    }
    ask("PUT", "/api/pipelines/@id", Some(name.clone()), &other);
    ask("DELETE", "/api/pipelines/@id", None, &other);
    ask("POST", "/api/pipelines/@id/restore", Some(nothing.clone()), &other);
    ask("POST", "/api/pipelines/@id/checkpoints", Some(form("B")), &other);
    ask("PUT", "/api/pipelines/@id/checkpoint-order", Some(json!({"checkpoint_order": []})), &other);
    let file = json!({"pipeline_id": "@id", "pipeline_name": "Research", "checkpoints": []});
    ask("POST", "/api/pipelines/apply", Some(file), &other);
    ask("POST", "/api/runs", Some(json!({"pipeline_id": "@id"})), &other);
    for list in ["runs", "events", "artifacts/list", "inbox", "rollback", "usage"] {
        ask("GET", &format!("/api/{list}?pipeline_id=@id"), None, &other);
    }
    for (method, body) in [("GET", None), ("PUT", Some(form("B"))), ("DELETE", None)] {
        ask(method, "/api/checkpoints/@id", body, &checkpoints[0]);
    }
    for run in [&first, &second] {
        for path in ["", "/checkpoints", "/graph"] {
            ask("GET", &format!("/api/runs/@id{path}"), None, run);
        }
        for action in ["pause", "resume", "abort", "fail"] {
            ask("POST", &format!("/api/runs/@id/{action}"), Some(nothing.clone()), run);
        }
        for list in ["events", "artifacts/list", "usage"] {
            ask("GET", &format!("/api/{list}?run_id=@id"), None, run);
        }
        ask("POST", "/api/executions/start", Some(json!({"run_id": "@id"})), run);
        ask("GET", "/api/compare?a=@id&b=@id", None, run);
        ask("POST", "/api/rollback", Some(run_level("@id", false)), run);
        ask("POST", "/api/rollback", Some(run_level("@id", true)), run);
    }
    for execution in [&execution, &gone] {
        for path in ["", "/logs", "/conversation", "/interactions", "/inputs", "/context", "/attempts"] {
            ask("GET", &format!("/api/executions/@id{path}"), None, execution);
        }
        let orders = ["approve-start", "approve-complete", "approve", "reject", "submit", "retry", "cancel"];
        for order in orders {
            ask("POST", &format!("/api/executions/@id/{order}"), Some(nothing.clone()), execution);
        }
        ask("POST", "/api/executions/@id/note", Some(json!({"text": "psst"})), execution);
        for list in ["events", "artifacts/list"] {
            ask("GET", &format!("/api/{list}?execution_id=@id"), None, execution);
        }
        ask("GET", "/api/compare?a=@id&b=@id", None, execution);
    }
    for path in ["", "/download"] {
        ask("GET", &format!("/api/artifacts/@id{path}"), None, &artifact);
    }
    ask("POST", "/api/gates/@id/answer", Some(json!({"option": "approve"})), &gate);
    ask("GET", "/api/rollback/@id", None, &rollback);
    ask("POST", "/api/rollback/@id/undo", Some(nothing.clone()), &rollback);

    for (method, path, body, id) in asked {
        let mut told = Vec::new();
        for id in [id.as_str(), NOTHING] {
            let with_id = |body: &Value| body.to_string().replace("@id", id).parse::<Value>().expect("JSON");
            let body = body.as_ref().map(with_id);
            let answer = home.as_holder(&token, method, &path.replace("@id", id), body.as_ref()).await;
            told.push((answer.status(), answer.body().replace(id, "ID")));
        }
        assert_eq!(told[0], told[1], "{method} {path} {body:?}");
    }
}

/// Both tokens belong to bob and are used with the same key for the same file, which names a pipeline that each sees one of.
#[tokio::test]
async fn tokens_of_one_person_with_other_pipelines_share_no_reply() {
    let home = Home::start().await;
    let file = json!({"pipeline_name": "Research", "checkpoints": []});
    for _ in 0..2 {
        let (known, _) = pipeline(&home, &["A"]).await;
        let pipelines = vec![known.parse().expect("an id")];
        let (token, _) = home
            .issue(|secret| IssueToken { pipelines, ..IssueToken::new("bob", Role::Admin, secret) })
            .await;
        let headers = [("authorization", format!("Bearer {token}")), ("idempotency-key", "k1".to_owned())];
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let applied = home.bare("POST", "/api/pipelines/apply", Some(&file), &headers).await.expect(200);
        assert_eq!(applied["pipeline"]["pipeline_id"], json!(known));
        let again = home.bare("POST", "/api/pipelines/apply", Some(&file), &headers).await.expect(200);
        assert_eq!(applied, again);
    }
}
