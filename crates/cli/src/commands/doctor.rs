//! `leftoff doctor`

use crate::commands::init::places;
use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::install::{Wiring, wiring};
use crate::ui::Tone;
use std::process::ExitCode;

/// Look for anything wrong with the project and its store; change nothing
///
/// Checks the configuration, every workflow definition, the store, each session's snapshot against its log, the files of unfinished sessions, those that other tools keep, which `leftoff repair` mends, and the agents' hooks: which are wired, which lack something, and which the agent does not trust yet. Exit code 4 when something was found.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff doctor\n  leftoff doctor --json")]
pub struct Doctor {}

impl Run for Doctor {
    fn run(self, globals: &Globals) -> Outcome {
        let mut findings = engine::diagnose(globals.options.clone())?;
        let (wired, wrong) = wiring(&places(globals, false), &places(globals, true));
        findings.extend(wrong);
        let out = globals.out();
        if globals.json {
            out.json(&serde_json::json!({ "findings": findings, "wired": wired }))?;
        } else {
            for wiring in &wired {
                out.say(&line(wiring));
            }
            for finding in &findings {
                out.text(&format!(
                    "{} {}",
                    out.paint(Tone::Bad, &format!("{}:", finding.kind)),
                    finding.message
                ))?;
                if let Some(hint) = &finding.hint {
                    out.text(&format!("  {hint}"))?;
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

fn line(wiring: &Wiring) -> String {
    let files: Vec<String> = wiring.files.iter().map(|path| path.display().to_string()).collect();
    let experimental = if wiring.experimental { " (experimental)" } else { "" };
    format!("{}{experimental} is wired in {}", wiring.agent, files.join(", "))
}
