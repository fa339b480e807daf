//! `leftoff pause`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Pause the session; paused time is not working time
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff pause --reason \"waiting for the certificate\" --context \"half of the refresh tests\""
)]
pub struct Pause {
    /// Why work stops; told to whoever resumes
    #[arg(long)]
    reason: Option<String>,
    /// What you are in the middle of; told to whoever resumes
    #[arg(long)]
    context: Option<String>,
}

impl Run for Pause {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.pause(self.reason.as_deref(), self.context.as_deref())?;
        let phase = &answer.view.current_phase;
        let done = format!("paused in phase {} ({})", phase.number, phase.id);
        answered(&done, &answer, globals)
    }
}
