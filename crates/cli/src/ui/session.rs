//! A session on one screen, and the result of a command on a session.

use crate::ui::{Out, Tone, cut, set_in, wrapped};
use engine::view::{GateOutcome, PhaseView, View, Warning};
use engine::words::{duration, one_line, pause_reason, phase_titled, version};
use engine::{Answer, Next};
use model::artifact::Artifact;
use model::gate::{Attempt, AttemptOutcome};
use model::lifecycle::Lifecycle;
use model::typed_value::shown;
use std::fmt::Write;

const LONGEST_LINE: usize = 400;
/// The maximum number of lines for one text. `status` must fit on one screen; `show` and `brief` show the whole text.
const LINES_OF_A_TEXT: usize = 2;
const LINES_OF_NEXT: usize = 3;
const SHOWN_NOTES: usize = 3;

/// The session as `status` shows it.
pub fn status(view: &View, out: &Out) -> String {
    let mut text = format!(
        "{} {}  {}\n",
        out.paint(Tone::Heading, &view.session_id),
        cut(&one_line(&view.title, LONGEST_LINE), out.width.saturating_sub(view.session_id.len() + 20)),
        state(view, out)
    );
    if let Some(goal) = &view.goal {
        let _ = writeln!(text, "{}", lines("Goal: ", goal, LINES_OF_A_TEXT, out));
    }
    text.push_str(&ending(view, out));
    if let Some(shared) = &view.shared {
        let _ = writeln!(text, "{}", lines("", &shared.told, 1, out));
    }
    let progress = format!(
        "{} {}{}, {}{}",
        view.workflow.name,
        one_line(&version(&view.workflow.version), 20),
        run_of(view),
        view.how_far(),
        estimate(view)
    );
    let _ = writeln!(text, "{}", wrapped(&progress, out.width, 2));
    for phase in &view.phases {
        let _ = writeln!(text, "{}", phase_line(phase, view, out));
    }
    if !view.item_counts.is_empty() {
        let counts = view.item_counts;
        let _ =
            writeln!(text, "Items of {}: {} of {} done", view.current_phase.id, counts.done, counts.total);
    }
    text.push_str(&rounds(view, out));
    text.push_str(&requirements(view, out));
    text.push_str(&health(view, out));
    text.push_str(&open_notes(view, out));
    text.push_str(&next_in(LINES_OF_NEXT, &view.next, out));
    text
}

/// The lines that say why the session is not active. Empty if it is active.
fn ending(view: &View, out: &Out) -> String {
    let short = |label: &str, text: &str| format!("{}\n", lines(label, text, LINES_OF_A_TEXT, out));
    match &view.lifecycle {
        Lifecycle::Active | Lifecycle::Completed { forced: false, .. } => String::new(),
        Lifecycle::Paused { reason, context, saved, .. } => {
            let context = context.as_ref().map(|context| short("In the middle of: ", context));
            let saved = (!saved.is_empty()).then(|| short("Saved: ", &saved.join(", ")));
            short("Paused: ", pause_reason(reason))
                + &context.unwrap_or_default()
                + &saved.unwrap_or_default()
        }
        Lifecycle::Completed { forced: true, .. } => short("", "Closed unfinished."),
        Lifecycle::Failed { error, .. } => short("Failed: ", error),
        Lifecycle::Abandoned { reason, .. } => {
            short("Abandoned: ", reason.as_deref().unwrap_or("no reason given"))
        }
    }
}

/// The rounds that were found in files, and the duration of the current round.
pub fn rounds(view: &View, out: &Out) -> String {
    let mut text = String::new();
    if let Some(seconds) = view.elapsed_seconds {
        let _ = writeln!(text, "Elapsed: {}", duration(seconds));
    }
    for round in &view.rounds {
        let _ = writeln!(text, "{}", lines("", &round.told(), LINES_OF_A_TEXT, out));
    }
    text
}

