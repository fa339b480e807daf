//! The help of `leftoff hook`. The hook itself runs before any arguments are parsed: see `hooks`.

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;

/// Answer an agent's hook
///
/// Reads the event as JSON on stdin and answers on stdout in the agent's protocol. Always exits with code 0: an error
/// in leftoff never blocks an agent. The agent gets the brief when it starts and after a compaction, and other people's
/// changes with each prompt; it is stopped where a requirement or the workflow demands that. Touched files, executed
/// commands and the agent's last words are recorded for the brief. `leftoff init --agent NAME` installs the hook.
/// `claude`, `codex`, `gemini` and `opencode` are tested with the real agents; `cursor` and `copilot` are experimental:
/// written from their documentation.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff hook claude < event.json\n  leftoff hook copilot preToolUse < event.json"
)]
pub struct Hook {
    /// The agent: claude, codex, gemini, opencode; experimental: cursor, copilot
    agent: String,

    /// The event's name, if the event itself does not contain it (copilot)
    event: Option<String>,
}

impl Run for Hook {
    fn run(self, _globals: &Globals) -> Outcome {
        // A hook never gets here, because it runs before parsing. A request for help was already answered by the
        // parser.
        let event = self.event.map(|event| format!(" {event}")).unwrap_or_default();
        let message = format!("hook {}{event} takes no options", self.agent);
        Err(Failure::wrong_usage(message, "use: leftoff hook claude"))
    }
}
