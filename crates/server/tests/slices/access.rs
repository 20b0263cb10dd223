//! Who is heard: tokens, sessions, tickets, and pages of other sites.

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use holdpoint_core::{Actor, Command, HomeCommand, Timestamp};
use serde_json::json;

use crate::harness::{Answer, Home};

#[tokio::test]
async fn only_a_good_token_is_heard() {
    let home = Home::start().await;
    let me = home.get("/api/me").await.expect(200);
    assert_eq!(me, json!({"name": "ann", "kind": "person", "role": "admin", "pipelines": []}));

    let answer = home.bare("GET", "/api/me", None, &[]).await;
    assert_eq!(answer.refusal(), (401, "unauthenticated".to_owned()));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    // What is there is not told to strangers.
    assert_eq!(home.bare("GET", "/api/nothing", None, &[]).await.status(), 401);
    assert_eq!(home.get("/api/nothing").await.refusal(), (404, "not_found".to_owned()));
    let admin = home.admin.clone();
    let (most, last) = admin.split_at(admin.len() - 1);
    let other = if last == "x" { "y" } else { "x" };
    for wrong in [
        format!("Bearer {most}{other}"),
        format!("Basic {admin}"),
        format!("Bearer{admin}"),
        "Bearer ".to_owned(),
        "Bearer hp_0000000000000000000000000000000000000000000".to_owned(),
    ] {
        let answer = home.bare("GET", "/api/me", None, &[("Authorization", &wrong)]).await;
        assert_eq!(answer.refusal(), (401, "unauthenticated".to_owned()), "{wrong}");
    }
    let twice = [("Authorization", format!("Bearer {admin}")), ("Authorization", "Bearer x".to_owned())];
    let twice = twice.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(home.bare("GET", "/api/me", None, &twice).await.status(), 401);
    // The scheme's case does not count.
    let lower = format!("bearer {admin}");
    assert_eq!(home.bare("GET", "/api/me", None, &[("Authorization", &lower)]).await.status(), 200);
}

#[tokio::test]
async fn a_revoked_or_expired_token_is_refused_at_once() {
    let home = Home::start().await;
    let (token, id) = home.token("bob", Role::Viewer).await;
    assert_eq!(home.as_holder(&token, "GET", "/api/me", None).await.expect(200)["role"], "viewer");
    // Another process takes it away.
    let revoke = Command::Home(HomeCommand::RevokeToken(id));
    home.other().submit(Actor::system(), None, revoke).await.expect("revoked");
    assert_eq!(home.as_holder(&token, "GET", "/api/me", None).await.status(), 401);

    let expires = Some(Timestamp(1));
    let (late, _) =
        home.issue(|secret| IssueToken { expires, ..IssueToken::new("eve", Role::Admin, secret) }).await;
    assert_eq!(home.as_holder(&late, "GET", "/api/me", None).await.status(), 401);
}

#[tokio::test]
async fn an_agent_says_so() {
    let home = Home::start().await;
    let agent = |secret| IssueToken { agent: true, ..IssueToken::new("model", Role::Operator, secret) };
    let (token, _) = home.issue(agent).await;
    let me = home.as_holder(&token, "GET", "/api/me", None).await.expect(200);
    assert_eq!((&me["kind"], &me["role"]), (&json!("agent"), &json!("operator")));
}

fn session(answer: &Answer) -> String {
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("; Path=/; HttpOnly; SameSite=Strict; Max-Age="), "{cookie}");
    cookie.split(';').next().expect("a pair").to_owned()
}

