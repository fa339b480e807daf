//! `leftoff verify`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::verify::{Allowed, Report, VerifyRequest};
use std::path::PathBuf;
use std::process::ExitCode;

/// Check that a session's work is proven
///
/// Exit code 5 if it is not. Replays the whole history, checks its hash chain and its definition, and compares every
/// recorded file with the working tree. A session is proven if every phase is verified, done or not applicable; a phase
/// that is open, skipped or claimed is not proven. Data from another machine is a claim, unless `--head` names a head
/// that somebody noted on that machine: data up to that head is proven. `--format markdown` is for a pull request.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff verify\n  leftoff verify --allow reported,warnings\n  leftoff verify --branch login --format markdown\n  leftoff verify --bundle login.leftoff --head 3f0c…"
)]
pub struct Verify {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Verify every session that worked on this branch; with --bundle, require that the session in the bundle worked on
    /// it
    #[arg(long, value_name = "B")]
    branch: Option<String>,
    /// Verify the session in this bundle, without importing it
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// The head that the history must have, as printed by `verify`
    #[arg(long, value_name = "H")]
    head: Option<String>,
    /// Also accept phases with these outcomes
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = Allowed::NAMES)]
    allow: Vec<String>,
    /// Output format [default: text]
    #[arg(long, value_parser = ["text", "markdown", "json"])]
    format: Option<String>,
}

impl Run for Verify {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id.clone());
        globals.say_that_it_works();
        let request = VerifyRequest {
            branch: self.branch,
            bundle: self.bundle,
            head: self.head,
            allow: self.allow.iter().filter_map(|name| Allowed::parse(name)).collect(),
        };
        let reports = globals.query()?.sessions().verify(&request)?;
        let out = globals.out();
        match self.format.as_deref().unwrap_or(if globals.json { "json" } else { "text" }) {
            "json" => {
                let holds = reasons(&reports).is_empty();
                out.json(&serde_json::json!({ "holds": holds, "sessions": reports }))?;
            }
            "markdown" => {
                let parts: Vec<String> = reports.iter().map(ui::verify::markdown).collect();
                out.text(&parts.join("\n"))?;
            }
            _ => {
                let parts: Vec<String> =
                    reports.iter().map(|report| ui::verify::text(report, &out)).collect();
                out.text(&parts.join("\n"))?;
            }
        }
        verdict(&reports)
    }
}

/// Fails if anything is not proven, and lists everything that is not.
fn verdict(reports: &[Report]) -> Outcome {
    match reasons(reports).as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        reasons => Err(Failure::gate(format!("not proven: {}", reasons.join("; ")), None, Vec::new(), None)),
    }
}

fn reasons(reports: &[Report]) -> Vec<String> {
    if reports.iter().all(|report| report.aside) {
        return vec!["every session of the branch was abandoned".to_owned()];
    }
    reports.iter().flat_map(Report::reasons).collect()
}
