//! `leftoff doctor`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::Tone;
use std::process::ExitCode;

/// Look for anything wrong with the project and its store; change nothing
///
/// Checks the configuration, every workflow definition, the store, each session's snapshot against its log, the files of unfinished sessions, and those that other tools keep: `leftoff repair` mends these. Exit code 4 when something was found.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff doctor\n  leftoff doctor --json")]
pub struct Doctor {}

impl Run for Doctor {
    fn run(self, globals: &Globals) -> Outcome {
        let findings = engine::diagnose(globals.options.clone())?;
        let out = globals.out();
        if globals.json {
            out.json(&serde_json::json!({ "findings": findings }));
        } else {
            for finding in &findings {
                out.text(&format!(
                    "{} {}",
                    out.paint(Tone::Bad, &format!("{}:", finding.kind)),
                    finding.message
                ));
                if let Some(hint) = &finding.hint {
                    out.text(&format!("  {hint}"));
                }
            }
        }
        if findings.is_empty() {
            out.say("nothing is wrong");
            return Ok(ExitCode::SUCCESS);
        }
        let count =
            if findings.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", findings.len()) };
        Err(Failure::findings(count, None))
    }
}
