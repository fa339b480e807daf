//! `leftoff brief`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use engine::view::{Nothing, Warning};
use engine::{Current, Engine};
use std::process::ExitCode;

/// Everything that the next agent or person must know to continue
///
/// Goal, progress, the proof of each finished phase, failed checks with how to fix them, decisions, blockers, the next
/// step. `--format markdown` prints the same for an agent. Both have at most 600 tokens (of 3.2 bytes each) unless
/// `--budget` is given: lists and texts are shortened, then sections are dropped from the end; essential sections stay.
/// `--format html` writes a single file that needs no server.
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff brief\n  leftoff brief --format markdown --budget 800\n  leftoff brief k3v9 --json\n  leftoff brief --format html > brief.html"
)]
pub struct Brief {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Output format [default: text]
    #[arg(long, value_parser = ["text", "markdown", "json", "html"])]
    format: Option<String>,
    /// The maximum number of tokens [default: 600]; implies `--format markdown`
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

impl Run for Brief {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id);
        let engine = globals.query()?;
        let brief = engine.sessions().brief()?;
        let elsewhere = if brief.is_none() { elsewhere(&engine)? } else { Vec::new() };
        let out = globals.out();
        let format = self.format.as_deref().unwrap_or(match (globals.json, self.budget) {
            (true, _) => "json",
            (false, Some(_)) => "markdown",
            (false, None) => "text",
        });
        let budget = self.budget.unwrap_or(engine::brief::USUAL_BUDGET);
        match (format, &brief) {
            ("json", Some(brief)) => out.json(brief)?,
            ("json", None) => out.json(&nothing_as_json(&engine, &elsewhere)?)?,
            ("html", Some(brief)) => {
                let text = engine::brief::markdown(brief, self.budget.unwrap_or(usize::MAX));
                out.text(&web::brief_file(&brief.session.title, &text))?
            }
            (_, None) => out.text(&ui::brief::nothing(&elsewhere, &out))?,
            ("markdown", Some(brief)) => out.text(&engine::brief::markdown(brief, budget))?,
            (_, Some(brief)) => out.text(&ui::brief::text(brief, budget, &out))?,
        };
        Ok(ExitCode::SUCCESS)
    }
}

/// The JSON of a brief where no session is active: the fields that `status` has then, and `session`, which is null.
fn nothing_as_json(engine: &Engine, elsewhere: &[Warning]) -> engine::Result<serde_json::Value> {
    let next = match engine.sessions().status()? {
        Current::Session(_) => None,
        Current::Nothing(nothing) => Some(nothing.next),
    };
    Ok(serde_json::json!({ "session": null, "session_id": null, "next": next, "warnings": elsewhere }))
}

/// Warnings about sessions that are active in other places, for somebody who looks for a session here.
fn elsewhere(engine: &Engine) -> engine::Result<Vec<Warning>> {
    Ok(match engine.sessions().status()? {
        Current::Session(_) => Vec::new(),
        Current::Nothing(Nothing { mut warnings, .. }) => {
            warnings.retain(|warning| warning.kind == "active_elsewhere");
            warnings
        }
    })
}
