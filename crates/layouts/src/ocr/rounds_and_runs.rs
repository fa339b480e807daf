//! A session's files other than state.json: rounds, runs, reviewers with their findings, and unreadable
//! files.

use super::STATE;
use super::read::current;
use super::review_findings::{findings, verdict};
use super::session::OcrWorkflow;
use super::state::State;
use crate::file_rules::MOST_BYTES;
use crate::problem::{Problem, Range, Then, What, Why};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;

/// A file whose path contains one of these two texts has entries that are counted.
pub(super) const REVIEWS: &str = "reviews/";
pub(super) const TOPOLOGY: &str = "topology.md";
/// The final review of a round.
pub(super) const FINAL: &str = "final.md";

/// One review round, as its folder shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    pub number: u32,
    pub reviewers: Vec<Reviewer>,
    pub has_discourse: bool,
    pub is_final: bool,
    /// The verdict, as the final review words it.
    pub verdict: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewer {
    pub name: String,
    /// The number of findings; `None` if the reviewer's file cannot be read.
    pub findings: Option<usize>,
}

/// One map run, as its folder shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRun {
    pub number: u32,
    pub has_topology: bool,
    pub has_flows: bool,
    pub has_mapping: bool,
    pub is_final: bool,
    /// The number of files in the map's canonical list, once it exists.
    pub files: Option<usize>,
}

pub(super) fn rounds(tree: &Tree) -> Vec<Round> {
    let numbers = tree.numbered("rounds", "round-");
    if numbers.is_empty() {
        // Early releases stored the first round's files directly in the session's folder.
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
        .filter(|name| !tree.has_folder(&format!("{reviews}/{name}")))
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
        is_final: tree.has_file(&format!("{prefix}{FINAL}")),
        verdict: verdict(tree.get(&format!("{prefix}{FINAL}"))),
    }
}

pub(super) fn map_runs(tree: &Tree) -> Vec<MapRun> {
    let runs = tree.numbered("map/runs", "run-").into_iter();
    runs.map(|number| MapRun {
        number,
        has_topology: tree.has_file(&format!("map/runs/run-{number}/topology.md")),
        has_flows: tree.has_file(&format!("map/runs/run-{number}/flow-analysis.md")),
        has_mapping: tree.has_file(&format!("map/runs/run-{number}/requirements-mapping.md")),
        is_final: tree.has_file(&format!("map/runs/run-{number}/map.md")),
        files: files_in_map(tree.get(&format!("map/runs/run-{number}/topology.md"))),
    })
    .collect()
}

/// The number of files in the map, counted in the first code block after the heading of the canonical list.
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

/// When the first file of a round or run was written.
pub(super) fn first_written(kind: OcrWorkflow, ordinal: u32, tree: &Tree) -> Option<Timestamp> {
    let folder = format!("{}/", kind.folder(ordinal));
    tree.files().filter(|path| path.starts_with(&folder)).filter_map(|path| tree.modified(path)).min()
}

/// Reports a current round or run in the state that contradicts the folders. The number of the newest folder
/// is used.
pub(super) fn jumped(state: &State, rounds: &[Round], map_runs: &[MapRun]) -> Vec<Problem> {
    let last_round = rounds.last().map(|round| (round.number, round.is_final));
    let last_run = map_runs.last().map(|run| (run.number, run.is_final));
    [
        ("current_round", state.current_round, last_round, "rounds/round"),
        ("current_map_run", state.current_map_run, last_run, "map/runs/run"),
    ]
    .into_iter()
    .filter_map(|(key, said, last, folder)| {
        let (found, shown) = (said?, current(said, last));
        let range = Range::Folders { folder, last: shown };
        let problem = || Problem::of_field(STATE, key, What::OutOfRange { found: found.into(), range });
        (found != shown).then(problem)
    })
    .collect()
}

/// Problems with unreadable files of the session, other than the state file.
pub(super) fn unusable(tree: &Tree) -> impl Iterator<Item = Problem> {
    let is_meant = |path: &str| {
        let is_text = path.rsplit_once('.').is_some_and(|(_, ending)| ending == "md");
        path.is_empty() || is_text || path.starts_with("rounds") || path.starts_with("map")
    };
    let unusable = tree.unusable().filter(move |(path, _)| is_meant(path));
    let unusable = unusable.map(|(path, why)| (path.to_owned(), Why::Unusable(why.to_owned())));
    unusable
        .chain(too_large(tree))
        .map(|(path, why)| Problem::of_file(path, What::Unreadable { why, then: Then::NothingShown }))
}

/// Files that are too large to be read, at any depth.
fn too_large(tree: &Tree) -> impl Iterator<Item = (String, Why)> {
    let most = MOST_BYTES;
    tree.files().filter(|path| is_counted(path)).filter_map(move |path| match tree.get(path) {
        Some(Entry::Unread { size }) if *size > most => Some((path.to_owned(), Why::TooLarge { most })),
        Some(Entry::Unread { .. } | Entry::File(_) | Entry::Folder | Entry::Unusable(_)) | None => None,
    })
}

/// True for a file whose entries are counted.
fn is_counted(path: &str) -> bool {
    path.contains(REVIEWS) || path.ends_with(TOPOLOGY)
}
