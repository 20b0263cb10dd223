//! Everything that can go wrong between us and a provider.

mod loopback;

use std::io::ErrorKind as ErrorKindOfIo;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use holdpoint_agents::model::{Delta, ErrorKind, Model as _, Provider, Providers, Settings};
use loopback::{Reply, Server, ask, ask_claude, bytes, event, hello, question, start};
use serde_json::json;

fn status(status: u16, header: Option<(&'static str, &str)>, message: &str) -> Reply {
    let body = json!({"type": "error", "error": {"type": "some_error", "message": message}}).to_string();
    Reply::Status(status, header.map(|(name, value)| (name, value.to_owned())), body)
}

fn begun() -> Vec<axum::body::Bytes> {
    let block = event(
        &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    let piece = event(
        &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
    );
    bytes(&[&start(), &block, &piece])
}

/// Checks how a call fails, and how often the server was asked.
async fn check(replies: Vec<Reply>, kind: ErrorKind, calls: usize, wanted: Expect) {
    let server = Server::start(replies).await;
    let error = ask_claude(&server).await.0.expect_err("no answer");
    wanted.assert_eq(&error.message.replace(&server.url, "<url>"));
    assert_eq!((error.kind, server.seen().len()), (kind, calls));
}

fn text(piece: &str) -> Delta {
    Delta::Text(piece.to_owned())
}

#[tokio::test]
async fn overload_is_waited_out_as_told() {
    let server = Server::start([status(429, Some(("retry-after", "1")), "slow down"), hello()]).await;
    let before = Instant::now();
    let (answer, told) = ask_claude(&server).await;
    assert_eq!(answer.expect("an answer").text(), "Hello.");
    assert!(before.elapsed() >= Duration::from_secs(1), "it waits for a second");
    // Nothing had been said, so nothing is void.
    assert_eq!(told, [text("Hel"), text("lo.")]);
}

#[tokio::test]
async fn a_wait_is_told_before_it_begins() {
    let server = Server::start([status(429, Some(("retry-after", "0")), "slow down"), hello()]).await;
    let heard = Mutex::new(Vec::new());
    let told = |delta| heard.lock().expect("nobody panicked").push(delta);
    let model = Providers::new(server.settings());
    model.ask(question("claude-sonnet-4-5"), &told).await.expect("an answer");
    let why = "anthropic has too much to do (HTTP 429): slow down".to_owned();
    let waits = Delta::Waits { why, wait: Duration::ZERO };
    assert_eq!(*heard.lock().expect("nobody panicked"), [waits, text("Hel"), text("lo.")]);
}

#[tokio::test]
async fn a_date_in_the_past_is_no_wait() {
    let date = Some(("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"));
    let server = Server::start([status(503, date, "later"), hello()]).await;
    ask_claude(&server).await.0.expect("an answer");
}

#[tokio::test]
async fn a_long_wait_is_told_and_not_waited() {
    let server = Server::start([status(429, Some(("retry-after", "3600")), "come back")]).await;
    let error = ask_claude(&server).await.0.expect_err("no answer");
    assert_eq!(error.retry_after, Some(Duration::from_hours(1)));
    assert_eq!(error.status, Some(429));
}

#[tokio::test]
async fn overload_that_does_not_pass_is_an_error() {
    let wanted = expect!["anthropic has too much to do (HTTP 529): overloaded (tried 5 times)"];
    check(vec![status(529, None, "overloaded"); 5], ErrorKind::Overloaded, 5, wanted).await;
}

#[tokio::test]
async fn a_provider_that_fails_is_asked_again() {
    let wanted = expect!["anthropic failed (HTTP 500): boom (tried 5 times)"];
    check(vec![status(500, None, "boom"); 5], ErrorKind::Provider, 5, wanted).await;
}

#[tokio::test]
async fn what_is_refused_is_not_asked_again() {
    let wanted = expect!["anthropic refused the question (HTTP 400): max_tokens is too large"];
    check(vec![status(400, None, "max_tokens is too large")], ErrorKind::Refused, 1, wanted).await;
    let wanted = expect!["anthropic refused the key (HTTP 401): invalid x-api-key …"];
    check(vec![status(401, None, "invalid x-api-key sk-secret")], ErrorKind::Key, 1, wanted).await;
}

#[tokio::test]
async fn an_error_in_mid_answer_is_tried_again_and_voids_what_was_said() {
    let mut pieces = begun();
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    pieces.extend(bytes(&[&event(&error)]));
    let server = Server::start([Reply::Stream(pieces.clone()), hello()]).await;
    let (answer, told) = ask_claude(&server).await;
    assert_eq!(answer.expect("an answer").text(), "Hello.");
    assert_eq!(told, [text("Hel"), Delta::Again, text("Hel"), text("lo.")]);

    let wanted = expect!["anthropic broke off its answer: Overloaded (tried 5 times)"];
    check(vec![Reply::Stream(pieces); 5], ErrorKind::Overloaded, 5, wanted).await;
}

#[tokio::test]
async fn a_stream_without_its_end_is_cut_off() {
    // Once the connection breaks, once the server ends the body as if all were said.
    let server = Server::start([Reply::Broken(begun()), Reply::Stream(begun()), hello()]).await;
    let (answer, told) = ask_claude(&server).await;
    assert_eq!(answer.expect("an answer").text(), "Hello.");
    assert_eq!(told, [text("Hel"), Delta::Again, text("Hel"), Delta::Again, text("Hel"), text("lo.")]);

    let wanted = expect!["the answer of anthropic broke off before its end (tried 5 times)"];
    check(vec![Reply::Stream(begun()); 5], ErrorKind::CutOff, 5, wanted).await;

    // In the midst of a line as well.
    let mut torn = begun();
    torn.extend(bytes(&["event: content_block_delta\ndata: {\"type\": \"conte"]));
    let wanted = expect!["the answer of anthropic broke off before its end (tried 5 times)"];
    check(vec![Reply::Stream(torn); 5], ErrorKind::CutOff, 5, wanted).await;
}

#[tokio::test]
async fn silence_ends_a_call() {
    for pieces in [vec![], begun()] {
        let server = Server::start([Reply::Hangs(pieces)]).await;
        let settings =
            Settings { call_timeout: Duration::from_millis(100), max_retries: 0, ..server.settings() };
        let (answer, _) = ask(&Providers::new(settings), question("claude-sonnet-4-5")).await;
        let error = answer.expect_err("no answer");
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Unreachable, "nothing to read came from anthropic for 0.1 seconds")
        );
        server.dropped().await;
    }
}

