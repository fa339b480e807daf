//! `leftoff progress`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::ocr::Kind;
use engine::{Current, Details};
use model::hint::Hint;
use model::id::SessionId;
use model::progress::Status;
use model::words;
use std::process::ExitCode;

/// How far a session is: phases with ticks, a bar, reviewers with their findings
///
/// Shows a session of Open Code Review as that tool's own screen does, from its files, and a session of ours as `status` does.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff progress --once\n  leftoff progress --once --session 2026-01-31-feature-x\n  leftoff progress --once --workflow map"
)]
pub struct Progress {
    /// Print it once and end; needed, because the live screen is not there yet
    #[arg(long)]
    once: bool,
    /// Of a session of Open Code Review, only this workflow: review or map
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
}

impl Run for Progress {
    fn run(self, globals: &Globals) -> Outcome {
        if !self.once {
            return Err(Failure::wrong_usage(
                "the live screen is not there yet",
                Hint::new("print it once: ").run_here(words!["progress", "--once"]),
            ));
        }
        let only = self.workflow.as_deref().map(known).transpose()?;
        let engine = globals.query()?;
        let current = engine.status()?;
        let out = globals.out();
        if globals.json {
            out.json(&current)?;
            return Ok(ExitCode::SUCCESS);
        }
        match current {
            Current::Nothing(nothing) => {
                ui::session::warn(&nothing.warnings, &out);
                out.text("Waiting for session… (none is here; begin one: leftoff start)")?;
            }
            // Their own screen waits beside a closed session, unless it is asked for.
            Current::Session(view)
                if view.layout == "ocr"
                    && matches!(view.status, Status::Completed | Status::Abandoned)
                    && globals.options.session.is_none() =>
            {
                let id = &view.session_id;
                let (stands, way_on) = if view.status == Status::Abandoned {
                    ("given up", format!("take it up again: leftoff reopen {id}"))
                } else {
                    ("closed", format!("its next round: leftoff round --session {id}"))
                };
                out.text(&format!(
                    "Waiting for session… (the last one, {id}, is {stands}; look at it: leftoff progress --once --session {id}; {way_on})"
                ))?;
            }
            Current::Session(view) => {
                ui::session::warn(&view.warnings, &out);
                let id = SessionId::parse(&view.session_id).ok();
                match id.filter(|_| view.layout == "ocr").and_then(|id| engine.details(&id)) {
                    Some(Details::Ocr(found)) => {
                        let screen = ui::ocr::screen(&found, only, engine.now(), &out);
                        out.text(&screen.unwrap_or_else(|| waiting_for(only, &view.session_id)))?;
                    }
                    Some(Details::None | Details::Ccw(_)) | None => {
                        out.text(&ui::session::status(&view, &out))?;
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn known(workflow: &str) -> Result<Kind, Failure> {
    [Kind::Review, Kind::Map].into_iter().find(|kind| kind.workflow() == workflow).ok_or_else(|| {
        Failure::wrong_usage(format!("there is no workflow '{workflow}' to show"), "use review or map")
    })
}

fn waiting_for(only: Option<Kind>, id: &str) -> String {
    match only {
        Some(Kind::Map) => format!(
            "Waiting for session… ({id} has no map; see its review: leftoff progress --once --session {id})"
        ),
        Some(Kind::Review) | None => {
            format!(
                "Waiting for session… ({id} has no review; see its map: leftoff progress --once --session {id})"
            )
        }
    }
}
