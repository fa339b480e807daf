//! The brief for a person: progress, what is done with what proof, what failed and why, timing, what is next.

use crate::ui::{Out, Tone, session, wrapped};
use engine::ActivityKind;
use engine::brief::{Brief, PhaseName};
use engine::view::{GateOutcome, PhaseView};
use engine::words::{ago, duration, moment, one_line, phase_titled, title_beside};
use model::gate::shown;
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::outcome::Outcome;
use model::progress::Status;
use std::fmt::Write;

const INDENT: &str = "   ";
const LONGEST: usize = 400;
const SHOWN_ITEMS: usize = 10;

pub fn text(brief: &Brief, out: &Out) -> String {
    let parts = [
        identity(brief, out),
        progress(brief, out),
        completed(brief, out),
        passed_over(brief, out),
        failed(brief, out),
        to_review(brief, out),
        unverified(brief, out),
        status(brief, out),
        session::rounds(&brief.session, out),
        notes("Blocked, open:", brief.session.open_notes().into_iter(), brief, out),
        required(brief, out),
        items(brief, out),
        revised(brief, out),
        notes("Decided:", brief.notes(NoteKind::Decision), brief, out),
        notes("Tried, did not work:", brief.notes(NoteKind::Tried), brief, out),
        notes("Assumed:", brief.notes(NoteKind::Assumption), brief, out),
        notes("Overridden:", brief.notes(NoteKind::Override), brief, out),
        notes("Notes:", brief.notes(NoteKind::Note), brief, out),
        timing(brief, out),
        touched(brief, out),
        here_now(brief, out),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn identity(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let run = if view.run.ordinal > 1 { format!(", run {}", view.run.ordinal) } else { String::new() };
    let heading = format!("Session {}: {}{run}", view.session_id, view.workflow.name);
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    text.push_str(&row("", &view.title, out));
    if let Some(goal) = &view.goal {
        text.push_str(&row("Goal: ", goal, out));
    }
    if let Some(target) = &view.target {
        text.push_str(&row("Target: ", target, out));
    }
    if let Some(describe) = &view.workflow.describe {
        text.push_str(&row("Workflow: ", describe, out));
    }
    if let Some(branch) = &brief.branch {
        text.push_str(&row("Branch: ", branch, out));
    }
    text
}

fn progress(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let number = view.current_phase.number;
    let outcomes = &view.progress.outcomes;
    let beside = if outcomes.is_plain() { String::new() } else { format!("; {outcomes}") };
    let heading = match view.percent() {
        Some(percent) => {
            format!(
                "Progress: Phase {number} of {} ({percent}% complete{beside})",
                view.workflow.total_phases
            )
        }
        None => format!("Progress: Phase {number}, {}", view.how_far()),
    };
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    if let Some(phase) = view.current().filter(|_| view.run.completed_at.is_none()) {
        let started = phase.started_at.map(|at| format!(" (started {})", ago(at, brief.now)));
        let current = phase_titled(phase.number, &phase.title) + &started.unwrap_or_default();
        text.push_str(&row("Current: ", &current, out));
        let was_paused = phase.paused_seconds > 0 || !matches!(view.lifecycle, Lifecycle::Active);
        if let Some(seconds) = view.progress.time_in_phase_seconds.filter(|_| was_paused) {
            text.push_str(&row(
                "Worked on it: ",
                &format!("{} (pauses not counted)", duration(seconds)),
                out,
            ));
        }
    }
    if let Some(average) = view.progress.average_phase_seconds {
        text.push_str(&row("Average phase time: ", &duration(average), out));
    }
    if view.progress.stalled {
        let warning = format!("{INDENT}! Current phase taking longer than average\n");
        text.push_str(&out.paint(Tone::Warning, &warning));
    }
    text
}

fn completed(brief: &Brief, out: &Out) -> String {
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
    }
    text
}

/// Phases that are behind the run and were not done.
fn passed_over(brief: &Brief, out: &Out) -> String {
    let mut text = String::new();
    for phase in &brief.session.phases {
        let Some(reason) = &phase.skipped_reason else { continue };
        let how = if phase.outcome == Some(Outcome::NotApplicable) { "does not apply" } else { "skipped" };
        let line =
            format!("{} {how}: {}", title_beside(phase.number, &phase.title), one_line(reason, LONGEST));
        text.push_str(&row(&format!("Phase {}: ", phase.number), &line, out));
    }
    if text.is_empty() { text } else { format!("{}\n{text}", out.paint(Tone::Heading, "Not done:")) }
}

fn unverified(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let mut text = String::new();
    for phase in view.claimed() {
        let words = format!(
            "{}: leftoff advance --phase {}{}",
            title_beside(phase.number, &phase.title),
            phase.id,
            view.naming()
        );
        text.push_str(&row(&format!("Phase {}: ", phase.number), &words, out));
        if phase.contested {
            text.push_str(&deeper("", "its gate failed here, or its items are open: it is not done", out));
        }
    }
    if text.is_empty() {
        return text;
    }
    if let Some(moved) = &brief.moved {
        let called = |phase: &PhaseName| format!("{} ({})", phase.id, phase.number);
        let verified = moved.verified.as_ref().map_or_else(|| "none".to_owned(), called);
        let words = format!(
            "{} to {}, {}; last verified phase: {verified}",
            called(&moved.from),
            called(&moved.to),
            moment(moved.at, brief.now)
        );
        text.push_str(&row("An edit of its files moved it: ", &words, out));
    }
    let heading = "Claimed in a file, unverified (their gates are still open):";
    format!("{}\n{text}", out.paint(Tone::Warning, heading))
}

fn to_review(brief: &Brief, out: &Out) -> String {
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

/// A lenient gate, or a person, lets a phase pass whose checks failed; that is not the same as passing them.
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

fn failed(brief: &Brief, out: &Out) -> String {
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

fn status(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let heading = format!("Current status: {}", view.status.name());
    let tone = match view.status {
        Status::Failed | Status::CheckpointFailed => Tone::Bad,
        Status::Abandoned | Status::Paused | Status::PossiblyStalled => Tone::Warning,
        Status::Completed | Status::Active => Tone::Heading,
    };
    let mut text = format!("{}\n", out.paint(tone, &heading));
    match &view.lifecycle {
        Lifecycle::Active => {}
        Lifecycle::Paused { at, reason, context, saved } => {
            text.push_str(&row("Paused ", &format!("{}: {reason}", ago(*at, brief.now)), out));
            if let Some(context) = context {
                text.push_str(&row("In the middle of: ", context, out));
            }
            if !saved.is_empty() {
                text.push_str(&row("Saved: ", &saved.join(", "), out));
            }
        }
        Lifecycle::Completed { at, forced } => {
            let how = if *forced { "Closed early " } else { "Finished " };
            text.push_str(&row(how, &ago(*at, brief.now), out));
        }
        Lifecycle::Failed { error, .. } => text.push_str(&row("Error: ", error, out)),
        Lifecycle::Abandoned { at, reason } => {
            let why = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            text.push_str(&row("Given up ", &format!("{}{why}", ago(*at, brief.now)), out));
        }
    }
    text.push_str(&row("Next step: ", &view.next.summary.to_string(), out));
    if let Some(command) = &view.next.command {
        let _ = writeln!(text, "{INDENT}{}", out.paint(Tone::Command, &command.to_string()));
    }
    for warning in &view.warnings {
        text.push_str(&row("Warning: ", &warning.message, out));
        if let Some(hint) = &warning.hint {
            text.push_str(&deeper("", &hint.to_string(), out));
        }
    }
    text
}

fn notes<'a>(heading: &str, notes: impl Iterator<Item = &'a Note>, brief: &Brief, out: &Out) -> String {
    let lines: Vec<String> = notes
        .map(|note| {
            let line = format!("{} ({}, {})", note.text, ago(note.at, brief.now), note.actor);
            let label =
                if note.is_open() { format!("{} {}: ", note.kind.name(), note.id) } else { "- ".to_owned() };
            row(&label, &line, out)
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("{}\n{}", out.paint(Tone::Heading, heading), lines.join(""))
}

fn items(brief: &Brief, out: &Out) -> String {
    let counts = brief.session.item_counts;
    if counts.is_empty() {
        return String::new();
    }
    let heading = format!("Items: {} of {} done", counts.done, counts.total);
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    let shown = brief.items(SHOWN_ITEMS);
    for item in &shown {
        let label = format!("{} {} ", item.mark(), item.id());
        text.push_str(&row(&label, &format!("{}: {}", item.item.title, item.standing(brief.now)), out));
    }
    let left_out = (counts.open() as usize).saturating_sub(shown.len());
    if left_out > 0 {
        text.push_str(&row(
            "",
            &format!("and {left_out} more: leftoff item list{}", brief.session.naming()),
            out,
        ));
    }
    text
}

fn revised(brief: &Brief, out: &Out) -> String {
    let lines: Vec<String> = brief
        .session
        .revisions
        .iter()
        .map(|made| {
            let revision = &made.revision;
            let when = ago(made.at, brief.now);
            let line =
                format!("{} impact: {} ({when}, {})", revision.impact.name(), revision.reason, made.actor);
            row(&format!("- {}, ", revision.phase), &line, out)
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "{}\n{}",
        out.paint(Tone::Heading, "Revised (what was decided before may no longer hold):"),
        lines.join("")
    )
}

fn timing(brief: &Brief, out: &Out) -> String {
    let view = &brief.session;
    let mut text = format!("{}\n", out.paint(Tone::Heading, "Timing:"));
    text.push_str(&row("Started: ", &ago(view.created_at, brief.now), out));
    let updated = format!("{} by {}", ago(view.updated_at, brief.now), view.last_actor);
    text.push_str(&row("Last updated: ", &updated, out));
    if view.resume_count > 0 {
        let paused: u64 = view.phases.iter().map(|phase| phase.paused_seconds).sum();
        let often =
            if view.resume_count == 1 { "once".to_owned() } else { format!("{} times", view.resume_count) };
        text.push_str(&row("Resumed: ", &format!("{often}, paused {} in all", duration(paused)), out));
    }
    if let Some(seconds) = view.progress.estimated_remaining_seconds.filter(|_| view.progress.remaining > 0) {
        text.push_str(&row("Estimated remaining: ", &format!("~{}", duration(seconds)), out));
    }
    text
}

fn touched(brief: &Brief, out: &Out) -> String {
    const SHOWN: usize = 10;
    let mut text = String::new();
    if let Some(said) = brief.last_words().next() {
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, "Last words:"));
        let words = format!("{}, {}: \"{}\"", said.who, ago(said.at, brief.now), said.words);
        text.push_str(&row("", &words, out));
    }
    let files: Vec<&str> = brief.activity(ActivityKind::File).map(|row| row.what.as_str()).collect();
    if !files.is_empty() {
        let shown = files.len().min(SHOWN);
        let more = match files.len() - shown {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, "Touched since the start:"));
        text.push_str(&row("", &format!("{}{more}", files[..shown].join(", ")), out));
    }
    let commands: Vec<_> = brief.activity(ActivityKind::Command).take(SHOWN).collect();
    if !commands.is_empty() {
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, "Commands run:"));
    }
    for command in commands {
        let outcome = command.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
        let line = format!("{}{outcome}, {}", command.what, ago(command.at, brief.now));
        text.push_str(&row("", &line, out));
    }
    text
}

