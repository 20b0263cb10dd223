//! The same request twice: carried out once, and answered alike.

use holdpoint_core::event::Role;
use serde_json::{Value, json};

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
