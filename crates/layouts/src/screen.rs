//! A tool's own view of a session, as data: tracks, cells and rows. A front end adds colours and widths.

use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    pub heading: String,
    /// The tracks of the session. The first one is that of the current workflow.
    pub tracks: Vec<Track>,
}

/// One workflow of a session, and the progress of its current run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// The name by which a user can request this track.
    pub workflow: &'static str,
    pub title: &'static str,
    /// The name of the current run in the tool's words, such as "Round 2".
    pub run: String,
    /// When the run started; `None` if unknown. The next field is when it ended; `None` if it has not ended,
    /// or if the end is unknown.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The number of the current phase. The next field is the number of all phases.
    pub number: usize,
    pub total: usize,
    pub end: Option<TrackEnd>,
    pub cells: Vec<Cell>,
    pub rows: Vec<Row>,
    /// The path of the final file of a finished run, below the project's folder.
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
    /// The file of the phase exists. If the phase writes no file, the state shows that it is over.
    Done,
    /// The state shows that the phase is over, but the file of the phase is missing.
    Claimed,
    /// Somebody skipped the phase.
    Skipped,
    Current,
    Open,
}

/// One run of a track, or an entry below a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the run. `None` for an entry below a run.
    pub number: Option<u32>,
    pub title: String,
    pub state: Option<RowState>,
    pub count: Option<Count>,
    /// The result of the run, as its own file words it.
    pub result: Option<String>,
    pub below: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    Final,
    LeftUnfinished,
    GoingOn,
}

/// A number in a row, such as "3 files".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The counted thing, in the singular.
    pub what: &'static str,
    /// The number; `None` if the file that contains it is unreadable.
    pub number: Option<usize>,
}
