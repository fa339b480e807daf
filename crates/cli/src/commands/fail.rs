//! `leftoff fail`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::Request;

/// Mark the session as failed; `retry` or `resume` continues it
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff fail --error \"the build machine is gone\"")]
pub struct Fail {
    /// What went wrong
    #[arg(long)]
    error: String,
}

impl Run for Fail {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.execute(Request::Fail { error: self.error })?;
        answered("marked failed", &answer, globals)
    }
}
