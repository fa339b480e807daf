//! Parts that several pages use: text that leftoff did not write, states, gates, hints and their buttons.

use super::Offer;
use engine::Next;
use engine::view::{CheckView, GateOutcome, PhaseView, Severity, View};
use engine::words::{duration, one_line, title_beside, without_steering};
use jiff::Timestamp;
use maud::{Markup, html};
use model::hint::{CommandLine, Hint, Piece};
use model::outcome::Outcome;

/// The maximum length of a text on a page.
const LONGEST: usize = 10_000;
const LONGEST_LINE: usize = 300;

/// Text with its line breaks, without characters that change the direction of text. A very long text is cut.
pub fn inert(text: &str) -> String {
    let inert = without_steering(text);
    match inert.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (cut here)", &inert[..end]),
        None => inert.into_owned(),
    }
}

/// Text that leftoff did not write, on one line and without control characters.
pub fn line(text: &str) -> String {
    one_line(text, LONGEST_LINE)
}

/// The colour class of a severity.
pub fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Good => "good",
        Severity::Warning => "warn",
        Severity::Bad => "bad",
    }
}

/// A session's status in words, with its colour class.
pub fn standing(view: &View) -> (&'static str, &'static str) {
    let (words, severity) = view.status_words();
    (words, class(severity))
}

pub fn badge(view: &View) -> Markup {
    let (word, class) = standing(view);
    html! { span class={ "badge " (class) } { (word) } }
}

/// The progress as a bar with a label.
pub fn progress(view: &View) -> Markup {
    html! {
        p {
            @if let Some(percent) = view.percent() {
                progress max="100" value=(percent) aria-label="Phases done" {} " "
            }
            (view.how_far().replace(" %", "\u{a0}%"))
            @if let Some(seconds) = view.seconds_left() { ", about " (duration(seconds)) " left" }
        }
    }
}

/// The items on which somebody is working.
pub fn at_work(view: &View, now: Timestamp) -> Markup {
    html! {
        @for work in view.at_work(now) { p { strong { "Now: " } (line(&work)) } }
    }
}

/// Everything in a session that needs attention: one sentence each, with a colour class.
pub fn trouble(view: &View, now: Timestamp) -> Vec<(&'static str, String)> {
    view.attention(now).into_iter().map(|(severity, text)| (class(severity), text)).collect()
}

pub fn next(next: &Next) -> Markup {
    html! {
        div.notice.next {
            p { (next_step(next)) }
            @if let Some(line) = &next.command { (command(line)) }
        }
    }
}

/// The next step in a sentence.
pub fn next_step(next: &Next) -> Markup {
    html! { strong { (next.label()) ": " } (hint(&next.summary)) }
}

/// A command with a button to copy it.
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

/// The phases of a run, side by side.
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
    let items =
        view.items_done().filter(|_| is_current).map(|items| format!(", {items}")).unwrap_or_default();
    match (phase.status.as_str(), phase.outcome) {
        ("completed", Some(Outcome::Claimed)) => ("warn", format!("? claimed{time}")),
        ("completed", Some(outcome @ (Outcome::Overridden | Outcome::Warned))) => {
            ("warn", format!("! {}{time}", outcome.name()))
        }
        ("completed", outcome) => {
            let word = outcome.map_or("done", Outcome::name);
            ("good", format!("✓ {word}{time}"))
        }
        ("skipped", Some(Outcome::NotApplicable)) => ("", "– does not apply".to_owned()),
        ("skipped", _) => ("warn", "– skipped".to_owned()),
        ("needs_review", _) => ("warn", "? needs a review".to_owned()),
        _ if has_failed && view.next.needs_person() => ("warn", "… waits for a person".to_owned()),
        _ if has_failed => ("bad", "✗ gate failed".to_owned()),
        _ if is_current => ("now", format!("▸ in progress{since}{items}")),
        _ => ("", "not started".to_owned()),
    }
}

/// A gate with its checks. Each shows what was found, what is needed, and how to fix it if it failed.
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
    // The next step and the button below say how to approve, so no help is shown here.
    let is_asked_for = check.kind == "approval" && check.outcome == GateOutcome::Failed;
    let has_help = check.outcome != GateOutcome::Passed && !is_asked_for;
    html! {
        tr {
            td { strong { (line(&check.id)) } " " span.faint { (line(&check.kind)) } }
            td class=(class) { (word) }
            td { (check.found.as_deref().map(inert).unwrap_or_default()) }
            td {
                (check.needed.as_deref().map(inert).unwrap_or_default())
                @if let Some(help) = check.help.as_ref().filter(|_| has_help) { p.faint { (inert(help)) } }
            }
        }
    }
}

/// The command that approves a check, unless the page already shows it. If the page may change sessions, also a button
/// for it.
pub fn approve(view: &View, check: &CheckView, shown: Option<&CommandLine>, offer: Offer<'_>) -> Markup {
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
            @if shown != Some(&line_) { (command(&line_)) }
            @if offer.csrf.is_none() { span.faint { "To approve on this page, start " code { "leftoff serve --allow-actions" } } }
        }
    }
}

/// A button for an action on the session, with the equivalent command.
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
