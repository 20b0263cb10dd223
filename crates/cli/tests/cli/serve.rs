//! `holdpoint serve` as a process: it starts, answers, and stops when it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use expect_test::expect;
use holdpoint_store::EventLog as _;
use holdpoint_store_sqlite::{Options, SqliteLog};
use rustix::process::{Pid, Signal, kill_process};
#[cfg(target_os = "linux")]
use rustix::process::{Resource, Rlimit, prlimit};

use super::{Ran, Sandbox, home};

/// How a server is started that tells where it listens.
const SERVE: [&str; 4] = ["serve", "--json", "--port", "0"];

/// A server in another process, killed at the latest when the test ends.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_with(sandbox.command(&[&SERVE, arguments].concat()))
    }

    fn start_with(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        let told: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let address = told["listening"].as_str().expect("an address");
        Self { child, address: address.strip_prefix("http://").expect("a web address").to_owned() }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).expect("it listens")
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is ours");
    }

    /// Waits for the end and tells what was said, without the port.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.child.stderr.as_mut().expect("piped").read_to_string(&mut said).expect("text");
        let exit = self.child.wait().expect("it ends").code();
        (exit, said.replace(&self.address, "ADDRESS"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(mut stream: TcpStream, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

#[test]
fn it_answers_and_stops_when_told() {
    for signal in [Signal::TERM, Signal::INT] {
        let sandbox = Sandbox::new();
        let serving = Serving::start(&sandbox, &[]);
        assert!(serving.address.starts_with("127.0.0.1:"), "{}", serving.address);
        let answer = get(serving.connect(), "/api/health");
        assert!(answer.ends_with(r#"{"status":"ok","version":"0.1.0"}"#), "{answer}");
        // An idle connection does not keep it.
        let _idle = serving.connect();
        serving.signal(signal);
        let (code, said) = serving.ended();
        let (first, second) = said.split_once('\n').expect("two lines");
        assert_eq!((code, first), (Some(0), "listening on http://ADDRESS"));
        assert!(
            second.starts_with("sign in once, within ten minutes: http://ADDRESS/sign-in?ticket="),
            "{second}"
        );
        assert!(sandbox.path("user/.local/share/holdpoint/keys").is_dir());
    }
}

#[test]
fn the_work_that_runs_owe_is_done_and_sealed_and_others_look_on() {
    let sandbox = home::with_runs();
    let serving = Serving::start(&sandbox, &["--quiet"]);
    assert!(get(serving.connect(), "/readyz").ends_with(r#"{"status":"ready"}"#));
    home::wait(until_nothing_is_owed(&sandbox));
    let doctor = sandbox.run(&["doctor", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&doctor.stdout).expect("JSON");
    assert_eq!((doctor.exit, &told["failed"]), (Some(0), &0.into()), "{doctor}");
    assert_eq!(told["sections"]["work"][0]["text"], "no run has work due");
    serving.signal(Signal::TERM);
    assert_eq!(serving.ended(), (Some(0), String::new()));
    let audit = sandbox.run(&["audit", "verify", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&audit.stdout).expect("JSON");
    assert_eq!((&told["ok"], &told["unsealed"]), (&true.into(), &0.into()), "{audit}");
}

/// Follows the log, as another process, until no run has work due.
async fn until_nothing_is_owed(sandbox: &Sandbox) {
    let log = SqliteLog::open(&sandbox.path(home::HOME).join("db"), Options::default()).expect("it opens");
    let mut head = log.head();
    let quiet = async {
        while !log.holders().await.expect("an answer").is_empty() {
            head.changed().await.expect("the log lives");
        }
    };
    tokio::time::timeout(Duration::from_secs(30), quiet).await.expect("the work is done");
}

#[cfg(target_os = "linux")]
#[test]
fn after_a_commit_that_failed_it_ends_and_says_what_to_do() {
    let sandbox = Sandbox::new();
    // Writing beyond the limit is an error then, and not the end of the process.
    let ignoring = r#"trap '' XFSZ; exec "$0" "$@""#;
    let mut serving = Serving::start_with(sandbox.command_by(ignoring, &[&SERVE[..], &["--quiet"]].concat()));
    let nothing = Rlimit { current: Some(0), maximum: Some(0) };
    prlimit(Some(serving.pid()), Resource::Fsize, nothing).expect("it is ours");
    // Another process leaves work that the server tries to take.
    home::wait(home::fill(&sandbox.path(home::HOME)));
    let mut told = String::new();
    serving.child.stdout.as_mut().expect("piped").read_to_string(&mut told).expect("text");
    expect![[r#"
        {"error":{"code":"commit_unknown","message":"it is unknown whether the last commit reached the disk, so nothing more is written","hint":"look at the disk, then start the server again: what stands in the log on disk counts"}}
    "#]].assert_eq(&told);
    let (exit, said) = serving.ended();
    assert_eq!(exit, Some(70), "{said}");
    assert!(said.contains("the outcome of a commit is unknown"), "{said}");
    // What stands on disk is whole, and the next server does the work.
    let _serving = Serving::start(&sandbox, &[]);
    home::wait(until_nothing_is_owed(&sandbox));
    assert_eq!(sandbox.run(&["audit", "verify", "--quiet"]).exit, Some(0));
}

#[test]
fn a_second_signal_stops_it_at_once() {
    let sandbox = Sandbox::new();
    let serving = Serving::start(&sandbox, &["--quiet"]);
    let mut half = serving.connect();
    half.write_all(b"GET /livez HTTP/1.1\r\nHost: loc").expect("sent");
    assert!(get(serving.connect(), "/livez").contains("200 OK"));
    serving.signal(Signal::TERM);
    // Signals of one kind do not queue: the next one waits until the first has shown.
    while TcpStream::connect(&serving.address).is_ok() {}
    serving.signal(Signal::TERM);
    assert_eq!(serving.ended(), (Some(0), String::new()));
}

#[test]
fn it_listens_where_it_is_told() {
    let sandbox = Sandbox::new().with_file("project/holdpoint.toml", "server.listen = '127.0.0.1:1'\n");
    let serving = Serving::start(&sandbox, &["--listen", "127.0.0.2:1"]);
    assert!(serving.address.starts_with("127.0.0.2:"), "{}", serving.address);
    assert!(get(serving.connect(), "/readyz").ends_with(r#"{"status":"ready"}"#));
}

#[test]
fn it_does_not_start_where_it_cannot() {
    let sandbox = Sandbox::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("bound").port().to_string();
    let ran = sandbox.run(&["serve", "--port", &port]);
    expect![[r#"
        error: 127.0.0.1:PORT is in use
        hint: choose another port with --port, or --port 0 for a free one
        exit 1
    "#]]
    .assert_eq(&ran.to_string().replace(&port, "PORT"));
    sandbox.check(
        &["serve", "--listen", "0.0.0.0:80"],
        &expect![[r#"
            error: --listen is not possible: 0.0.0.0:80 can be reached from other machines
            hint: listen on 127.0.0.1 or [::1]; others reach it through a tunnel
            exit 64
        "#]],
    );
    sandbox.check(&["serve", "--listen", "nowhere", "--json"], &expect![[r#"
        {"error":{"code":"bad_address","message":"--listen is not possible: `nowhere` is not an address to listen on","hint":"write it as 127.0.0.1:4180, localhost:4180 or [::1]:4180"}}
        ---
        exit 64
    "#]]);
    let sandbox = sandbox.with_file("project/file", "");
    sandbox.check(
        &["serve", "--home", "file"],
        &expect![[r#"
            error: the folder `TMP/project/file` cannot be made: a file is in its way
            hint: move the file away
            exit 1
        "#]],
    );
    sandbox.check(
        &["serve", "--home", "file/below"],
        &expect![[r#"
            error: the folder `TMP/project/file/below` cannot be made: a file is in its way
            hint: move the file away
            exit 1
        "#]],
    );
}

#[test]
fn nobody_reading_its_address_does_not_leave_it_running() {
    let sandbox = Sandbox::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = sandbox.command(&["serve", "--port", "0", "--json", "--quiet"]);
    let ran = Ran::new(&command.stdout(writer).output().expect("it ends"), &sandbox.path(""));
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""));
}
