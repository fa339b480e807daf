//! `leftoff resume`

use crate::commands::{Outcome, Run, answered_continuing};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::{moment, one_line, pause_reason, phase_called};
use engine::{Answer, Choice, Error, OnDiscrepancy, Request, Taking};

/// Resume a paused session
///
/// Without an id, resumes the session that was paused last in this worktree. An active session in this worktree is
/// paused first. A completed session is not resumed: the refusal says how to start its next run. If the session is not
/// as it was left (a file of a finished phase is missing or changed), you are asked how to continue; `--yes` continues
/// with the session as it is. If several sessions of a tool with its own selection list are paused, you are asked which
/// one to resume; without a terminal the exit code is 6, and the commands to choose from are printed. If no session is
/// paused here, sessions outside projects are offered.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff resume\n  leftoff resume k3v9\n  leftoff resume 2")]
pub struct Resume {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Take over a session on which an agent is working elsewhere; only a person can do this
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
                    // The user has just chosen the phase at which the session continues, and so knows what is missing.
                    chosen.yes = true;
                }
                let answer = go_on(&chosen, taking)?;
                (answer.map_err(|(question, choices)| Error::NeedsChoice { question, choices })?, chosen)
            }
        };
        let phase = &answer.view.current_phase;
        let mut done = format!("continues in {}", phase_called(phase.number, &phase.id));
        if let Some(pause) = &answer.view.interrupted {
            let context = answer.view.in_the_middle_of(|text| one_line(text, LONGEST));
            let context = context.map(|what| format!(", in the middle of: {what}"));
            let when = moment(pause.paused_at, pause.resumed_at);
            let why = one_line(pause_reason(&pause.reason), LONGEST);
            done.push_str(&format!("; paused {when}: {why}{}", context.unwrap_or_default()));
        }
        answered_continuing(&done, &answer, &globals)
    }
}

/// The maximum length of the reason and of the context of a pause, in one line.
const LONGEST: usize = 200;

/// A question, and the answers from which a person can choose.
type Choosing = (String, Vec<Choice>);

/// Resumes a session. If a question must be answered first, returns the question.
fn go_on(globals: &Globals, taking: Taking) -> Result<Result<Answer, Choosing>, Failure> {
    let mut engine = globals.command()?;
    let on = if globals.yes { OnDiscrepancy::Continue } else { OnDiscrepancy::Ask };
    match engine.execute(Request::Resume { session: None, on, taking }) {
        Err(Error::NeedsChoice { question, choices }) => Ok(Err((question, choices))),
        Err(Error::NeedsAnswer { question, hint }) => {
            let on = ask(&question).ok_or(Error::NeedsAnswer { question, hint })?;
            Ok(Ok(engine.execute(Request::Resume { session: None, on, taking })?))
        }
        other => Ok(Ok(other?)),
    }
}

/// Asks a person how to continue. `None` if no person is at the terminal, or the person cancels.
fn ask(question: &str) -> Option<OnDiscrepancy> {
    let prompt = format!("{question}\n[g]o on, [b]ack to the first affected phase, [c]ancel? ");
    match ui::ask::words(&prompt)?.as_str() {
        "g" | "go on" => Some(OnDiscrepancy::Continue),
        "b" | "back" => Some(OnDiscrepancy::GoBack),
        _ => None,
    }
}
