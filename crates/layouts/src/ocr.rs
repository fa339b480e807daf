//! Open Code Review: `.ocr/sessions/{date}-{branch}/` with its state.json, rounds of reviews and runs of maps.
//! The files are the truth about rounds; state.json is the truth about the phase, which finished files may move forward.

mod history;
mod state;
#[cfg(test)]
mod tests;

pub use state::State;

use crate::reading::{Dated, Oddity, Reading};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use model::id::SessionId;

/// Where sessions are, below the project's folder.
pub const SESSIONS: &str = ".ocr/sessions";
/// The file with the state, below a session's folder.
pub const STATE: &str = "state.json";

/// Which of the two workflows a session is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Review,
    Map,
}

impl Kind {
    pub fn workflow(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Map => "map",
        }
    }

    /// Phases in order, as state.json names them.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::Review => &[
                "context",
                "change-context",
                "analysis",
                "reviews",
                "aggregation",
                "discourse",
                "synthesis",
                "complete",
            ],
            Self::Map => {
                &["map-context", "topology", "flow-analysis", "requirements-mapping", "synthesis", "complete"]
            }
        }
    }
}

/// One round of a review, as its folder shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    pub number: u32,
    pub reviewers: Vec<Reviewer>,
    pub has_discourse: bool,
    pub is_final: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewer {
    pub name: String,
    pub findings: usize,
}

/// One run of a map, as its folder shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRun {
    pub number: u32,
    pub is_final: bool,
    /// Files in the map's canonical list, once there is one.
    pub files: Option<usize>,
}

/// A session as its files tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrSession {
    pub id: SessionId,
    /// The folder's own name.
    pub folder: String,
    pub kind: Kind,
    /// Position of the current phase in `kind.phases()`.
    pub phase: usize,
    pub is_closed: bool,
    pub rounds: Vec<Round>,
    pub map_runs: Vec<MapRun>,
    pub has_requirements: bool,
    pub state: State,
    /// What happened, as far as the files tell: folding it gives the session.
    pub history: Vec<Dated>,
}

impl OcrSession {
    /// The round or run that is going on.
    pub fn ordinal(&self) -> u32 {
        ordinal(self.kind, &self.state, &self.rounds, &self.map_runs)
    }

    /// Since when the current round or run goes on.
    pub fn since(&self) -> Option<Timestamp> {
        let own = match self.kind {
            Kind::Review => self.state.round_started_at,
            Kind::Map => self.state.map_started_at,
        };
        own.or(self.state.started_at)
    }
}

/// Reads one session's folder. Never fails: what cannot be read is a warning, and the rest is told.
pub fn read(folder: &str, worktree: &str, tree: &Tree, now: Timestamp) -> Reading<OcrSession> {
    let mut warnings = Vec::new();
    let state = state::read(tree, now, &mut warnings);
    let rounds = rounds(tree);
    let map_runs = map_runs(tree);
    let kind = kind(&state, tree);
    let has_requirements = tree.has_file("requirements.md");
    let phase = phase(kind, &state, &rounds, &map_runs, tree, &mut warnings);
    let is_complete = phase + 1 == kind.phases().len();
    // Without a word in the file, a finished review is closed and a finished map is not.
    let is_closed = state.status.as_deref() == Some("closed")
        || (state.status.is_none() && is_complete && kind == Kind::Review);
    let mut session = OcrSession {
        id: id_of(folder),
        folder: folder.to_owned(),
        kind,
        phase,
        is_closed,
        rounds,
        map_runs,
        has_requirements,
        state,
        history: Vec::new(),
    };
    session.history = history::of(&session, worktree, now);
    Reading { value: session, warnings }
}

/// A folder's name as an id; characters that an id may not have are written as their code, so that no two become one.
pub fn id_of(folder: &str) -> SessionId {
    if let Ok(id) = SessionId::parse(folder) {
        return id;
    }
    let mut text = String::from("ocr-");
    for byte in folder.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("_{byte:02x}"));
        }
    }
    text.truncate(110);
    SessionId::parse(&text).unwrap_or_else(|_| unreachable!("every character was made a valid one"))
}

fn rounds(tree: &Tree) -> Vec<Round> {
    let numbers = tree.numbered("rounds", "round-");
    if numbers.is_empty() {
        // Before rounds had folders of their own, the first one's files lay in the session's.
        let old = round(tree, 1, "");
        let has_any = !old.reviewers.is_empty() || old.has_discourse || old.is_final;
        return if has_any { vec![old] } else { Vec::new() };
    }
    numbers.into_iter().map(|number| round(tree, number, &format!("rounds/round-{number}/"))).collect()
}

