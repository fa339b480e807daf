//! `leftoff revisit`

use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::{Error, Request, RevisitPreview, RevisitRequest};
use model::revision::Impact;
use std::process::ExitCode;

/// Go back to change an earlier phase, and handle the consequences
///
/// Shows what changed in the phase's files since the phase was completed, which later phases are affected and what
/// would happen to them, and asks before changing anything; `--yes` confirms. minor: completed later phases are flagged
/// for review. moderate: the files of the affected phases are archived as well. major: the files of all later phases
/// are archived, and those phases restart. Archived files stay in their folders as NAME.vN.EXT. Without a terminal and
/// without `--yes`, the exit code is 6 and nothing changes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff revisit plan --reason \"the API has changed\" --dry-run\n  leftoff revisit plan --reason \"the API has changed\" --impact moderate --affects build --yes"
)]
pub struct Revisit {
    /// The phase, by id or number
    phase: String,
    /// minor, moderate or major [default: as proposed]
    #[arg(long, value_parser = ["minor", "moderate", "major"])]
    impact: Option<String>,
    /// The reason for going back; stored in the history
    #[arg(long)]
    reason: String,
    /// A later phase that is affected; or an item of a later phase, to archive only files with the item's name; may be
    /// repeated [default: all]
    #[arg(long, value_name = "PHASE", num_args = 1..)]
    affects: Vec<String>,
    /// Show what would happen, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Run for Revisit {
    fn run(self, globals: &Globals) -> Outcome {
        let request = RevisitRequest {
            phase: self.phase,
            impact: self.impact.as_deref().and_then(Impact::parse),
            reason: self.reason,
            affects: self.affects,
        };
        let out = globals.out();
        if self.dry_run {
            let preview = globals.query()?.sessions().preview_revisit(&request)?;
            if globals.json {
                out.json(&preview)?;
            } else {
                out.text(&ui::revisit::preview(&preview, &out))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut engine = globals.command()?;
        let preview = engine.sessions().preview_revisit(&request)?;
        out.say(&ui::revisit::preview(&preview, &out));
        confirm(&preview, globals)?;
        let done = format!("back to phase {}, {} impact", preview.phase, preview.impact.name());
        let answer = engine.execute(Request::Revisit { request, seen: Box::new(preview) })?;
        answered(&done, &answer, globals)
    }
}

fn confirm(preview: &RevisitPreview, globals: &Globals) -> Result<(), Failure> {
    if globals.yes {
        return Ok(());
    }
    let phase = &preview.phase;
    let question = format!("revisit phase {phase} with {} impact?", preview.impact.name());
    match ui::ask::words(&format!("{question} [y/N] ")).as_deref() {
        Some("y" | "yes") => Ok(()),
        Some(_) | None => Err(Error::NeedsAnswer {
            question: format!("{question} Nothing was changed"),
            hint: "preview it with --dry-run, confirm it with --yes".into(),
        }
        .into()),
    }
}
