//! `leftoff history`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use std::process::ExitCode;

/// A session's history, grouped by run and phase
///
/// Shows runs, phases with every attempt, pauses, revisions, checkpoints, and who worked on the session. `leftoff log`
/// lists every event in order.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff history\n  leftoff history k3v9 --json")]
pub struct HistoryCommand {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
}

impl Run for HistoryCommand {
    fn run(self, globals: &Globals) -> Outcome {
        let engine = globals.query()?;
        let history = engine.sessions().log(self.id.as_deref(), 0)?.history(engine.now())?;
        let out = globals.out();
        if globals.json {
            out.json(&history)?;
        } else {
            out.text(&ui::history::text(&history, &out))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
