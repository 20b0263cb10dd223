//! Every route against every kind of caller. A route that is not listed here fails the test.

use std::collections::BTreeMap;

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use serde_json::{Value, json};

use crate::harness::Home;

/// An identifier of nothing.
const NOTHING: &str = "01900000-0000-7000-8000-000000000000";

/// Who may call a route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Who {
    /// Whoever asks.
    Anybody,
    /// Whoever is known.
    From(Role),
}

use Who::{Anybody, From};

/// Who may call what, and a body (as text: a query) with which the route gets as far as to ask.
#[allow(clippy::too_many_lines, clippy::redundant_clone)] // one table
fn table() -> Vec<(&'static str, Who, Value)> {
    let none = Value::Null;
    vec![
        ("GET /api/health", Anybody, none.clone()),
        ("GET /livez", Anybody, none.clone()),
        ("GET /readyz", Anybody, none.clone()),
        ("GET /api/openapi.json", Anybody, none.clone()),
        ("GET /api/docs", Anybody, none.clone()),
        ("GET /sign-in", Anybody, none.clone()),
        ("POST /api/sign-in", Anybody, json!({"both": "are missing"})),
        ("POST /api/sign-in/tickets", From(Role::Viewer), none.clone()),
        ("POST /api/sign-out", From(Role::Viewer), none.clone()),
        ("GET /api/me", From(Role::Viewer), none.clone()),
        ("GET /api/audit/verify", From(Role::Admin), none.clone()),
        ("GET /api/tokens", From(Role::Admin), none.clone()),
        ("POST /api/tokens", From(Role::Admin), json!({"name": "x", "role": "viewer"})),
        ("DELETE /api/tokens/{id}", From(Role::Admin), none.clone()),
        ("GET /api/pipelines", From(Role::Viewer), none.clone()),
        ("POST /api/pipelines", From(Role::Admin), json!({"pipeline_name": "x"})),
        ("GET /api/pipelines/{id}", From(Role::Viewer), none.clone()),
        ("PUT /api/pipelines/{id}", From(Role::Admin), json!({"pipeline_name": "x"})),
        ("DELETE /api/pipelines/{id}", From(Role::Admin), none.clone()),
        ("PUT /api/pipelines/{id}/checkpoint-order", From(Role::Admin), json!({"checkpoint_order": []})),
        ("POST /api/pipelines/{id}/restore", From(Role::Admin), none.clone()),
        ("GET /api/pipelines/{id}/runs", From(Role::Viewer), none.clone()),
        ("GET /api/pipelines/{id}/history", From(Role::Viewer), none.clone()),
        ("GET /api/pipelines/{id}/history/diff", From(Role::Viewer), json!("from=1&to=2")),
        ("POST /api/pipelines/apply", From(Role::Admin), json!({"pipeline_name": "y", "checkpoints": []})),
        ("POST /api/dry-runs", From(Role::Admin), json!({"definition": {}})),
        ("GET /api/pipelines/{id}/export", From(Role::Viewer), none.clone()),
        ("POST /api/checkpoints", From(Role::Admin), json!({"pipeline_id": NOTHING})),
        ("POST /api/pipelines/{id}/checkpoints", From(Role::Admin), json!({})),
        ("GET /api/pipelines/{id}/checkpoints", From(Role::Viewer), none.clone()),
        ("GET /api/checkpoints/{id}", From(Role::Viewer), none.clone()),
        ("PUT /api/checkpoints/{id}", From(Role::Admin), json!({})),
        ("DELETE /api/checkpoints/{id}", From(Role::Admin), none.clone()),
        ("GET /api/runs", From(Role::Viewer), none.clone()),
        ("POST /api/runs", From(Role::Operator), json!({"pipeline_id": NOTHING})),
        ("GET /api/runs/{id}", From(Role::Viewer), none.clone()),
        ("GET /api/runs/{id}/checkpoints", From(Role::Viewer), none.clone()),
        ("GET /api/runs/{id}/graph", From(Role::Viewer), none.clone()),
        ("POST /api/runs/{id}/pause", From(Role::Operator), none.clone()),
        ("POST /api/runs/{id}/resume", From(Role::Operator), none.clone()),
        ("POST /api/runs/{id}/abort", From(Role::Operator), none.clone()),
        ("POST /api/runs/{id}/fail", From(Role::Operator), none.clone()),
        ("POST /api/executions/start", From(Role::Operator), json!({"run_id": NOTHING})),
        ("GET /api/executions/{id}", From(Role::Viewer), none.clone()),
        ("GET /api/executions/{id}/logs", From(Role::Viewer), none.clone()),
        ("GET /api/executions/{id}/conversation", From(Role::Viewer), none.clone()),
        ("GET /api/executions/{id}/interactions", From(Role::Viewer), none.clone()),
        ("GET /api/executions/{id}/inputs", From(Role::Viewer), none.clone()),
        ("GET /api/executions/{id}/context", From(Role::Viewer), none.clone()),
        ("GET /api/executions/{id}/attempts", From(Role::Viewer), none.clone()),
        ("POST /api/executions/{id}/approve-start", From(Role::Approver), none.clone()),
        ("POST /api/executions/{id}/approve-complete", From(Role::Approver), none.clone()),
        ("POST /api/executions/{id}/approve", From(Role::Approver), none.clone()),
        ("POST /api/executions/{id}/reject", From(Role::Approver), none.clone()),
        ("POST /api/executions/{id}/submit", From(Role::Operator), json!({"fields": {}})),
        ("POST /api/executions/{id}/retry", From(Role::Operator), none.clone()),
        ("POST /api/executions/{id}/cancel", From(Role::Operator), none.clone()),
        ("POST /api/executions/{id}/note", From(Role::Operator), json!({"text": "x"})),
        (
            "POST /api/rollback",
            From(Role::Approver),
            json!({"rollback_type": "checkpoint_level", "source_run_id": NOTHING, "target_checkpoint_position": 0}),
        ),
        ("GET /api/rollback", From(Role::Viewer), none.clone()),
        ("GET /api/rollback/{id}", From(Role::Viewer), none.clone()),
        ("POST /api/rollback/{id}/undo", From(Role::Approver), none.clone()),
        ("GET /api/artifacts/list", From(Role::Viewer), none.clone()),
        ("GET /api/artifacts/{id}", From(Role::Viewer), none.clone()),
        ("GET /api/artifacts/{id}/download", From(Role::Viewer), none.clone()),
        ("GET /api/inbox", From(Role::Viewer), none.clone()),
        ("POST /api/gates/{id}/answer", From(Role::Operator), json!({"option": "x"})),
        ("GET /api/compare", From(Role::Viewer), json!(format!("a={NOTHING}&b={NOTHING}"))),
        ("GET /api/events", From(Role::Viewer), none.clone()),
        ("GET /api/stream", From(Role::Viewer), none.clone()),
        ("GET /api/usage", From(Role::Viewer), none.clone()),
        ("GET /api/usage/disk", From(Role::Viewer), none.clone()),
        ("GET /api/usage/retention", From(Role::Operator), none.clone()),
        ("GET /metrics", From(Role::Viewer), none.clone()),
    ]
}

