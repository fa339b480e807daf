//! An HTTP server, and a client that writes every byte of its requests itself.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;
use testkit::Sandbox;

pub struct WebServer {
    child: Child,
    pub address: SocketAddr,
}

impl WebServer {
    pub fn start(sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = sandbox.command(["mcp", "--http"].iter().chain(arguments));
        command.envs(environment.iter().copied());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
        errors.read_line(&mut line).expect("it says where it listens");
        let address = line.trim().trim_start_matches("listening at http://").trim_end_matches("/mcp");
        let address: SocketAddr = address.parse().unwrap_or_else(|_| panic!("an address: {line:?}"));
        Self { child, address }
    }

    /// Sends a request with these headers in addition to the common ones. A Host in them replaces the usual
    /// one.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = self.open(method, path, headers, body);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        Reply::parse(&String::from_utf8_lossy(&answer))
    }

    /// Sends a request like `send`. The answer can be read while it arrives.
    pub fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let port = self.address.port();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        let usual = [
            ("host", format!("127.0.0.1:{port}")),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        for (name, value) in &usual {
            if !headers.iter().any(|(given, _)| given == name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("it reads");
        stream
    }

    pub fn post(&self, headers: &[(&str, &str)], body: &Value) -> Reply {
        self.send("POST", "/mcp", headers, &body.to_string())
    }

    /// Everything that the server printed on stdout, after it ended.
    pub fn end(mut self) -> String {
        self.child.kill().expect("killed");
        let mut output = String::new();
        self.child.stdout.take().expect("a pipe").read_to_string(&mut output).expect("text");
        output
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The last JSON document in an answer: its body, or the last event of a stream.
    pub fn json(&self) -> Value {
        let lines = self.body.lines().rev().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let mut documents =
            lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object);
        documents.next().unwrap_or_else(|| panic!("no JSON in {self:?}"))
    }
}
