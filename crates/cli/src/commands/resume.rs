//! `leftoff resume`

use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::phase_called;
use engine::{Answer, Choice, Error, OnDiscrepancy, Taking};

/// Go on with a paused session
///
/// Without an id, the one that was paused last in this worktree. What is active here is paused first. A completed session is not resumed: the refusal says how to begin its next run. When the session is not as it was left (a file of a finished phase is missing or was changed), you are asked how to go on; `--yes` goes on as it is. Of several paused sessions of a tool whose own list is chosen from, you are asked which; without a terminal the exit code is 6, and the commands to choose are printed. Where nothing is paused here, those that belong to no project are offered.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff resume\n  leftoff resume k3v9\n  leftoff resume 2")]
pub struct Resume {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
    /// Take over a session that an agent is working in elsewhere; only a person can
    #[arg(long)]
    take: bool,
}

impl Run for Resume {
    fn run(self, globals: &Globals) -> Outcome {
        let named = globals.naming(self.id);
        let taking = if self.take { Taking::Asked } else { Taking::Refused };
        let (answer, globals) = match go_on(&named, taking)? {
            Ok(answer) => (answer, named),
            Err((question, choices)) => {
                let choice = ui::ask::choice(&question, &choices).cloned();
                let choice = choice.ok_or(Error::NeedsChoice { question, choices })?;
                let mut chosen = globals.naming(Some(choice.session));
                if let Some(phase) = &choice.phase {
                    engine::repair(chosen.options.clone(), Some(phase))?;
                    // Who has just said where it goes on knows what is not there.
                    chosen.yes = true;
                }
                let answer = go_on(&chosen, taking)?;
                (answer.map_err(|(question, choices)| Error::NeedsChoice { question, choices })?, chosen)
            }
        };
        let phase = &answer.view.current_phase;
        let done = format!("goes on in {}", phase_called(phase.number, &phase.id));
        answered(&done, &answer, &globals)
    }
}

/// A question with its answers, of which a person has to choose one.
type Choosing = (String, Vec<Choice>);

/// Goes on with a session; what has to be chosen first.
fn go_on(globals: &Globals, taking: Taking) -> Result<Result<Answer, Choosing>, Failure> {
    let mut engine = globals.command()?;
    let on = if globals.yes { OnDiscrepancy::GoOn } else { OnDiscrepancy::Ask };
    match engine.resume(None, on, taking) {
        Err(Error::NeedsChoice { question, choices }) => Ok(Err((question, choices))),
        Err(Error::NeedsAnswer { question, hint }) => {
            let on = ask(&question).ok_or(Error::NeedsAnswer { question, hint })?;
            Ok(Ok(engine.resume(None, on, taking)?))
        }
        other => Ok(Ok(other?)),
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
