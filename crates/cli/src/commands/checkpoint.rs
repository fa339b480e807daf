//! `leftoff checkpoint`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Give this moment a name, to come back to or to compare with
///
/// Nothing is copied: the history holds every state, and the name stands for one of them. Files are not part of it; use git for those.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff checkpoint -m \"before the rewrite\"\n  leftoff undo --to \"before the rewrite\"\n  leftoff diff \"before the rewrite\""
)]
pub struct Checkpoint {
    /// Its name [default: the phase and the time]
    #[arg(short = 'm', long = "name", value_name = "NAME")]
    name: Option<String>,
}

impl Run for Checkpoint {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.checkpoint(self.name.as_deref())?;
        let done = format!("checkpoint at version {}", answer.view.version);
        answered(&done, &answer, globals)
    }
}
