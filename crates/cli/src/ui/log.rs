//! Events, a line each, in plain words.

use crate::ui::{Out, Tone};
use engine::words::{moment, one_line};
use jiff::Timestamp;
use model::event::{Event, Recorded};
use model::gate::{AttemptReport, shown};

const LONGEST: usize = 300;

pub fn line(recorded: &Recorded, now: Timestamp, out: &Out) -> String {
    let when = format!(
        "{:>4}  {:>16}  {:<16}",
        recorded.version,
        moment(recorded.at, now),
        one_line(&recorded.actor.to_string(), 60)
    );
    format!("{}  {}\n", out.paint(Tone::Faint, &when), words(&recorded.event))
}

/// What happened, for a person.
pub fn words(event: &Event) -> String {
    match event {
        Event::SessionStarted { title, layout, parallel, .. } => {
            let beside = if *parallel { ", beside another" } else { "" };
            format!("session started ({layout}{beside}): {}", one_line(title, LONGEST))
        }
        Event::RunStarted { workflow, ordinal, phases } => {
            format!(
                "run {ordinal} of {} v{} started, {} phases",
                workflow.name,
                workflow.version,
                phases.len()
            )
        }
        Event::RunSelected { workflow, ordinal } => format!("back to run {ordinal} of {workflow}"),
        Event::PhaseStarted { phase } => format!("phase {phase} began"),
        Event::GateFailed { phase, attempt } => {
            let failed: Vec<&str> =
                attempt.checks.iter().filter(|check| check.failed()).map(|check| check.id.as_str()).collect();
            format!("gate of {phase} did not pass: {}{}", failed.join(", "), evidence(attempt))
        }
        Event::PhaseCompleted { phase, attempt } => format!("phase {phase} completed{}", evidence(attempt)),
        Event::PhaseSkipped { phase, reason } => {
            format!("phase {phase} skipped: {}", one_line(reason, LONGEST))
        }
        Event::RunCompleted => "run completed".to_owned(),
        Event::NoteAdded { id, kind, text, .. } => {
            format!("{} {id}: {}", kind.name(), one_line(text, LONGEST))
        }
        Event::NoteResolved { id } => format!("note {id} resolved"),
        Event::SessionPaused { reason, context } => {
            let context = context.as_ref().map(|context| format!(", in the middle of {context}"));
            one_line(&format!("paused: {reason}{}", context.unwrap_or_default()), LONGEST)
        }
        Event::SessionResumed { .. } => "resumed".to_owned(),
        Event::SessionCompleted { forced: true } => "closed before it was finished".to_owned(),
        Event::SessionCompleted { forced: false } => "session completed".to_owned(),
        Event::SessionAbandoned { reason } => match reason {
            Some(reason) => format!("given up: {}", one_line(reason, LONGEST)),
            None => "given up".to_owned(),
        },
        Event::Unknown { kind } => format!("{kind} (written by a newer leftoff)"),
    }
}

fn evidence(attempt: &AttemptReport) -> String {
    let pairs: Vec<String> = attempt
        .evidence
        .iter()
        .map(|(name, value)| format!("{}={}", one_line(name, 60), one_line(&shown(value), 80)))
        .collect();
    if pairs.is_empty() { String::new() } else { format!(" ({})", pairs.join(", ")) }
}
