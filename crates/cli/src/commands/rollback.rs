//! `leftoff rollback`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::Request;
use engine::words::phase_called;

/// Go back to an earlier phase
///
/// That phase and all later ones are open again; their proof stays in the history.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff rollback plan --reason \"the API changed\"")]
pub struct Rollback {
    /// The phase to go back to, by id or number
    phase: String,
    /// The reason for going back; stored in the history
    #[arg(long)]
    reason: Option<String>,
}

impl Run for Rollback {
    fn run(self, globals: &Globals) -> Outcome {
        let request = Request::RollBack { phase: self.phase, reason: self.reason };
        let answer = globals.command()?.execute(request)?;
        let phase = &answer.view.current_phase;
        answered(&format!("back to {}", phase_called(phase.number, &phase.id)), &answer, globals)
    }
}
