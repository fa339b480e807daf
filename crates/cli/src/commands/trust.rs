//! `leftoff trust`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::one_line;
use std::process::ExitCode;

/// Let a workflow's commands run here, for you, on this machine
///
/// Shows the exact text of every command first. What you trust is recorded outside the repository: a clone of it runs nothing on another machine, and a command that is changed has to be trusted again. A person's to do, at a terminal.
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
        for entry in &commands {
            let state = if entry.trusted { " (trusted)" } else { "" };
            out.say(&format!("{}/{}{state}: {}", entry.phase, entry.check, one_line(&entry.command, 2000)));
        }
        if commands.iter().any(|entry| !entry.trusted) {
            let question = "Let these commands run on this machine?";
            if globals.options.person_present && !ui::ask::yes(question, globals) {
                return Err(Failure::wrong_usage(
                    "nothing was trusted",
                    "look at the workflow: leftoff workflow show",
                ));
            }
            engine.trust(&commands)?;
        }
        let commands = engine.commands_of(&self.workflow)?;
        if globals.json {
            out.json(&serde_json::json!({ "commands": commands }));
        } else {
            let count = match commands.len() {
                1 => "1 command of".to_owned(),
                count => format!("{count} commands of"),
            };
            out.text(&format!("trusted here: {count} {}", self.workflow));
        }
        Ok(ExitCode::SUCCESS)
    }
}
