//! The Now tab: the current work, progress, problems and the next step. Below these, the phases, the gate,
//! and the agents.

use super::{own_screen, section};
use crate::snapshot::Shown;
use crate::text::{Look, Row, Tone, cut, outside, wrapped};
use engine::view::{CheckView, GateOutcome, MOST_NOTES, PhaseView, Severity, View};
use engine::words::{ago, duration, title_beside, version};
use jiff::Timestamp;
use model::outcome::Outcome;

const CELLS: usize = 24;

pub fn rows(shown: &Shown, only: Option<&str>, now: Timestamp, width: usize, look: Look) -> Vec<Row> {
    let view = &*shown.view;
    let mut rows = Vec::new();
    if let Some(screen) = &shown.screen {
        rows.extend(own_screen::rows(screen, only, now, width, look).unwrap_or_else(|| no_track(only)));
        rows.push(Row::default());
        rows.extend(trouble(view, now, width, look));
        rows.extend(next(shown, width));
    } else {
        rows.extend(head(view, now, width, look));
        for work in view.at_work(now) {
            rows.extend(wrapped(Tone::Plain, &format!("Now: {}", outside(&work)), width, 2));
        }
        rows.extend(trouble(view, now, width, look));
        rows.push(Row::default());
        rows.extend(next(shown, width));
        rows.push(Row::default());
        rows.extend(view.phases.iter().map(|phase| phase_row(phase, view, look)));
        rows.extend(gate(view, width, look));
    }
    rows.extend(here(shown, now));
    rows.extend(notes(view, width));
    rows
}

fn no_track(only: Option<&str>) -> Vec<Row> {
    vec![Row::new(
        Tone::Heading,
        format!("Waiting for session… (it has no {} yet)", only.unwrap_or_default()),
    )]
}

fn head(view: &View, now: Timestamp, width: usize, look: Look) -> Vec<Row> {
    let mut rows = wrapped(Tone::Heading, &outside(&view.title), width, 2);
    rows.truncate(2);
    let (word, severity) = view.status_words();
    // Problems are in upper case, so that they are visible without colours.
    let word = if severity == Severity::Good { word.to_owned() } else { word.to_uppercase() };
    let workflow = format!("{} {}", view.workflow.name, version(&outside(&view.workflow.version)));
    let run = if view.run.ordinal > 1 { format!(", run {}", view.run.ordinal) } else { String::new() };
    let about = format!("{}{workflow}{run}{}{}", look.between(), look.between(), view.session_id);
    rows.push(Row::new(tone(severity), word).then(Tone::Faint, about));
    rows.push(Row::new(Tone::Faint, cut(&outside(&view.last_change(now)), width)));
    let goal = view.goal.as_ref().map(|goal| cut(&format!("Goal: {}", outside(goal)), width));
    rows.extend(goal.map(Row::plain));
    if let Some(percent) = view.percent() {
        let filled = (percent as usize * CELLS + 50) / 100;
        let bar = Row::new(Tone::Good, look.bar(filled, CELLS));
        let far = format!("{}{}", view.how_far(), left(view));
        let beside = bar.clone().then(Tone::Plain, format!(" {far}"));
        if beside.width() <= width {
            rows.push(beside);
        } else {
            rows.push(bar);
            rows.extend(wrapped(Tone::Plain, &far, width, 2));
        }
    } else {
        rows.push(Row::plain(view.how_far()));
    }
    rows
}

fn left(view: &View) -> String {
    view.seconds_left().map(|seconds| format!(", about {} left", duration(seconds))).unwrap_or_default()
}

pub fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Good => Tone::Good,
        Severity::Warning => Tone::Warning,
        Severity::Bad => Tone::Bad,
    }
}

/// The problems of the session, in one or two sentences.
fn trouble(view: &View, now: Timestamp, width: usize, look: Look) -> Vec<Row> {
    let marked = |(severity, text): (Severity, String)| {
        let mark = if severity == Severity::Bad { look.cross() } else { "!" };
        wrapped(tone(severity), &format!("{mark} {}", outside(&text)), width, 2)
    };
    view.attention(now).into_iter().flat_map(marked).collect()
}

fn next(shown: &Shown, width: usize) -> Vec<Row> {
    let next = &shown.view.next;
    let mut rows =
        wrapped(Tone::Plain, &format!("{}: {}", next.label(), outside(&next.summary.to_string())), width, 2);
    let command = next.command.iter();
    rows.extend(command.flat_map(|command| {
        wrapped(Tone::Command, &format!("  {}", outside(&command.to_string())), width, 4)
    }));
    rows
}

