//! Reads one session's folder: its workflow, and its progress according to state and files.

use super::copied_times;
use super::rounds_and_runs::{MapRun, Round, first_written, jumped, map_runs, rounds, unusable};
use super::session::{Beside, OcrSession, OcrWorkflow};
use super::state::{self, State};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::tree::Tree;
use jiff::Timestamp;

/// Reads one session's folder. Never fails: unreadable parts become warnings.
pub(super) fn read(folder: &str, tree: &Tree, now: Timestamp) -> Reading<OcrSession> {
    let mut warnings = Vec::new();
    let mut state = state::read(tree, now, &mut warnings);
    warnings.extend(copied_times::times(folder, tree, now, &mut state));
    warnings.extend(unusable(tree));
    let rounds = rounds(tree);
    let map_runs = map_runs(tree);
    let kind = kind(&state, tree);
    let has_requirements = tree.has_file("requirements.md");
    let current = ordinal(kind, &state, &rounds, &map_runs);
    warnings.extend(jumped(&state, &rounds, &map_runs));
    let said = said(kind, &state, current, &mut warnings);
    let phase = said.unwrap_or_else(|| shown(kind, current, &rounds, &map_runs, tree));
    let beside = beside(kind, &state, &rounds, &map_runs, tree);
    let is_said_complete = said.is_some_and(|said| said + 1 == kind.phases().len());
    let is_closed = is_closed(kind, &state, is_said_complete);
    // A review is finished when it was presented and its session is closed. A session stays active when its
    // map was presented, so a map is finished then.
    let is_finished = is_said_complete && (is_closed || kind == OcrWorkflow::Map);
    let value = OcrSession {
        folder: folder.to_owned(),
        kind,
        phase,
        says_phase: said.is_some(),
        is_closed,
        is_finished,
        is_given_up: false,
        rounds_have_folders: tree.has_folder("rounds") || rounds.is_empty(),
        rounds,
        map_runs,
        has_standards: tree.has_file("discovered-standards.md"),
        has_context: tree.has_file("context.md"),
        has_requirements,
        skipped: Vec::new(),
        beside,
        newer_since: first_written(kind, current, tree),
        ended_at: None,
        state,
    };
    Reading { value, warnings }
}

/// True if the session is closed according to its status. Releases before 1.1.0 wrote no status; there, a
/// review is over when it reaches the last phase.
pub(super) fn is_closed(kind: OcrWorkflow, state: &State, is_said_complete: bool) -> bool {
    match state.status.as_deref() {
        Some(status) => status == "closed",
        None => kind == OcrWorkflow::Review && is_said_complete,
    }
}

/// A session's workflow. The state names it, or else the folder of only one workflow exists, or else the
/// phase or counter in the state belongs to only one. By default it is a review.
pub(super) fn kind(state: &State, tree: &Tree) -> OcrWorkflow {
    let alone = match (tree.has_folder("map"), tree.has_folder("rounds")) {
        (true, false) => Some(OcrWorkflow::Map),
        (false, true) => Some(OcrWorkflow::Review),
        (true, true) | (false, false) => None,
    };
    let said = state.kind.or(alone).or_else(|| state.kind_of_phase()).or_else(|| state.kind_counted());
    said.unwrap_or(OcrWorkflow::Review)
}

pub(super) fn ordinal(kind: OcrWorkflow, state: &State, rounds: &[Round], map_runs: &[MapRun]) -> u32 {
    let (said, last) = match kind {
        OcrWorkflow::Review => {
            (state.current_round, rounds.last().map(|round| (round.number, round.is_final)))
        }
        OcrWorkflow::Map => (state.current_map_run, map_runs.last().map(|run| (run.number, run.is_final))),
    };
    current(said, last)
}

/// The number of the round or run to show. Folders decide, with one exception: the round or run after a
/// finished one may have no folder yet.
pub(super) fn current(said: Option<u32>, last: Option<(u32, bool)>) -> u32 {
    match (said, last) {
        (said, None) => said.unwrap_or(1),
        (Some(said), Some((last, true))) if last.checked_add(1) == Some(said) => said,
        (_, Some((last, _))) => last,
    }
}

