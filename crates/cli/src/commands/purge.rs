//! `leftoff purge`

use crate::arguments::read_at_most;
use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, counted};
use engine::PurgeRequest;
use std::process::ExitCode;

/// Remove text from a session's history for good
///
/// For secrets that redaction missed. Every occurrence in the session's events, snapshot, activity and
/// remembered answers becomes `[purged]`, stored files that contain it are deleted, the bytes are erased from
/// the disk, and an event records that it happened, not what it was. It cannot be undone, and does not reach
/// earlier backups or bundles. A stored secret should also be replaced where it is used. Only a person can,
/// at a terminal: it asks, unless --yes is given.
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
        let preview = engine.purge_preview(&text)?;
        let occurrences = usize::try_from(preview.occurrences).unwrap_or(usize::MAX);
        let out = globals.out();
        let mut confirmed = globals.yes;
        // If nobody can answer, the engine says that somebody must.
        if preview.occurrences > 0 && !confirmed && globals.options.person_present {
            confirmed = ui::ask::yes(&preview.question(), globals);
            if !confirmed {
                return Err(Failure::findings("nothing was purged".to_owned(), None));
            }
        }
        let answer = engine.purge(&PurgeRequest { text, confirmed })?;
        if globals.json {
            out.json(&serde_json::json!({
                "session_id": preview.session_id,
                "replaced": preview.occurrences,
                "events": preview.events,
                "version": answer.view.version,
                "said": answer.said,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        if preview.occurrences == 0 {
            out.text(&format!("{} does not hold it", preview.session_id))?;
            return Ok(ExitCode::SUCCESS);
        }
        let done = format!("purged in {}", counted(occurrences, "place"));
        answered(&done, &answer, globals)
    }
}

/// Longer than any secret, and what is looked for in every event.
const LONGEST_SECRET: u64 = 64 * 1024;

fn read(text: String) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text);
    }
    let text = read_at_most("-".as_ref(), LONGEST_SECRET)
        .map_err(|error| Failure::wrong_usage(format!("reading stdin: {error}"), "give the text itself"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}
