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
        // Named here or with --session: either way the commands that are shown must name it too.
        let mut globals = globals.clone();
        globals.options.session = self.id.or(globals.options.session);
        let view = globals.query()?.show(None)?;
        let out = globals.out();
        if globals.json {
            out.json(&view)?;
        } else {
            ui::session::warn(&view.warnings, &out);
            out.text(&ui::session::whole(&view, &out))?;
            if let Some(words) = &view.own_words {
                out.text(&format!("\n{words}"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
