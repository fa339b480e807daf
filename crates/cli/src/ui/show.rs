//! The output of `leftoff show`: a session with every attempt, revision, file, note and field.

use super::status::status;
use crate::ui::{LONGEST_LINE, Out, Tone, line, set_in};
use engine::view::View;
use engine::words::{one_line, phase_titled};
use model::artifact::Artifact;
use model::gate::{Attempt, AttemptOutcome};
use model::typed_value::shown;
use std::fmt::Write;

/// The session with every attempt and every note.
pub fn whole(view: &View, out: &Out) -> String {
    let mut text = status(view, out);
    for phase in view.phases.iter().filter(|phase| !phase.attempts.is_empty()) {
        let heading = format!("\n{}:", phase_titled(phase.number, &one_line(&phase.title, 60)));
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, &heading));
        for (attempt, ordinal) in phase.attempts.iter().zip(1..) {
            text.push_str(&attempt_lines(ordinal, attempt, out));
        }
    }
    text.push_str(&revisions(view, out));
    text.push_str(&artifacts(&view.artifacts, out));
    if !view.notes.is_empty() {
        let _ = writeln!(text, "\n{}", out.paint(Tone::Heading, "Notes:"));
    }
    for note in &view.notes {
        let resolved = if note.resolved_at.is_some() { ", resolved" } else { "" };
        let label = format!("  {} {}{resolved}: ", note.id, note.kind.name());
        let _ = writeln!(text, "{}", line(&label, &format!("{} ({})", note.text, note.actor), out));
    }
    for (name, value) in &view.fields {
        let _ = writeln!(text, "{}", line(&format!("{}: ", one_line(name, 60)), &shown(value), out));
    }
    text
}

/// All revisions of the session, with the oldest first.
fn revisions(view: &View, out: &Out) -> String {
    if view.revisions.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", out.paint(Tone::Heading, "Revisions:"));
    for made in &view.revisions {
        let words = format!("{} by {}: {}", made.at, made.actor, engine::event_text::revised(&made.revision));
        let _ = writeln!(text, "{}", line("  ", &words, out));
    }
    text
}

/// The session's recorded files.
fn artifacts(artifacts: &[Artifact], out: &Out) -> String {
    if artifacts.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", out.paint(Tone::Heading, "Files:"));
    for known in artifacts {
        let _ = writeln!(text, "{}", line("  ", &artifact_line(known), out));
    }
    text
}

/// A recorded file on one line, such as `PLAN.md  version 2, 1204 bytes, of plan, 3f1c9a…`.
pub fn artifact_line(known: &Artifact) -> String {
    let newest = &known.newest;
    let phase = newest.phase.as_ref().map(|phase| format!(", of {phase}")).unwrap_or_default();
    let hash: String = newest.hash.chars().take(12).collect();
    format!("{}  version {}, {} bytes{phase}, {hash}", newest.path, newest.version, newest.size)
}

fn attempt_lines(ordinal: u32, attempt: &Attempt, out: &Out) -> String {
    let verdict = match attempt.outcome {
        AttemptOutcome::Passed => "passed",
        AttemptOutcome::Failed => "FAILED",
    };
    // The time is shown without fractions of a second.
    let at = attempt.at.strftime("%Y-%m-%dT%H:%M:%SZ");
    let mut text = format!("  attempt {ordinal}: {verdict}, {at} by {}\n", attempt.actor);
    for (name, value) in attempt.report.evidence.iter().chain(&attempt.report.outputs) {
        let _ = writeln!(text, "{}", line(&format!("    {}=", one_line(name, 60)), &shown(value), out));
    }
    for check in attempt.report.checks.iter().filter(|check| !check.failed() && check.kind != "evidence") {
        let found = check.needed.as_deref().or(check.found.as_deref()).unwrap_or("as required");
        text.push_str(&format!("    passed {}: {}\n", one_line(&check.id, 60), one_line(found, 200)));
    }
    for check in attempt.report.checks.iter().filter(|check| check.failed()) {
        let found = check.found.as_deref().unwrap_or("missing");
        let found = format!("failed {}: {}", one_line(&check.id, 60), one_line(found, LONGEST_LINE));
        text.push_str(&set_in(4, &found, out));
    }
    text
}
