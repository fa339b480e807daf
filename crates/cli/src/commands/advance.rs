//! `leftoff advance`

use crate::arguments::{given, pair};
use crate::commands::{Outcome, Run, answered, with_talk};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::view::PhaseView;
use engine::{AdvanceRequest, Answer, placeholder};
use model::gate::{CheckResult, Given};
use model::hint::Hint;
use model::words;
use model::workflow::ValueType;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Complete the current phase: run its gate, go on to the next
///
/// When the gate passes, the phase is complete and the next one begins; the last one completes the run. When it does not, the attempt is kept, what is missing is said, and the exit code is 5. `--phase` states which phase you believe is current: one that this run has completed already changes nothing, a later one is refused.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff advance --phase plan\n  leftoff advance --phase build --evidence tests_passed=42 --evidence tests_total=42\n  leftoff advance --phase build --evidence-file evidence.json"
)]
pub struct Advance {
    /// The phase that you believe is current, by id or number
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// Proof that the gate asks for, such as tests_passed=42; may be given several times
    #[arg(long, value_name = "K=V", value_parser = pair)]
    evidence: Vec<(String, String)>,
    /// A file with evidence as a JSON object; `-` for stdin
    #[arg(long, value_name = "FILE")]
    evidence_file: Option<PathBuf>,
    /// A result worth keeping with the phase, such as commit=4e1f0aa; may be given several times
    #[arg(long, value_name = "K=V", value_parser = pair)]
    output: Vec<(String, String)>,
    /// A file that is recorded with the phase; may be given several times
    #[arg(long, value_name = "PATH")]
    artifact: Vec<PathBuf>,
    /// Let it pass although checks fail, and why: a person's to do, at a terminal
    #[arg(long = "override", value_name = "REASON")]
    override_reason: Option<String>,
}

impl Run for Advance {
    fn run(self, globals: &Globals) -> Outcome {
        let mut evidence = match &self.evidence_file {
            Some(path) => read_evidence(path)?,
            None => BTreeMap::new(),
        };
        evidence.extend(given("evidence", self.evidence)?);
        let request = AdvanceRequest {
            phase: self.phase,
            evidence,
            outputs: given("output", self.output)?,
            override_reason: self.override_reason,
            artifacts: self.artifact,
        };
        let mut engine = globals.command()?;
        ui::progress::show(&mut engine, globals);
        let answer = engine.advance(&request)?;
        shown(&answer, request.phase.as_deref(), globals)
    }
}

/// What came of an attempt at the phase that was named, else the current one: the session goes on, or the gate held it.
pub fn shown(answer: &Answer, asked: Option<&str>, globals: &Globals) -> Outcome {
    if answer.gate_failed { held(answer, asked, globals) } else { passed(answer, globals) }
}

fn passed(answer: &Answer, globals: &Globals) -> Outcome {
    answered(&answer.view.how_far(), answer, globals)
}

/// The attempt was kept: the view is data, the reason is an error.
fn held(answer: &Answer, asked: Option<&str>, globals: &Globals) -> Outcome {
    let view = &answer.view;
    let out = globals.out();
    if globals.json {
        out.json(&with_talk(answer)).map_err(Failure::after_the_change)?;
    } else {
        let text = crate::ui::session::status(view, &out);
        out.text(&text).map_err(Failure::after_the_change)?;
    }
    let is_asked = |phase: &&PhaseView| {
        asked.is_some_and(|asked| phase.id.as_str() == asked || phase.number.to_string() == asked)
    };
    // One that is only claimed may be tried when the work has moved on from it.
    let tried = view.phases.iter().find(is_asked).or_else(|| view.current());
    let checks = tried.and_then(|phase| phase.attempts.last()).map(|attempt| &attempt.report.checks[..]);
    let asked_for = evidence_of(checks.unwrap_or_default());
    let failed: Vec<&CheckResult> = checks.into_iter().flatten().filter(|check| check.failed()).collect();
    let checks: Vec<String> = failed
        .iter()
        .map(|check| match &check.found {
            Some(found) => format!("{} ({found})", check.id),
            None => check.id.clone(),
        })
        .collect();
    let phase = tried.map_or(&view.current_phase.id, |phase| &phase.id);
    let message = format!("the gate of phase '{phase}' did not pass: {}", checks.join("; "));
    let hint = if *phase == view.current_phase.id {
        view.next.summary.clone()
    } else {
        let help = failed.iter().filter_map(|check| check.help.as_deref());
        let help: String = help.map(|help| format!("{}. ", help.trim().trim_end_matches('.'))).collect();
        let words = [words!["advance", "--phase", phase], asked_for].concat();
        Hint::new(format!("{help}Then: ")).command(view.command(words))
    };
    Err(Failure::gate(message, Some(hint)))
}

/// What the next attempt is to be given once more, with what stands for each value.
fn evidence_of(checks: &[CheckResult]) -> Vec<String> {
    let stand_in = |check: &CheckResult| match check.needed.as_deref() {
        Some("boolean") => placeholder(ValueType::Boolean),
        Some("integer" | "number") => placeholder(ValueType::Number),
        Some("list") => placeholder(ValueType::List),
        Some("object") => placeholder(ValueType::Object),
        Some(_) | None => placeholder(ValueType::String),
    };
    let fields = checks.iter().filter(|check| check.kind == "evidence");
    fields.flat_map(|check| words!["--evidence", format!("{}={}", check.id, stand_in(check))]).collect()
}

fn read_evidence(path: &std::path::Path) -> Result<BTreeMap<String, Given>, Failure> {
    let hint = "write a JSON object: {\"tests_passed\": 42}";
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| {
        Failure::wrong_usage(format!("--evidence-file {}: {error}", path.display()), hint)
    })?;
    let values: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).map_err(|error| {
            Failure::wrong_usage(format!("--evidence-file {}: {error}", path.display()), hint)
        })?;
    Ok(values.into_iter().map(|(name, value)| (name, Given::Json(value))).collect())
}
