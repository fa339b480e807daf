//! `leftoff checkpoint`

use crate::commands::{Outcome, Run, answered_briefly};
use crate::globals::Globals;
use engine::Request;

/// Name the current state, to return to it or compare with it
///
/// Nothing is copied: the history contains every state, and the name refers to one of them. Files are not included; use
/// git for those.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff checkpoint -m \"before the rewrite\"\n  leftoff undo --to \"before the rewrite\"\n  leftoff diff \"before the rewrite\""
)]
pub struct Checkpoint {
    /// The name [default: the phase and the time]
    #[arg(short = 'm', long = "name", value_name = "NAME")]
    name: Option<String>,
}

impl Run for Checkpoint {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.execute(Request::Checkpoint { name: self.name })?;
        let done = format!("checkpoint at version {}", answer.view.version);
        answered_briefly(&done, &answer, globals)
    }
}