#[tokio::test]
async fn giving_up_a_question_gives_up_the_request() {
    let server = Server::start([Reply::Hangs(begun())]).await;
    let providers = Providers::new(server.settings());
    let asked = ask(&providers, question("claude-sonnet-4-5"));
    tokio::time::timeout(Duration::from_millis(200), asked).await.expect_err("it hangs");
    server.dropped().await;
}

#[tokio::test]
async fn what_is_not_understood_is_tried_again() {
    let garbage = Reply::Stream(vec![vec![0xff, 0xfe, 0x00, 0x80, b'\n', b'\n'].into()]);
    let wanted = expect!["anthropic sent something that is not understood: it is not text (tried 5 times)"];
    check(vec![garbage; 5], ErrorKind::Garbled, 5, wanted).await;

    let page = Reply::stream(&["<html><body>Welcome to the captive portal</body></html>"]);
    let wanted = expect![
        "anthropic sent something that is not understood: it has no beginning of an answer (tried 5 times)"
    ];
    check(vec![page; 5], ErrorKind::Garbled, 5, wanted).await;

    let wrong = Reply::stream(&[&start(), "event: content_block_delta\ndata: {\"type\": oh}\n\n"]);
    let wanted = expect![
        "anthropic sent something that is not understood: expected value at line 1 column 10 (tried 5 times)"
    ];
    check(vec![wrong; 5], ErrorKind::Garbled, 5, wanted).await;

    let stray = event(
        &json!({"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "x"}}),
    );
    let server = Server::start([Reply::stream(&[&start(), &stray]), hello()]).await;
    ask_claude(&server).await.0.expect("an answer");
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let server = Server::start([]).await;
    let mut settings = server.settings();
    let nobody = Provider { base_url: Some("http://127.0.0.1:1".to_owned()), api_key: None };
    settings.providers.insert("anthropic".to_owned(), nobody);
    let error = ask(&Providers::new(settings), question("claude-sonnet-4-5")).await.0.expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.message.starts_with("anthropic could not be reached: "), "{error}");
    assert!(error.message.ends_with("(tried 5 times)"), "{error}");
}

#[tokio::test]
async fn a_missing_key_says_what_to_set() {
    let providers = Providers::new(Settings::default());
    for (model, wanted) in [
        (
            "claude-sonnet-4-5",
            "there is no key for anthropic: set the variable ANTHROPIC_API_KEY, or `api_key` in `[llm.anthropic]`",
        ),
        (
            "gemini/gemini-2.5-pro",
            "there is no key for gemini: set the variable GEMINI_API_KEY, or `api_key` in `[llm.gemini]`",
        ),
    ] {
        let error = ask(&providers, question(model)).await.0.expect_err("no answer");
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Key, wanted));
        assert_eq!(providers.check(model), Err(error));
    }
    assert_eq!(providers.check("ollama/llama3"), Ok(()));
    assert!(providers.can_search("claude-sonnet-4-5") && providers.can_search("gemini/x"));
    assert!(
        !providers.can_search("openai/gpt-5")
            && !providers.can_search("ollama/x")
            && !providers.can_search("no/x")
    );
}

