//! The Phases tab: all phases, with all attempts at their gates.

use super::now::{phase_row, tone};
use crate::snapshot::Shown;
use crate::text::{Look, Row, Tone, outside, wrapped};
use engine::view::{Severity, attempt_words};
use engine::words::moment;
use jiff::Timestamp;
use model::gate::Attempt;
use model::typed_value::shown as value;

pub fn rows(shown: &Shown, now: Timestamp, width: usize, look: Look) -> Vec<Row> {
    let view = &*shown.view;
    let mut rows = Vec::new();
    for phase in &view.phases {
        rows.push(phase_row(phase, view, look));
        let purpose = phase.purpose.as_ref().or(phase.skipped_reason.as_ref());
        rows.extend(
            purpose
                .map(|text| wrapped(Tone::Faint, &format!("    {}", outside(text)), width, 4))
                .unwrap_or_default(),
        );
        for (attempt, ordinal) in phase.attempts.iter().zip(1..) {
            rows.extend(attempt_rows(attempt, ordinal, now, width, look));
        }
    }
    rows
}

fn attempt_rows(attempt: &Attempt, ordinal: u32, now: Timestamp, width: usize, look: Look) -> Vec<Row> {
    let (word, severity) = attempt_words(attempt);
    // Problems are in upper case, so that they are visible without colours.
    let word = if severity == Severity::Bad { word.to_uppercase() } else { word.to_owned() };
    let tone = tone(severity);
    let who = outside(&attempt.actor.to_string());
    let head = format!("    attempt {ordinal}: {word}, {} by {who}", moment(attempt.at, now));
    let mut rows = wrapped(tone, &head, width, 6);
    if let Some(reason) = &attempt.report.overridden {
        rows.extend(wrapped(Tone::Warning, &format!("      because: {}", outside(reason)), width, 8));
    }
    for (name, given) in attempt.report.evidence.iter().chain(&attempt.report.outputs) {
        let text = format!("      {}={}", outside(name), outside(&value(given)));
        rows.extend(wrapped(Tone::Plain, &text, width, 8));
    }
    for check in attempt.report.checks.iter().filter(|check| check.failed()) {
        let found = check.found.as_deref().unwrap_or("nothing");
        let needed = check.needed.as_ref().map(|needed| format!("; needs {}", outside(needed)));
        let text = format!(
            "      {} {}: found {}{}",
            look.cross(),
            outside(&check.id),
            outside(found),
            needed.unwrap_or_default()
        );
        rows.extend(wrapped(Tone::Bad, &text, width, 8));
    }
    rows
}
