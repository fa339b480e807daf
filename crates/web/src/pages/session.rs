//! The page of one session: status, gate, timeline, items, notes, files, log and brief. The page can also be
//! a single file.

use super::{Offer, Place, charts, file, page, parts};
use crate::load::{SessionPage, waiting_checks};
use engine::event_text::words;
use engine::view::{View, attempt_words};
use engine::words::{ago, moment, version};
use maud::{Markup, html};
use model::gate::Attempt;
use model::typed_value::shown;

pub fn render(session: &SessionPage, offer: Offer<'_>) -> Markup {
    let view = &session.view;
    let body = html! {
        (head(session, offer))
        (gate(view, offer))
        (rest(session))
        @if offer.csrf.is_some() { (note_form(view, offer)) }
    };
    page(Place::Session(&view.session_id), &session.project, &view.title, offer, &body)
}

/// The whole page of a session, as a single file.
pub fn as_file(session: &SessionPage) -> Markup {
    let offer = Offer { csrf: None };
    let body = html! {
        (head(session, offer))
        (gate(&session.view, offer))
        (rest(session))
        p.faint { "Written " (session.now.strftime("%-d %b %Y %H:%M UTC").to_string()) " by leftoff." }
    };
    file(&session.view.title, &body)
}

fn head(session: &SessionPage, offer: Offer<'_>) -> Markup {
    let view = &session.view;
    html! {
        h1 { (parts::line(&view.title)) }
        p {
            (parts::badge(view)) " "
            @if view.run.completed_at.is_none() { strong { (parts::line(&view.current_phase.title)) } }
            span.faint {
                " · " (view.workflow.name) " " (version(&parts::line(&view.workflow.version)))
                @if view.run.ordinal > 1 { ", run " (view.run.ordinal) }
                " · " code { (view.session_id) }
                " · " (view.last_change(session.now))
            }
        }
        @if let Some(goal) = &view.goal { p { strong { "Goal: " } (parts::inert(goal)) } }
        (parts::progress(view))
        (parts::track(view))
        (parts::at_work(view, session.now))
        @for (class, text) in parts::trouble(view, session.now) { div class={ "notice " (class) } { p class=(class) { (text) } } }
        (parts::next(&view.next))
        @if view.lifecycle.name() == "active" { (parts::action(view, "pause", "Pause", offer)) }
        @if view.lifecycle.name() == "paused" { (parts::action(view, "resume", "Resume", offer)) }
        @if !session.agents.is_empty() {
            p { strong { "Here now: " }
                @for agent in &session.agents {
                    (parts::line(&agent.agent)) " " code { (parts::line(&agent.agent_session)) } " (" (ago(view.last_seen(agent), session.now)) ") "
                }
            }
        }
    }
}

fn gate(view: &View, offer: Offer<'_>) -> Markup {
    let phase =
        view.current().filter(|phase| view.run.completed_at.is_none() && !phase.gate.checks.is_empty());
    html! {
        @if let Some(phase) = phase {
            section aria-labelledby="gate" {
                h2 #gate { "Gate of " (parts::line(&phase.title)) }
                (parts::gate(phase))
                @for check in waiting_checks(view) { (parts::approve(view, check, view.next.command.as_ref(), offer)) }
            }
        }
    }
}

