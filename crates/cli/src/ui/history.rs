//! A session's history, grouped by run and phase.

use crate::ui::{Out, Tone, counted, line, set_in};
use engine::words::{duration, moment, one_line};
use engine::{AttemptLine, History, PhaseLine, RunLine};
use model::gate::AttemptOutcome;
use model::time::seconds_between;
use std::fmt::Write;

const LONGEST: usize = 200;

pub fn text(history: &History, out: &Out) -> String {
    let parts = [
        head(history, out),
        history.runs.iter().map(|run| of_run(run, history, out)).collect(),
        pauses(history, out),
        errors(history, out),
        revisions(history, out),
        checkpoints(history, out),
        undone(history, out),
        who(history, out),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn head(history: &History, out: &Out) -> String {
    let title = format!("{} {}", history.session_id, one_line(&history.title, LONGEST));
    let mut text = format!("{}\n", out.paint(Tone::Heading, &title));
    if let Some(goal) = &history.goal {
        let _ = writeln!(text, "{}", line("Goal: ", goal, out));
    }
    let _ = writeln!(
        text,
        "Started {}, {} after {}, version {}",
        moment(history.started_at, history.now),
        history.lifecycle.name(),
        duration(seconds_between(history.started_at, history.updated_at)),
        history.version
    );
    text
}

fn of_run(run: &RunLine, history: &History, out: &Out) -> String {
    let is_over =
        |phase: &PhaseLine| matches!(phase.status.as_str(), "completed" | "skipped" | "needs_review");
    let word = if run.phases.iter().all(is_over) { "finished" } else { "ended unfinished" };
    let end = match run.completed_at {
        Some(at) => format!(
            "{word} {} (after {})",
            moment(at, history.now),
            duration(seconds_between(run.started_at, at))
        ),
        None => "not finished".to_owned(),
    };
    let heading = format!(
        "Run {} of {}, started {}, {end}",
        run.ordinal,
        run.workflow,
        moment(run.started_at, history.now)
    );
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    for phase in &run.phases {
        text.push_str(&of_phase(phase, history, out));
    }
    text
}

fn of_phase(phase: &PhaseLine, history: &History, out: &Out) -> String {
    let mut line = format!("{}: {}", one_line(&phase.title, LONGEST), phase.status.replace('_', " "));
    if let Some(seconds) = phase.duration_seconds {
        let _ = write!(line, " in {}", duration(seconds));
    }
    if phase.paused_seconds > 0 {
        let _ = write!(line, ", paused for {}", duration(phase.paused_seconds));
    }
    if let Some(at) = phase.completed_at.or(phase.started_at) {
        let _ = write!(line, ", {}", moment(at, history.now));
    }
    if let Some(by) = &phase.skipped_by {
        let _ = write!(line, " by {by}");
    }
    if let Some(reason) = &phase.skipped_reason {
        let _ = write!(line, ": {}", one_line(reason, LONGEST));
    }
    let mut text = set_in(2, &format!("{} {line}", phase.number), out);
    for (attempt, ordinal) in phase.attempts.iter().zip(1..) {
        let line = of_attempt(attempt, history);
        text.push_str(&set_in(4, &format!("attempt {ordinal}: {line}"), out));
    }
    text
}

fn of_attempt(attempt: &AttemptLine, history: &History) -> String {
    let verdict = match attempt.outcome {
        AttemptOutcome::Passed => "passed",
        AttemptOutcome::Failed => "FAILED",
    };
    let mut line = format!("{verdict}, {} by {}", moment(attempt.at, history.now), attempt.actor);
    if !attempt.failed_checks.is_empty() {
        let _ = write!(line, ": {}", attempt.failed_checks.join(", "));
    }
    if let Some(reason) = &attempt.overridden {
        let _ = write!(line, ", overridden: {}", one_line(reason, LONGEST));
    }
    line
}

fn pauses(history: &History, out: &Out) -> String {
    let lines = history.pauses.iter().map(|pause| {
        let until = match pause.to {
            Some(to) => format!("until {}", moment(to, history.now)),
            None => "still".to_owned(),
        };
        let middle = pause.context.as_ref().map(|context| format!(", in the middle of {context}"));
        format!(
            "{} {until} ({}), {} by {}{}",
            moment(pause.from, history.now),
            duration(pause.seconds),
            pause.reason,
            pause.actor,
            middle.unwrap_or_default()
        )
    });
    section("Pauses", lines, out)
}

fn errors(history: &History, out: &Out) -> String {
    let lines = history
        .errors
        .iter()
        .map(|failed| format!("{} by {}: {}", moment(failed.at, history.now), failed.actor, failed.error));
    section("Errors", lines, out)
}

fn revisions(history: &History, out: &Out) -> String {
    let lines = history.revisions.iter().map(|made| {
        format!(
            "{} {} ({}) by {}: {}",
            moment(made.at, history.now),
            made.phase,
            made.impact.name(),
            made.actor,
            made.reason
        )
    });
    section("Revisions", lines, out)
}

fn checkpoints(history: &History, out: &Out) -> String {
    let lines = history.checkpoints.iter().map(|made| {
        format!(
            "{} at version {}, {} by {}",
            made.name,
            made.version,
            moment(made.at, history.now),
            made.actor
        )
    });
    section("Checkpoints", lines, out)
}

fn undone(history: &History, out: &Out) -> String {
    let lines = history.undone.iter().map(|undo| {
        format!("{} back to version {} by {}", moment(undo.at, history.now), undo.to_version, undo.actor)
    });
    section("Undone", lines, out)
}

fn who(history: &History, out: &Out) -> String {
    let lines = history.who.iter().map(|who| {
        format!(
            "{}: {}, {} to {}",
            who.actor,
            counted(who.events, "event"),
            moment(who.first, history.now),
            moment(who.last, history.now)
        )
    });
    section("Who", lines, out)
}

fn section(title: &str, lines: impl Iterator<Item = String>, out: &Out) -> String {
    let lines: Vec<String> = lines.map(|line| set_in(2, &one_line(&line, 400), out)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("{}\n{}", out.paint(Tone::Heading, title), lines.join(""))
}
