//! `leftoff repair`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use std::process::ExitCode;

/// Mend the files of sessions that other tools keep: write again what is missing, stale or damaged
///
/// What cannot be read is set aside in .leftoff/aside and written anew: from the log, else from the version before, else from the other files of the session. Nothing is deleted, and a second time changes nothing. `leftoff doctor` says what is wrong and touches nothing.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff doctor\n  leftoff repair\n  leftoff repair --session 2026-01-31-feature-x"
)]
pub struct Repair {}

impl Run for Repair {
    fn run(self, globals: &Globals) -> Outcome {
        let mended = engine::repair(globals.options.clone())?;
        let out = globals.out();
        let failed = mended.iter().filter(|session| session.failed.is_some()).count();
        let code = if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        if globals.json {
            out.json(&serde_json::json!({ "mended": mended }));
            return Ok(code);
        }
        for session in &mended {
            if let Some(why) = &session.failed {
                out.text(&format!("{}: not mended: {why}", session.session_id));
                continue;
            }
            out.text(&format!("{}: mended", session.session_id));
            for line in &session.done {
                out.text(&format!("  {line}"));
            }
            ui::session::warn(&session.warnings, &out);
        }
        if mended.is_empty() {
            out.say("nothing was to be mended");
        }
        Ok(code)
    }
}
