//! `leftoff pause`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::words::phase_called;
use std::path::PathBuf;

/// Pause the session; paused time is not working time
///
/// What is said about a session that is paused already takes the place of what was said before; the pause goes on from when it began.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff pause --reason \"waiting for the certificate\" --context \"half of the refresh tests\"\n  leftoff pause --save docs/draft.md notes.md"
)]
pub struct Pause {
    /// Why work stops; told to whoever resumes
    #[arg(long)]
    reason: Option<String>,
    /// What you are in the middle of; told to whoever resumes
    #[arg(long)]
    context: Option<String>,
    /// A draft to keep as it is now, by its path; may be repeated
    #[arg(long, value_name = "FILE", num_args = 1..)]
    save: Vec<PathBuf>,
}

impl Run for Pause {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.pause(self.reason.as_deref(), self.context.as_deref(), &self.save)?;
        let phase = &answer.view.current_phase;
        let done = format!("paused in {}", phase_called(phase.number, &phase.id));
        answered(&done, &answer, globals)
    }
}
