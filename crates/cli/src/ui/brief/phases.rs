//! Phases in the brief: completed, skipped, claimed, to be reviewed, and the last failed gate.

use super::{LONGEST, deeper, evidence, row};
use crate::ui::{Out, Tone};
use engine::brief::Brief;
use engine::view::{GateOutcome, PhaseView};
use engine::words::{ago, duration, moment, one_line, title_beside};
use model::outcome::Outcome;

pub(super) fn completed(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let done: Vec<&PhaseView> = view
        .phases
        .iter()
        .filter(|phase| {
            view.completed_phases.contains(&phase.number) && phase.gate.outcome != GateOutcome::Claimed
        })
        .collect();
    if done.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", out.paint(Tone::Heading, "Completed phases (do not do again):"));
    for phase in done {
        let time = view.timed(phase).map(|seconds| format!(" ({})", duration(seconds)));
        let line = format!(
            "{}{}{}",
            title_beside(phase.number, &phase.title),
            time.unwrap_or_default(),
            verdict(phase)
        );
        text.push_str(&row(&format!("Phase {}: ", phase.number), &line, out));
        if let Some(attempt) = phase.attempts.last() {
            text.push_str(&evidence(&attempt.report.evidence, "Evidence: ", out));
            text.push_str(&evidence(&attempt.report.outputs, "Outputs: ", out));
        }
        let files = brief.files_of(phase).map(ToOwned::to_owned);
        let approvers = brief.approvers_of(phase).map(|by| format!("approved by {by}"));
        let proof: Vec<String> = files.chain(approvers).collect();
        if !proof.is_empty() {
            text.push_str(&deeper("Proof: ", &proof.join(", "), out));
        }
    }
    text
}

/// Skipped phases.
pub(super) fn passed_over(brief: &Brief, out: &Out) -> String {
    let mut text = String::new();
    for phase in &brief.session.phases {
        let Some(reason) = &phase.skipped_reason else { continue };
        let how = if phase.outcome == Some(Outcome::NotApplicable) { "does not apply" } else { "skipped" };
        let by = brief.skipped_by.get(phase.id.as_str()).map(|by| format!(" by {by}"));
        let line = format!(
            "{} {how}{}: {}",
            title_beside(phase.number, &phase.title),
            by.unwrap_or_default(),
            one_line(reason, LONGEST)
        );
        text.push_str(&row(&format!("Phase {}: ", phase.number), &line, out));
    }
    if text.is_empty() { text } else { format!("{}\n{text}", out.paint(Tone::Heading, "Not done:")) }
}

pub(super) fn unverified(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let mut text = String::new();
    for phase in view.claimed() {
        let proving = phase.proving.as_ref().map(|command| format!(": {command}")).unwrap_or_default();
        let words = format!("{}{proving}", title_beside(phase.number, &phase.title));
        text.push_str(&row(&format!("Phase {}: ", phase.number), &words, out));
        if phase.contested {
            text.push_str(&deeper("", "its gate failed here, or its items are open: it is not done", out));
        }
    }
    if let Some(moved) = &brief.moved {
        let at = moment(moved.at, brief.now);
        let words = format!("{}, {at}; {}", moved.from_to(), moved.on_record());
        text.push_str(&row("An edit of its files ", &words, out));
    }
    if text.is_empty() {
        return text;
    }
    let heading = match view.claimed().next() {
        Some(_) => "Claimed in a file, unverified (their gates are still open):",
        None => "Changed in its files, unverified:",
    };
    format!("{}\n{text}", out.paint(Tone::Warning, heading))
}

pub(super) fn to_review(brief: &Brief, out: &Out) -> String {
    let waiting = brief.session.waiting_for_review();
    if waiting.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", out.paint(Tone::Warning, "Waits for review:"));
    for (phase, why) in waiting {
        let why = why.map(|made| {
            let revision = &made.revision;
            let impact = revision.impact.name();
            format!(
                ", {} was revisited {} ({impact} impact): {}",
                revision.phase,
                ago(made.at, brief.now),
                revision.reason
            )
        });
        let words = format!("{}{}", title_beside(phase.number, &phase.title), why.unwrap_or_default());
        text.push_str(&row(&format!("Phase {}: ", phase.number), &words, out));
    }
    text
}

/// A lenient gate, or a person, let a phase pass with failed checks; that is not the same as passing them.
fn verdict(phase: &PhaseView) -> String {
    let failed = phase.gate.checks.iter().filter(|check| check.outcome == GateOutcome::Failed);
    let names: Vec<&str> = failed.map(|check| check.id.as_str()).collect();
    let overridden = phase.attempts.last().is_some_and(|attempt| attempt.report.overridden.is_some());
    match (overridden, names.is_empty()) {
        (true, _) => format!(" checkpoint OVERRIDDEN: {}", names.join(", ")),
        (false, true) => " checkpoint PASSED".to_owned(),
        (false, false) => format!(" checkpoint passed with warnings: {}", names.join(", ")),
    }
}

pub(super) fn failed(brief: &Brief, out: &Out) -> String {
    let Some((phase, attempt)) = brief.session.failed_attempt() else { return String::new() };
    let heading = format!(
        "Phase {}: {} checkpoint FAILED (attempt {}, {})",
        phase.number,
        one_line(title_beside(phase.number, &phase.title), 40),
        phase.attempt_count,
        ago(attempt.at, brief.now)
    );
    let mut text = format!("{}\n", out.paint(Tone::Bad, &heading));
    text.push_str(&evidence(&attempt.report.evidence, "Evidence: ", out));
    for check in phase.gate.checks.iter().filter(|check| check.outcome == GateOutcome::Failed) {
        let found = check.found.as_ref().map(|found| format!(": {found}")).unwrap_or_default();
        let needed = check.needed.as_ref().map(|needed| format!(", needs {needed}")).unwrap_or_default();
        text.push_str(&deeper("Issue: ", &format!("{}{found}{needed}", check.id), out));
        if let Some(help) = &check.help {
            text.push_str(&deeper("To mend: ", help, out));
        }
    }
    text
}
