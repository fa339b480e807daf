//! `leftoff init`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use std::process::ExitCode;

/// Set this project up: its folder and its store
///
/// Makes `.leftoff/` with a commented config.toml, and the store. In a git repository the store lies in the git folder, shared by all worktrees and never committed. `leftoff start` does this by itself; doing it again changes nothing.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff init\n  leftoff init --dry-run")]
pub struct Init {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

impl Run for Init {
    fn run(self, globals: &Globals) -> Outcome {
        let setup = engine::set_up(globals.options.clone(), self.dry_run)?;
        let out = globals.out();
        if globals.json {
            out.json(&setup);
            return Ok(ExitCode::SUCCESS);
        }
        for warning in &setup.warnings {
            out.warn(warning);
        }
        let verb = if self.dry_run { "would make" } else { "made" };
        let mut text = String::new();
        for path in &setup.created {
            text.push_str(&format!("{verb} {}\n", path.display()));
        }
        for path in &setup.unchanged {
            text.push_str(&format!("kept {}\n", path.display()));
        }
        out.text(&text);
        if !self.dry_run {
            out.say("Begin with: leftoff start");
        }
        Ok(ExitCode::SUCCESS)
    }
}
