//! People: what waits for them, and who of them may decide.

use holdpoint_core::event::Role;
use serde_json::{Value, json};

use crate::definitions::form;
use crate::harness::Home;

/// A run of a new pipeline with one checkpoint; the run's document.
async fn run_of(home: &Home, checkpoint: &Value) -> Value {
    let made = home.post("/api/pipelines", &json!({"pipeline_name": "Research"})).await.expect(201);
    let id = made["pipeline_id"].as_str().expect("an id");
    home.post(&format!("/api/pipelines/{id}/checkpoints"), checkpoint).await.expect(201);
    home.post("/api/runs", &json!({"pipeline_id": id})).await.expect(201)
}

/// The runs that wait, with what they wait for, page by page.
async fn inbox(home: &Home, limit: u32) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = home.get(&format!("/api/inbox?limit={limit}{cursor}")).await.expect(200);
        let items = page["items"].as_array().expect("items");
        assert!(items.len() <= limit as usize, "{} items in a page of {limit}", items.len());
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        all.extend(items.iter().map(|item| (text(&item["run_id"]), text(&item["waiting_for"]["kind"]))));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

#[tokio::test]
async fn everything_that_waits_is_in_the_inbox_once() {
    let home = Home::start().await;
    let mut expected = Vec::new();
    for n in 0..9 {
        let mut checkpoint = form("A");
        checkpoint["human_interaction"]["requires_approval_to_start"] = json!(n % 3 == 0);
        let run = run_of(&home, &checkpoint).await;
        let (id, execution) = (&run["run_id"], &run["current_execution"]["execution_id"]);
        let act = |action: &str| format!("/api/executions/{}/{action}", execution.as_str().expect("an id"));
        let kind = match n % 3 {
            0 => "approve_start",
            1 => "form",
            _ => {
                home.post(&act("cancel"), &json!({})).await.expect(200);
                "retry"
            }
        };
        expected.push((id.as_str().expect("an id").to_owned(), kind.to_owned()));
    }
    // One whose start was not approved waits for somebody to ask again.
    let run = run_of(&home, &form("A")).await;
    let execution = run["current_execution"]["execution_id"].as_str().expect("an id");
    home.post(&format!("/api/executions/{execution}/reject"), &json!({})).await.expect(200);
    expected.push((run["run_id"].as_str().expect("an id").to_owned(), "start".to_owned()));
    // One that has ended waits for nobody.
    let run = run_of(&home, &form("A")).await;
    let path = format!("/api/runs/{}/abort", run["run_id"].as_str().expect("an id"));
    home.post(&path, &json!({})).await.expect(200);
    expected.sort();
    for limit in [1, 2, 3, 50] {
        let mut found = inbox(&home, limit).await;
        found.sort();
        assert_eq!(found, expected, "in pages of {limit}");
    }
}

#[tokio::test]
async fn two_approvers_must_agree_and_neither_asked() {
    let home = Home::start().await;
    let (bob, _) = home.token("bob", Role::Approver).await;
    let (eve, _) = home.token("eve", Role::Approver).await;
    let (zoe, _) = home.token("zoe", Role::Approver).await;
    let mut checkpoint = form("A");
    checkpoint["human_interaction"]["approvers"] = json!(["ann", "bob", "eve"]);
    checkpoint["human_interaction"]["required_approvals"] = json!(2);
    let run = run_of(&home, &checkpoint).await;
    let waiting = &run["current_execution"]["waiting_for"];
    let who = json!({
        "role": "approver", "approvers": ["ann", "bob", "eve"], "required_approvals": 2, "asked_by": "ann"
    });
    assert_eq!(waiting["who"], who);
    let execution = run["current_execution"]["execution_id"].as_str().expect("an id");
    let path = format!("/api/executions/{execution}/approve-start");
    let nothing = json!({});
    let approve = async |token: &str| home.as_holder(token, "POST", &path, Some(&nothing)).await;
    assert_eq!(approve(&home.admin).await.refusal(), (403, "own_request".to_owned()));
    assert_eq!(approve(&zoe).await.refusal(), (403, "not_an_approver".to_owned()));
    let half = approve(&bob).await.expect(200);
    assert_eq!(half["status"], "waiting_approval_to_start");
    assert_eq!(half["waiting_for"]["who"]["approved_by"], json!(["bob"]));
    assert_eq!(half["waiting_for"]["question"], "May “A” begin? 1 of 2 approved; waiting for eve.");
    assert_eq!(approve(&bob).await.expect(200)["status"], "waiting_approval_to_start");
    assert_eq!(approve(&eve).await.expect(200)["status"], "in_progress");
    let said = home.get(&format!("/api/executions/{execution}")).await.expect(200);
    let said: Vec<_> =
        said["human_interactions"].as_array().expect("some").iter().map(|i| &i["actor"]).collect();
    assert_eq!(said, ["bob", "eve"]);
}

#[tokio::test]
async fn approvers_that_cannot_be_are_refused_by_name() {
    let home = Home::start().await;
    let made = home.post("/api/pipelines", &json!({"pipeline_name": "Research"})).await.expect(201);
    let path = format!("/api/pipelines/{}/checkpoints", made["pipeline_id"].as_str().expect("an id"));
    let mut checkpoint = form("A");
    checkpoint["human_interaction"]["approvers"] = json!(["ann"]);
    checkpoint["human_interaction"]["required_approvals"] = json!(2);
    let answer = home.post(&path, &checkpoint).await;
    assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()));
    assert_eq!(answer.json()["errors"][0]["pointer"], "/human_interaction/required_approvals");
}
