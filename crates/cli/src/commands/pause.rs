//! `leftoff pause`

use crate::commands::{Outcome, Run, answered_unless};
use crate::globals::Globals;
use engine::words::phase_called;
use engine::{PauseRequest, Request};
use std::path::PathBuf;

/// Pause the session; paused time is not working time
///
/// Pausing a paused session changes only its reason, and not the start of the pause.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff pause --reason \"waiting for the certificate\" --context \"half of the refresh tests\"\n  leftoff pause --save docs/draft.md notes.md"
)]
pub struct Pause {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Why work stops; shown when the session is resumed
    #[arg(long)]
    reason: Option<String>,
    /// What you are in the middle of; shown when the session is resumed
    #[arg(long)]
    context: Option<String>,
    /// A draft to save as it is now, by its path; may be repeated
    #[arg(long, value_name = "FILE", num_args = 1..)]
    save: Vec<PathBuf>,
}

impl Run for Pause {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id);
        let request = PauseRequest { reason: self.reason, context: self.context, drafts: self.save };
        let answer = globals.command()?.execute(Request::Pause(request))?;
        let phase = &answer.view.current_phase;
        let done = format!("paused in {}", phase_called(phase.number, &phase.id));
        answered_unless(&format!("already {done}"), &done, &answer, globals)
    }
}
