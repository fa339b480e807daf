//! `leftoff gate`

use crate::arguments::{given, one_phase, pair};
use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, Tone};
use engine::view::GateOutcome;
use engine::words::one_line;
use model::hint::{CommandLine, Hint};
use model::words;
use std::fmt::Write;
use std::process::ExitCode;

const LONGEST_LINE: usize = 400;

/// Run the current phase's checks, and change nothing
///
/// Shows for each check what was found and how to fix it. `--phase` selects a claimed phase: one that only a file says
/// is done. Exit code 5 if the gate would not pass.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff gate\n  leftoff gate --evidence tests_passed=42 --evidence tests_total=42"
)]
pub struct Gate {
    /// The phase, by id or number [default: the current one]
    #[arg(value_name = "PHASE")]
    named: Option<String>,
    /// The phase, as an option instead of an argument
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// Evidence for the gate, such as tests_passed=42; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    evidence: Vec<(String, String)>,
}

impl Run for Gate {
    fn run(self, globals: &Globals) -> Outcome {
        globals.say_that_it_works();
        let engine = globals.query()?;
        let phase = one_phase(self.named, self.phase)?;
        let tried = engine.sessions().try_gate(phase.as_deref(), given("evidence", self.evidence)?)?;
        let out = globals.out();
        if globals.json {
            out.json(&tried)?;
        } else {
            ui::answer::warn(&tried.warnings, &out);
            out.text(&table(&tried, &out))?;
            for phase in tried.claimed.iter().filter(|phase| **phase != tried.phase) {
                let words = [words!["gate", "--phase", phase], tried.naming.clone()].concat();
                out.text(&format!(
                    "{} {phase}: claimed in a file, unverified; its gate: {}",
                    out.paint(Tone::Warning, "open"),
                    CommandLine::new(words)
                ))?;
            }
        }
        if tried.gate.outcome == GateOutcome::Passed {
            return Ok(ExitCode::SUCCESS);
        }
        let message = format!("the gate of phase '{}' would not pass", tried.phase);
        let named = phase.map(|_| words!["--phase", tried.phase]).unwrap_or_default();
        let words = [words!["gate"], named, tried.naming].concat();
        let again = Hint::new("fix what failed, then: ").run(words);
        let failed = tried.gate.checks.iter().filter(|check| check.outcome == GateOutcome::Failed);
        Err(Failure::gate(message, Some(again), failed.cloned().collect(), None))
    }
}

fn table(tried: &engine::GateTried, out: &ui::Out) -> String {
    if tried.gate.checks.is_empty() {
        return format!("phase {} has no checks, so it passes", tried.phase);
    }
    let mut text = String::new();
    for check in &tried.gate.checks {
        let (mark, tone) = match check.outcome {
            GateOutcome::Passed => ("ok  ", Tone::Good),
            GateOutcome::Failed => ("FAIL", Tone::Bad),
            GateOutcome::Open | GateOutcome::Claimed => ("open", Tone::Warning),
        };
        let found = check.found.as_deref().unwrap_or("nothing");
        let label = format!("{} ({}): ", check.id, check.kind);
        let _ = writeln!(text, "{} {}", out.paint(tone, mark), ui::line(&label, found, out));
        if check.outcome != GateOutcome::Failed {
            continue;
        }
        if let Some(needed) = &check.needed {
            let _ =
                write!(text, "{}", ui::set_in(5, &format!("needs {}", one_line(needed, LONGEST_LINE)), out));
        }
        let is_said = |help: &&String| {
            let before = tried.gate.checks.iter().take_while(|other| other.id != check.id);
            before.filter_map(|other| other.help.as_ref()).any(|said| said == *help)
        };
        if let Some(help) = check.help.as_ref().filter(|help| !is_said(help)) {
            let _ = write!(text, "{}", ui::set_in(5, &one_line(help, LONGEST_LINE), out));
        }
    }
    text
}
