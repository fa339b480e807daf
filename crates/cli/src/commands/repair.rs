//! `leftoff repair`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::{Error, Options, Repaired, Rung};
use std::process::ExitCode;

/// Repair missing, stale or damaged session files of other tools
///
/// Unreadable files are moved to .leftoff/aside and rewritten: from the log, or else from the backup, or else from the
/// session's other files. If none of these shows the session's position, you are asked for it; without a terminal, the
/// choices for `--at` are printed, and the exit code is 6. The report says what a session was repaired from, its
/// position now, and what may be approximate. Nothing is deleted, and repeating the command changes nothing. `leftoff
/// doctor` reports problems and changes nothing.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff doctor\n  leftoff repair\n  leftoff repair --session 2026-01-31-feature-x"
)]
pub struct Repair {
    /// The phase at which a session with an unknown position continues, by id or number
    #[arg(long, value_name = "PHASE")]
    at: Option<String>,
}

impl Run for Repair {
    fn run(self, globals: &Globals) -> Outcome {
        globals.say_that_it_works();
        let mut repaired = engine::repair(globals.options.clone(), self.at.as_deref())?;
        for session in repaired.iter_mut().filter(|session| !session.choices.is_empty()) {
            if let Some(done) = chosen(session, globals)? {
                *session = done;
            }
        }
        let out = globals.out();
        let failed = repaired.iter().filter(|session| session.failed.is_some()).count();
        let code = if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        let waiting = repaired.iter().find(|session| !session.choices.is_empty()).map(question);
        if globals.json {
            out.json(&serde_json::json!({ "mended": repaired }))?;
            return waiting.map_or(Ok(code), |waiting| Err(waiting.into()));
        }
        for session in repaired.iter().filter(|session| session.choices.is_empty()) {
            out.text(&report(session))?;
            ui::answer::warn(&session.warnings, &out);
        }
        if repaired.is_empty() {
            out.say(&nothing_to_repair(globals));
        }
        waiting.map_or(Ok(code), |waiting| Err(waiting.into()))
    }
}

/// The message that nothing can be repaired. It includes the number of problems that only the author of a file can fix.
fn nothing_to_repair(globals: &Globals) -> String {
    let found = engine::diagnose(globals.options.clone()).unwrap_or_default();
    match found.iter().filter(|finding| finding.kind == "foreign_file").count() {
        0 => "nothing to repair".to_owned(),
        1 => "nothing to repair; 1 problem in a file must be fixed by its author: leftoff doctor".to_owned(),
        count => format!(
            "nothing to repair; {count} problems in files must be fixed by their authors: leftoff doctor"
        ),
    }
}

/// Repairs a session at the position that a person chooses at the terminal. `None` if no person is there or none is
/// chosen.
fn chosen(session: &Repaired, globals: &Globals) -> Result<Option<Repaired>, Failure> {
    let question = session.failed.clone().unwrap_or_default();
    let Some(choice) = ui::ask::choice(&question, &session.choices) else { return Ok(None) };
    let options = Options { session: Some(session.session_id.clone()), ..globals.options.clone() };
    Ok(engine::repair(options, Some(&choice.key))?.into_iter().next())
}

fn question(session: &Repaired) -> Error {
    let question = session.failed.clone().unwrap_or_default();
    Error::NeedsChoice { question, choices: session.choices.clone() }
}

/// The report on a repaired session: its source, its position, the fixes, and what may be approximate.
fn report(session: &Repaired) -> String {
    let id = &session.session_id;
    if let Some(why) = &session.failed {
        return format!("{id}: not repaired: {why}\n");
    }
    let from = match session.from {
        None => "",
        Some(Rung::Log) => " from the log",
        Some(Rung::Backup) => " from the backup (.bak)",
        Some(Rung::Artifacts) => " from the session's other files",
        Some(Rung::Person) => " as chosen",
    };
    let stands = session.stands.as_ref().map(|stands| format!("; it is at {stands}")).unwrap_or_default();
    let mut text = format!("{id}: repaired{from}{stands}\n");
    for line in &session.done {
        text.push_str(&format!("  {line}\n"));
    }
    if let Some(what) = session.approximate {
        text.push_str(&format!(
            "  may be approximate: {what}; correct it with leftoff advance or leftoff rollback, and --session {id}\n"
        ));
    }
    text
}
