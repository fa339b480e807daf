//! Agents as separate processes. Each is a shell under another name that runs the given commands.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use testkit::{Ran, Sandbox};

/// An agent process. It ends when this value is dropped.
pub struct Agent {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    identity: Option<String>,
    marker: Option<&'static str>,
}

impl Agent {
    /// Creates the agent's program as a link. A copy might still be open in a process that another test
    /// starts.
    pub fn new(sandbox: &Sandbox, name: &str) -> Self {
        let program = sandbox.folder().join(name);
        std::os::unix::fs::symlink("/bin/sh", &program).expect("a shell under the agent's name");
        let mut process = Command::new(program)
            .arg0("sh")
            .current_dir(sandbox.project())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, orders, answers, identity: None, marker: None }
    }

    /// Sets `LEFTOFF_AGENT_SESSION` for the agent's later commands.
    pub fn export(&mut self, identity: &str) {
        self.identity = Some(identity.to_owned());
    }

    /// For the agent's later commands, sets only the variable by which agents of one kind are recognised.
    pub fn mark(&mut self, variable: &'static str) {
        self.marker = Some(variable);
    }

    pub fn run(&mut self, sandbox: &Sandbox, arguments: &[&str]) -> Ran {
        self.run_with_input(sandbox, arguments, "")
    }

    /// Runs the program as a child of this agent, in the sandbox's environment.
    pub fn run_with_input(&mut self, sandbox: &Sandbox, arguments: &[&str], input: &str) -> Ran {
        let file = |name: &str| sandbox.folder().join(format!("{name}-{}", self.process.id()));
        let (stdin, stdout, stderr) = (file("stdin"), file("stdout"), file("stderr"));
        std::fs::write(&stdin, input).expect("the input");
        let mut command = sandbox.command(arguments);
        if let Some(identity) = &self.identity {
            command.env("LEFTOFF_AGENT_SESSION", identity);
        }
        if let Some(marker) = self.marker {
            command.env(marker, "1");
        }
        let mut line = String::new();
        for (name, value) in command.get_envs() {
            let value = value.unwrap_or_default().to_string_lossy();
            line.push_str(&format!("{}={} ", name.to_string_lossy(), quoted(&value)));
        }
        for word in std::iter::once(command.get_program()).chain(command.get_args()) {
            line.push_str(&format!("{} ", quoted(&word.to_string_lossy())));
        }
        for (sign, path) in [("<", &stdin), (">", &stdout), ("2>", &stderr)] {
            line.push_str(&format!("{sign}{} ", quoted(&path.to_string_lossy())));
        }
        let orders = self.orders.as_mut().expect("a living agent");
        writeln!(orders, "{line}; echo $?").expect("the agent listens");
        let mut code = String::new();
        self.answers.read_line(&mut code).expect("the agent answers");
        Ran {
            code: code.trim().parse().expect("an exit code"),
            stdout: std::fs::read_to_string(stdout).expect("its output"),
            stderr: std::fs::read_to_string(stderr).expect("its talk"),
        }
    }

    /// Sends the event SessionStart from the agent's process, as Claude Code does.
    pub fn hook(&mut self, sandbox: &Sandbox, agent_session: &str, source: &str) -> Ran {
        self.run_with_input(sandbox, &["hook", "claude"], &session_start(sandbox, agent_session, source))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // A shell ends when its input is closed.
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}

pub fn session_start(sandbox: &Sandbox, agent_session: &str, source: &str) -> String {
    event(sandbox, agent_session, &serde_json::json!({ "hook_event_name": "SessionStart", "source": source }))
}

/// An event of Claude Code, with the common fields.
pub fn event(sandbox: &Sandbox, agent_session: &str, fields: &serde_json::Value) -> String {
    let mut event = serde_json::json!({
        "session_id": agent_session,
        "transcript_path": "/home/dev/.claude/projects/p/t.jsonl",
        "cwd": sandbox.project(),
    });
    for (name, value) in fields.as_object().expect("an object") {
        event[name] = value.clone();
    }
    event.to_string()
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
