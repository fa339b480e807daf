//! `leftoff purge`

use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, counted};
use engine::PurgeRequest;
use std::process::ExitCode;

/// Take text out of a session's history for good
///
/// For what slipped through the redaction. Every occurrence in the session's events, snapshot, activity and remembered answers becomes `[purged]`, what is kept of recorded files that hold it is forgotten, the bytes are taken off the disk, and an event says that it happened, not what it was. It cannot be undone, and reaches no backup or bundle that was made before. A secret that was stored should be replaced where it is used, too. Only a person can, at a terminal: it asks, unless --yes is given.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff purge \"the password\"\n  leftoff purge --session k3v9 --match \"the password\" --yes\n  pass show db | leftoff purge --match - --yes"
)]
pub struct Purge {
    /// What is to go; `-` reads it from stdin, which keeps it out of the shell's history
    #[arg(value_name = "TEXT", required_unless_present = "matching")]
    text: Option<String>,
    /// The same, by name
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
        // Where nobody can answer, the engine says that somebody must.
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

fn read(text: String) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text);
    }
    let text = std::io::read_to_string(std::io::stdin())
        .map_err(|error| Failure::wrong_usage(format!("reading stdin: {error}"), "give the text itself"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}
