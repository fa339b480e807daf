//! `leftoff repair`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use engine::{Mended, Rung};
use std::process::ExitCode;

/// What ends with it when a person must answer.
const NEEDS_A_PERSON: u8 = 6;

/// Mend the files of sessions that other tools keep: write again what is missing, stale or damaged
///
/// What cannot be read is set aside in .leftoff/aside and written anew: from the log, else from the version before, else from the other files of the session; where none of these tells how far it was, a person is asked (exit code 6 when none is there). The report says which of them it was, and what may be approximate. Nothing is deleted, and a second time changes nothing. `leftoff doctor` says what is wrong and touches nothing.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff doctor\n  leftoff repair\n  leftoff repair --session 2026-01-31-feature-x"
)]
pub struct Repair {}

impl Run for Repair {
    fn run(self, globals: &Globals) -> Outcome {
        let mended = engine::repair(globals.options.clone(), &|question| begins_anew(question, globals))?;
        let out = globals.out();
        let code = if mended.iter().any(|session| session.failed.is_some()) {
            ExitCode::FAILURE
        } else if mended.iter().any(|session| session.question.is_some()) {
            ExitCode::from(NEEDS_A_PERSON)
        } else {
            ExitCode::SUCCESS
        };
        if globals.json {
            out.json(&serde_json::json!({ "mended": mended }));
            return Ok(code);
        }
        for session in &mended {
            out.text(&report(session));
            ui::session::warn(&session.warnings, &out);
        }
        if mended.is_empty() {
            out.say("nothing was to be mended");
        }
        Ok(code)
    }
}

/// A person's yes, at a terminal or by `--yes`.
fn begins_anew(question: &str, globals: &Globals) -> bool {
    let asked = format!("{question}\nBegin it at its first phase? [y/N] ");
    globals.yes || ui::ask::words(&asked).is_some_and(|answer| matches!(answer.as_str(), "y" | "yes"))
}

fn report(session: &Mended) -> String {
    let id = &session.session_id;
    if let Some(why) = &session.failed {
        return format!("{id}: not mended: {why}\n");
    }
    if let Some(question) = &session.question {
        return format!(
            "{id}: not mended: {question}\n  a person must say; to begin it at its first phase: leftoff repair --session {id} --yes\n"
        );
    }
    let from = match session.from {
        None => "",
        Some(Rung::Log) => " from the log",
        Some(Rung::Backup) => " from the version before, its .bak",
        Some(Rung::Artifacts) => " from the other files of the session",
        Some(Rung::Person) => " as a person said",
    };
    let stands = session.stands.as_ref().map(|stands| format!("; it stands at {stands}")).unwrap_or_default();
    let mut text = format!("{id}: mended{from}{stands}\n");
    for line in &session.done {
        text.push_str(&format!("  {line}\n"));
    }
    if let Some(what) = session.approximate {
        text.push_str(&format!(
            "  may be approximate: {what}; set it right: leftoff advance or leftoff rollback, with --session {id}\n"
        ));
    }
    text
}