pub fn phase_row(phase: &PhaseView, view: &View, look: Look) -> Row {
    let is_current = phase.number == view.current_phase.number && view.run.completed_at.is_none();
    let has_failed = view.failed_attempt().is_some_and(|(failed, _)| failed.number == phase.number);
    let waits = has_failed && view.next.needs_person();
    let (mark, tone) = match (phase.status.as_str(), phase.outcome) {
        ("needs_review", _) | ("completed", Some(Outcome::Claimed)) => ("?", Tone::Warning),
        ("completed", Some(Outcome::Overridden | Outcome::Warned)) => ("!", Tone::Warning),
        ("completed", _) => (look.tick(), Tone::Good),
        ("skipped", _) => (look.dash(), Tone::Faint),
        _ if waits => (look.waits(), Tone::Warning),
        _ if has_failed => (look.cross(), Tone::Bad),
        _ if is_current => (look.arrow(), Tone::Heading),
        _ => (look.dot(), Tone::Faint),
    };
    let title = outside(title_beside(phase.number, &phase.title));
    Row::new(tone, format!("{mark} {} {title}", phase.number))
        .then(Tone::Faint, about(phase, view, is_current, waits))
}

fn about(phase: &PhaseView, view: &View, is_current: bool, waits: bool) -> String {
    let mut parts = Vec::new();
    let running = view.progress.time_in_phase_seconds.filter(|_| is_current && phase.completed_at.is_none());
    match (view.timed(phase), running) {
        (Some(seconds), _) => parts.push(duration(seconds)),
        (None, Some(seconds)) => parts.push(format!("for {}", duration(seconds))),
        (None, None) => {}
    }
    if waits {
        parts.push("waits for a person".to_owned());
    }
    parts.extend(view.items_done().filter(|_| is_current));
    parts.extend(phase.outcome.map(|outcome| outcome.name().replace('_', " ")));
    if phase.attempt_count > 1 {
        parts.push(format!("{} attempts", phase.attempt_count));
    }
    if phase.status == "needs_review" {
        parts.push("needs a review".to_owned());
    }
    if parts.is_empty() { String::new() } else { format!("  {}", parts.join(", ")) }
}

fn gate(view: &View, width: usize, look: Look) -> Vec<Row> {
    let current = view.current().filter(|_| view.run.completed_at.is_none());
    let Some(phase) = current.filter(|phase| !phase.gate.checks.is_empty()) else { return Vec::new() };
    let word = match phase.gate.outcome {
        GateOutcome::Passed => "passed",
        GateOutcome::Failed if view.next.needs_person() => "waiting for approval",
        GateOutcome::Failed => "FAILED",
        GateOutcome::Open => "not tried yet",
        GateOutcome::Claimed => "claimed, unverified",
    };
    let rows = phase.gate.checks.iter().flat_map(|check| check_rows(check, width, look)).collect();
    section(&format!("Gate of {}: {word}", outside(&phase.title)), rows)
}

pub fn check_rows(check: &CheckView, width: usize, look: Look) -> Vec<Row> {
    let (mark, tone) = match check.outcome {
        GateOutcome::Passed => (look.tick(), Tone::Good),
        GateOutcome::Failed if check.settled => (look.tick(), Tone::Plain),
        GateOutcome::Failed if check.kind == "approval" => ("!", Tone::Warning),
        GateOutcome::Failed => (look.cross(), Tone::Bad),
        GateOutcome::Open | GateOutcome::Claimed => (look.dot(), Tone::Plain),
    };
    let found = check.found.as_ref().map(|found| format!("found {}", outside(found)));
    let needed = check.needed.as_ref().map(|needed| format!("needs {}", outside(needed)));
    if check.settled {
        return wrapped(
            tone,
            &format!("  {mark} {}: passes now; try the gate again", outside(&check.id)),
            width,
            6,
        );
    }
    if check.kind == "approval" && check.outcome != GateOutcome::Passed {
        let found = outside(check.found.as_deref().unwrap_or("not approved yet"));
        let said = format!("  {mark} {}: {found}; a person can press a to approve it", outside(&check.id));
        return wrapped(tone, &said, width, 6);
    }
    let said: Vec<String> = found.into_iter().chain(needed).collect();
    let said = if said.is_empty() { check.kind.clone() } else { said.join("; ") };
    let mut rows = wrapped(tone, &format!("  {mark} {}: {said}", outside(&check.id)), width, 6);
    if check.outcome == GateOutcome::Failed {
        let help =
            check.help.as_ref().map(|help| wrapped(Tone::Faint, &format!("    {}", outside(help)), width, 4));
        rows.extend(help.unwrap_or_default());
    }
    rows
}

fn here(shown: &Shown, now: Timestamp) -> Vec<Row> {
    let row = |agent: &engine::AgentView| {
        let short: String = agent.agent_session.chars().take(8).collect();
        let seen = ago(shown.view.last_seen(agent), now);
        Row::plain(format!("  {} {} ({seen})", outside(&agent.agent), outside(&short)))
    };
    section("Here now", shown.agents.iter().map(row).collect())
}

/// Warnings, and how many open notes are not shown among the problems.
fn notes(view: &View, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(more @ 1..) = view.open_notes().len().checked_sub(MOST_NOTES) {
        rows.push(Row::new(Tone::Faint, format!("  {more} more notes: leftoff show {}", view.session_id)));
    }
    rows.extend(view.warnings.iter().flat_map(|warning| {
        let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        wrapped(Tone::Warning, &format!("  {}", outside(&format!("{}{hint}", warning.message))), width, 4)
    }));
    section("Open", rows)
}
