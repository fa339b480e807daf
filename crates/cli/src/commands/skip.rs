//! `leftoff skip`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::Request;

/// Skip the current phase, with a reason
///
/// A skipped phase counts as skipped, never as done. Only a person can skip a phase that has a gate, at a terminal;
/// `[policy] skip = "anyone"` in .leftoff/config.toml allows everybody to skip, once a person has accepted that policy
/// on this machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff skip --reason \"no user-visible change, nothing to document\"")]
pub struct Skip {
    /// The reason; stored in the history
    #[arg(long)]
    reason: String,
}

impl Run for Skip {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.execute(Request::Skip { reason: self.reason })?;
        answered("phase skipped", &answer, globals)
    }
}
