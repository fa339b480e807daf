//! `leftoff status`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui::session;
use engine::Current;
use std::process::ExitCode;

/// Where the current session stands, in a screenful
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  leftoff status\n  leftoff status --json | jq .progress.percent")]
pub struct Status {}

impl Run for Status {
    fn run(self, globals: &Globals) -> Outcome {
        let current = globals.query()?.status()?;
        let out = globals.out();
        if globals.json {
            out.json(&current)?;
            return Ok(ExitCode::SUCCESS);
        }
        match current {
            Current::Session(view) => {
                session::warn(&view.warnings, &out);
                out.text(&session::status(&view, &out))?;
            }
            Current::Nothing(nothing) => {
                session::warn(&nothing.warnings, &out);
                out.text(&session::next(&nothing.next, &out))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
