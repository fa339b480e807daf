//! `leftoff repair`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::{Error, Mended, Options, Rung};
use std::process::ExitCode;

/// Mend the files of sessions that other tools keep: write again what is missing, stale or damaged
///
/// What cannot be read is set aside in .leftoff/aside and written anew: from the log, else from the version before, else from the other files of the session. Where nothing tells where a session stands, you are asked; without a terminal the exit code is 6, and the ways to go on are printed: `--at` is one. The report says what a session was mended from, where it stands now and what may be approximate. Nothing is deleted, and a second time changes nothing. `leftoff doctor` says what is wrong and touches nothing.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff doctor\n  leftoff repair\n  leftoff repair --session 2026-01-31-feature-x"
)]
pub struct Repair {
    /// The phase in which a session goes on of which nothing tells where it stands, by id or number
    #[arg(long, value_name = "PHASE")]
    at: Option<String>,
}

impl Run for Repair {
    fn run(self, globals: &Globals) -> Outcome {
        let mut mended = engine::repair(globals.options.clone(), self.at.as_deref())?;
        for session in mended.iter_mut().filter(|session| !session.choices.is_empty()) {
            if let Some(done) = chosen(session, globals)? {
                *session = done;
            }
        }
        let out = globals.out();
        let failed = mended.iter().filter(|session| session.failed.is_some()).count();
        let code = if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        let waiting = mended.iter().find(|session| !session.choices.is_empty()).map(question);
        if globals.json {
            out.json(&serde_json::json!({ "mended": mended }))?;
            return waiting.map_or(Ok(code), |waiting| Err(waiting.into()));
        }
        for session in mended.iter().filter(|session| session.choices.is_empty()) {
            out.text(&report(session))?;
            ui::session::warn(&session.warnings, &out);
        }
        if mended.is_empty() {
            out.say(&nothing_to_mend(globals));
        }
        waiting.map_or(Ok(code), |waiting| Err(waiting.into()))
    }
}

/// What `doctor` says and nobody but its author can mend is not passed over.
fn nothing_to_mend(globals: &Globals) -> String {
    let found = engine::diagnose(globals.options.clone()).unwrap_or_default();
    match found.iter().filter(|finding| finding.kind == "foreign_file").count() {
        0 => "nothing was to be mended".to_owned(),
        1 => "nothing was to be mended; one odd thing in a file is left to whoever wrote it: leftoff doctor"
            .to_owned(),
        count => format!(
            "nothing was to be mended; {count} odd things in files are left to whoever wrote them: leftoff doctor"
        ),
    }
}

/// Mends a session as a person at the terminal says; none when nobody does.
fn chosen(session: &Mended, globals: &Globals) -> Result<Option<Mended>, Failure> {
    let question = session.failed.clone().unwrap_or_default();
    let Some(choice) = ui::ask::choice(&question, &session.choices) else { return Ok(None) };
    let options = Options { session: Some(session.session_id.clone()), ..globals.options.clone() };
    Ok(engine::repair(options, Some(&choice.key))?.into_iter().next())
}

fn question(session: &Mended) -> Error {
    let question = session.failed.clone().unwrap_or_default();
    Error::NeedsChoice { question, choices: session.choices.clone() }
}

/// What a session was mended from, where it stands, what was done about it, and what may be approximate.
fn report(session: &Mended) -> String {
    let id = &session.session_id;
    if let Some(why) = &session.failed {
        return format!("{id}: not mended: {why}\n");
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
