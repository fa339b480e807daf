//! `leftoff abandon`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Give the session up; its history stays
///
/// It is then out of the way of `list` and `resume`, and its workspace is moved to .leftoff/archive, never deleted; `leftoff reopen` takes it up again, files and all. To stop for a while use `leftoff pause`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff abandon --reason \"the feature was dropped\"\n  leftoff abandon k3v9"
)]
pub struct Abandon {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
    /// Why it is given up; kept in the history
    #[arg(long)]
    reason: Option<String>,
}

impl Run for Abandon {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = globals.naming(self.id);
        let answer = globals.command()?.abandon(None, self.reason.as_deref())?;
        answered("given up", &answer, &globals)
    }
}