/// Other tests of this file, in a process whose environment would lead them astray.
#[test]
fn no_proxy_and_no_key_comes_from_the_environment() {
    for test in ["what_is_refused_is_not_asked_again", "a_missing_key_says_what_to_set"] {
        let mut command = Command::new(std::env::current_exe().expect("it runs"));
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(name, "http://127.0.0.1:1");
        }
        command.env("ANTHROPIC_API_KEY", "sk-other").env("GEMINI_API_KEY", "sk-other");
        let output = command.args(["--exact", test]).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is there");
    let kilobytes = line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    kilobytes.expect("a number") << 10
}

#[tokio::test]
async fn an_answer_of_100_megabytes_is_refused_and_not_kept() {
    let piece = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": "x".repeat(64 << 10)}});
    let each = start() + &event(&piece);
    let times = (100 << 20) / each.len();
    let server = Server::start([Reply::Many(200, each.into(), times)]).await;
    let providers = Providers::new(Settings { max_answer_bytes: 4 << 20, ..server.settings() });
    let before = peak();
    let error = providers.ask(question("claude-sonnet-4-5"), &|_| {}).await.expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Garbled);
    assert_eq!(error.message, "the answer of anthropic has more than 4194304 bytes, which is too large");
    assert!(peak() - before < 32 << 20, "{} bytes more", peak() - before);
    assert_eq!(server.seen().len(), 1, "it would be as large again");
}

/// Pieces without a line's end, 100 megabytes of them.
fn flood(status: u16) -> Reply {
    Reply::Many(status, "x".repeat(64 << 10).into(), 100 << 4)
}

#[tokio::test]
async fn one_line_of_100_megabytes_is_refused_and_not_kept() {
    let server = Server::start([flood(200)]).await;
    let providers = Providers::new(Settings { max_answer_bytes: 4 << 20, ..server.settings() });
    let before = peak();
    let error = ask(&providers, question("claude-sonnet-4-5")).await.0.expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Garbled);
    assert_eq!(error.message, "the answer of anthropic has more than 4194304 bytes, which is too large");
    assert!(peak() - before < 32 << 20, "{} bytes more", peak() - before);
    assert_eq!(server.seen().len(), 1, "it would be as large again");
}

#[tokio::test]
async fn an_error_with_100_megabytes_is_one_and_not_kept() {
    let server = Server::start(vec![flood(500); 3]).await;
    let settings = Settings { max_answer_bytes: 4 << 20, max_retries: 2, ..server.settings() };
    let before = peak();
    let error = ask(&Providers::new(settings), question("claude-sonnet-4-5")).await.0.expect_err("no answer");
    assert_eq!((error.kind, error.status), (ErrorKind::Provider, Some(500)));
    assert!(error.message.starts_with("anthropic failed (HTTP 500): xxx"), "{error}");
    assert!(error.message.len() < 400, "{error}");
    assert!(peak() - before < 32 << 20, "{} bytes more", peak() - before);
}

