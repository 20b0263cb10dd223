//! `Host` and `Origin`, for every kind of path.

use super::Running;

/// Existing, missing, with and without `/api`: the check comes before the route.
const PATHS: [&str; 6] = ["/api/health", "/livez", "/readyz", "/api/nothing", "/", "/nowhere"];

/// The answer to a request with these header lines.
async fn outcome(server: &Running, path: &str, headers: &str) -> String {
    let answer = server.exchange(format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).await;
    match answer.status() {
        200 => "ok".to_owned(),
        401 => "ok, but not known".to_owned(),
        404 => "ok, but not there".to_owned(),
        _ => answer.code(),
    }
}

fn heard(path: &str) -> &'static str {
    match path {
        "/nowhere" => "ok, but not there",
        "/api/nothing" => "ok, but not known",
        _ => "ok",
    }
}

#[tokio::test]
async fn only_names_of_this_machine_are_heard() {
    let server = Running::start().await;
    let own = [
        "Host: 127.0.0.1\r\n",
        "Host: 127.0.0.1:PORT\r\n",
        "Host: 127.0.0.1:9000\r\n",
        "Host: localhost\r\n",
        "Host: localhost:PORT\r\n",
        "Host: LocalHost:PORT\r\n",
        "Host: [::1]\r\n",
        "Host: [::1]:PORT\r\n",
    ];
    let foreign = [
        "",
        "Host:\r\n",
        "Host: example.org\r\n",
        "Host: example.org:PORT\r\n",
        "Host: localhost.example.org\r\n",
        "Host: example.org.localhost\r\n",
        "Host: 127.0.0.1.example.org\r\n",
        "Host: localhost.\r\n",
        "Host: localhost:\r\n",
        "Host: localhost:+80\r\n",
        "Host: localhost:99999\r\n",
        "Host: localhost:80:80\r\n",
        "Host: someone@localhost\r\n",
        "Host: localhost@example.org\r\n",
        "Host: localhost, example.org\r\n",
        "Host: 127.1\r\n",
        "Host: 127.0.0.2\r\n",
        "Host: 0.0.0.0:PORT\r\n",
        "Host: 2130706433\r\n",
        "Host: ::1\r\n",
        "Host: [::1\r\n",
        "Host: [::1]x\r\n",
        "Host: [::]\r\n",
        "Host: [::ffff:127.0.0.1]\r\n",
        "Host: [::1%25lo]\r\n",
        "Host: localhost\r\nHost: localhost\r\n",
        "Host: localhost\r\nHost: example.org\r\n",
        "X-Forwarded-Host: localhost\r\nHost: example.org\r\n",
    ];
    for path in PATHS {
        for headers in own {
            assert_eq!(outcome(&server, path, headers).await, heard(path), "{path} {headers:?}");
        }
        for headers in foreign {
            assert_eq!(outcome(&server, path, headers).await, "host_not_allowed", "{path} {headers:?}");
        }
    }
}

#[tokio::test]
async fn only_pages_of_this_server_are_heard() {
    let server = Running::start().await;
    let own = [
        ("localhost:PORT", "http://localhost:PORT"),
        ("127.0.0.1:PORT", "http://127.0.0.1:PORT"),
        ("[::1]:PORT", "http://[::1]:PORT"),
        ("localhost", "http://localhost"),
        ("localhost", "http://localhost:80"),
        ("localhost:9000", "http://localhost:9000"),
    ];
    let foreign = [
        "null",
        "",
        "http://example.org",
        "https://example.org",
        "http://localhost",
        "http://localhost:1",
        "https://localhost:PORT",
        "http://127.0.0.1:PORT",
        "http://localhost:PORT.example.org",
        "http://localhost.example.org:PORT",
        "http://someone@localhost:PORT",
        "http://localhost:PORT/",
        "http://localhost:PORT http://example.org",
        "http://localhost:PORT, http://example.org",
        "localhost:PORT",
        "file://",
        "chrome-extension://abcdefgh",
        "http://localhost:PORT\r\nOrigin: http://localhost:PORT",
        "http://localhost:PORT\r\nOrigin: http://example.org",
    ];
    for path in PATHS {
        for (host, origin) in own {
            let headers = format!("Host: {host}\r\nOrigin: {origin}\r\n");
            assert_eq!(outcome(&server, path, &headers).await, heard(path), "{path} {headers:?}");
        }
        for origin in foreign {
            let headers = format!("Host: localhost:PORT\r\nOrigin: {origin}\r\n");
            assert_eq!(outcome(&server, path, &headers).await, "origin_not_allowed", "{path} {headers:?}");
        }
    }
}

#[tokio::test]
async fn other_methods_are_checked_as_well() {
    let server = Running::start().await;
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let foreign =
            format!("{method} /api/health HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
        assert_eq!(server.exchange(foreign).await.code(), "host_not_allowed", "{method}");
        let page = "Host: localhost\r\nOrigin: http://example.org\r\nConnection: close\r\n\r\n";
        let page = format!("{method} /api/health HTTP/1.1\r\n{page}");
        assert_eq!(server.exchange(page).await.code(), "origin_not_allowed", "{method}");
    }
}

#[tokio::test]
async fn a_host_in_the_target_counts_too() {
    let server = Running::start().await;
    let ask = async |target: &str| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: close\r\n\r\n");
        let answer = server.exchange(request).await;
        if answer.status() == 200 { "ok".to_owned() } else { answer.code() }
    };
    assert_eq!(ask("http://localhost:PORT/livez").await, "ok");
    assert_eq!(ask("http://example.org/livez").await, "host_not_allowed");
    assert_eq!(ask("http://127.0.0.1:PORT/livez").await, "host_not_allowed");
    assert_eq!(ask("http://someone@localhost:PORT/livez").await, "host_not_allowed");
}
