//! Renders pages as HTML from data that is already loaded. All text that leftoff did not write is escaped.

pub mod approvals;
mod charts;
pub mod overview;
mod parts;
pub mod session;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub const STYLE: &str = include_str!("../assets/style.css");
pub const SCRIPT: &str = include_str!("../assets/script.js");

/// The actions that a page offers.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The secret for forms, if the page may change sessions.
    pub csrf: Option<&'a str>,
}

/// The entry in the navigation to which a page belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    Overview,
    Approvals,
    Session(&'a str),
}

/// A page that updates itself.
pub fn page(place: Place<'_>, project: &str, title: &str, offer: Offer<'_>, body: &Markup) -> Markup {
    let session = match place {
        Place::Session(id) => Some(id),
        Place::Overview | Place::Approvals => None,
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(title))
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
                script src="/script.js" defer {}
            }
            body data-session=[session] {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    strong { "leftoff" }
                    span.faint { (parts::inert(project)) }
                    nav aria-label="Pages" {
                        a href="/" aria-current=[(place == Place::Overview).then_some("page")] { "Sessions" }
                        a href="/approvals" aria-current=[(place == Place::Approvals).then_some("page")] { "Approvals" }
                    }
                    span #live role="status" aria-live="polite" {}
                }
                main #main tabindex="-1" { (body) }
                footer {
                    @if offer.csrf.is_none() {
                        p { "Read-only. To enable actions: " code { "leftoff serve --allow-actions" } "." }
                    }
                }
            }
        }
    }
}

/// A file that needs no server. It contains its style, and no script.
pub fn file(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta(title))
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    }
}

pub fn refused(title: &str, message: &str, hint: Option<&str>) -> Markup {
    file(
        title,
        &html! {
            h1 { (title) }
            p { (parts::inert(message)) }
            @if let Some(hint) = hint { p { (parts::inert(hint)) } }
            p { a href="/" { "All sessions" } }
        },
    )
}

fn meta(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        title { (parts::line(title)) " – leftoff" }
    }
}
