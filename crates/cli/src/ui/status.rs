//! The output of `leftoff status`: a session on one screen.

use super::answer::next_in;
use crate::ui::{LONGEST_LINE, Out, Tone, cut, lines, wrapped};
use engine::view::{GateOutcome, PhaseView, View};
use engine::words::{duration, one_line, pause_reason, version};
use model::lifecycle::Lifecycle;
use model::status::Status;
use std::fmt::Write;

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
        _ if phase.unsigned => ", claimed, unsigned".to_owned(),
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
