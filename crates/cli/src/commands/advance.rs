//! `leftoff advance`

use crate::arguments::{given, one_phase, pair, read_at_most};
use crate::commands::{Outcome, Run, answered, answered_or, with_talk};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::view::{CheckView, PhaseView, View};
use engine::words::phase_called;
use engine::{AdvanceRequest, Answer, Request, placeholder};
use model::gate::{CheckResult, EVIDENCE};
use model::hint::Hint;
use model::typed_value::Given;
use model::words;
use model::workflow::ValueType;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Complete the current phase: run its gate, then start the next
///
/// If the gate passes, the phase is complete and the next one starts; completing the last phase completes the run. If
/// the gate does not pass, the attempt is recorded, the missing evidence is listed, and the exit code is 5. `--phase`
/// states which phase you believe is current: if this run has already completed that phase, nothing changes; if it is a
/// later phase, the command is refused.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff advance plan\n  leftoff advance --phase plan\n  leftoff advance --phase build --evidence tests_passed=42 --evidence tests_total=42\n  leftoff advance --phase build --evidence-file evidence.json"
)]
pub struct Advance {
    /// The phase that you believe is current, by id or number
    #[arg(value_name = "PHASE")]
    named: Option<String>,
    /// The phase that you believe is current, as an option instead of an argument
    #[arg(long, value_name = "PHASE")]
    phase: Option<String>,
    /// Evidence for the gate, such as tests_passed=42; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    evidence: Vec<(String, String)>,
    /// A file with evidence as a JSON object; `-` for stdin
    #[arg(long, value_name = "FILE")]
    evidence_file: Option<PathBuf>,
    /// A result to store with the phase, such as commit=4e1f0aa; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    output: Vec<(String, String)>,
    /// A file to record with the phase; may be repeated
    #[arg(long, value_name = "PATH")]
    artifact: Vec<PathBuf>,
    /// Pass although checks fail, with a reason; only a person can do this, at a terminal
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
            phase: one_phase(self.named, self.phase)?,
            evidence,
            outputs: given("output", self.output)?,
            override_reason: self.override_reason,
            artifacts: self.artifact,
        };
        let mut engine = globals.command()?;
        let asked = request.phase.clone();
        let answer = engine.execute(Request::Advance(request))?;
        shown(&answer, asked.as_deref(), globals)
    }
}

/// Shows the result of an attempt to complete the phase `asked`, or the current phase: the session continues, or the
/// gate did not pass.
pub fn shown(answer: &Answer, asked: Option<&str>, globals: &Globals) -> Outcome {
    if answer.gate_failed {
        return held(answer, asked, globals);
    }
    match asked_of(&answer.view, asked) {
        Some(skipped) if answer.view.already && skipped.skipped_reason.is_some() => {
            not_done(skipped, answer, globals)
        }
        Some(phase) => {
            let already = format!("{} already completed", phase_called(phase.number, &phase.id));
            answered_or(&already, &answer.view.how_far(), answer, globals)
        }
        None => answered(&answer.view.how_far(), answer, globals),
    }
}

fn asked_of<'a>(view: &'a View, asked: Option<&str>) -> Option<&'a PhaseView> {
    let asked = asked?;
    view.phases.iter().find(|phase| phase.id.as_str() == asked || phase.number.to_string() == asked)
}

/// Reports that the phase was skipped, so that its work was not done.
fn not_done(skipped: &PhaseView, answer: &Answer, globals: &Globals) -> Outcome {
    let state = format!("{} was skipped, not done", phase_called(skipped.number, &skipped.id));
    let hint = Hint::new("to do the phase after all: ").run_here(words!["rollback", skipped.id]);
    if !globals.json {
        globals.out().say(&hint.naming(&answer.view.naming_words()).to_string());
    }
    super::shown(&state, answer, ui::answer::already, globals)
}

