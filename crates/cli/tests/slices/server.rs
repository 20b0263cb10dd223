//! A running server of the real binary on a home of its own, and a client for it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdpoint_planted::VARIABLE;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How often something is looked at that happens in its own time, and how long between.
const LONG: u32 = 1200;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(25);

/// A key in the server's environment that nobody may ever see again.
pub const CANARY: &str = "sk-canary-5f0b1d7c9e3a";

/// A server in the background, ended when it is dropped.
pub struct Server {
    variables: Vec<(String, String)>,
    folder: Folder,
    process: Child,
    address: String,
    pub token: String,
}

/// The folder around a home.
enum Folder {
    Own(TempDir),
    Lent(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Lent(folder) => folder,
        }
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error}: {} {}", self.status, String::from_utf8_lossy(&self.body))
        })
    }

    /// The document of an answer with this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        let shown = String::from_utf8_lossy(&self.body).into_owned();
        assert_eq!(self.status, status, "{shown}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// The body of an answer with this status.
    #[track_caller]
    pub fn expect_bytes(self, status: u16) -> Vec<u8> {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.body
    }

    /// A refusal with this status and code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(problem["code"], code, "{problem}");
        assert!(problem["detail"].is_string() && problem["hint"].is_string(), "{problem}");
        problem
    }
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With more variables around it.
    pub fn start_with(variables: &[(&str, &str)]) -> Self {
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
        Self::launched(Folder::Own(folder), variables)
    }

    /// On a home that is there already, in a folder with nothing else that matters.
    pub fn on(home: &Path) -> Self {
        let folder = home.parent().expect("a folder").to_owned();
        Self::launched(Folder::Lent(folder), Vec::new())
    }

    fn launched(folder: Folder, variables: Vec<(String, String)>) -> Self {
        let (process, address) = launch(folder.path(), &variables);
        let token = std::fs::read_to_string(folder.path().join("home/keys/admin.token")).expect("a token");
        Self { variables, folder, process, address, token: token.trim().to_owned() }
    }

    /// A demo instead of a server, on a home of its own or on one that is there already; and what it told.
    pub fn demo(home: Option<PathBuf>) -> (Self, Value) {
        let folder = match home {
            Some(home) => Folder::Lent(home.parent().expect("a folder").to_owned()),
            None => Folder::Own(tempfile::tempdir().expect("a folder")),
        };
        let _ = std::fs::create_dir(folder.path().join("tmp"));
        let arguments = r#"demo --home "$HOLDPOINT_HOME" --json"#;
        let variables = vec![("NO_BROWSER".to_owned(), "1".to_owned())];
        let (process, address, told) = launch_with(folder.path(), arguments, &variables);
        let token = std::fs::read_to_string(folder.path().join("home/keys/admin.token")).expect("a token");
        (Self { variables, folder, process, address, token: token.trim().to_owned() }, told)
    }

    /// Asks the process to stop, as Ctrl-C does, and answers how it ended.
    pub fn interrupt(&mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
        self.process.wait().expect("it ends").code()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends the process without a warning and starts it again on the same home.
    pub fn kill_and_restart(&mut self) {
        self.kill();
        (self.process, self.address) = launch(self.folder.path(), &self.variables);
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }

    /// Waits for the process to die by itself.
    pub fn dies(&mut self) {
        self.process.wait().expect("it ends");
    }

    /// How many answers of models an execution's journal holds, read from the disk of a server that is dead.
    pub fn answers_on_disk(&self, execution: &str) -> usize {
        let db = rusqlite::Connection::open(self.home().join("db/state.db")).expect("a database");
        let id = uuid::Uuid::parse_str(execution).expect("an id");
        let sql = "SELECT bytes FROM log JOIN stream ON stream.id = log.stream WHERE stream.kind = 'journal' AND uuid = ?";
        let mut rows = db.prepare(sql).expect("the tables");
        let rows = rows.query_map([id.as_bytes().as_slice()], |row| row.get::<_, Vec<u8>>(0)).expect("asked");
        let text: String = rows.map(|row| String::from_utf8(row.expect("a row")).expect("JSON")).collect();
        text.matches("\"role\":\"assistant\"").count()
    }

    pub fn restart(&mut self) {
        (self.process, self.address) = launch(self.folder.path(), &self.variables);
    }

    /// Where temporary files would be, for whoever makes any.
    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Everything that the server has said, in its finest words.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("said")).expect("readable")
    }

    /// A connection on which nothing has been said.
    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).expect("the server listens")
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder of a pipeline.
    pub fn folder(&self, pipeline: &Value) -> PathBuf {
        self.home().join("pipelines").join(id(&pipeline["pipeline_id"]))
    }

    /// Runs the binary on the server's home and answers what it prints.
    pub fn command(&self, arguments: &[&str]) -> std::process::Output {
        binary(self.folder.path()).args(arguments).output().expect("the binary runs")
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, Some(&self.token), "", b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.with_json("POST", path, body)
    }

    pub fn put(&self, path: &str, body: &Value) -> Answer {
        self.with_json("PUT", path, body)
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, Some(&self.token), "", b"")
    }

    pub fn with_json(&self, method: &str, path: &str, body: &Value) -> Answer {
        let head = "Content-Type: application/json\r\n";
        self.send(method, path, Some(&self.token), head, body.to_string().as_bytes())
    }

    pub fn send(&self, method: &str, path: &str, token: Option<&str>, head: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        let authorization =
            token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{authorization}{head}Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("sent");
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        parse(&bytes)
    }

    /// Reads the live stream until this many events have come.
    pub fn events(&self, path: &str, head: &str, count: usize) -> Vec<Value> {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{head}\r\n",
            self.address, self.token
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut events = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("readable");
            if let Some(data) = line.strip_prefix("data:") {
                events.push(serde_json::from_str(data.trim()).expect("JSON"));
            }
            if events.len() == count {
                break;
            }
        }
        events
    }

    /// A pipeline with forms of these names; each asks before it completes.
    pub fn pipeline(&self, names: &[&str], auto_advance: bool) -> Value {
        let body = json!({"pipeline_name": "Research", "config": {"auto_advance": auto_advance}});
        let pipeline = self.post("/api/pipelines", &body).expect(201);
        let path = format!("/api/pipelines/{}", id(&pipeline["pipeline_id"]));
        for name in names {
            self.post(&format!("{path}/checkpoints"), &form(name)).expect(201);
        }
        self.get(&path).expect(200)
    }

    pub fn run(&self, pipeline: &Value) -> Value {
        self.post("/api/runs", &json!({"pipeline_id": pipeline["pipeline_id"]})).expect(201)
    }

    pub fn run_of(&self, run: &Value) -> Value {
        self.get(&format!("/api/runs/{}", id(&run["run_id"]))).expect(200)
    }

    /// The current execution of a run, as soon as something holds of it.
    #[track_caller]
    pub fn until(&self, run: &Value, holds: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        for _ in 0..LONG {
            let executions = self.run_of(run)["checkpoint_execution_history"].clone();
            let Some(current) = executions.as_array().and_then(|all| all.last()) else { continue };
            last = self.execution(current.as_str().expect("an id"));
            if holds(&last) {
                return last;
            }
            // tidy: sleep, because the server is another process and is asked, as its clients ask it
            std::thread::sleep(PAUSE);
        }
        panic!("it never came: {last:#}");
    }

    /// A run, as soon as something holds of it.
    #[track_caller]
    pub fn until_run(&self, run: &Value, holds: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..LONG {
            let now = self.run_of(run);
            if holds(&now) {
                return now;
            }
            // tidy: sleep, because the server is another process and is asked, as its clients ask it
            std::thread::sleep(PAUSE);
        }
        panic!("it never came: {:#}", self.run_of(run));
    }

    pub fn execution(&self, execution: &str) -> Value {
        self.get(&format!("/api/executions/{execution}")).expect(200)
    }

    /// The id of the execution that a run is at.
    pub fn current(&self, run: &Value) -> String {
        id(&self.run_of(run)["current_execution"]["execution_id"])
    }

    /// Takes the current checkpoint of a run to its end: approves its start where that is asked, fills in the form,
    /// approves the result.
    pub fn complete(&self, run: &Value, answer: &str) -> String {
        let execution = self.current(run);
        let at = |action: &str| format!("/api/executions/{execution}/{action}");
        let mut shown = self.execution(&execution);
        if shown["status"] == "pending" {
            self.post("/api/executions/start", &json!({"run_id": run["run_id"]})).expect(200);
            shown = self.execution(&execution);
        }
        if shown["status"] == "waiting_approval_to_start" {
            self.post(&at("approve-start"), &json!({})).expect(200);
        }
        let shown = self.post(&at("submit"), &json!({"fields": {"answer": answer}})).expect(200);
        if shown["status"] == "waiting_approval_to_complete" {
            let digest = &shown["waiting_for"]["digest"];
            self.post(&at("approve-complete"), &json!({"digest": digest})).expect(200);
        }
        execution
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn binary(folder: &Path) -> Command {
    environment(Command::new(env!("CARGO_BIN_EXE_holdpoint")), folder)
}

fn environment(mut command: Command, folder: &Path) -> Command {
    command.env_clear().env("HOLDPOINT_HOME", folder.join("home")).env("USER", "ann").current_dir(folder);
    command.envs(std::env::var_os(VARIABLE).map(|bug| (VARIABLE, bug)));
    command
}

fn launch(folder: &Path, variables: &[(String, String)]) -> (Child, String) {
    let (process, address, _) = launch_with(folder, "serve --port 0 --json", variables);
    (process, address)
}

fn launch_with(folder: &Path, arguments: &str, variables: &[(String, String)]) -> (Child, String, Value) {
    let said = File::options().create(true).append(true).open(folder.join("said")).expect("a file");
    // A shell that would let everybody read everything, as some do.
    let serve = format!(r#"umask 000; exec "$0" {arguments}"#);
    let mut process = environment(Command::new("/bin/sh"), folder)
        .args(["-c", &serve, env!("CARGO_BIN_EXE_holdpoint")])
        .env("HOLDPOINT_LOGGING__LOG_LEVEL", "TRACE")
        .env("ANTHROPIC_API_KEY", CANARY)
        .env("TMPDIR", folder.join("tmp"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn()
        .expect("the binary runs");
    let mut lines = BufReader::new(process.stdout.take().expect("piped")).lines();
    let line = lines.next().expect("it says where it listens").expect("readable");
    let told: Value = serde_json::from_str(&line).expect("JSON");
    let address = told["listening"].as_str().expect("an address").trim_start_matches("http://").to_owned();
    (process, address, told)
}

fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    let headers = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = &bytes[end + 4..];
    let chunked = headers.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_vec() };
    Answer { status, headers, body }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16).expect("a size");
        if size == 0 {
            break;
        }
        all.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
    }
    all
}

