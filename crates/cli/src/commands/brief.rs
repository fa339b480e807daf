//! `leftoff brief`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use std::process::ExitCode;

/// Where the work was left off: all that the next agent or person must know
///
/// Goal, progress, timing, what each finished phase proved, failed checks with how to mend them, decisions, blockers, the next step. `--format markdown` is for an agent; `--budget` keeps that form under so many tokens (3.2 bytes each) by dropping the least important first.
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff brief\n  leftoff brief --format markdown --budget 800\n  leftoff brief --session k3v9 --json"
)]
pub struct Brief {
    /// How it is written [default: text]
    #[arg(long, value_parser = ["text", "markdown", "json"])]
    format: Option<String>,
    /// At most so many tokens; implies `--format markdown`
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

impl Run for Brief {
    fn run(self, globals: &Globals) -> Outcome {
        let brief = globals.query()?.brief()?;
        let out = globals.out();
        let format = self.format.as_deref().unwrap_or(match (globals.json, self.budget) {
            (true, _) => "json",
            (false, Some(_)) => "markdown",
            (false, None) => "text",
        });
        match (format, &brief) {
            ("json", Some(brief)) => out.json(brief)?,
            ("json", None) => out.json(&serde_json::json!({ "session": null }))?,
            (_, None) => out.text(&ui::brief::nothing(&out))?,
            ("markdown", Some(brief)) => out.text(&engine::brief::markdown(brief, self.budget))?,
            (_, Some(brief)) => out.text(&ui::brief::text(brief, &out))?,
        };
        Ok(ExitCode::SUCCESS)
    }
}
