//! The overview: sessions that are active, wait, or are stuck. Below them, a list of all sessions with a
//! search.

use super::{Offer, Place, charts, page, parts};
use crate::load::{Overview, Query};
use engine::view::{ShortView, View};
use engine::words::ago;
use jiff::Timestamp;
use maud::{Markup, html};
use model::status::Status;

const STATUSES: [&str; 5] = ["active", "paused", "failed", "completed", "abandoned"];

/// The maximum number of paused sessions that are shown in detail. The others are in the list.
const MOST_PAUSED: usize = 4;

pub fn render(overview: &Overview, offer: Offer<'_>) -> Markup {
    let (waiting, rest): (Vec<&View>, Vec<&View>) =
        overview.open.iter().partition(|view| view.next.needs_person());
    let is_stuck = |view: &&View| {
        matches!(view.status, Status::CheckpointFailed | Status::Failed | Status::PossiblyStalled)
    };
    let (stuck, rest): (Vec<&View>, Vec<&View>) = rest.into_iter().partition(is_stuck);
    let (working, paused): (Vec<&View>, Vec<&View>) =
        rest.into_iter().partition(|view| view.status == Status::Active);
    let paused: Vec<&View> = paused.into_iter().take(MOST_PAUSED).collect();
    let finished: Vec<&View> = overview.finished.iter().collect();
    let now = overview.now;
    let body = html! {
        h1 { "Sessions of " (parts::line(&overview.project)) }
        @if overview.open.is_empty() {
            p { "No unfinished sessions." }
            @if let Some(next) = &overview.next { (parts::next(next)) }
        }
        (group("Waiting for a person", "waiting", &waiting, now))
        (group("Stuck", "stuck", &stuck, now))
        (group("In progress", "working", &working, now))
        (group("Paused", "paused", &paused, now))
        (agents(overview))
        (group("Recently finished", "finished", &finished, now))
        (charts::where_time_goes(&overview.open))
        section aria-labelledby="all" {
            h2 #all { "All sessions" }
            (filter(overview))
            (table(overview))
        }
    };
    page(Place::Overview, &overview.project, "Sessions", offer, &body)
}

fn group(heading: &str, id: &str, views: &[&View], now: Timestamp) -> Markup {
    html! {
        @if !views.is_empty() {
            section aria-labelledby=(id) {
                h2 id=(id) { (heading) " (" (views.len()) ")" }
                div.cards { @for view in views { (card(view, now)) } }
            }
        }
    }
}

/// A session in a few lines: title, progress, problems and next step.
fn card(view: &View, now: Timestamp) -> Markup {
    let (_, class) = parts::standing(view);
    html! {
        article class={ "card " (class) } {
            h3 { a href={ "/session/" (view.session_id) } { (parts::line(&view.title)) } }
            @if let Some(goal) = &view.goal { p { strong { "Goal: " } (parts::line(goal)) } }
            p {
                (parts::badge(view))
                @if view.run.completed_at.is_none() { " in " strong { (parts::line(&view.current_phase.title)) } }
                @if let Some(items) = view.items_done() { ", " (items) }
                " · " (view.last_change(now))
            }
            (parts::progress(view))
            (parts::at_work(view, now))
            @for (class, text) in parts::trouble(view, now) { p class=(class) { (text) } }
            p { (parts::next_step(&view.next)) }
        }
    }
}

fn agents(overview: &Overview) -> Markup {
    html! {
        @if !overview.agents.is_empty() {
            section aria-labelledby="agents" {
                h2 #agents { "Agents here now" }
                ul {
                    @for agent in &overview.agents {
                        li {
                            (parts::line(&agent.agent)) " " code { (parts::line(&agent.agent_session)) }
                            @if let Some(id) = &agent.session_id { " in " a href={ "/session/" (id) } { (id) } }
                            @let of_it = overview.open.iter().find(|view| agent.session_id.as_ref() == Some(&view.session_id));
                            @let seen = of_it.map_or(agent.last_seen, |view| view.last_seen(agent));
                            span.faint { ", seen " (ago(seen, overview.now)) }
                        }
                    }
                }
            }
        }
    }
}

fn filter(overview: &Overview) -> Markup {
    let query = &overview.query;
    let mut agents: Vec<&str> = overview.agents.iter().map(|agent| agent.agent.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    let layouts: Vec<&str> = std::iter::once("native").chain(engine::layout_names()).collect();
    html! {
        form.filter method="get" action="/" role="search" {
            label { "Search" input #search type="search" name="q" value=(query.search) placeholder="title, goal, notes"; }
            (choice("Status", "status", &query.status, &STATUSES))
            (choice("Layout", "layout", &query.layout, &layouts))
            (choice("Agent", "agent", &query.agent, &agents))
            label { "Phase" input type="text" name="phase" value=(query.phase) size="12"; }
            button type="submit" { "Filter" }
            @if *query != Query::default() { a href="/" { "Clear" } }
        }
    }
}

fn choice(label: &str, name: &str, chosen: &str, options: &[&str]) -> Markup {
    html! {
        label { (label)
            select name=(name) {
                option value="" { "any" }
                @for option in options { option value=(option) selected[*option == chosen] { (option) } }
            }
        }
    }
}

fn table(overview: &Overview) -> Markup {
    html! {
        @if overview.sessions.is_empty() {
            p { @if overview.query == Query::default() { "No sessions yet." } @else { "No session matches." } }
        } @else {
            table.wide {
                thead { tr { th scope="col" { "Session" } th scope="col" { "Status" } th scope="col" { "Phase" } th scope="col" { "Done" } th scope="col" { "Changed" } } }
                tbody { @for line in &overview.sessions { (row(line, overview)) } }
            }
        }
        nav aria-label="Pages of the list" {
            p {
                @if overview.query.page > 0 { a href=(address(&overview.query, overview.query.page - 1)) rel="prev" { "Newer" } " " }
                @if overview.more { a href=(address(&overview.query, overview.query.page + 1)) rel="next" { "Older" } }
            }
        }
    }
}

fn row(line: &ShortView, overview: &Overview) -> Markup {
    // If the session is also shown in detail above, the list shows the status given there.
    let mut cards = overview.open.iter().chain(&overview.finished);
    let on_a_card = cards.find(|view| view.session_id == line.session_id);
    let (status, class) = match on_a_card {
        Some(view) => parts::standing(view),
        None => (line.lifecycle.as_str(), ""),
    };
    html! {
        tr {
            td {
                a href={ "/session/" (line.session_id) } { (parts::line(&line.title)) }
                " " span.faint { (line.session_id) @if line.layout != "native" { ", " (line.layout) } }
                @for warning in &line.warnings { p.warn { (parts::line(&warning.message)) } }
            }
            td class=(class) { (status) }
            td { (parts::line(&line.phase)) }
            td { (line.phases_done) @if let Some(total) = line.total_phases { " of " (total) } }
            td { (ago(line.updated_at, overview.now)) }
        }
    }
}

fn address(query: &Query, page: usize) -> String {
    let pairs = [
        ("q", query.search.as_str()),
        ("status", &query.status),
        ("layout", &query.layout),
        ("phase", &query.phase),
        ("agent", &query.agent),
        ("page", &page.to_string()),
    ]
    .map(|(name, value)| format!("{name}={}", crate::form::encoded(value)));
    format!("/?{}", pairs.join("&"))
}
