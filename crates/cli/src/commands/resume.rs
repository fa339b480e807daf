//! `leftoff resume`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use crate::ui;
use engine::words::phase_called;
use engine::{Error, OnDiscrepancy};

/// Go on with a paused session
///
/// Without an id, the one that was paused last in this worktree. What is active here is paused first. A completed session is not resumed: the refusal says how to begin its next run. When the session is not as it was left (a file of a finished phase is missing or was changed), you are asked how to go on; `--yes` goes on as it is.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff resume\n  leftoff resume k3v9\n  leftoff resume 2")]
pub struct Resume {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
}

impl Run for Resume {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id);
        let mut engine = globals.command()?;
        let on = if globals.yes { OnDiscrepancy::GoOn } else { OnDiscrepancy::Ask };
        let answer = match engine.resume(None, on) {
            Err(Error::NeedsAnswer { question, hint }) => {
                let on = ask(&question).ok_or(Error::NeedsAnswer { question, hint })?;
                engine.resume(None, on)?
            }
            other => other?,
        };
        let phase = &answer.view.current_phase;
        let done = format!("goes on in {}", phase_called(phase.number, &phase.id));
        answered(&done, &answer, globals)
    }
}

/// How a person wants to go on; none when nobody is there, or when they would rather not.
fn ask(question: &str) -> Option<OnDiscrepancy> {
    let prompt = format!("{question}\n[g]o on, [b]ack to the first phase that is concerned, [c]ancel? ");
    match ui::ask::words(&prompt)?.as_str() {
        "g" | "go on" => Some(OnDiscrepancy::GoOn),
        "b" | "back" => Some(OnDiscrepancy::GoBack),
        _ => None,
    }
}