#[tokio::test]
async fn every_route_asks_who_calls() {
    let home = Home::start().await;
    let document = home.get("/api/openapi.json").await.expect(200);
    let mut table: BTreeMap<&str, (Who, Value)> =
        table().into_iter().map(|(route, who, body)| (route, (who, body))).collect();
    let mut tokens = Vec::new();
    for role in Role::ALL {
        tokens.push((role.name(), Some(role), home.token(role.name(), role).await.0));
    }
    let agent = |secret| IssueToken { agent: true, ..IssueToken::new("agent", Role::Operator, secret) };
    // An agent never decides, and is otherwise as good as an operator.
    tokens.push(("agent", Some(Role::Operator), home.issue(agent).await.0));
    tokens.push(("nobody", None, String::new()));

    let mut wrong = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("methods").keys() {
            let route = format!("{} {path}", method.to_uppercase());
            let Some((who, body)) = table.remove(route.as_str()) else {
                wrong.push(format!("{route} is not in the table"));
                continue;
            };
            for (name, role, token) in &tokens {
                let answer = call(&home, &route, token, &body).await;
                let fits = match (who, role) {
                    (Anybody, _) => !matches!(answer, 401 | 403),
                    (From(_), None) => answer == 401,
                    (From(needed), Some(role)) if *role >= needed => !matches!(answer, 401 | 403 | 500),
                    (From(_), Some(_)) => answer == 403,
                };
                if !fits {
                    wrong.push(format!("{route} answers {answer} to {name}"));
                }
            }
        }
    }
    wrong.extend(table.keys().map(|route| format!("{route} is no route any more")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The status with which a route answers; an endless answer is left after its head.
async fn call(home: &Home, route: &str, token: &str, body: &Value) -> u16 {
    let (method, path) = route.split_once(' ').expect("a method and a path");
    let path = path.split('/').map(|part| if part.starts_with('{') { NOTHING } else { part });
    let path = path.collect::<Vec<_>>().join("/");
    let (path, body) = match body {
        Value::Null => (path, None),
        Value::String(query) => (format!("{path}?{query}"), None),
        body => (path, Some(body)),
    };
    if token.is_empty() {
        return home.head_of(method, &path, body, &[]).await;
    }
    let bearer = format!("Bearer {token}");
    home.head_of(method, &path, body, &[("Authorization", &bearer)]).await
}
