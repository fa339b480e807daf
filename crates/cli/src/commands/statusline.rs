//! The help of `leftoff statusline`. The command runs before any arguments are parsed: see `hooks/statusline.rs`.

use crate::commands::{Outcome, Run};
use crate::globals::Globals;

/// Print one line for an agent's status bar
///
/// Shows title, phase, progress and open requirements. Reads Claude Code's status line JSON on stdin, and always exits
/// with code 0; without a session, prints nothing. In `.claude/settings.json`: `"statusLine": {"type": "command",
/// "command": "leftoff statusline"}`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  echo '{}' | leftoff statusline")]
pub struct Statusline {}

impl Run for Statusline {
    fn run(self, _globals: &Globals) -> Outcome {
        Ok(crate::hooks::statusline::run())
    }
}
