//! Rounds of a session as its tool's files show them: which are finished, and which parts of the work are ready. So that
//! whoever resumes does not do again what is there.

use crate::engine::Engine;
use crate::view::{PartView, RoundView, View};
use layouts::screen::{Row, RowStanding, Screen, Track};
use model::id::SessionId;
use model::time::seconds_between;

impl Engine {
    /// Adds the rounds and how long the current one goes on, where the session's tool has a screen that tells them.
    pub(crate) fn add_rounds(&self, view: &mut View) {
        let Some(id) = SessionId::parse(&view.session_id).ok() else { return };
        if !crate::sync::has_own_screen(&view.layout) {
            return;
        }
        let Some(screen) = self.screen(&id) else { return };
        let now = self.clock.now();
        view.elapsed_seconds = screen.tracks.first().and_then(|track| {
            // A time that was written by hand may lie ahead.
            Some(seconds_between(track.since?, track.until.unwrap_or(now).min(now)))
        });
        view.rounds = rounds(&screen);
        if let Some(ready) = ready(view) {
            view.next.summary = view.next.summary.clone().then(ready);
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
        workflow: workflow.to_owned(),
        number: row.number?,
        is_final: row.standing == Some(RowStanding::Final),
        parts: row.below.iter().map(part).collect(),
    })
}

/// Which parts of the current phase have their file already, for whoever is sent to do them.
fn ready(view: &View) -> Option<String> {
    let round = view
        .rounds
        .iter()
        .find(|round| round.workflow == view.run.workflow.as_str() && round.number == view.run.ordinal)?;
    let phase = view.current()?;
    let is_of_parts = phase.status == "in_progress" && phase.produces.iter().any(|path| path.contains('<'));
    let parts = round.parts.iter().map(PartView::told).collect::<Vec<_>>();
    (is_of_parts && !parts.is_empty()).then(|| format!(" Ready: {}.", parts.join(", ")))
}

impl RoundView {
    /// In one line: `review round 1: final; security-1 (2 findings)`.
    pub fn told(&self) -> String {
        let standing = if self.is_final { "final" } else { "not final" };
        let parts: Vec<String> = self.parts.iter().map(PartView::told).collect();
        let parts = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
        format!("{} round {}: {standing}{parts}", self.workflow, self.number)
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
