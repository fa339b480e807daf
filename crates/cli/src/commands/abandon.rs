//! `leftoff abandon`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Give the session up; its history stays
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff abandon --reason \"the feature was dropped\"")]
pub struct Abandon {
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

impl Run for Abandon {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.abandon(self.reason.as_deref())?;
        answered("given up", &answer, globals)
    }
}
