//! `leftoff close`

use crate::commands::{Outcome, Run, answered_or};
use crate::failure::Failure;
use crate::globals::Globals;
use engine::{Detail, Request};
use model::hint::Hint;
use model::words;

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
        self.refuse_phase(globals)?;
        let globals = &globals.naming(self.id.clone());
        let answer = globals.command()?.execute(Request::Close { force: self.force })?;
        let done = format!("completed, {}", answer.view.how_far());
        answered_or("already completed", &done, &answer, globals)
    }
}

impl Close {
    /// Refuses the name of a phase, as in `complete plan`. A session with that name is accepted.
    fn refuse_phase(&self, globals: &Globals) -> Result<(), Failure> {
        let Some(asked) = self.id.as_deref() else { return Ok(()) };
        let engine = globals.query()?;
        if engine.sessions().show(Some(asked), Detail::Recent).is_ok() {
            return Ok(());
        }
        match engine.sessions().show(None, Detail::Recent) {
            Ok(view) if view.phases.iter().any(|phase| phase.id == *asked) => {
                let hint = Hint::new("complete the phase: ").run_here(words!["advance", asked]);
                Err(Failure::wrong_usage(format!("'{asked}' is a phase, not a session"), hint))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
