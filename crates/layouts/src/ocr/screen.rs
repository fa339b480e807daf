//! The tool's own view of a session: its two workflows, their phases, and the rounds and runs with their
//! files.

use super::SESSIONS;
use super::rounds_and_runs::{MapRun, Reviewer, Round};
use super::session::{Beside, OcrSession, OcrWorkflow};
use crate::screen::{Cell, Count, Mark, Row, RowState, Screen, Track, TrackEnd};
use jiff::Timestamp;

/// The current round or run of one workflow.
struct Shown {
    kind: OcrWorkflow,
    ordinal: u32,
    phase: usize,
    is_finished: bool,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

pub(super) fn of(session: &OcrSession) -> Screen {
    let own = Shown {
        kind: session.kind,
        ordinal: session.ordinal(),
        phase: session.phase,
        is_finished: session.is_finished,
        since: session.since(),
        // The end of the run. A run ends when it is finished or its session is closed.
        until: session
            .ended_at
            .or(session.state.updated_at.filter(|_| session.is_closed || session.is_finished)),
    };
    let other = session.beside.as_ref().map(|other| Shown {
        kind: other.kind,
        ordinal: other.ordinal,
        phase: other.phase,
        is_finished: other.is_finished,
        since: since_beside(session, other),
        until: other.ended_at,
    });
    let shown = [Some(own), other].into_iter().flatten();
    Screen { heading: session.folder.clone(), tracks: shown.map(|shown| track(session, &shown)).collect() }
}

/// The start of the run in the workflow that is not current. `None` if that run is over and its duration is
/// unknown.
fn since_beside(session: &OcrSession, other: &Beside) -> Option<Timestamp> {
    let is_running = !session.is_closed && !other.is_finished;
    other.since.filter(|_| is_running || other.ended_at.is_some())
}

fn track(session: &OcrSession, shown: &Shown) -> Track {
    let Shown { kind, ordinal, phase, is_finished, since, until } = *shown;
    let (title, word) = match kind {
        OcrWorkflow::Review => ("Review", "Round"),
        OcrWorkflow::Map => ("Map", "Run"),
    };
    let (number, total) = (phase + 1, kind.phases().len());
    let is_given_up = session.is_given_up && kind == session.kind;
    let end = match (is_finished, is_given_up) {
        (true, _) => Some(TrackEnd::Done),
        (false, true) => Some(TrackEnd::GivenUp),
        (false, false) => session.is_closed.then_some(TrackEnd::ClosedUnfinished),
    };
    let result = session.result(kind, ordinal);
    Track {
        workflow: kind.workflow(),
        title,
        run: format!("{word} {ordinal}"),
        since,
        until,
        number,
        total,
        end,
        cells: cells(session, shown),
        rows: rows(session, kind, ordinal),
        result: result.map(|path| format!("{SESSIONS}/{}/{path}", session.folder)),
    }
}

fn cells(session: &OcrSession, shown: &Shown) -> Vec<Cell> {
    let Shown { kind, ordinal, phase, is_finished, .. } = *shown;
    let is_shown = |position: usize, name: &str| {
        name != "requirements-mapping" || session.has_requirements || position == phase
    };
    let phases = kind.phases().iter().enumerate().filter(|(position, name)| is_shown(*position, name));
    let mark = |position: usize| -> Mark { session.row(kind, ordinal, (phase, is_finished), position) };
    phases.map(|(position, name)| Cell { title: label(kind, name), mark: mark(position) }).collect()
}

fn rows(session: &OcrSession, kind: OcrWorkflow, ordinal: u32) -> Vec<Row> {
    // In a closed session, no round or run is in progress.
    let is_left = |number: u32| session.is_closed || number < ordinal;
    match kind {
        OcrWorkflow::Review => {
            session.rounds.iter().map(|found| round(found, is_left(found.number))).collect()
        }
        OcrWorkflow::Map => {
            session.map_runs.iter().map(|found| map_run(found, is_left(found.number))).collect()
        }
    }
}

fn round(round: &Round, is_left: bool) -> Row {
    Row {
        number: Some(round.number),
        title: format!("Round {}", round.number),
        state: Some(state(round.is_final, is_left)),
        count: Some(Count { what: "reviewer", number: Some(round.reviewers.len()) }),
        result: round.verdict.clone(),
        below: round.reviewers.iter().map(reviewer).collect(),
    }
}

fn reviewer(reviewer: &Reviewer) -> Row {
    Row {
        number: None,
        title: reviewer.name.clone(),
        state: None,
        count: Some(Count { what: "finding", number: reviewer.findings }),
        result: None,
        below: Vec::new(),
    }
}

fn map_run(run: &MapRun, is_left: bool) -> Row {
    Row {
        number: Some(run.number),
        title: format!("Map run {}", run.number),
        state: Some(state(run.is_final, is_left)),
        count: run.files.map(|count| Count { what: "file", number: Some(count) }),
        result: None,
        below: Vec::new(),
    }
}

fn state(is_final: bool, is_left: bool) -> RowState {
    match (is_final, is_left) {
        (true, _) => RowState::Final,
        (false, true) => RowState::LeftUnfinished,
        (false, false) => RowState::GoingOn,
    }
}

fn label(kind: OcrWorkflow, phase: &'static str) -> &'static str {
    match (kind, phase) {
        (_, "context" | "map-context") => "Context Discovery",
        (_, "change-context") => "Change Context",
        (_, "analysis") => "Tech Lead Analysis",
        (_, "reviews") => "Parallel Reviews",
        (_, "aggregation") => "Aggregate Findings",
        (_, "discourse") => "Reviewer Discourse",
        (_, "topology") => "Topology Analysis",
        (_, "flow-analysis") => "Flow Tracing",
        (_, "requirements-mapping") => "Requirements Mapping",
        (OcrWorkflow::Review, "synthesis") => "Final Synthesis",
        (OcrWorkflow::Map, "synthesis") => "Map Synthesis",
        (_, "complete") => "Complete",
        (_, other) => other,
    }
}
