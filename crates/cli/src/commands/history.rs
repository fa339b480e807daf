//! `leftoff history`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use std::process::ExitCode;

/// A session's life: runs, phases with every attempt, pauses, revisions, checkpoints, and who was there
///
/// Grouped for a person; `leftoff log` has every event in its order.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff history\n  leftoff history k3v9 --json")]
pub struct HistoryCommand {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
}

impl Run for HistoryCommand {
    fn run(self, globals: &Globals) -> Outcome {
        let history = globals.query()?.session_history(self.id.as_deref())?;
        let out = globals.out();
        if globals.json {
            out.json(&history)?;
        } else {
            out.text(&ui::history::text(&history, &out))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
