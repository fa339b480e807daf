//! The two ways in which an agent reads the next step and takes it: command lines, and MCP.

use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use testkit::{Sandbox, words_of};

pub const AGENT: &str = "claude:aaaa0000-walker";

/// The result of a command that the agent typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Done,
    /// The command was used wrongly, for example because it contains a placeholder.
    Refused,
    GateFailed,
    NeedsAPerson,
    /// The command was refused for another reason, and changed nothing.
    Other,
}

pub trait Door {
    fn brief(&self, sandbox: &Sandbox) -> String;
    /// The command of the next step.
    fn next(&self, sandbox: &Sandbox) -> Option<String>;
    /// Runs a command; `None` if this way has no such command.
    fn enter(&self, sandbox: &Sandbox, line: &str) -> Option<Said>;
}

/// An agent that types commands as printed.
pub struct CommandLine;

impl Door for CommandLine {
    fn brief(&self, sandbox: &Sandbox) -> String {
        sandbox.run_as(AGENT, ["brief", "--format", "markdown"]).ok().stdout
    }

    fn next(&self, sandbox: &Sandbox) -> Option<String> {
        let next = sandbox.run_as(AGENT, ["next", "--json"]).ok().json();
        next["command"].as_str().map(ToOwned::to_owned)
    }

    fn enter(&self, sandbox: &Sandbox, line: &str) -> Option<Said> {
        let ran = sandbox.run_as(AGENT, words_of(line).into_iter().skip(1));
        Some(match ran.code {
            0 => Said::Done,
            2 => Said::Refused,
            5 => Said::GateFailed,
            6 => Said::NeedsAPerson,
            3 | 4 => Said::Other,
            other => panic!("{line} ended with {other}:\n{}{}", ran.stdout, ran.stderr),
        })
    }
}

/// An agent that uses one MCP server until the end of the walk.
pub struct Server(RefCell<Pipes>);

struct Pipes {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Server {
    pub fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(["mcp"]);
        command.env("LEFTOFF_AGENT_SESSION", AGENT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("the server starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let server = Self(RefCell::new(Pipes { child, input, output, last_id: 0 }));
        let client = json!({ "name": "walker", "version": "1" });
        server.request(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        server.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn say(&self, message: &Value) {
        let mut pipes = self.0.borrow_mut();
        writeln!(pipes.input, "{message}").expect("the server reads");
        pipes.input.flush().expect("the server reads");
    }

    fn request(&self, method: &str, params: &Value) -> Value {
        let id = {
            let mut pipes = self.0.borrow_mut();
            pipes.last_id += 1;
            pipes.last_id
        };
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            let read = self.0.borrow_mut().output.read_line(&mut line).expect("the server answers");
            assert!(read > 0, "the server ended at {method}");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.borrow_mut().child.kill();
        let _ = self.0.borrow_mut().child.wait();
    }
}

impl Door for Server {
    fn brief(&self, _: &Sandbox) -> String {
        let result = self.call("brief", &json!({}));
        result["structuredContent"]["brief"].as_str().expect("a brief").to_owned()
    }

    fn next(&self, _: &Sandbox) -> Option<String> {
        let result = self.call("status", &json!({}));
        result["structuredContent"]["next"]["command"].as_str().map(ToOwned::to_owned)
    }

    fn enter(&self, _: &Sandbox, line: &str) -> Option<Said> {
        let (tool, arguments) = call_of(line)?;
        let result = self.call(tool, &arguments);
        if result["isError"] == false && result["structuredContent"]["outcome"] != "gate_failed" {
            return Some(Said::Done);
        }
        let code = result["structuredContent"]["error"]["exit_code"].as_i64();
        let kind = result["structuredContent"]["error"]["kind"].as_str().unwrap_or_default().to_owned();
        Some(match (result["structuredContent"]["outcome"].as_str(), code) {
            (Some("gate_failed"), _) | (_, Some(5)) => Said::GateFailed,
            (_, Some(2)) => Said::Refused,
            (_, Some(6)) => Said::NeedsAPerson,
            _ if kind == "wrong_usage" || kind == "usage" => Said::Refused,
            _ if kind.contains("person") => Said::NeedsAPerson,
            _ => Said::Other,
        })
    }
}

/// The call of a tool that has the same effect as a printed command.
fn call_of(line: &str) -> Option<(&'static str, Value)> {
    let words = words_of(line);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let session = words.windows(2).find(|pair| pair[0] == "--session").map(|pair| pair[1]);
    let (tool, mut arguments) = match words.as_slice() {
        ["advance", "--phase", phase, rest @ ..] => {
            let mut evidence = Map::new();
            for pair in rest.windows(2).filter(|pair| pair[0] == "--evidence") {
                let (name, value) = pair[1].split_once('=')?;
                evidence
                    .insert(name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| json!(value)));
            }
            ("advance", json!({ "phase": phase, "evidence": evidence }))
        }
        ["item", action @ ("claim" | "done"), id, ..] => ("item", json!({ "action": action, "id": id })),
        ["item", "list", ..] => ("item", json!({ "action": "list" })),
        ["note", "resolve", number, ..] => ("note", json!({ "resolve": number.parse::<u32>().ok()? })),
        ["resume", id, ..] => ("control", json!({ "action": "resume", "session": id })),
        ["close", ..] => ("control", json!({ "action": "close" })),
        _ => return None,
    };
    if let Some(session) = session {
        arguments["session"] = json!(session);
    }
    Some((tool, arguments))
}
