//! `leftoff switch`

use crate::commands::{Outcome, Run, answered_continuing};
use crate::globals::Globals;
use engine::Request;

/// Make another session the active one of this worktree
///
/// The previous session is paused. Switching to the active session changes nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff switch k3v9\n  leftoff switch 2")]
pub struct Switch {
    /// Session: its id, a prefix of it, or its number in `list`
    id: String,
}

impl Run for Switch {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = globals.naming(Some(self.id.clone()));
        let answer = globals.command()?.execute(Request::Switch { session: self.id })?;
        answered_continuing("is now active", &answer, &globals)
    }
}