/// The phase of the current round or run according to the state. The state may say that a round or run is
/// finished while the files show a newer one. It then describes the older one, and the newer one is in its
/// first phase.
fn said(kind: OcrWorkflow, state: &State, current: u32, warnings: &mut Vec<Problem>) -> Option<usize> {
    let phase = state.phase(kind, warnings)?;
    let about = match kind {
        OcrWorkflow::Review => state.current_round,
        OcrWorkflow::Map => state.current_map_run,
    };
    let is_older = about.is_some_and(|about| about < current) && phase + 1 == kind.phases().len();
    Some(if is_older { 0 } else { phase })
}

/// The progress of the newest round or run of the workflow that is not current. The state contains its number
/// and start; only files show its phase.
fn beside(
    kind: OcrWorkflow,
    state: &State,
    rounds: &[Round],
    map_runs: &[MapRun],
    tree: &Tree,
) -> Option<Beside> {
    // A copied template of state.json may name a map run that nobody started, so only folders prove that one
    // was started.
    let (kind, has_begun) = match kind {
        OcrWorkflow::Review => (OcrWorkflow::Map, !map_runs.is_empty()),
        OcrWorkflow::Map => (OcrWorkflow::Review, !rounds.is_empty()),
    };
    if !has_begun {
        return None;
    }
    let ordinal = ordinal(kind, state, rounds, map_runs);
    let phase = shown(kind, ordinal, rounds, map_runs, tree);
    let has_folder = kind == OcrWorkflow::Map || tree.has_folder("rounds");
    let place = if has_folder { format!("{}/", kind.folder(ordinal)) } else { String::new() };
    let result = match kind {
        OcrWorkflow::Review => format!("{place}final.md"),
        OcrWorkflow::Map => format!("{place}map.md"),
    };
    let is_finished = phase + 1 == kind.phases().len();
    let since = state.clock(kind);
    let ended_at = tree.modified(&result).filter(|_| is_finished);
    Some(Beside { kind, ordinal, phase, is_finished, since, ended_at, skipped: Vec::new() })
}

/// The progress of a round or run according to files alone.
pub(super) fn shown(
    kind: OcrWorkflow,
    ordinal: u32,
    rounds: &[Round],
    map_runs: &[MapRun],
    tree: &Tree,
) -> usize {
    proven(kind, ordinal, rounds, map_runs).unwrap_or_else(|| approximate(kind, ordinal, rounds, tree))
}

/// The phase proven by the finished files of the current round or run.
fn proven(kind: OcrWorkflow, current: u32, rounds: &[Round], map_runs: &[MapRun]) -> Option<usize> {
    let last = kind.phases().len() - 1;
    match kind {
        OcrWorkflow::Review => match rounds.iter().find(|round| round.number == current) {
            Some(round) if round.is_final => Some(last),
            Some(round) if round.has_discourse => Some(last - 1),
            Some(_) | None => None,
        },
        OcrWorkflow::Map => map_runs.iter().any(|run| run.number == current && run.is_final).then_some(last),
    }
}

/// The phase that files alone suggest.
fn approximate(kind: OcrWorkflow, current: u32, rounds: &[Round], tree: &Tree) -> usize {
    match kind {
        OcrWorkflow::Review => {
            let round = rounds.iter().find(|round| round.number == current);
            // Files directly in the session's folder belong to the first round, not to a later one.
            if round.is_none() && current > 1 {
                return 0;
            }
            let has_reviews = round.is_some_and(|round| !round.reviewers.is_empty());
            match (has_reviews, tree.has_file("context.md"), tree.has_file("discovered-standards.md")) {
                (true, _, _) => 3,
                (false, true, _) => 2,
                (false, false, true) => 1,
                (false, false, false) => 0,
            }
        }
        OcrWorkflow::Map => {
            let has = |name: &str| tree.has_file(&format!("map/runs/run-{current}/{name}"));
            match (has("requirements-mapping.md"), has("flow-analysis.md"), has("topology.md")) {
                (true, _, _) => 4,
                (false, true, _) => 3 + usize::from(!tree.has_file("requirements.md")),
                (false, false, true) => 2,
                (false, false, false) => usize::from(tree.has_file("discovered-standards.md")),
            }
        }
    }
}
