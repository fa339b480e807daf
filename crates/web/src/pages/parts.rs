//! Parts shared by several pages: foreign text, states, gates, hints and their buttons.

use super::Offer;
use engine::Next;
use engine::view::{CheckView, GateOutcome, PhaseView, View};
use engine::words::{ago, duration, one_line, title_beside, without_steering};
use jiff::Timestamp;
use maud::{Markup, html};
use model::hint::{CommandLine, Hint, Piece};
use model::lifecycle::Lifecycle;
use model::outcome::Outcome;
use model::progress::Status;

/// The maximum length of one text on a page.
const LONGEST: usize = 10_000;
const LONGEST_LINE: usize = 300;

/// Text with its lines, without changes of text direction; cut if very long.
pub fn inert(text: &str) -> String {
    let inert = without_steering(text);
    match inert.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (cut here)", &inert[..end]),
        None => inert.into_owned(),
    }
}

/// Text as one harmless line.
pub fn line(text: &str) -> String {
    one_line(text, LONGEST_LINE)
}

/// A session's status in words, with its colour class.
pub fn standing(view: &View) -> (&'static str, &'static str) {
    match view.status {
        Status::Active | Status::CheckpointFailed if view.next.needs_person() => {
            ("waiting for a person", "warn")
        }
        Status::Active => ("active", "good"),
        Status::Completed if view.progress.outcomes.is_plain() => ("completed", "good"),
        Status::Completed => ("completed, not all of it verified", "warn"),
        Status::Failed => ("failed", "bad"),
        Status::CheckpointFailed => ("gate failed", "bad"),
        Status::Abandoned => ("abandoned", "warn"),
        Status::Paused => ("paused", "warn"),
        Status::PossiblyStalled => ("possibly stalled", "warn"),
    }
}

pub fn badge(view: &View) -> Markup {
    let (word, class) = standing(view);
    html! { span class={ "badge " (class) } { (word) } }
}

/// Progress as a bar with words.
pub fn progress(view: &View) -> Markup {
    let left = view.progress.estimated_remaining_seconds.filter(|_| view.progress.remaining > 0);
    html! {
        p {
            @if let Some(percent) = view.percent() {
                progress max="100" value=(percent) aria-label="Phases done" {} " "
            }
            (view.how_far())
            @if let Some(seconds) = left { ", about " (duration(seconds)) " left" }
        }
    }
}

/// Items that somebody works on now.
pub fn at_work(view: &View, now: Timestamp) -> Markup {
    html! {
        @for work in view.at_work(now) { p { strong { "Working: " } (line(&work)) } }
    }
}

/// Problems, a sentence each.
pub fn trouble(view: &View, now: Timestamp) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    match &view.lifecycle {
        Lifecycle::Paused { at, reason, .. } => {
            said.push(("warn", format!("Paused {}: {}", ago(*at, now), line(reason))));
        }
        Lifecycle::Failed { error, .. } => said.push(("bad", format!("Failed: {}", line(error)))),
        Lifecycle::Active | Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {}
    }
    said.extend(failed_gate(view));
    for (outcome, words) in [
        (Outcome::Overridden, "Passed by override, with failed checks"),
        (Outcome::Claimed, "Only claimed, not proven"),
        (Outcome::Skipped, "Skipped"),
    ] {
        let of_outcome = view.phases.iter().filter(|phase| phase.outcome == Some(outcome));
        let phases: Vec<String> = of_outcome.map(|phase| phase.id.to_string()).collect();
        if !phases.is_empty() {
            said.push(("warn", format!("{words}: {}", phases.join(", "))));
        }
    }
    if view.progress.stalled {
        let seconds = view.progress.time_in_phase_seconds.unwrap_or(0);
        said.push(("warn", format!("Possibly stalled: {} in this phase", duration(seconds))));
    }
    said
}

/// A failed check, with what was found and what is needed.
fn check_text(check: &CheckView) -> String {
    let found = check.found.as_ref().map(|found| format!("found {}", line(found)));
    let needed = check.needed.as_ref().map(|needed| format!("needs {}", line(needed)));
    let said: Vec<String> = found.into_iter().chain(needed).collect();
    if said.is_empty() { line(&check.id) } else { format!("{} ({})", line(&check.id), said.join(", ")) }
}

fn failed_gate(view: &View) -> Option<(&'static str, String)> {
    let (phase, _) = view.failed_attempt()?;
    let is_missing = |check: &&CheckView| check.outcome == GateOutcome::Failed && !check.settled;
    let missing: Vec<&CheckView> = phase.gate.checks.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Some(("warn", format!("The gate of {} can be tried again: all checks pass now", phase.id)));
    }
    if missing.iter().all(|check| check.kind == "approval") {
        let ids: Vec<String> = missing.iter().map(|check| line(&check.id)).collect();
        return Some((
            "warn",
            format!("Only approval by a person is missing in {}: {}", phase.id, ids.join(", ")),
        ));
    }
    let times =
        if phase.attempt_count > 1 { format!(" {} times", phase.attempt_count) } else { String::new() };
    let failed: Vec<String> = missing.into_iter().map(check_text).collect();
    Some(("bad", format!("The gate of {} failed{times}: {}", phase.id, failed.join("; "))))
}