fn rest(session: &SessionPage) -> Markup {
    let view = &session.view;
    html! {
        @if !view.warnings.is_empty() {
            section aria-labelledby="warnings" {
                h2 #warnings { "Warnings" }
                ul { @for warning in &view.warnings {
                    li { (parts::inert(&warning.message)) @if let Some(hint) = &warning.hint { " (" (parts::hint(hint)) ")" } }
                } }
            }
        }
        section aria-labelledby="timeline" { h2 #timeline { "Timeline" } (charts::timeline(&session.history, session.now)) (attempts(session)) }
        (items(session))
        (notes(session))
        (files(session))
        (log(session))
        section aria-labelledby="brief-heading" {
            h2 #brief-heading { "Brief" }
            p { "Everything that the next agent must know. " button type="button" data-copy="brief" { "Copy the brief" } }
            pre #brief tabindex="0" { (parts::inert(&session.brief)) }
        }
    }
}

fn attempts(session: &SessionPage) -> Markup {
    let phases = session.view.phases.iter().filter(|phase| !phase.attempts.is_empty());
    html! {
        @for phase in phases {
            details id={ "phase-" (phase.id) } {
                summary { (parts::line(&phase.title)) ": " (phase.attempts.len()) @if phase.attempts.len() == 1 { " attempt" } @else { " attempts" } }
                ol { @for attempt in &phase.attempts { (one_attempt(attempt, session)) } }
            }
        }
    }
}

fn one_attempt(attempt: &Attempt, session: &SessionPage) -> Markup {
    let (word, severity) = attempt_words(attempt);
    let class = parts::class(severity);
    html! {
        li {
            strong class=(class) { (word) } ", " (moment(attempt.at, session.now)) " by " (parts::line(&attempt.actor.to_string()))
            @if let Some(reason) = &attempt.report.overridden { ", because " q { (parts::inert(reason)) } }
            @for (name, value) in attempt.report.evidence.iter().chain(&attempt.report.outputs) {
                br; code { (parts::line(name)) "=" (parts::inert(&shown(value))) }
            }
            @for check in attempt.report.checks.iter().filter(|check| check.failed()) {
                br; span class=(class) { "✗ " (parts::line(&check.id)) } ": found " (parts::inert(check.found.as_deref().unwrap_or("nothing")))
                @if let Some(needed) = &check.needed { ", needs " (parts::inert(needed)) }
            }
        }
    }
}

fn items(session: &SessionPage) -> Markup {
    let listing = &session.items;
    html! {
        @if !listing.items.is_empty() {
            section aria-labelledby="items" {
                h2 #items { "Items" }
                @for phase in &listing.phases {
                    h3 { (phase.phase) ": " (phase.counts.done) " of " (phase.counts.total) " done" }
                    ul { @for item in listing.items.iter().filter(|item| item.item.phase == phase.phase) {
                        li { code { (item.mark()) " " (item.id()) } " " (parts::line(&item.item.title)) span.faint { ": " (parts::line(&item.standing(session.now))) } }
                    } }
                }
                @if listing.more { p { "More: " code { "leftoff item list --all" } } }
            }
        }
    }
}

fn notes(session: &SessionPage) -> Markup {
    html! {
        @if !session.view.notes.is_empty() {
            section aria-labelledby="notes" {
                h2 #notes { "Notes" }
                ul { @for note in session.view.notes.iter().rev() {
                    li {
                        strong class=[note.is_open().then_some("warn")] { (note.kind.name()) " " (note.id) }
                        @if note.resolved_at.is_some() { " (resolved)" }
                        ": " (parts::inert(&note.text))
                        span.faint { " " (parts::line(&note.actor.to_string())) ", " (moment(note.at, session.now)) }
                    }
                } }
            }
        }
    }
}

fn files(session: &SessionPage) -> Markup {
    html! {
        @if !session.versions.is_empty() || !session.findings.is_empty() {
            section aria-labelledby="files" {
                h2 #files { "Files" }
                @if !session.findings.is_empty() {
                    ul { @for finding in &session.findings {
                        li.warn { code { (parts::inert(&finding.path)) } " " (parts::inert(&finding.message)) " (" (parts::hint(&finding.hint)) ")" }
                    } }
                }
                table.wide {
                    thead { tr { th scope="col" { "File" } th scope="col" { "Version" } th scope="col" { "Bytes" } th scope="col" { "Recorded" } th scope="col" { "SHA-256" } } }
                    tbody { @for made in session.versions.iter().rev() {
                        tr {
                            td { code { (parts::inert(&made.version.path)) } @if let Some(kept) = &made.archived_as { span.faint { " kept as " (parts::inert(kept)) } } }
                            td { (made.version.version) }
                            td { (made.version.size) }
                            td { (moment(made.at, session.now)) " by " (parts::line(&made.actor.to_string())) }
                            td { code { (made.version.hash.chars().take(12).collect::<String>()) } }
                        }
                    } }
                }
                (differences(session))
            }
        }
    }
}

/// The changes in recorded files, each below the name of its file.
fn differences(session: &SessionPage) -> Markup {
    html! {
        @for (difference, place) in session.differences.iter().zip(1..) {
            details id={ "difference-" (place) } {
                summary {
                    code { (parts::inert(&difference.path)) } ": version " (difference.from) " to "
                    @match difference.to { Some(version) => (version), None => "the file as it is now" }
                }
                pre tabindex="0" { @for changed in difference.text.lines() { (changed_line(changed)) } }
            }
        }
    }
}

fn changed_line(changed: &str) -> Markup {
    let text = parts::inert(changed) + "\n";
    match changed.chars().next() {
        Some('+') => html! { ins { (text) } },
        Some('-') => html! { del { (text) } },
        Some(_) | None => html! { (text) },
    }
}

fn log(session: &SessionPage) -> Markup {
    let id = &session.view.session_id;
    html! {
        section aria-labelledby="log-heading" {
            h2 #log-heading { "Log" }
            details #log open {
                summary { "The newest " (session.log.len()) " events" }
                table.wide {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "What" } } }
                    tbody { @for event in session.log.iter().rev() {
                        tr {
                            td.faint { (moment(event.at, session.now)) }
                            td { (parts::line(&event.actor.to_string())) }
                            td { (parts::inert(&words(&event.event))) }
                        }
                    } }
                }
            }
            p { "All of it: " code { "leftoff log " (id) } }
        }
    }
}

fn note_form(view: &View, offer: Offer<'_>) -> Markup {
    html! {
        section aria-labelledby="write" {
            h2 #write { "Write a note" }
            form.inline method="post" action={ "/session/" (view.session_id) "/note" } {
                input type="hidden" name="csrf" value=(offer.csrf.unwrap_or_default());
                label { "Note " input type="text" name="text" required size="40"; }
                button type="submit" { "Add" }
                code { "leftoff note '<text>'" }
            }
        }
    }
}
