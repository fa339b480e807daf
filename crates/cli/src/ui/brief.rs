//! The brief for a person: progress, finished work with its proof, failures and their reasons, timing, next
//! step.

mod phases;

use crate::ui::{Out, Tone, session, wrapped};
use engine::ActivityKind;
use engine::brief::Brief;
use engine::view::Warning;
use engine::words::{ago, duration, one_line, phase_titled};
use model::gate::shown;
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::progress::Status;
use phases::{completed, failed, passed_over, to_review, unverified};
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
        earlier_runs(brief, out),
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
        text.push_str(&row("Branch: ", &format!("{branch}{}", repository(brief)), out));
    }
    text.push_str(&evidence_row("Set: ", &brief.set_fields, out));
    text
}

/// `, 3 commits since the start, 2 files uncommitted`
fn repository(brief: &Brief) -> String {
    let Some(git) = &brief.repository else { return String::new() };
    let counted = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let commits = counted(git.commits, "commit").map(|commits| format!(", {commits} since the start"));
    let files = counted(git.uncommitted.len(), "file").map(|files| format!(", {files} uncommitted"));
    commits.unwrap_or_default() + &files.unwrap_or_default()
}

/// Earlier runs, one line each.
fn earlier_runs(brief: &Brief, out: &Out) -> String {
    let mut text = String::new();
    for run in &brief.earlier_runs {
        let end = match (&run.at, &run.completed_at) {
            (Some(phase), _) => format!("left open in {phase}"),
            (None, Some(at)) => format!("finished {}", ago(*at, brief.now)),
            (None, None) => "left open".to_owned(),
        };
        let label = format!("{} run {}: ", run.workflow, run.number);
        text.push_str(&row(&label, &format!("{end}; {}", run.outcomes), out));
        text.push_str(&evidence(&run.values, "", out));
    }
    if text.is_empty() {
        return text;
    }
    format!("{}\n{text}", out.paint(Tone::Heading, "Earlier runs:"))
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
        if let Some(purpose) = phase.purpose.as_ref().filter(|_| !view.next.says_purpose) {
            text.push_str(&row("Purpose: ", &one_line(purpose, LONGEST), out));
        }
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
            let how = match forced {
                true => "Closed early ",
                false if view.is_closed_in_doubt() => "Its files call it finished, unverified, ",
                false => "Finished ",
            };
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
    if let Some(pause) = view.interrupted.as_ref().filter(|_| matches!(view.lifecycle, Lifecycle::Active)) {
        let context = pause.context.as_ref().map(|context| format!(", in the middle of: {context}"));
        let words =
            format!("{}: {}{}", ago(pause.paused_at, brief.now), pause.reason, context.unwrap_or_default());
        text.push_str(&row("Was paused ", &words, out));
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
    if counts.is_empty() && brief.left_open.is_empty() {
        return String::new();
    }
    let heading = format!("Items: {} of {} done", counts.done, counts.total);
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    let shown = brief.items(SHOWN_ITEMS);
    for item in &shown {
        let label = format!("{} {} ", item.mark(), item.id());
        text.push_str(&row(&label, &format!("{}: {}", item.item.title, item.standing(brief.now)), out));
        for (name, value) in item.details().filter(|_| item.is_begun()) {
            text.push_str(&row("    ", &format!("{name}: {value}"), out));
        }
    }
    let left_out = (counts.open() as usize).saturating_sub(shown.len());
    if left_out > 0 {
        text.push_str(&row(
            "",
            &format!("and {left_out} more: leftoff item list{}", brief.session.naming()),
            out,
        ));
    }
    if !brief.done_items.is_empty() {
        let ids: Vec<&str> = brief.done_items.iter().map(|(id, _)| id.as_str()).collect();
        text.push_str(&row("Done: ", &ids.join(", "), out));
    }
    for open in brief.left_open.iter().take(SHOWN_ITEMS) {
        let label = format!("{} {} ", open.item.mark(), open.item.id());
        let line = format!("{}, of {}: {}", open.item.item.title, open.phase, open.item.standing(brief.now));
        text.push_str(&row(&label, &line, out));
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
    if let Some(shared) = &view.shared {
        text.push_str(&row("", &shared.told, out));
    }
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
    let files: Vec<&str> = brief.touched.iter().map(String::as_str).collect();
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
            // A command stays on its line, so that it can be copied.
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

fn evidence_row(label: &str, values: &serde_json::Map<String, serde_json::Value>, out: &Out) -> String {
    let pairs: Vec<String> = values.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    if pairs.is_empty() { String::new() } else { row(label, &pairs.join(", "), out) }
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

/// A line if no session is active here, and one for each that is elsewhere.
pub fn nothing(elsewhere: &[Warning], out: &Out) -> String {
    let mut text = session::line("", "No session is going on here. Begin one: leftoff start", out);
    for warning in elsewhere {
        let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        text.push('\n');
        text.push_str(&session::line("", &format!("{}{hint}", warning.message), out));
    }
    text
}
