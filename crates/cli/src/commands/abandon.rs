//! `leftoff abandon`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Give the session up; its history stays
///
/// It is then out of the way of `list` and `resume`; `leftoff reopen` takes it up again. To stop for a while use `leftoff pause`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff abandon --reason \"the feature was dropped\"")]
pub struct Abandon {
    /// Why it is given up; kept in the history
    #[arg(long)]
    reason: Option<String>,
}

impl Run for Abandon {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.abandon(self.reason.as_deref())?;
        answered("given up", &answer, globals)
    }
}
