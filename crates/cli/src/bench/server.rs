//! A server process of our own, and a client on one connection that stays open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::BenchError;

/// A server on a home, ended when dropped.
pub struct Server {
    child: Child,
    address: String,
    token: String,
    connection: Option<BufReader<TcpStream>>,
}

impl Server {
    /// Starts it; back when it says where it listens.
    pub fn start(home: &Path) -> Result<Self, BenchError> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", "--port", "0", "--json", "--home"])
            .arg(home)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .stdin(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line)?;
        let address = told["listening"].as_str().ok_or("the server did not say where it listens")?;
        let address = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let token = std::fs::read_to_string(home.join("keys/admin.token"))?.trim().to_owned();
        Ok(Self { child, address, token, connection: None })
    }

    /// Looks at something.
    pub fn get(&mut self, path: &str) -> Result<Value, BenchError> {
        self.send("GET", path, "application/json", b"")
    }

    /// Wants something.
    pub fn post(&mut self, path: &str, body: &Value) -> Result<Value, BenchError> {
        self.send("POST", path, "application/json", body.to_string().as_bytes())
    }

    /// Sends a request and reads its answer.
    pub fn send(&mut self, method: &str, path: &str, kind: &str, body: &[u8]) -> Result<Value, BenchError> {
        self.head(method, path, kind, body.len() as u64)?.write_all(body)?;
        let mut bytes = Vec::new();
        let status = self.answer(&mut bytes)?;
        if !(200..300).contains(&status) {
            return Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&bytes)).into());
        }
        Ok(if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes)? })
    }

    /// Begins a request; its body is to be written next.
    pub fn head(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        length: u64,
    ) -> Result<&mut TcpStream, BenchError> {
        let Self { address, token, .. } = self;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        if self.connection.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_mins(2)))?;
            self.connection = Some(BufReader::new(stream));
        }
        let stream = self.connection.as_mut().ok_or("no connection")?.get_mut();
        stream.write_all(head.as_bytes())?;
        Ok(stream)
    }

    /// Reads an answer; its status.
    pub fn answer(&mut self, into: &mut impl Write) -> Result<u16, BenchError> {
        let reader = self.connection.as_mut().ok_or("no connection")?;
        let (mut status, mut length) = (0, 0u64);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end();
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest.get(..3).unwrap_or_default().parse()?;
            } else if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse()?;
            } else if line.is_empty() {
                break;
            }
        }
        std::io::copy(&mut reader.take(length), into)?;
        Ok(status)
    }

    /// Resident memory in bytes: now, and at most.
    pub fn memory(&self) -> Result<(u64, u64), BenchError> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let find = |name: &str| -> Result<u64, BenchError> {
            let line = status.lines().find(|line| line.starts_with(name)).ok_or("no memory figure")?;
            let kib: u64 = line.split_whitespace().nth(1).ok_or("no memory figure")?.parse()?;
            Ok(kib * 1024)
        };
        Ok((find("VmRSS:")?, find("VmHWM:")?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
