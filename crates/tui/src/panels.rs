//! The tabs. Each is returned as rows of a given width. No data is loaded here.

mod files;
mod items;
mod log;
mod now;
pub mod own_screen;
mod phases;

use crate::snapshot::{Shown, Snapshot};
use crate::state::Tab;
use crate::text::{Look, Row, Tone, outside, wrapped};
use jiff::Timestamp;
use model::status::Status;

/// The session to show, and the part of it.
pub struct Ask<'a> {
    /// True if the user chose the session. False if it is shown because it is active.
    pub chosen: bool,
    /// The only workflow to show, for a tool whose view of a session shows several.
    pub workflow: Option<&'a str>,
}

/// The rows of a tab.
pub fn rows(snapshot: &Snapshot, tab: Tab, ask: &Ask<'_>, width: usize, look: Look) -> Vec<Row> {
    let Some(shown) = &snapshot.shown else { return nothing(snapshot, width) };
    match tab {
        Tab::Now if is_waited_for(shown, ask.chosen) => waiting(shown, width),
        Tab::Now => now::rows(shown, ask.workflow, snapshot.now, width, look),
        Tab::Phases => phases::rows(shown, snapshot.now, width, look),
        Tab::Items => items::rows(shown, snapshot.now, width),
        Tab::Log => log::rows(shown, width),
        Tab::Files => files::rows(shown, snapshot.now, width, look),
    }
}

/// True if the session is closed, and its own tool would show that it waits for a new one. False if the user chose the
/// session, because it is then shown itself.
pub fn is_waited_for(shown: &Shown, chosen: bool) -> bool {
    let is_over = matches!(shown.view.status, Status::Completed | Status::Abandoned);
    shown.screen.is_some() && is_over && !chosen
}

fn nothing(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let mut rows = vec![Row::new(Tone::Heading, "Waiting for session… (none here yet)"), Row::default()];
    if let Some(next) = &snapshot.next {
        rows.extend(wrapped(Tone::Plain, &outside(&next.summary.to_string()), width, 0));
        rows.extend(next.command.iter().map(|command| Row::new(Tone::Command, format!("  {command}"))));
    }
    rows
}

fn waiting(shown: &Shown, width: usize) -> Vec<Row> {
    let view = &shown.view;
    let (stands, words, command) = if view.status == Status::Abandoned {
        ("abandoned", "Reopen it:", format!("leftoff reopen {}", view.session_id))
    } else {
        ("closed", "Start its next round:", format!("leftoff round --session {}", view.session_id))
    };
    let mut rows = vec![Row::new(Tone::Heading, "Waiting for session…"), Row::default()];
    rows.extend(wrapped(
        Tone::Plain,
        &format!("The last session, {}, is {stands}.", view.session_id),
        width,
        0,
    ));
    rows.push(Row::plain(words));
    rows.push(Row::new(Tone::Command, format!("  {command}")));
    rows
}

/// A heading and the rows below it. Empty if there are no rows.
fn section(heading: &str, rows: Vec<Row>) -> Vec<Row> {
    if rows.is_empty() {
        return rows;
    }
    let head = [Row::default(), Row::new(Tone::Heading, heading)];
    head.into_iter().chain(rows).collect()
}

fn passed(since: Timestamp, until: Timestamp) -> u64 {
    u64::try_from(until.duration_since(since).as_secs()).unwrap_or(0)
}
