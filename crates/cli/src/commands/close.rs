//! `leftoff close`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::Request;

/// Complete the session
///
/// Refused (exit code 4) while phases are unfinished, unless `--force` is given: the session is then
/// completed at the percentage reached. Only a person can close with `--force`, at a terminal. In most
/// workflows, completing the last phase closes the session.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff close\n  leftoff close --force")]
pub struct Close {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Close the session although phases are unfinished
    #[arg(long)]
    force: bool,
}

impl Run for Close {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id.clone());
        let answer = globals.command()?.execute(Request::Close { force: self.force })?;
        let done = format!("completed, {}", answer.view.how_far());
        answered(&done, &answer, globals)
    }
}
