//! `leftoff purge`

use crate::arguments::read_at_most;
use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, counted};
use engine::{Answer, Engine, Error, PurgeRequest, Request};
use model::event::Event;
use std::process::ExitCode;

/// Remove text from a session's history for good
///
/// For secrets that redaction missed. Every occurrence in the session's events, snapshot, activity and remembered
/// answers becomes `[purged]`, stored files that contain the text are deleted, and the bytes are erased from the disk.
/// An event records that a text was purged, without the text. A purge cannot be undone, and does not reach earlier
/// backups or bundles. Also replace the secret wherever it is used. Only a person can purge, at a terminal, and is
/// asked to confirm unless --yes is given.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff purge \"the password\"\n  leftoff purge --session k3v9 --match \"the password\" --yes\n  pass show db | leftoff purge --match - --yes"
)]
pub struct Purge {
    /// The text to remove; `-` reads it from stdin, which keeps it out of the shell's history
    #[arg(value_name = "TEXT", required_unless_present = "matching")]
    text: Option<String>,
    /// The text to remove, as an option
    #[arg(long = "match", id = "matching", value_name = "TEXT", conflicts_with = "text")]
    matching: Option<String>,
}

impl Run for Purge {
    fn run(self, globals: &Globals) -> Outcome {
        let text = read(self.text.or(self.matching).unwrap_or_default())?;
        let mut engine = globals.command()?;
        let purge = |confirmed| Request::Purge(PurgeRequest { text: text.clone(), confirmed });
        let answer = match engine.execute(purge(globals.yes)) {
            // If no person is present, the engine's error says that a person must confirm.
            Err(Error::NeedsAnswer { question, .. }) if globals.options.person_present => {
                if !ui::ask::yes(&question, globals) {
                    return Err(Failure::findings("nothing was purged".to_owned(), None));
                }
                engine.execute(purge(true))?
            }
            answer => answer?,
        };
        let (replaced, events) = purged(&engine, &answer)?;
        let session = &answer.view.session_id;
        let out = globals.out();
        if globals.json {
            out.json(&serde_json::json!({
                "session_id": session,
                "replaced": replaced,
                "events": events,
                "version": answer.view.version,
                "said": answer.said,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        if replaced == 0 {
            out.text(&format!("{session} does not contain the text"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let done = format!("purged in {}", counted(usize::try_from(replaced).unwrap_or(usize::MAX), "place"));
        answered(&done, &answer, globals)
    }
}

/// The number of occurrences that were replaced, and the number of events that contained them. The purge's own event
/// contains both.
fn purged(engine: &Engine, answer: &Answer) -> Result<(u64, usize), Failure> {
    let view = &answer.view;
    if view.already {
        return Ok((0, 0));
    }
    let log = engine.sessions().log(Some(&view.session_id), view.version.saturating_sub(1))?;
    let numbers = log.events.iter().find_map(|recorded| match &recorded.event {
        Event::Purged { replaced, rewritten, .. } => Some((*replaced, rewritten.len())),
        _ => None,
    });
    Ok(numbers.unwrap_or_default())
}

/// The maximum length of the text to purge, in bytes. Longer than any secret. There is a limit because every event is
/// searched for the text.
const LONGEST_SECRET: u64 = 64 * 1024;

fn read(text: String) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text);
    }
    let text = read_at_most("-".as_ref(), LONGEST_SECRET)
        .map_err(|error| Failure::wrong_usage(format!("reading stdin: {error}"), "give the text itself"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}