/// Shows an attempt that did not complete the phase, because the gate did not pass or the attempt was only recorded.
/// The session is data, on stdout; the reason is an error, on stderr.
fn held(answer: &Answer, asked: Option<&str>, globals: &Globals) -> Outcome {
    let view = &answer.view;
    let out = globals.out();
    if globals.json {
        out.json(&with_talk(answer)).map_err(Failure::after_the_change)?;
    } else {
        answer.said.iter().for_each(|line| out.say(line));
        ui::answer::warn_shortly(&view.warnings, &out);
    }
    // A claimed phase may be tried although a later phase is current.
    let tried = asked_of(view, asked).or_else(|| view.contested()).or_else(|| view.current());
    let checks = tried.and_then(|phase| phase.attempts.last()).map(|attempt| &attempt.report.checks[..]);
    let asked_for = evidence_of(checks.unwrap_or_default());
    let failed: Vec<&CheckResult> = checks.into_iter().flatten().filter(|check| check.failed()).collect();
    let checks: Vec<String> = once_each(&failed)
        .map(|check| match &check.found {
            Some(found) => format!("{} ({found})", check.id),
            None if check.kind == EVIDENCE => format!("{} (not given)", check.id),
            None => check.id.clone(),
        })
        .collect();
    let phase = tried.map_or(&view.current_phase.id, |phase| &phase.id);
    let message = format!("the gate of phase '{phase}' did not pass: {}", checks.join("; "));
    let hint = if *phase == view.current_phase.id {
        match view.next.command.clone() {
            Some(command) => view.next.summary.clone().then("\n  ").command(command),
            None => view.next.summary.clone(),
        }
    } else {
        let help = failed.iter().filter_map(|check| check.help.as_deref());
        let help: String = help.map(|help| format!("{}. ", help.trim().trim_end_matches('.'))).collect();
        let words = [words!["advance", "--phase", phase], asked_for].concat();
        Hint::new(format!("{help}Then: ")).command(view.command(words))
    };
    let missing = failed.iter().map(|check| CheckView::from(*check)).collect();
    Err(Failure::gate(message, Some(hint), missing, view.next.command.clone()))
}

/// The failed checks without expressions that only lack a piece of evidence which is named already. Both have the same
/// help.
fn once_each<'a>(failed: &'a [&'a CheckResult]) -> impl Iterator<Item = &'a CheckResult> {
    let is_told = |check: &CheckResult| {
        let told = |other: &&CheckResult| other.kind == EVIDENCE && other.help == check.help;
        check.kind == "expr" && check.help.is_some() && failed.iter().any(told)
    };
    failed.iter().copied().filter(move |check| !is_told(check))
}

/// The evidence options for the next attempt. A missing value is shown as a placeholder.
fn evidence_of(checks: &[CheckResult]) -> Vec<String> {
    let stand_in = |check: &CheckResult| match check.needed.as_deref() {
        Some("boolean") => placeholder(ValueType::Boolean),
        Some("integer" | "number") => placeholder(ValueType::Number),
        Some("list") => placeholder(ValueType::List),
        Some("object") => placeholder(ValueType::Object),
        Some(_) | None => placeholder(ValueType::String),
    };
    let fields = checks.iter().filter(|check| check.kind == EVIDENCE);
    fields.flat_map(|check| words!["--evidence", format!("{}={}", check.id, stand_in(check))]).collect()
}

/// The maximum size of a file with evidence, in bytes. Evidence consists of figures and names that a gate checks, not
/// of whole files; the log stores it forever.
const LONGEST_EVIDENCE: u64 = 1024 * 1024;

fn read_evidence(path: &std::path::Path) -> Result<BTreeMap<String, Given>, Failure> {
    let hint = "write a JSON object: {\"tests_passed\": 42}";
    let text = read_at_most(path, LONGEST_EVIDENCE).map_err(|error| {
        Failure::wrong_usage(format!("--evidence-file {}: {error}", path.display()), hint)
    })?;
    let values: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).map_err(|error| {
            Failure::wrong_usage(format!("--evidence-file {}: {error}", path.display()), hint)
        })?;
    Ok(values.into_iter().map(|(name, value)| (name, Given::Json(value))).collect())
}
