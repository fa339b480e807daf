//! A session as its own tool's screen shows it, as data: tracks, cells and rows. A front end gives it colours and widths.

use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    pub heading: String,
    /// The one that the session is in first.
    pub tracks: Vec<Track>,
}

/// One workflow of a session: how far its current run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// By which it can be asked for.
    pub workflow: &'static str,
    pub title: &'static str,
    /// The current run, in the tool's words: "Round 2".
    pub run: String,
    /// Since when the run goes on, and until when it went; none where that is not known, or goes on.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// The number of the current phase, of so many.
    pub number: usize,
    pub total: usize,
    pub end: Option<TrackEnd>,
    pub cells: Vec<Cell>,
    pub rows: Vec<Row>,
    /// The last file of a finished run, below the project's folder.
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

/// How a phase stands on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Its file is there; where it writes none, the state is past it.
    Done,
    /// The state is past it, and its file is not there.
    Claimed,
    /// Somebody left it out.
    Skipped,
    Current,
    Open,
}

/// One run of a track, or something that belongs to a run: it then stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Of a run.
    pub number: Option<u32>,
    pub title: String,
    pub standing: Option<RowStanding>,
    pub count: Option<Count>,
    pub below: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStanding {
    Final,
    LeftUnfinished,
    GoingOn,
}

/// How many of something a row has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// In the singular.
    pub what: &'static str,
    /// None where its file could not be read.
    pub number: Option<usize>,
}
