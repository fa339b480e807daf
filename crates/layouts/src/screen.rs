//! A session on the screen of its own tool, as data: tracks, cells and rows. A front end adds colours and
//! widths.

use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    pub heading: String,
    /// The tracks, that of the current workflow first.
    pub tracks: Vec<Track>,
}

/// One workflow of a session, and the progress of its current run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// The name with which a user can request this track.
    pub workflow: &'static str,
    pub title: &'static str,
    /// The name of the current run, in the tool's words: "Round 2".
    pub run: String,
    /// When the run started and ended. The start is absent if it is unknown, the end also if the run is still
    /// in progress.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The number of the current phase, and the number of all phases.
    pub number: usize,
    pub total: usize,
    pub end: Option<TrackEnd>,
    pub cells: Vec<Cell>,
    pub rows: Vec<Row>,
    /// The final file of a finished run, below the project's folder.
    pub result: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackEnd {
    Done,
    GivenUp,
    /// The session was closed before the run was finished.
    ClosedUnfinished,
}

/// One phase of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub title: &'static str,
    pub mark: Mark,
}

/// The state of a phase on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The phase's file exists, or the phase writes none and the state is past it.
    Done,
    /// The state is past the phase, but the phase's file is missing.
    Claimed,
    /// Somebody skipped the phase.
    Skipped,
    Current,
    Open,
}

/// One run of a track, or an entry below a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the run; `None` for an entry below a run.
    pub number: Option<u32>,
    pub title: String,
    pub state: Option<RowState>,
    pub count: Option<Count>,
    /// The result of the run, in the words of its own file.
    pub result: Option<String>,
    pub below: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    Final,
    LeftUnfinished,
    GoingOn,
}

/// A count in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The name of the counted things, in the singular.
    pub what: &'static str,
    /// The count; `None` if the file in question is unreadable.
    pub number: Option<usize>,
}