fn required(brief: &Brief, out: &Out) -> String {
    let mut text = String::new();
    for requirement in brief.session.requirements.iter().filter(|requirement| !requirement.satisfied) {
        text.push_str(&row("", &requirement.name, out));
        for way in &requirement.how {
            // A command stays on its line: it can be run as it stands.
            text.push_str(&format!("{INDENT}  {}\n", one_line(way, LONGEST)));
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("{}\n{text}", out.paint(Tone::Heading, "Required before some tools may be used:"))
}

fn here_now(brief: &Brief, out: &Out) -> String {
    if brief.here_now.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", out.paint(Tone::Heading, "Here now:"));
    for other in &brief.here_now {
        let id: String = other.agent_session.chars().take(8).collect();
        let on = other.session_id.as_ref().map(|id| format!(" on {id}")).unwrap_or_default();
        let line = format!("{} {id}{on}, seen {}", other.agent, ago(other.last_seen, brief.now));
        text.push_str(&row("", &line, out));
    }
    text
}

fn evidence(values: &serde_json::Map<String, serde_json::Value>, label: &str, out: &Out) -> String {
    if values.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = values.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    deeper(label, &pairs.join(", "), out)
}

fn row(label: &str, text: &str, out: &Out) -> String {
    indented(INDENT, label, text, out)
}

fn deeper(label: &str, text: &str, out: &Out) -> String {
    indented("      ", label, text, out)
}

fn indented(indent: &str, label: &str, text: &str, out: &Out) -> String {
    let width = out.width.saturating_sub(indent.len());
    let line = wrapped(&format!("{label}{}", one_line(text, LONGEST)), width, indent.len() + 2);
    format!("{indent}{line}\n")
}

/// Where nothing is going on, one line.
pub fn nothing(out: &Out) -> String {
    session::line("", "No session is going on here. Begin one: leftoff start", out)
}
