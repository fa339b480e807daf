//! The rounds of a session according to its tool's files: which of them are finished, and which parts are done, so that
//! nobody repeats existing work.

use crate::engine::Engine;
use crate::view::{PartView, RoundView, View};
use crate::words::{one_line, quoted};
use layouts::screen::{Row, RowState, Screen, Track};
use model::id::SessionId;
use model::time::seconds_between;

/// The maximum length of a round's result, in characters.
const LONGEST_RESULT: usize = 80;

impl Engine {
    /// Adds to a view the rounds and the session's duration, if the session's tool has a screen with rounds.
    pub(crate) fn add_rounds(&self, view: &mut View) {
        let Some(id) = SessionId::parse(&view.session_id).ok() else { return };
        if !crate::own_tool_messages::has_own_screen(&view.layout) {
            return;
        }
        let Some(screen) = self.sessions().screen(&id) else { return };
        let now = self.clock.now();
        view.elapsed_seconds = screen.tracks.first().and_then(|track| {
            // The time may have been written by hand, and may lie in the future.
            Some(seconds_between(track.since?, track.until.unwrap_or(now).min(now)))
        });
        view.rounds = rounds(&screen);
        if let Some(finished) = finished_parts(view) {
            view.next.summary = view.next.summary.clone().then(finished);
        }
    }
}

fn rounds(screen: &Screen) -> Vec<RoundView> {
    let of_track = |track: &Track| -> Vec<RoundView> {
        track.rows.iter().filter_map(|row| round(track.workflow, row)).collect()
    };
    screen.tracks.iter().flat_map(of_track).collect()
}

fn round(workflow: &str, row: &Row) -> Option<RoundView> {
    let kind = row.count.as_ref().map(|count| count.what).unwrap_or_default();
    let part = |below: &Row| PartView {
        kind: kind.to_owned(),
        name: below.title.clone(),
        findings: below.count.as_ref().and_then(|count| count.number),
    };
    Some(RoundView {
        title: called(workflow, &row.title),
        workflow: workflow.to_owned(),
        number: row.number?,
        is_final: row.state == Some(RowState::Final),
        result: row.result.as_deref().map(|result| one_line(result, LONGEST_RESULT)),
        parts: row.below.iter().map(part).collect(),
    })
}

/// Returns the name of a run in its tool's words, with its workflow, such as `review round 1` or `map run 2`.
fn called(workflow: &str, title: &str) -> String {
    let title = title.to_lowercase();
    if title.starts_with(workflow) { title } else { format!("{workflow} {title}") }
}

/// Returns the parts of the current phase whose files exist, as a sentence.
fn finished_parts(view: &View) -> Option<String> {
    let round = view
        .rounds
        .iter()
        .find(|round| round.workflow == view.run.workflow.as_str() && round.number == view.run.ordinal)?;
    let phase = view.current()?;
    let is_of_parts = phase.status == "in_progress" && phase.produces.iter().any(|path| path.contains('<'));
    let parts = round.parts.iter().map(PartView::told).collect::<Vec<_>>();
    (is_of_parts && !parts.is_empty()).then(|| format!(" Already done: {}.", parts.join(", ")))
}

impl RoundView {
    /// Returns the round on one line, such as `review round 1: final; security-1 (2 findings)`.
    pub fn told(&self) -> String {
        let standing = if self.is_final { "final" } else { "not final" };
        let result = self.result.as_ref().map(|result| format!(", {}", quoted(result, LONGEST_RESULT)));
        let parts: Vec<String> = self.parts.iter().map(PartView::told).collect();
        let parts = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
        format!("{}: {standing}{}{parts}", self.title, result.unwrap_or_default())
    }
}

impl PartView {
    fn told(&self) -> String {
        match self.findings {
            Some(1) => format!("{} (1 finding)", self.name),
            Some(count) => format!("{} ({count} findings)", self.name),
            None => format!("{} (not readable)", self.name),
        }
    }
}
