//! `advance`: completes a phase if its gate passes. A gate that fails is an answer, not an error.

use super::schema::{ArgumentType, optional};
use super::{Call, Effect, Entry, paths};
use crate::answer::{Answer, next, short};
use crate::error::Mishap;
use engine::view::{CheckView, GateOutcome};
use engine::words::{one_line, phase_called};
use engine::{AdvanceRequest, GateTried, Intent, Request};

const LONGEST_LINE: usize = 600;

pub(super) const ENTRY: Entry = Entry {
    name: "advance",
    description: "When the work of the current phase is done: runs its gate. Passed: the next phase starts. outcome gate_failed: fix what `missing` lists (found, needed, help) and call again. Report only evidence that you have seen; only a person can approve.",
    parameters: &[
        optional("phase", ArgumentType::Text, "the phase you believe is current, by id or number"),
        optional("evidence", ArgumentType::Object, "e.g. {\"tests_passed\": 42}"),
        optional("outputs", ArgumentType::Object, "results worth keeping"),
        optional("artifacts", ArgumentType::List, "files of the phase"),
        optional("dry_run", ArgumentType::Flag, "only run the gate"),
    ],
    fields: &[("current_phase", "object"), ("missing", "array"), ("next", "object")],
    effect: Effect::AddsOnce,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let arguments = &call.arguments;
    let mut request = AdvanceRequest {
        phase: arguments.name("phase")?,
        evidence: arguments.values("evidence")?,
        outputs: arguments.values("outputs")?,
        ..AdvanceRequest::default()
    };
    let artifacts = arguments.list("artifacts")?;
    if arguments.flag("dry_run")? {
        let tried = call.open_for_checks(Intent::Query)?.sessions().try_gate(None, request.evidence)?;
        return Ok(tried_only(&tried));
    }
    let mut engine = call.open_for_checks(Intent::Command)?;
    request.artifacts = paths(&engine, &artifacts);
    let answer = engine.execute(Request::Advance(request))?;
    if answer.gate_failed { Ok(held(&answer)) } else { Ok(passed(&answer)) }
}

fn passed(answer: &engine::Answer) -> Answer {
    let view = &answer.view;
    let done = match (view.already, view.run.completed_at) {
        (true, _) => "that phase was already completed; nothing changed",
        (false, Some(_)) => "the gate passed; the run is complete",
        (false, None) => "the gate passed; the next phase starts",
    };
    Answer::of_command(done, answer).with("already", view.already)
}

/// The answer if the gate did not pass. It says what to do before the next attempt.
fn held(answer: &engine::Answer) -> Answer {
    let view = &answer.view;
    let checks = view.current().map(|phase| phase.gate.checks.as_slice()).unwrap_or_default();
    let missing: Vec<&CheckView> = failed(checks);
    let text = format!(
        "The gate of {} did not pass:\n{}{}",
        phase_called(view.current_phase.number, &view.current_phase.id),
        missing_text(&missing),
        next(&view.next)
    );
    let answer_of_gate = Answer::new("gate_failed", text).with_fields(short(view)).with("missing", missing);
    answer_of_gate.with("already", view.already).with_said(&answer.said)
}

fn tried_only(tried: &GateTried) -> Answer {
    let missing = failed(&tried.gate.checks);
    let (outcome, line) = if tried.gate.outcome == GateOutcome::Passed {
        ("would_pass", format!("The gate of phase {} would pass. Nothing was changed.", tried.phase))
    } else {
        ("would_fail", format!("The gate of phase {} would not pass. Nothing was changed.", tried.phase))
    };
    let answer = Answer::new(outcome, format!("{line}\n{}", missing_text(&missing)));
    answer.with("session_id", &tried.session_id).with("missing", &missing).with("warnings", &tried.warnings)
}

fn failed(checks: &[CheckView]) -> Vec<&CheckView> {
    checks.iter().filter(|check| check.outcome == GateOutcome::Failed).collect()
}

fn missing_text(missing: &[&CheckView]) -> String {
    let mut text = String::new();
    for check in missing {
        text.push_str(&format!("- {} ({})", check.id, check.kind));
        let parts = [("found", &check.found), ("needs", &check.needed), ("fix it", &check.help)];
        for (label, part) in parts {
            if let Some(part) = part {
                text.push_str(&format!("; {label}: {}", one_line(part, LONGEST_LINE)));
            }
        }
        text.push('\n');
    }
    text
}