fn round(tree: &Tree, number: u32, prefix: &str) -> Round {
    let reviews = format!("{prefix}reviews");
    let reviewers = tree
        .names_in(&reviews)
        .filter_map(|name| {
            let reviewer = name.strip_suffix(".md")?;
            Some(Reviewer {
                name: reviewer.to_owned(),
                findings: findings(tree.get(&format!("{reviews}/{name}"))),
            })
        })
        .collect();
    Round {
        number,
        reviewers,
        has_discourse: tree.has_file(&format!("{prefix}discourse.md")),
        is_final: tree.has_file(&format!("{prefix}final.md")),
    }
}

fn map_runs(tree: &Tree) -> Vec<MapRun> {
    let runs = tree.numbered("map/runs", "run-").into_iter();
    runs.map(|number| MapRun {
        number,
        is_final: tree.has_file(&format!("map/runs/run-{number}/map.md")),
        files: files_in_map(tree.get(&format!("map/runs/run-{number}/topology.md"))),
    })
    .collect()
}

/// Headings that begin a finding.
fn findings(entry: Option<&Entry>) -> usize {
    let Some(Entry::File(content)) = entry else { return 0 };
    let text = String::from_utf8_lossy(content);
    let is_finding = |line: &&str| {
        line.strip_prefix("##").is_some_and(|rest| {
            let word = rest.trim_start();
            rest.len() > word.len()
                && ["Finding", "Issue", "Suggestion"].iter().any(|kind| word.starts_with(kind))
        })
    };
    text.lines().filter(is_finding).count()
}

/// Lines of the first fence after the heading of the canonical list.
fn files_in_map(entry: Option<&Entry>) -> Option<usize> {
    let Some(Entry::File(content)) = entry else { return None };
    let text = String::from_utf8_lossy(content);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("## Canonical File List")).skip(1);
    lines.by_ref().find(|line| line.trim_start().starts_with("```"))?;
    Some(
        lines
            .take_while(|line| !line.trim_start().starts_with("```"))
            .filter(|line| !line.trim().is_empty())
            .count(),
    )
}

/// What the file says, else what lies there alone, else what the phase is called, else a review.
fn kind(state: &State, tree: &Tree) -> Kind {
    if let Some(kind) = state.kind {
        return kind;
    }
    match (tree.has_folder("map"), tree.has_folder("rounds")) {
        (true, false) => return Kind::Map,
        (false, true) => return Kind::Review,
        (true, true) | (false, false) => {}
    }
    let named = state.phase_name.as_deref();
    let only_in_a_map =
        |name: &str| Kind::Map.phases().contains(&name) && !Kind::Review.phases().contains(&name);
    if named.is_some_and(only_in_a_map) { Kind::Map } else { Kind::Review }
}

fn ordinal(kind: Kind, state: &State, rounds: &[Round], map_runs: &[MapRun]) -> u32 {
    let (said, found) = match kind {
        Kind::Review => (state.current_round, rounds.last().map(|round| round.number)),
        Kind::Map => (state.current_map_run, map_runs.last().map(|run| run.number)),
    };
    said.max(found).unwrap_or(1)
}

/// Where the session is: what the state says, moved forward by the finished files of the current round or run only.
fn phase(
    kind: Kind,
    state: &State,
    rounds: &[Round],
    map_runs: &[MapRun],
    tree: &Tree,
    warnings: &mut Vec<Oddity>,
) -> usize {
    let last = kind.phases().len() - 1;
    let current = ordinal(kind, state, rounds, map_runs);
    let proven = match kind {
        Kind::Review => {
            let round = rounds.iter().find(|round| round.number == current);
            match round {
                Some(round) if round.is_final => Some(last),
                Some(round) if round.has_discourse => Some(last - 1),
                Some(_) | None => None,
            }
        }
        Kind::Map => map_runs.iter().any(|run| run.number == current && run.is_final).then_some(last),
    };
    match (state.phase(kind, warnings), proven) {
        (Some(said), Some(proven)) => said.max(proven),
        (Some(said), None) => said,
        (None, proven) => proven.unwrap_or_else(|| approximate(kind, current, rounds, tree)),
    }
}

/// The phase that the files alone suggest.
fn approximate(kind: Kind, current: u32, rounds: &[Round], tree: &Tree) -> usize {
    match kind {
        Kind::Review => {
            let has_reviews =
                rounds.iter().any(|round| round.number == current && !round.reviewers.is_empty());
            match (has_reviews, tree.has_file("context.md"), tree.has_file("discovered-standards.md")) {
                (true, _, _) => 3,
                (false, true, _) => 2,
                (false, false, true) => 1,
                (false, false, false) => 0,
            }
        }
        Kind::Map => {
            let has = |name: &str| tree.has_file(&format!("map/runs/run-{current}/{name}"));
            match (has("requirements-mapping.md"), has("flow-analysis.md"), has("topology.md")) {
                (true, _, _) => 4,
                (false, true, _) => 3,
                (false, false, true) => 2,
                (false, false, false) => usize::from(tree.has_file("discovered-standards.md")),
            }
        }
    }
}