#[tokio::test]
async fn a_ticket_opens_one_session() {
    let home = Home::start().await;
    let made = home.post("/api/sign-in/tickets", &json!({})).await.expect(201);
    let page = home.bare("GET", made["path"].as_str().expect("a path"), None, &[]).await;
    assert_eq!(page.status(), 200);
    assert!(page.header("content-security-policy").is_some_and(|p| p.starts_with("default-src 'none'")));
    // Looking at the page did not use it up.
    let ticket = json!({"ticket": made["ticket"]});
    let cookie = session(&home.bare("POST", "/api/sign-in", Some(&ticket), &[]).await);
    let again = home.bare("POST", "/api/sign-in", Some(&ticket), &[]).await;
    assert_eq!(again.refusal(), (401, "unauthenticated".to_owned()));

    let me = home.bare("GET", "/api/me", None, &[("Cookie", &cookie)]).await.expect(200);
    assert_eq!(me["name"], "ann");
    let origin = format!("http://{}", home.address);
    let here = [("Cookie", cookie.as_str()), ("Origin", origin.as_str())];
    assert_eq!(home.bare("POST", "/api/sign-out", None, &here).await.status(), 204);
    assert_eq!(home.bare("GET", "/api/me", None, &[("Cookie", &cookie)]).await.status(), 401);
}

#[tokio::test]
async fn a_session_changes_things_only_from_pages_of_this_server() {
    let home = Home::start().await;
    let cookie = session(&home.bare("POST", "/api/sign-in", Some(&json!({"token": home.admin})), &[]).await);
    let origin = format!("http://{}", home.address);
    let send = async |headers: &[(&str, &str)]| {
        let mut all = vec![("Cookie", cookie.as_str())];
        all.extend(headers);
        home.bare("POST", "/api/sign-in/tickets", None, &all).await
    };
    let (site, here) = ("Sec-Fetch-Site", ("Origin", origin.as_str()));
    for headers in
        [&[here][..], &[here, (site, "same-origin")], &[(site, "same-origin")], &[here, (site, "none")]]
    {
        assert_eq!(send(headers).await.status(), 201, "{headers:?}");
    }
    for headers in [
        &[][..],
        &[(site, "none")],
        &[here, (site, "cross-site")],
        &[here, (site, "same-site")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Origin", "null")],
    ] {
        assert_eq!(send(headers).await.refusal(), (403, "origin_not_allowed".to_owned()), "{headers:?}");
    }
}

#[tokio::test]
async fn a_form_signs_in_and_leads_to_the_console() {
    let home = Home::start().await;
    let body = format!("token={}", home.admin);
    let request = format!(
        "POST /api/sign-in HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        home.address,
        body.len()
    );
    let answer = home.exchange(&request).await;
    assert_eq!((answer.status(), answer.header("location")), (303, Some("/")));
    session(&answer);
    let both = json!({"token": home.admin, "ticket": "x"});
    for wrong in [json!({}), both, json!({"tokn": "x"})] {
        let answer = home.bare("POST", "/api/sign-in", Some(&wrong), &[]).await;
        assert_eq!(answer.refusal(), (422, "invalid_fields".to_owned()), "{wrong}");
    }
}

#[tokio::test]
async fn who_guesses_is_told_to_wait_and_nobody_else() {
    let home = Home::start().await;
    let guess = async || home.as_holder("hp_guess", "GET", "/api/me", None).await;
    for _ in 0..10 {
        assert_eq!(guess().await.status(), 401);
    }
    let answer = guess().await;
    assert_eq!(answer.refusal(), (429, "too_many_attempts".to_owned()));
    assert!(answer.header("retry-after").is_some());
    let ticket = home.bare("POST", "/api/sign-in", Some(&json!({"ticket": "x"})), &[]).await;
    assert_eq!(ticket.status(), 429);
    assert_eq!(home.get("/api/me").await.status(), 200);
}

#[tokio::test]
async fn before_the_home_is_open_nothing_is_answered_but_that() {
    let app = holdpoint_server::App::default();
    let server = holdpoint_server::Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.address();
    let stop = tokio_util::sync::CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    tokio::spawn(server.run(app, stop));
    let mut home = Home::start().await;
    home.address = address;
    assert_eq!(home.get("/api/me").await.refusal(), (503, "not_ready".to_owned()));
    assert_eq!(home.bare("GET", "/api/health", None, &[]).await.status(), 200);
}
