//! A client over pipes, for either version of the protocol. It waits for answers, and never for a fixed time.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use testkit::Sandbox;

/// The maximum time that a client waits. Even on a busy machine, no answer takes so long.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Era {
    /// Version 2025-11-25: a handshake, then requests.
    Handshake,
    /// Version 2026-07-28: every request is self-contained.
    Stateless,
}

pub const BOTH: [Era; 2] = [Era::Handshake, Era::Stateless];

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Answers and notifications that arrived while the client was waiting for another answer.
    waiting: Vec<Value>,
    era: Era,
    last_id: u64,
}

impl Client {
    pub fn start(sandbox: &Sandbox, era: Era) -> Self {
        Self::start_as(sandbox, era, &[])
    }

    pub fn start_as(sandbox: &Sandbox, era: Era, environment: &[(&str, &str)]) -> Self {
        let mut command = sandbox.command(["mcp"]);
        command.envs(environment.iter().copied());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (told, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut client = Self { child, input, lines, waiting: Vec::new(), era, last_id: 0 };
        if era == Era::Handshake {
            let answer = client.request("initialize", handshake());
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
            client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    /// Sends one line as it is.
    pub fn raw(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("still open");
        input.write_all(line).expect("the server reads");
        input.write_all(b"\n").expect("the server reads");
        input.flush().expect("the server reads");
    }

    pub fn say(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    /// Sends a request without waiting for its answer. Returns the id of the request.
    pub fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.era == Era::Stateless {
            params["_meta"] = meta();
        }
        self.say(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer_to(&json!(id))
    }

    /// A tool's result.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The answer of a successful tool call.
    #[track_caller]
    pub fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        result["structuredContent"].clone()
    }

    /// The error of a tool call.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert_eq!(result["structuredContent"]["outcome"], "error", "{result}");
        let error = result["structuredContent"]["error"].clone();
        let message = error["message"].as_str().expect("a message");
        assert!(result["content"][0]["text"].as_str().expect("a text").contains(message), "{result}");
        assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{error}");
        error
    }

    pub fn answer_to(&mut self, id: &Value) -> Value {
        self.wait_for(|message| message.get("id") == Some(id) && message.get("method").is_none())
    }

    pub fn notification(&mut self, method: &str) -> Value {
        self.wait_for(|message| message["method"] == method)
    }

    /// The next message that is not the answer to a request. Such a message is about unreadable input.
    pub fn answer_to_nobody(&mut self) -> Value {
        self.wait_for(|message| {
            message.get("id").is_none_or(Value::is_null) && message.get("error").is_some()
        })
    }

    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.waiting.iter().position(&is_it) {
            return self.waiting.remove(place);
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
            let message: Value = serde_json::from_str(&line).expect("nothing but protocol on stdout");
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if is_it(&message) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// Closes the input. Returns all further messages, and the exit code.
    pub fn close(mut self) -> (Vec<Value>, i32) {
        drop(self.input.take());
        let mut rest = std::mem::take(&mut self.waiting);
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(serde_json::from_str(&line).expect("nothing but protocol on stdout"));
        }
        let ended = self.child.wait().expect("it ends");
        (rest, ended.code().unwrap_or(-1))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn handshake() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "Test Client", "version": "1.0"}
    })
}

pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "Test Client", "version": "1.0"}
    })
}
