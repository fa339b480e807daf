//! `leftoff close`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Complete the session
///
/// Refused (exit code 4) while phases are unfinished, unless `--force` is given: then the session is completed at the percentage that was reached. Only a person can close with `--force`, at a terminal. Completing the last phase of most workflows closes the session by itself.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff close\n  leftoff close --force")]
pub struct Close {
    /// Close the session although phases are unfinished
    #[arg(long)]
    force: bool,
}

impl Run for Close {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.close(self.force)?;
        let done = format!("completed, {}", answer.view.how_far());
        answered(&done, &answer, globals)
    }
}
