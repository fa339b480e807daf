//! `leftoff diff`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Show what changed in the session between two points
///
/// A point is a version from `leftoff log` or the name of a checkpoint. The command compares the session, not files:
/// use git for those.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff diff 4 9\n  leftoff diff \"before the rewrite\"\n  leftoff diff 4 --json | jq '.changes[].path'"
)]
pub struct Diff {
    /// The earlier point: a version or a checkpoint
    #[arg(value_name = "A")]
    from: String,
    /// The later point [default: now]
    #[arg(value_name = "B")]
    to: Option<String>,
}

impl Run for Diff {
    fn run(self, globals: &Globals) -> Outcome {
        let report = globals.query()?.sessions().log(None, 0)?.diff(&self.from, self.to.as_deref())?;
        let out = globals.out();
        if globals.json {
            let changes: Vec<Value> = report
                .differences
                .iter()
                .map(|found| json!({ "path": found.subject.path(), "before": found.before, "after": found.after }))
                .collect();
            out.json(&json!({
                "session_id": report.session,
                "from_version": report.from,
                "to_version": report.to,
                "changes": changes,
            }))?;
        } else {
            out.text(&ui::diff::text(&report, &out))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
