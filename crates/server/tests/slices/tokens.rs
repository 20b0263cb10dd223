//! Tokens are made, listed page by page, and withdrawn.

use serde_json::json;

use crate::harness::Home;

#[tokio::test]
async fn a_token_is_made_used_and_withdrawn() {
    let home = Home::start().await;
    let body = json!({"name": "bob", "role": "operator", "agent": true, "lasts_seconds": 60});
    let made = home.post("/api/tokens", &body).await.expect(201);
    let token = made["token"].as_str().expect("a secret");
    assert_eq!(home.as_holder(token, "GET", "/api/me", None).await.expect(200)["kind"], "agent");
    let path = format!("/api/tokens/{}", made["token_id"].as_str().expect("an id"));
    home.delete(&path).await.expect(204);
    assert_eq!(home.as_holder(token, "GET", "/api/me", None).await.status(), 401);
    assert_eq!(home.delete(&path).await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(home.delete("/api/tokens/no-id").await.refusal(), (404, "not_found".to_owned()));

    let wrong = json!({"name": "bob", "role": "approver", "agent": true});
    let answer = home.post("/api/tokens", &wrong).await;
    assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()));
    assert_eq!(answer.json()["errors"][0]["pointer"], "/role");
}

#[tokio::test]
async fn a_list_is_read_page_by_page() {
    let home = Home::start().await;
    for n in 0..5 {
        home.post("/api/tokens", &json!({"name": format!("t{n}"), "role": "viewer"})).await.expect(201);
    }
    let (mut names, mut path) = (Vec::new(), "/api/tokens?limit=2".to_owned());
    loop {
        let page = home.get(&path).await.expect(200);
        let items = page["items"].as_array().expect("items");
        assert!(items.len() <= 2);
        names.extend(items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/tokens?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(names, ["t4", "t3", "t2", "t1", "t0", "ann"]);
    for (query, code) in [
        ("limit=0", "bad_query"),
        ("limit=501", "bad_query"),
        ("cursor=x", "bad_cursor"),
        ("x=1", "bad_query"),
    ] {
        assert_eq!(home.get(&format!("/api/tokens?{query}")).await.refusal(), (400, code.to_owned()));
    }
}
