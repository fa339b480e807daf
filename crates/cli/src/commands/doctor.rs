//! `leftoff doctor`

use crate::commands::init::places;
use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::install::{self, Change, Task, Wiring, wiring};
use crate::ui::Tone;
use std::process::ExitCode;

/// Look for problems with the project and its store
///
/// Checks the configuration, every workflow definition, the store, each session's snapshot against its log, the files
/// of unfinished sessions, other tools' files, which `leftoff repair` fixes, and the agents' hooks: which are
/// installed, which are incomplete, and which the agent does not trust yet. Finds a lost or replaced database, folders
/// of sessions that the store does not know, missing backups, and a disk that is nearly full. Changes nothing without
/// --fix. Exit code 4 if a problem was found.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff doctor\n  leftoff doctor --fix\n  leftoff doctor --json")]
pub struct Doctor {
    /// First fix what can be fixed safely: restore a lost store from its newest backup, make a missing backup, complete
    /// agents' hooks, keep sessions out of version control
    #[arg(long)]
    fix: bool,
}

impl Run for Doctor {
    fn run(self, globals: &Globals) -> Outcome {
        let out = globals.out();
        globals.say_that_it_works();
        let fixed = if self.fix { fix(globals)? } else { Vec::new() };
        let mut findings = engine::diagnose(globals.options.clone())?;
        let (wired, wrong) = wiring(&places(globals, false), &places(globals, true));
        findings.extend(wrong);
        if globals.json {
            let mut answer = serde_json::json!({ "findings": findings, "wired": wired });
            if self.fix {
                answer["fixed"] = serde_json::json!(fixed);
            }
            out.json(&answer)?;
        } else {
            for line in &fixed {
                out.text(&format!("{} {line}", out.paint(Tone::Good, "fixed:")))?;
            }
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
            out.say("no problems found");
            return Ok(ExitCode::SUCCESS);
        }
        let count =
            if findings.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", findings.len()) };
        Err(Failure::findings(count, None))
    }
}

/// Fixes everything that can be fixed safely. Returns one line for each fix.
fn fix(globals: &Globals) -> Result<Vec<String>, Failure> {
    let mut fixed = engine::fix(&globals.options)?;
    for user in [false, true] {
        let places = places(globals, user);
        let stale = wiring(&places, &places).0.into_iter().filter(|wiring| !wiring.stale.is_empty());
        let agents: Vec<_> = stale.filter_map(|wiring| install::agents::find(&wiring.agent)).collect();
        if !agents.is_empty() {
            let touched = install::run(&agents, &places, Task::PutIn, false)?;
            let changed = touched.iter().filter(|file| file.change != Change::Unchanged);
            fixed.extend(changed.map(|file| format!("completed {}", file.path.display())));
        }
    }
    Ok(fixed)
}

fn line(wiring: &Wiring) -> String {
    let files: Vec<String> = wiring.files.iter().map(|path| path.display().to_string()).collect();
    let experimental = if wiring.experimental { " (experimental)" } else { "" };
    format!("{}{experimental} is connected in {}", wiring.agent, files.join(", "))
}
