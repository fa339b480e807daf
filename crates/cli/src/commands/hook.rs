//! `leftoff hook`, as its help shows it. The hook itself runs before any parsing: see `hooks`.

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;

/// Answer an agent's hook: event as JSON on stdin, answer in the agent's protocol on stdout
///
/// Ends with exit code 0 whatever happens to leftoff itself: a hook of ours never blocks an agent because we are broken. `claude`: SessionStart binds the agent session and gives it the brief; every other event is answered with nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff hook claude < event.json")]
pub struct Hook {
    /// Agent whose hook this is: claude
    agent: String,
}

impl Run for Hook {
    fn run(self, _globals: &Globals) -> Outcome {
        // Only a request for help comes this far, and help has been answered by the parser.
        Err(Failure::wrong_usage(format!("hook {} takes no options", self.agent), "use: leftoff hook claude"))
    }
}
