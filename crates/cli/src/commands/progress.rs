//! `leftoff progress`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::Current;
use engine::screen::Screen;
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
        let only = self.workflow.as_deref();
        only.map_or(Ok(()), check)?;
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
                if engine::has_own_screen(&view.layout)
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
                match id.and_then(|id| engine.screen(&id)) {
                    Some(screen) => {
                        let text = ui::screen::screen(&screen, only, engine.now(), &out);
                        out.text(&text.unwrap_or_else(|| waiting_for(only, &screen, &view.session_id)))?;
                    }
                    None => {
                        out.text(&ui::session::status(&view, &out))?;
                    }
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn check(workflow: &str) -> Result<(), Failure> {
    let known = engine::workflows_with_a_screen();
    if known.contains(&workflow) {
        return Ok(());
    }
    let (wrong, use_one) = (format!("there is no workflow '{workflow}' to show"), known.join(" or "));
    Err(Failure::wrong_usage(wrong, format!("use {use_one}")))
}

/// The track that is asked for is not there; another one is.
fn waiting_for(asked: Option<&str>, screen: &Screen, id: &str) -> String {
    let asked = asked.unwrap_or_default();
    let other = screen.tracks.first().map(|track| track.workflow).unwrap_or_default();
    format!(
        "Waiting for session… ({id} has no {asked}; see its {other}: leftoff progress --once --session {id})"
    )
}
