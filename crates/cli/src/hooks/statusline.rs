//! The words in an agent's status bar, for the folder and the conversation in the JSON that the agent gives. Never
//! fails: if there is nothing to show, the line is empty.

use crate::hooks::{identity, input};
use engine::hooks::{StatusLine, status_line};
use engine::words::{duration, one_line};
use model::status::Status;
use serde_json::Value;
use std::io::IsTerminal;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;

pub fn run() -> ExitCode {
    std::panic::set_hook(Box::new(|_| {}));
    let line = std::panic::catch_unwind(AssertUnwindSafe(line)).ok().flatten();
    if let Some(line) = line {
        let _ = crate::ui::Out::plain().text(&line);
    }
    ExitCode::SUCCESS
}

fn line() -> Option<String> {
    let given: Value = if std::io::stdin().is_terminal() {
        Value::Null
    } else {
        serde_json::from_slice(&input().ok()?).unwrap_or(Value::Null)
    };
    let folder = ["/workspace/current_dir", "/cwd", "/workspace/project_dir"]
        .iter()
        .find_map(|path| given.pointer(path)?.as_str().map(PathBuf::from))
        .or_else(|| std::env::current_dir().ok())?;
    let agent = given.get("session_id").and_then(Value::as_str).and_then(|id| identity("claude", id).ok());
    status_line(&folder, agent).ok()?.map(|line| words(&line))
}

fn words(line: &StatusLine) -> String {
    let mut parts = vec![
        one_line(&line.title, 40),
        format!("{} {}/{}", line.phase, line.number, line.last),
        format!("{} %", line.percent),
    ];
    if line.items > 0 {
        parts.push(format!("{} of {} items", line.items_done, line.items));
    }
    parts.extend(line.time_in_phase_seconds.map(duration));
    match line.status {
        Status::Active | Status::Completed | Status::Abandoned => {}
        Status::Failed => parts.push("failed".to_owned()),
        Status::Paused => parts.push("paused".to_owned()),
        Status::CheckpointFailed => parts.push("gate did not pass".to_owned()),
        Status::PossiblyStalled => parts.push("longer than usual".to_owned()),
    }
    match line.open_requirements {
        0 => {}
        1 => parts.push("1 requirement open".to_owned()),
        open => parts.push(format!("{open} requirements open")),
    }
    parts.join(" · ")
}