/// The library keeps a line until it ends, so it reads through a relay that gives up before.
#[tokio::test]
async fn an_endless_line_that_the_library_reads_is_given_up() {
    let server = Server::start([flood(200)]).await;
    let settings = Settings { call_timeout: Duration::from_millis(300), max_retries: 0, ..server.settings() };
    let error = ask(&Providers::new(settings), question("openai/gpt-4o")).await.0.expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Garbled);
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    for (status, model) in [
        (301, "claude-sonnet-4-5"),
        (307, "claude-sonnet-4-5"),
        (303, "openai/gpt-4o"),
        (307, "gemini/gemini-2.5-pro"),
        (308, "ollama/qwen3"),
    ] {
        let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        elsewhere.set_nonblocking(true).expect("it can wait for nobody");
        let there = format!("http://{}/v1/messages", elsewhere.local_addr().expect("it is bound"));
        let server = Server::start([Reply::Status(status, Some(("location", there)), String::new())]).await;
        let settings = Settings { call_timeout: Duration::from_secs(2), ..server.settings() };
        let error = ask(&Providers::new(settings), question(model)).await.0.expect_err("no answer");
        let came = elsewhere.accept().map_err(|error| error.kind());
        assert!(matches!(came, Err(ErrorKindOfIo::WouldBlock)), "somebody came: {came:?}");
        assert_eq!((error.kind, error.status), (ErrorKind::Refused, Some(status)));
        let wanted = format!(
            "points to another address (HTTP {status}), which is not followed, as the key would go there too: set `base_url` to the right one"
        );
        assert!(error.message.ends_with(&wanted), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn an_address_with_a_password_is_refused_and_not_shown() {
    let server = Server::start([]).await;
    let host = server.url.trim_start_matches("http://");
    for (address, why) in [
        (
            format!("http://me:hidden@{host}"),
            "holds a user or a password, which is not sent: set `api_key` instead",
        ),
        (
            format!("http://hidden@{host}/v1/"),
            "holds a user or a password, which is not sent: set `api_key` instead",
        ),
        ("http://me:hidden@127.0.0.1:port".to_owned(), "is no address"),
        ("me:hidden@127.0.0.1".to_owned(), "begins with neither `http:` nor `https:`"),
    ] {
        for (name, model) in [("anthropic", "claude-sonnet-4-5"), ("local", "local/x")] {
            let mut settings = server.settings();
            settings
                .providers
                .insert(name.to_owned(), Provider { base_url: Some(address.clone()), api_key: None });
            assert!(!format!("{settings:?}").contains("hidden"));
            let providers = Providers::new(settings);
            let error = ask(&providers, question(model)).await.0.expect_err("no answer");
            assert_eq!(error.message, format!("the `base_url` of {name} {why}"));
            assert_eq!(error.kind, ErrorKind::Refused);
            assert_eq!(providers.check(model), Err(error));
        }
    }
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn a_call_with_a_huge_number_takes_no_room() {
    // Large enough to be seen in memory, and no larger, lest this test does what it is to prevent.
    for index in [json!(5_000_000), json!(1_u64 << 40), json!(-1)] {
        let call = json!({"index": index, "id": "c1", "function": {"name": "weather", "arguments": "{}"}});
        let frame = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        let body = format!("data: {frame}\n\ndata: [DONE]\n\n");
        let server = Server::start([Reply::stream(&[&body])]).await;
        let settings = Settings { max_retries: 0, ..server.settings() };
        let before = peak();
        let error = ask(&Providers::new(settings), question("openai/gpt-4o")).await.0.expect_err("no answer");
        assert_eq!(error.kind, ErrorKind::Garbled);
        assert_eq!(
            error.message,
            format!("openai sent something that is not understood: a call of a tool has the number {index}")
        );
        assert!(peak() - before < 32 << 20, "{} bytes more", peak() - before);
    }
}
