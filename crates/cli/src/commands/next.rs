//! `leftoff next`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use engine::{Current, words::one_line};
use std::process::ExitCode;

/// The next step in one line, and the command for it
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  leftoff next\n  leftoff next --json | jq -r .command")]
pub struct Next {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
}

impl Run for Next {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id);
        let (id, next) = match globals.query()?.sessions().status()? {
            Current::Session(view) => (Some(view.session_id), view.next),
            Current::Nothing(nothing) => (None, nothing.next),
        };
        let out = globals.out();
        if globals.json {
            let (summary, command) = (next.summary, next.command);
            out.json(&serde_json::json!({ "session_id": id, "summary": summary, "command": command }))?;
        } else {
            let command = next.command.map(|command| format!("\n{command}")).unwrap_or_default();
            out.text(&format!("{}{command}", one_line(&next.summary.to_string(), 400)))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
