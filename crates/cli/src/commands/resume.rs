//! `leftoff resume`

use crate::commands::{Outcome, Run, answered_continuing};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::words::{moment, one_line, pause_reason, phase_called};
use engine::{Answer, Choice, Error, OnDiscrepancy, Request, Taking};

/// Resume a paused session
///
/// Without an id, the one paused last in this worktree. The session that is active here is paused first. A
/// completed session is not resumed: the refusal says how to start its next run. If the session is not as it
/// was left (a file of a finished phase is missing or changed), you are asked how to continue; `--yes`
/// continues as it is. If several sessions of a tool with its own selection list are paused, you are asked
/// which; without a terminal the exit code is 6, and the commands to choose from are printed. If nothing is
/// paused here, sessions outside projects are offered.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff resume\n  leftoff resume k3v9\n  leftoff resume 2")]
pub struct Resume {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Take over a session that an agent is working on elsewhere; only a person can
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
                    // Somebody who just chose where it continues knows what is missing.
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

/// The maximum length of a pause's words.
const LONGEST: usize = 200;

/// A question with its answers, from which a person chooses.
type Choosing = (String, Vec<Choice>);

/// Resumes a session, or returns what must be chosen first.
fn go_on(globals: &Globals, taking: Taking) -> Result<Result<Answer, Choosing>, Failure> {
    let mut engine = globals.command()?;
    let on = if globals.yes { OnDiscrepancy::GoOn } else { OnDiscrepancy::Ask };
    match engine.execute(Request::Resume { session: None, on, taking }) {
        Err(Error::NeedsChoice { question, choices }) => Ok(Err((question, choices))),
        Err(Error::NeedsAnswer { question, hint }) => {
            let on = ask(&question).ok_or(Error::NeedsAnswer { question, hint })?;
            Ok(Ok(engine.execute(Request::Resume { session: None, on, taking })?))
        }
        other => Ok(Ok(other?)),
    }
}

/// How a person wants to continue; `None` if nobody is there, or they decline.
fn ask(question: &str) -> Option<OnDiscrepancy> {
    let prompt = format!("{question}\n[g]o on, [b]ack to the first affected phase, [c]ancel? ");
    match ui::ask::words(&prompt)?.as_str() {
        "g" | "go on" => Some(OnDiscrepancy::GoOn),
        "b" | "back" => Some(OnDiscrepancy::GoBack),
        _ => None,
    }
}