/// The requirements that are not satisfied.
fn requirements(view: &View, out: &Out) -> String {
    let open: Vec<String> = view
        .requirements
        .iter()
        .filter(|requirement| !requirement.satisfied)
        .map(|requirement| one_line(&requirement.name, 80))
        .collect();
    if open.is_empty() {
        return String::new();
    }
    let words = format!("{} (leftoff req list)", open.join(", "));
    format!("{}\n", out.paint(Tone::Warning, &lines("Required: ", &words, LINES_OF_A_TEXT, out)))
}

/// The results of health checks of files, in layouts that have such checks.
fn health(view: &View, out: &Out) -> String {
    let mut text = String::new();
    for found in &view.health {
        let (mark, tone) = if found.ok { ("[x]", Tone::Faint) } else { ("[!]", Tone::Warning) };
        let label = format!("  {mark} {}: ", found.check);
        let _ = writeln!(text, "{}", out.paint(tone, &lines(&label, &found.found, 1, out)));
    }
    if text.is_empty() { text } else { format!("Files:\n{text}") }
}

/// The open notes.
fn open_notes(view: &View, out: &Out) -> String {
    let open = view.open_notes();
    let mut text = String::new();
    for note in open.iter().take(SHOWN_NOTES) {
        let label = format!("{} {}: ", note.kind.name(), note.id);
        let _ = writeln!(text, "{}", out.paint(Tone::Warning, &lines(&label, &note.text, 1, out)));
    }
    if open.len() > SHOWN_NOTES {
        let _ = writeln!(text, "and {} more: leftoff show {}", open.len() - SHOWN_NOTES, view.session_id);
    }
    text
}

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

/// The result of a command in a few lines, with the next step.
pub fn answer(done: &str, answer: &Answer, out: &Out) -> String {
    // With `-q`, the next step is not shown.
    let next = if out.is_quiet() { String::new() } else { next(&answer.view.next, out) };
    format!("{}{next}", answer_line(done, answer, out))
}

/// The result of a command on one line.
pub fn answer_line(done: &str, answer: &Answer, out: &Out) -> String {
    let word = if answer.view.already { "already done; nothing changed" } else { done };
    format!("{} {word}\n", out.paint(Tone::Heading, &answer.view.session_id))
}

/// The line that says why a command changed nothing, such as `login already paused; nothing changed`.
pub fn already_line(state: &str, answer: &Answer, out: &Out) -> String {
    format!("{} {state}; nothing changed\n", out.paint(Tone::Heading, &answer.view.session_id))
}

/// The line that says why a command changed nothing, and the next step.
pub fn already(state: &str, answer: &Answer, out: &Out) -> String {
    let next = if out.is_quiet() { String::new() } else { next(&answer.view.next, out) };
    format!("{}{next}", already_line(state, answer, out))
}

/// The next step and its command.
pub fn next(next: &Next, out: &Out) -> String {
    next_in(usize::MAX, next, out)
}

fn next_in(most: usize, next: &Next, out: &Out) -> String {
    let mut text = format!("{}\n", lines("Next: ", &next.summary.to_string(), most, out));
    if let Some(command) = &next.command {
        let _ = writeln!(text, "  {}", out.paint(Tone::Command, &command.to_string()));
    }
    text
}

/// Prints warnings on stderr.
pub fn warn(warnings: &[Warning], out: &Out) {
    for warning in warnings {
        let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        out.warn(&format!("{}{hint}", warning.message));
    }
}

