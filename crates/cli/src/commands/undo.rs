//! `leftoff undo` and `leftoff redo`

use crate::commands::{Outcome, Run, answered, with_talk};
use crate::failure::Failure;
use crate::globals::Globals;
use engine::event_text::{json, words};
use engine::{Answer, Engine, Request, Undone};
use model::event::{Event, Recorded};
use std::process::ExitCode;

/// Undo your last command, or return to a version or checkpoint
///
/// Repeated, it goes further back; `leftoff redo` goes forward again. Nothing is removed from the history: a new event
/// records that the session returned to an earlier state. Without --to, it undoes only your own commands; with --to,
/// also those of others. Files and claims on items stay as they are. The start of a session cannot be undone: abandon
/// the session instead. Undo changes one session and pauses no other; if the session would become active beside another
/// one, undo is refused.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff undo\n  leftoff undo --to 12\n  leftoff undo --to \"before the rewrite\""
)]
pub struct Undo {
    /// A version from `leftoff log`, or a checkpoint's name
    #[arg(long, value_name = "VERSION|CHECKPOINT")]
    to: Option<String>,
}

impl Run for Undo {
    fn run(self, globals: &Globals) -> Outcome {
        let mut engine = globals.command()?;
        let answer = engine.execute(Request::Undo { to: self.to })?;
        restored(&engine, &answer, "files and claims are unchanged; to revert this: leftoff redo", globals)
    }
}

/// Undo your last undo
///
/// Repeated, it goes further forward, until everything that you undid is restored. After any other change of the
/// session there is nothing to redo; `leftoff undo --to VERSION` can still return to any version.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff redo")]
pub struct Redo {}

impl Run for Redo {
    fn run(self, globals: &Globals) -> Outcome {
        let mut engine = globals.command()?;
        let answer = engine.execute(Request::Redo)?;
        restored(&engine, &answer, "files and claims are unchanged; to revert this: leftoff undo", globals)
    }
}

/// Shows the version to which a session returned, and the events that were undone or restored.
fn restored(engine: &Engine, answer: &Answer, back: &str, globals: &Globals) -> Outcome {
    let undone = engine.sessions().log(Some(&answer.view.session_id), 0)?.undone(answer.view.version);
    if globals.json {
        return as_json(answer, undone.as_ref(), globals);
    }
    let out = globals.out();
    if let Some(undone) = undone.as_ref().filter(|_| !answer.view.already) {
        tell("undid", &undone.gone, &out);
        tell("restored", &undone.back, &out);
        out.say(back);
    }
    let to = undone.map_or(answer.view.version, |undone| undone.to_version);
    answered(&format!("is back at version {to}"), answer, globals)
}

fn tell(word: &str, events: &[Recorded], out: &crate::ui::Out) {
    const SHOWN: usize = 20;
    let undone: Vec<&Recorded> =
        events.iter().filter(|recorded| !matches!(recorded.event, Event::Restored { .. })).collect();
    for recorded in undone.iter().take(SHOWN) {
        out.say(&format!("{word} {}: {} ({})", recorded.version, words(&recorded.event), recorded.actor));
    }
    if undone.len() > SHOWN {
        out.say(&format!("{word} {} more", undone.len() - SHOWN));
    }
}

fn as_json(answer: &Answer, undone: Option<&Undone>, globals: &Globals) -> Outcome {
    let mut value = with_talk(answer);
    let events = |events: &[Recorded]| events.iter().map(json).collect::<Vec<_>>();
    if let (serde_json::Value::Object(fields), Some(undone)) = (&mut value, undone) {
        let details = serde_json::json!({
            "to_version": undone.to_version,
            "undone": events(&undone.gone),
            "brought_back": events(&undone.back),
        });
        fields.insert("undo".to_owned(), details);
    }
    globals.out().json(&value).map_err(Failure::after_the_change)?;
    Ok(ExitCode::SUCCESS)
}
