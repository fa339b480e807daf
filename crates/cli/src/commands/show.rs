//! `leftoff show`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use std::process::ExitCode;

/// A session with its whole history: every attempt, every note
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff show\n  leftoff show k3v9 --json")]
pub struct Show {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
}

impl Run for Show {
    fn run(self, globals: &Globals) -> Outcome {
        let engine = globals.query()?;
        let view = engine.show(self.id.as_deref())?;
        let out = globals.out();
        if globals.json {
            out.json(&view);
        } else {
            ui::session::warn(&view.warnings, &out);
            out.text(&ui::session::whole(&view, &out));
        }
        Ok(ExitCode::SUCCESS)
    }
}