pub fn next(next: &Next) -> Markup {
    html! {
        div.notice.next {
            p { strong { "Next: " } (hint(&next.summary)) }
            @if let Some(line) = &next.command { (command(line)) }
        }
    }
}

/// A command that can be copied.
pub fn command(line: &CommandLine) -> Markup {
    let text = line.to_string();
    html! { span.run { code { (inert(&text)) } button type="button" data-text=(text) { "Copy" } } }
}

pub fn hint(hint: &Hint) -> Markup {
    html! {
        @for piece in hint.pieces() {
            @match piece {
                Piece::Text(text) => (inert(text)),
                Piece::Command(line) => code { (inert(&line.to_string())) },
            }
        }
    }
}

/// A run's phases, side by side.
pub fn track(view: &View) -> Markup {
    html! {
        ol.track aria-label="Phases" {
            @for phase in &view.phases {
                @let (class, word) = phase_standing(phase, view);
                li class=(class) aria-current=[(class == "now").then_some("step")] {
                    strong { (phase.number) " " (line(title_beside(phase.number, &phase.title))) }
                    small { (word) }
                }
            }
        }
    }
}

fn phase_standing(phase: &PhaseView, view: &View) -> (&'static str, String) {
    let is_current = phase.number == view.current_phase.number && view.run.completed_at.is_none();
    let has_failed = view.failed_attempt().is_some_and(|(failed, _)| failed.number == phase.number);
    let time = view.timed(phase).map(|seconds| format!(", {}", duration(seconds))).unwrap_or_default();
    let since = view.progress.time_in_phase_seconds.filter(|_| is_current);
    let since = since.map(|seconds| format!(" for {}", duration(seconds))).unwrap_or_default();
    match (phase.status.as_str(), phase.outcome) {
        ("completed", Some(outcome @ (Outcome::Claimed | Outcome::Overridden | Outcome::Warned))) => {
            ("warn", format!("? {}{time}", outcome.name()))
        }
        ("completed", outcome) => {
            let word = outcome.map_or("done", Outcome::name);
            ("good", format!("✓ {word}{time}"))
        }
        ("skipped", Some(Outcome::NotApplicable)) => ("", "– does not apply".to_owned()),
        ("skipped", _) => ("warn", "– skipped".to_owned()),
        ("needs_review", _) => ("warn", "? needs a review".to_owned()),
        _ if has_failed && view.next.needs_person() => ("warn", format!("waits for a person{since}")),
        _ if has_failed => ("bad", format!("✗ gate failed{since}")),
        _ if is_current => ("now", format!("▸ in progress{since}")),
        _ => ("", "not started".to_owned()),
    }
}

/// A gate with its checks: what was found, what is needed, how to fix it.
pub fn gate(phase: &PhaseView) -> Markup {
    html! {
        table.wide {
            thead { tr { th scope="col" { "Check" } th scope="col" { "Result" } th scope="col" { "Found" } th scope="col" { "Needed" } } }
            tbody { @for check in &phase.gate.checks { (check_row(check)) } }
        }
    }
}

fn check_row(check: &CheckView) -> Markup {
    let (word, class) = match check.outcome {
        GateOutcome::Passed => ("✓ passed", "good"),
        GateOutcome::Failed if check.settled => ("✓ passes now", "good"),
        GateOutcome::Failed if check.kind == "approval" => ("waits for a person", "warn"),
        GateOutcome::Failed => ("✗ failed", "bad"),
        GateOutcome::Open => ("not tried yet", "faint"),
        GateOutcome::Claimed => ("? claimed", "warn"),
    };
    html! {
        tr {
            td { strong { (line(&check.id)) } " " span.faint { (line(&check.kind)) } }
            td class=(class) { (word) }
            td { (check.found.as_deref().map(inert).unwrap_or_default()) }
            td {
                (check.needed.as_deref().map(inert).unwrap_or_default())
                @if let Some(help) = check.help.as_ref().filter(|_| check.outcome != GateOutcome::Passed) {
                    p.faint { (inert(help)) }
                }
            }
        }
    }
}

/// The button that approves a check if actions are allowed, and always the command.
pub fn approve(view: &View, check: &CheckView, offer: Offer<'_>) -> Markup {
    let line_ = view.command(vec!["approve".to_owned(), check.id.clone()]);
    html! {
        div.run {
            @if let Some(csrf) = offer.csrf {
                form.inline method="post" action={ "/session/" (view.session_id) "/approve" } {
                    input type="hidden" name="csrf" value=(csrf);
                    input type="hidden" name="check" value=(check.id);
                    @if let Some(files) = &view.files_shown { input type="hidden" name="files" value=(files); }
                    button.main type="submit" { "Approve " (line(&check.id)) }
                }
            }
            (command(&line_))
        }
    }
}

/// A button on the session's own page, with the equivalent command.
pub fn action(view: &View, name: &str, label: &str, offer: Offer<'_>) -> Markup {
    html! {
        @if let Some(csrf) = offer.csrf {
            form.inline method="post" action={ "/session/" (view.session_id) "/" (name) } {
                input type="hidden" name="csrf" value=(csrf);
                button type="submit" { (label) }
            }
        }
    }
}