/// Prints the warnings that belong to an answer. Of problems in files that existed before the command, only the number
/// is printed, so that they do not hide the answer.
pub fn warn_shortly(warnings: &[Warning], out: &Out) {
    const MOST: usize = 3;
    let is_odd = |warning: &&Warning| warning.kind == "foreign_file";
    let odd: Vec<Warning> = warnings.iter().filter(is_odd).cloned().collect();
    let others: Vec<Warning> = warnings.iter().filter(|warning| !is_odd(warning)).cloned().collect();
    warn(&odd[..odd.len().min(MOST)], out);
    let more = odd.len().saturating_sub(MOST);
    match more {
        0 => {}
        1 => out.warn("1 more problem in its files: leftoff doctor"),
        _ => out.warn(&format!("{more} more problems in its files: leftoff doctor")),
    }
    warn(&others, out);
}

pub fn mark(phase: &PhaseView, view: &View) -> &'static str {
    match phase.status.as_str() {
        "completed" if phase.is_claimed_over_failure() => "[!]",
        "completed" => "[x]",
        "skipped" => "[-]",
        "in_progress" if view.failed_attempt().is_some_and(|(failed, _)| failed.number == phase.number) => {
            "[!]"
        }
        "in_progress" => "[>]",
        "needs_review" => "[?]",
        _ => "[ ]",
    }
}

fn phase_line(phase: &PhaseView, view: &View, out: &Out) -> String {
    let is_current = phase.number == view.current_phase.number && phase.duration_seconds.is_none();
    let time = match (view.timed(phase), is_current) {
        (Some(seconds), _) => format!(" ({})", duration(seconds)),
        (None, true) => view
            .progress
            .time_in_phase_seconds
            .map(|seconds| format!(" (for {})", duration(seconds)))
            .unwrap_or_default(),
        (None, false) => String::new(),
    };
    let attempts = match phase.attempt_count {
        _ if phase.is_claimed_over_failure() => ", claimed, its gate FAILED".to_owned(),
        _ if phase.gate.outcome == GateOutcome::Claimed => ", claimed, unverified".to_owned(),
        0 | 1 => String::new(),
        count => format!(", {count} attempts"),
    };
    let before = format!("  {} {} ", mark(phase, view), phase.number);
    let left = out.width.saturating_sub(before.len() + time.len() + attempts.len());
    let line = format!("{before}{}{time}{attempts}", cut(&one_line(&phase.title, LONGEST_LINE), left));
    match mark(phase, view) {
        "[x]" => out.paint(Tone::Good, &line),
        "[!]" => out.paint(Tone::Bad, &line),
        "[>]" => out.paint(Tone::Heading, &line),
        _ => out.paint(Tone::Faint, &line),
    }
}

fn state(view: &View, out: &Out) -> String {
    use model::progress::Status;
    let tone = match view.status {
        Status::Completed | Status::Active => Tone::Good,
        Status::Failed | Status::CheckpointFailed => Tone::Bad,
        Status::Abandoned | Status::Paused | Status::PossiblyStalled => Tone::Warning,
    };
    out.paint(tone, view.status.name())
}

fn run_of(view: &View) -> String {
    if view.run.ordinal > 1 { format!(", run {}", view.run.ordinal) } else { String::new() }
}

fn estimate(view: &View) -> String {
    match view.progress.estimated_remaining_seconds.filter(|_| view.progress.remaining > 0) {
        Some(seconds) => format!(", about {} left", duration(seconds)),
        None => String::new(),
    }
}

/// A line that begins with a label, wrapped to the width of the terminal.
pub fn line(label: &str, text: &str, out: &Out) -> String {
    lines(label, text, usize::MAX, out)
}

/// A line like that of `line`, cut to at most `most` lines.
fn lines(label: &str, text: &str, most: usize, out: &Out) -> String {
    let whole = wrapped(&format!("{label}{}", one_line(text, LONGEST_LINE)), out.width, 2);
    let mut shown: Vec<&str> = whole.lines().take(most).collect();
    if shown.len() == whole.lines().count() {
        return whole;
    }
    let last = shown.pop().unwrap_or_default();
    let last = format!("{}…", cut(last, out.width.saturating_sub(1)).trim_end_matches('…'));
    shown.push(&last);
    shown.join("\n")
}
