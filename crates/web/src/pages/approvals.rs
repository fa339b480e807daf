//! The page of everything that waits for a person, with the evidence for it.

use super::{Offer, Place, page, parts};
use crate::load::waiting_checks;
use engine::view::{PhaseView, View};
use jiff::Timestamp;
use maud::{Markup, html};
use model::typed_value::shown;

pub fn render(now: Timestamp, project: &str, waiting: &[View], offer: Offer<'_>) -> Markup {
    let body = html! {
        h1 { "Waiting for a person" }
        @if waiting.is_empty() { p { "Nothing needs approval or an answer." } }
        @for view in waiting { (one(view, now, offer)) }
    };
    page(Place::Approvals, project, "Approvals", offer, &body)
}

fn one(view: &View, now: Timestamp, offer: Offer<'_>) -> Markup {
    let checks = waiting_checks(view);
    html! {
        article class={ "card " (if checks.is_empty() { "" } else { "warn" }) } {
            h2 { a href={ "/session/" (view.session_id) } { (parts::line(&view.title)) } }
            @if let Some(goal) = &view.goal { p { strong { "Goal: " } (parts::inert(goal)) } }
            p { (parts::badge(view)) " in " strong { (parts::line(&view.current_phase.title)) } " · " (view.last_change(now)) }
            @if !checks.is_empty() {
                @if view.next.needs_person() {
                    p { "All other checks pass; only approval is missing." }
                } @else {
                    p { "The phase is not ready yet; it will need these approvals." }
                }
                (evidence(view))
                @for check in checks { (parts::approve(view, check, None, offer)) }
            }
            @let open = view.open_notes();
            @if !open.is_empty() {
                h3 { "Open questions and blockers" }
                ul { @for note in open {
                    li {
                        strong { (note.kind.name()) " " (note.id) } ": " (parts::inert(&note.text)) " "
                        (parts::command(&view.command(vec!["note".to_owned(), "resolve".to_owned(), note.id.to_string()])))
                    }
                } }
            }
        }
    }
}

/// The state of the gate, the evidence of this phase and the phases before it, and the recorded files.
fn evidence(view: &View) -> Markup {
    let current = view.current();
    let is_before = |phase: &&PhaseView| current.is_some_and(|current| phase.number <= current.number);
    html! {
        @if let Some(purpose) = current.and_then(|phase| phase.purpose.as_ref()) { p { (parts::inert(purpose)) } }
        @if let Some(phase) = current { (parts::gate(phase)) }
        h3 { "Evidence" }
        ul {
            @for phase in view.phases.iter().filter(is_before) {
                li {
                    strong { (parts::line(&phase.title)) } ": "
                    (phase.outcome.map_or("waits for approval".into(), |outcome| outcome.name().replace('_', " ")))
                    @if let Some(attempt) = phase.attempts.last() {
                        @for (name, value) in attempt.report.evidence.iter().chain(&attempt.report.outputs) {
                            ", " code { (parts::line(name)) "=" (parts::inert(&shown(value))) }
                        }
                    }
                }
            }
            @for known in &view.artifacts {
                li { code { (parts::inert(&known.newest.path)) } ", version " (known.newest.version) }
            }
        }
    }
}
