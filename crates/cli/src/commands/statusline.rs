//! `leftoff statusline`, as its help shows it. It runs before any parsing: see `hooks/statusline.rs`.

use crate::commands::{Outcome, Run};
use crate::globals::Globals;

/// One line for an agent's status bar: title, phase, progress, what is open
///
/// Reads the JSON that Claude Code gives its status line on stdin, and ends with exit code 0 whatever happens; where nothing is going on it prints nothing. In `.claude/settings.json`: `"statusLine": {"type": "command", "command": "leftoff statusline"}`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  echo '{}' | leftoff statusline")]
pub struct Statusline {}

impl Run for Statusline {
    fn run(self, _globals: &Globals) -> Outcome {
        Ok(crate::hooks::statusline::run())
    }
}
