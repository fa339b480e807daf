//! `leftoff trust`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::TrustedCommand;
use engine::words::exact_lines;
use std::process::ExitCode;

/// Let a workflow's commands run here, for you, on this machine
///
/// Shows the exact text of every command first: of the workflow as it is now, and of the definition that the current session began with. What you trust is recorded outside the repository: a clone of it runs nothing on another machine, and a command that is changed has to be trusted again. A person's to do, at a terminal.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff trust ship")]
pub struct Trust {
    /// The workflow whose commands may run
    workflow: String,
}

impl Run for Trust {
    fn run(self, globals: &Globals) -> Outcome {
        let engine = globals.query()?;
        let commands = engine.commands_of(&self.workflow)?;
        let out = globals.out();
        let is_new = commands.iter().any(|entry| !entry.trusted);
        let asks = is_new && globals.options.person_present && !globals.yes;
        for entry in &commands {
            // Nobody is asked about what was not shown, however quiet it is to be.
            if asks { out.raw_error(&shown(entry)) } else { out.say(&shown(entry)) }
        }
        if is_new {
            if asks && !ui::ask::yes("Let these commands run on this machine?", globals) {
                return Err(Failure::wrong_usage(
                    "nothing was trusted",
                    "look at the workflow: leftoff workflow show",
                ));
            }
            engine.trust(&commands)?;
        }
        let commands = engine.commands_of(&self.workflow)?;
        if globals.json {
            out.json(&serde_json::json!({ "commands": commands }))?;
        } else {
            let count = match commands.len() {
                1 => "1 command of".to_owned(),
                count => format!("{count} commands of"),
            };
            out.text(&format!("trusted here: {count} {}", self.workflow))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A command with every line of its text: what is trusted is exactly this.
fn shown(entry: &TrustedCommand) -> String {
    let state = if entry.trusted { " (trusted)" } else { "" };
    let whose = match &entry.session {
        Some(session) => format!(", as session {session} began with it"),
        None => String::new(),
    };
    let mut text = format!("{}/{}{whose}{state}:", entry.phase, entry.check);
    for line in exact_lines(&entry.command) {
        text.push_str("\n    ");
        text.push_str(&line);
    }
    text
}
