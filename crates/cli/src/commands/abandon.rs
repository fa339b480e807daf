//! `leftoff abandon`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::Request;

/// Abandon the session; its history stays
///
/// An abandoned session no longer appears in `list` or `resume`. Its workspace is moved to .leftoff/archive,
/// never deleted; `leftoff reopen` restores it, files included. To stop for a while use `leftoff pause`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff abandon --reason \"the feature was dropped\"\n  leftoff abandon k3v9"
)]
pub struct Abandon {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// The reason; stored in the history
    #[arg(long)]
    reason: Option<String>,
}

impl Run for Abandon {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = globals.naming(self.id);
        let answer = globals.command()?.execute(Request::Abandon { session: None, reason: self.reason })?;
        answered("abandoned", &answer, &globals)
    }
}
