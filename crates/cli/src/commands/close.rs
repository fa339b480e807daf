//! `leftoff close`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Complete the session
///
/// Refused while work is unfinished, unless it is forced: then it is completed with the percentage that was reached.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff close\n  leftoff close --force")]
pub struct Close {
    /// Close it although work is unfinished
    #[arg(long)]
    force: bool,
}

impl Run for Close {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.close(self.force)?;
        let done = format!("completed, {} % done", answer.view.progress.percent);
        answered(&done, &answer, globals)
    }
}
