//! A session on its own tool's screen, as data: tracks, cells and rows. A front end adds colours and widths.

use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    pub heading: String,
    /// The current workflow first.
    pub tracks: Vec<Track>,
}

/// One workflow of a session, and the progress of its current run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// The name by which it can be requested.
    pub workflow: &'static str,
    pub title: &'static str,
    /// The current run, in the tool's words: "Round 2".
    pub run: String,
    /// Start and end of the run; absent if unknown or still running.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The current phase's number, and the total.
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
    /// Closed before its work was done.
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
    /// Its file exists; or it writes none, and the state is past it.
    Done,
    /// The state is past it, but its file is missing.
    Claimed,
    /// Skipped by somebody.
    Skipped,
    Current,
    Open,
}

/// One run of a track, or an entry below a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of a run.
    pub number: Option<u32>,
    pub title: String,
    pub state: Option<RowState>,
    pub count: Option<Count>,
    /// Its result, in the words of its own file.
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
    /// In the singular.
    pub what: &'static str,
    /// `None` if its file is unreadable.
    pub number: Option<usize>,
}