/// An id as text.
#[track_caller]
pub fn id(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no id: {value}")).to_owned()
}

/// A checkpoint with one field that becomes an artifact called `notes`.
pub fn form(name: &str) -> Value {
    json!({
        "checkpoint_name": name,
        "checkpoint_description": "Says something",
        "inputs": {"include_previous_version": true, "include_checkpoint_outputs": []},
        "execution": {
            "mode": "human_only",
            "human_only_config": {
                "instructions": "Fill it in",
                "input_fields": [
                    {"name": "answer", "type": "text", "label": "Answer", "required": true},
                ],
                "save_as_artifact": true,
                "artifact_name": "notes",
                "artifact_format": "json",
            },
            "retry_config": {"max_auto_retries": 0, "on_failure": "pause_pipeline"},
            "timeout_config": {"enabled": false},
        },
        "human_interaction": {
            "requires_approval_to_start": true,
            "requires_approval_to_complete": true,
            "max_revision_iterations": 2,
        },
        "output": {"artifacts": [], "validation": {"enabled": false}},
    })
}

/// All files below a folder, with their paths from there, sorted.
pub fn files(folder: &Path) -> Vec<String> {
    fn walk(root: &Path, folder: &Path, all: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.expect("readable").path();
            if path.is_dir() && !path.is_symlink() {
                walk(root, &path, all);
            } else {
                all.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned());
            }
        }
    }
    let mut all = Vec::new();
    walk(folder, folder, &mut all);
    all.sort();
    all
}

/// A file that holds JSON.
#[track_caller]
pub fn json_file(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
