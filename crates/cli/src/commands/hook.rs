//! `leftoff hook`, as its help shows it. The hook itself runs before any parsing: see `hooks`.

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;

/// Answer an agent's hook: event as JSON on stdin, answer in the agent's protocol on stdout
///
/// Ends with exit code 0 whatever happens to leftoff itself: a hook of ours never blocks an agent because we are broken. The agent is told where the work was left off when it begins and after a compaction, what others changed when a person speaks to it, and is held where a requirement or the workflow asks for it; files it touched, commands it ran and its last words are kept for the brief. `leftoff init --agent NAME` wires it. `claude` and `codex` are tried with the real agents; `gemini`, `cursor`, `copilot` and `opencode` are experimental: written from their documentation.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff hook claude < event.json\n  leftoff hook copilot preToolUse < event.json"
)]
pub struct Hook {
    /// Agent whose hook this is: claude, codex; experimental: gemini, cursor, copilot, opencode
    agent: String,

    /// Name of the event, where the agent does not say it in the event itself (copilot)
    event: Option<String>,
}

impl Run for Hook {
    fn run(self, _globals: &Globals) -> Outcome {
        // Only a request for help comes this far, and help has been answered by the parser.
        let event = self.event.map(|event| format!(" {event}")).unwrap_or_default();
        let message = format!("hook {}{event} takes no options", self.agent);
        Err(Failure::wrong_usage(message, "use: leftoff hook claude"))
    }
}
