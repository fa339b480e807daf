//! An Open Code Review session as read from its files.

use super::history;
use super::read::ordinal;
use super::rounds_and_runs::{MapRun, Round};
use super::state::State;
use jiff::Timestamp;

/// The two workflows, with their phases in order, as named in state.json.
pub(super) const REVIEW: &str = "review";
pub(super) const REVIEW_PHASES: &[&str] = &[
    "context",
    "change-context",
    "analysis",
    "reviews",
    "aggregation",
    "discourse",
    "synthesis",
    "complete",
];
pub(super) const MAP: &str = "map";
pub(super) const MAP_PHASES: &[&str] =
    &["map-context", "topology", "flow-analysis", "requirements-mapping", "synthesis", "complete"];

/// The prefixes of the folders of rounds and runs. The number follows the prefix.
pub(super) const ROUND: &str = "rounds/round-";
pub(super) const RUN: &str = "map/runs/run-";

/// The current workflow of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OcrWorkflow {
    Review,
    Map,
}

impl OcrWorkflow {
    pub fn workflow(self) -> &'static str {
        match self {
            Self::Review => REVIEW,
            Self::Map => MAP,
        }
    }

    /// The folder of a round or run, below the session's folder.
    pub(super) fn folder(self, ordinal: u32) -> String {
        match self {
            Self::Review => format!("{ROUND}{ordinal}"),
            Self::Map => format!("{RUN}{ordinal}"),
        }
    }

    /// The workflow's phases, in order.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::Review => REVIEW_PHASES,
            Self::Map => MAP_PHASES,
        }
    }
}

/// A session as read from its files.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrSession {
    /// The name of the session's folder.
    pub folder: String,
    pub kind: OcrWorkflow,
    /// The index of the current phase in `kind.phases()`: from the state if possible, otherwise inferred from
    /// files.
    pub phase: usize,
    /// True if the state names a phase.
    pub says_phase: bool,
    pub is_closed: bool,
    /// True if the current round or run is over: its result was presented.
    pub is_finished: bool,
    /// True if the session was abandoned according to the log.
    pub is_given_up: bool,
    pub rounds: Vec<Round>,
    /// True unless an early release wrote the session; such a session has at most one round.
    pub rounds_have_folders: bool,
    pub map_runs: Vec<MapRun>,
    pub has_standards: bool,
    pub has_context: bool,
    pub has_requirements: bool,
    /// Skipped phases of the current run, according to the log.
    pub skipped: Vec<usize>,
    /// The workflow that is not current, if the session has used it: the progress of its newest round or run,
    /// from files or from the log.
    pub beside: Option<Beside>,
    pub state: State,
    /// When the first file of the current round or run was written. Set only if the state describes an
    /// earlier round or run.
    pub newer_since: Option<Timestamp>,
    /// When the current round or run ended, according to the log.
    pub ended_at: Option<Timestamp>,
}

/// The workflow that is not current in the session, with its newest round or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    pub kind: OcrWorkflow,
    pub ordinal: u32,
    /// The index of the phase in `kind.phases()`.
    pub phase: usize,
    pub is_finished: bool,
    /// When the newest round or run started. The next field is its end, if it is finished. Empty if unknown.
    pub since: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// Skipped phases of the run, according to the log.
    pub skipped: Vec<usize>,
}

impl OcrSession {
    /// The number of the current round or run.
    pub fn ordinal(&self) -> u32 {
        ordinal(self.kind, &self.state, &self.rounds, &self.map_runs)
    }

    /// The start of the current round or run.
    pub fn since(&self) -> Option<Timestamp> {
        let (own, about) = match self.kind {
            OcrWorkflow::Review => (self.state.round_started_at, self.state.current_round),
            OcrWorkflow::Map => (self.state.map_started_at, self.state.current_map_run),
        };
        // The start in the state is that of an earlier round or run, so it is not used.
        if about.is_some_and(|about| about < self.ordinal()) {
            return self.newer_since.or(self.state.updated_at).or(self.state.started_at);
        }
        own.or(self.state.started_at)
    }

    /// The path of the final file of a finished round or run, below the session's folder.
    pub fn result(&self, kind: OcrWorkflow, ordinal: u32) -> Option<String> {
        match kind {
            OcrWorkflow::Review => {
                let round = self.rounds.iter().find(|round| round.number == ordinal && round.is_final)?;
                Some(format!("{}final.md", history::folder_of(self, round)))
            }
            OcrWorkflow::Map => {
                let run = self.map_runs.iter().find(|run| run.number == ordinal && run.is_final)?;
                Some(format!("map/runs/run-{}/map.md", run.number))
            }
        }
    }
}
