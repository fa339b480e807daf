//! Open Code Review: `.ocr/sessions/{date}-{branch}/` with its state.json, rounds of reviews and runs of maps.
//! Files are the truth about rounds; state.json is the truth about phase, status and times. A finished file moves neither.

mod copied;
mod files;
mod history;
mod known;
mod merge;
mod rows;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod write;

use files::{MapRun, Round};
use state::State;

use crate::capabilities::{OwnScreen, QuickSummary, Summary};
use crate::facts::{KeptElsewhere, OlderPlace};
use crate::layout::{
    Capabilities, Depth, Facts, FileChange, FileOp, FileRules, Fits, Folder, ForeignSession, Knows, Layout,
    Merge, Need, NewName, NewSession, Occasion, Place, Purpose, Question, ReadAs, Role, Rule, Shows, Spot,
    Unplaced, WriteRequest, id_of_name,
};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::screen::Screen;
use crate::tree::Tree;
use files::{first_written, jumped, map_runs, rounds, unusable};
use jiff::Timestamp;
use model::id::SessionId;
use model::session::Session;

/// Where sessions are, below the project's folder.
pub const SESSIONS: &str = ".ocr/sessions";
/// The file with the state, below a session's folder.
pub const STATE: &str = "state.json";

/// What a session's folder may hold, of any release.
const ARTIFACTS: [&str; 9] = [
    STATE,
    "discovered-standards.md",
    "requirements.md",
    "context.md",
    "rounds",
    "map",
    "reviews",
    "discourse.md",
    "final.md",
];

/// Each of them there alone tells which workflow a session is in.
const OF_A_KIND: [&str; 2] = ["map", "rounds"];

/// The two workflows, with their phases in order, as state.json names them.
const REVIEW: &str = "review";
const REVIEW_PHASES: &[&str] = &[
    "context",
    "change-context",
    "analysis",
    "reviews",
    "aggregation",
    "discourse",
    "synthesis",
    "complete",
];
const MAP: &str = "map";
const MAP_PHASES: &[&str] =
    &["map-context", "topology", "flow-analysis", "requirements-mapping", "synthesis", "complete"];

/// The folders of rounds and runs, before their number.
const ROUND: &str = "rounds/round-";
const RUN: &str = "map/runs/run-";

/// Which of the two workflows a session is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Review,
    Map,
}

impl Kind {
    pub fn workflow(self) -> &'static str {
        match self {
            Self::Review => REVIEW,
            Self::Map => MAP,
        }
    }

    /// The folder of a round or run, below the session's own.
    fn folder(self, ordinal: u32) -> String {
        match self {
            Self::Review => format!("{ROUND}{ordinal}"),
            Self::Map => format!("{RUN}{ordinal}"),
        }
    }

    /// Phases in order.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::Review => REVIEW_PHASES,
            Self::Map => MAP_PHASES,
        }
    }
}

/// A session as its files tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrSession {
    /// The folder's own name.
    pub folder: String,
    pub kind: Kind,
    /// Position of the current phase in `kind.phases()`: as the state says, else as the files suggest.
    pub phase: usize,
    /// The state names a phase at all.
    pub says_phase: bool,
    pub is_closed: bool,
    /// The current round or run is over: its result was presented.
    pub is_finished: bool,
    /// Closed because somebody gave it up, as a session that is known has it.
    pub is_given_up: bool,
    pub rounds: Vec<Round>,
    /// Of an early release they have none, and there is one at most.
    pub rounds_have_folders: bool,
    pub map_runs: Vec<MapRun>,
    pub has_standards: bool,
    pub has_context: bool,
    pub has_requirements: bool,
    /// Phases of the current run that somebody left out, as a session that is known has it.
    pub skipped: Vec<usize>,
    /// The other workflow, where the session has one: how far its newest round or run is, as files show, or as a
    /// session that is known has it.
    pub beside: Option<Beside>,
    pub state: State,
    /// When the first file of the current round or run was written, if the state is about an earlier one.
    pub newer_since: Option<Timestamp>,
    /// When the current round or run was over, as a session that is known has it.
    pub ended_at: Option<Timestamp>,
}

/// The workflow that a session is not in just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    pub kind: Kind,
    pub ordinal: u32,
    /// Position in `kind.phases()`.
    pub phase: usize,
    pub is_finished: bool,
    /// When its newest round or run began and, once finished, ended, where that is known.
    pub since: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// As of the session itself.
    pub skipped: Vec<usize>,
}

impl OcrSession {
    /// The round or run that is going on.
    pub fn ordinal(&self) -> u32 {
        ordinal(self.kind, &self.state, &self.rounds, &self.map_runs)
    }

    /// Since when the current round or run goes on.
    pub fn since(&self) -> Option<Timestamp> {
        let (own, about) = match self.kind {
            Kind::Review => (self.state.round_started_at, self.state.current_round),
            Kind::Map => (self.state.map_started_at, self.state.current_map_run),
        };
        // What the state says is when an earlier one began.
        if about.is_some_and(|about| about < self.ordinal()) {
            return self.newer_since.or(self.state.updated_at).or(self.state.started_at);
        }
        own.or(self.state.started_at)
    }

    /// The last file of a finished round or run, below the session's folder.
    pub fn result(&self, kind: Kind, ordinal: u32) -> Option<String> {
        match kind {
            Kind::Review => {
                let round = self.rounds.iter().find(|round| round.number == ordinal && round.is_final)?;
                Some(format!("{}final.md", history::folder_of(self, round)))
            }
            Kind::Map => {
                let run = self.map_runs.iter().find(|run| run.number == ordinal && run.is_final)?;
                Some(format!("map/runs/run-{}/map.md", run.number))
            }
        }
    }
}

/// Plain data about the layout.
static FACTS: Facts = Facts {
    name: "ocr",
    title: "Open Code Review",
    looks_for: "a folder in .ocr/sessions",
    places: &[Place::Project(SESSIONS)],
    folders: &[".ocr"],
    workflows: &[REVIEW, MAP],
    shows: Shows::Workflows(&[(REVIEW, REVIEW_PHASES), (MAP, MAP_PHASES)]),
    // A list says what the state does: looking for more in a thousand folders takes too long.
    summary_files: &[STATE],
    reopened_in: None,
    // It may say what is asked for before anybody starts.
    may_be_there: &["requirements.md"],
    // Every file in `reviews/` is a reviewer to the tool.
    no_archives_in: Some(""),
    marker_prefix: None,
    // Before rounds had folders of their own, the first one's files lay in the session's.
    older_places: &[OlderPlace {
        now: "rounds/round-1/",
        then: "",
        without: "rounds",
        with_any: &["reviews", "discourse.md", "final.md"],
    }],
    list_heading: None,
    newest_first: false,
    recovered_note: None,
    takes_every_folder: true,
    ordered_by_name: true,
    local_times: false,
    exclusive: false,
    pauses_active_only: false,
    counts_parts: false,
    edits_only_claim: false,
    // The tool takes every folder for a session: one that came back would be another beside the renamed one.
    goes_with_folder: true,
    // Reviewers write for as long as they take.
    stalls_in_silence: true,
    taken_up_again: false,
    private: false,
    expires: false,
    kept_elsewhere: Some(KeptElsewhere {
        path: ".ocr/data/ocr.db",
        since: "1.5",
        instead_of: STATE,
        remedy: "compare them with 'ocr state show', and tell the tool about each phase completed here with 'ocr state transition'; or use only one of the two",
    }),
    // The tool shows the highest round that has a folder.
    run_folders: &[(REVIEW, ROUND), (MAP, RUN)],
    null_clears: false,
    titled_by_target: false,
    keeps_commands: false,
    unpromised: crate::layout::Unpromised::Nothing,
    deferred_reasons: &[],
};

/// The layout.
pub struct Ocr;

impl Layout for Ocr {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot> {
        let name = path.strip_prefix(SESSIONS)?.strip_prefix('/')?;
        // What begins with a point is some tool's own; so are the folders that programs keep among others.
        let is_session = is_folder && !name.starts_with('.') && !name.contains('/') && name != "tmp";
        is_session.then(|| Spot {
            id: id_of(name),
            path: path.to_owned(),
            home: path.to_owned(),
            workspace: path.to_owned(),
            known_by: None,
        })
    }

    fn files(&self, _: &Spot) -> FileRules {
        let own_folder = |name: &str| {
            let listed = |fits| Rule::folders(fits, Role::Listed);
            [listed(Fits::Is(name.to_owned())), listed(Fits::Below(name.to_owned()))]
        };
        let mut rules: Vec<Rule> = ARTIFACTS.iter().flat_map(|name| own_folder(name)).collect();
        rules.extend([
            // Somebody may keep a cache in it.
            Rule::folders(Fits::All, Role::Skip),
            Rule::files(Fits::Is(STATE.to_owned()), Role::State),
            Rule::files(Fits::Holds(files::REVIEWS), Role::ReadIfWhole),
            Rule::files(Fits::Ends(files::TOPOLOGY), Role::ReadIfWhole),
            Rule::files(Fits::All, Role::Listed),
        ]);
        FileRules::whole_home(rules)
    }

    fn more_files(&self, _: &Spot, tree: &Tree, depth: Depth) -> Vec<Need> {
        match depth {
            Depth::Summary => needed_for_a_summary(tree),
            Depth::Short | Depth::Whole => Vec::new(),
        }
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession> {
        let written = match folder.read_as {
            ReadAs::Found => None,
            ReadAs::Written => Some(as_written(folder.tree)),
        };
        let folder = &Folder { tree: written.as_ref().unwrap_or(folder.tree), ..*folder };
        let reading = read(name_of(folder.spot), folder.tree, folder.now);
        let session = reading.value;
        let told = ForeignSession {
            history: history::of(&session, folder),
            workflows: Vec::new(),
            proofs: history::proofs(&session, folder),
            unreadable: if session.state.is_readable { Vec::new() } else { vec![STATE.to_owned()] },
            unreadable_parts: Vec::new(),
            holds: holds_any(folder.tree),
            knows: if session.says_phase { Knows::Said } else { Knows::WorkedOut },
            approved: Vec::new(),
            checks: Vec::new(),
            context: Vec::new(),
        };
        Reading { value: told, warnings: reading.warnings }
    }

    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp> {
        let missing = match request.purpose {
            Purpose::New => return Vec::new(),
            Purpose::Update | Purpose::Export => write::Missing::StaysOut,
            Purpose::Newest | Purpose::Restore => write::Missing::ComesIn,
        };
        let Some(content) = write::state(request.standing, folder, missing) else { return Vec::new() };
        let lost = folder.tree.content(STATE).map(|before| write::not_understood(before, &content));
        let loses = lost.filter(|lost| !lost.is_empty()).map(|lost| lost.join(", "));
        vec![FileOp::Put { file: FileChange { path: STATE.to_owned(), content }, loses }]
    }

    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced> {
        let name = match new.name {
            NewName::Asked(id) => id.to_owned(),
            NewName::Made(Occasion { today, branch, .. }) => {
                format!("{today}-{}", branch.unwrap_or_default().replace('/', "-"))
            }
            NewName::Beside(spot, number) => format!("{}-{number:03}", name_of(spot)),
        };
        self.identify(&format!("{SESSIONS}/{name}"), true).ok_or(Unplaced::NoFolderName { name })
    }

    fn rename(&self, _: &str, content: &[u8], from: &Spot, to: &Spot) -> Vec<u8> {
        crate::json::with_text(content, &["session_id"], name_of(from), name_of(to))
    }

    /// A closing template names no workflow; what it says of a phase may still be said of one of the two only.
    fn merge(&self, path: &str, merge: Merge<'_>) -> Vec<u8> {
        match merge {
            Merge::Dropped { base, theirs } if path == STATE => merge::merged(base, theirs),
            Merge::Dropped { base, theirs } => crate::json::with_missing_of(base, theirs),
            Merge::Onto { base, theirs, onto } => crate::json::with_changes(base, theirs, onto),
        }
    }

    fn is_whole(&self, _: &str, content: &[u8]) -> bool {
        crate::json::object(content).is_ok()
    }

    /// Where neither the state nor any other file tells anything.
    fn questions(&self, folder: &Folder<'_>) -> Vec<Question> {
        let is_artifact = |path: &str| !path.starts_with(STATE) && path != "requirements.md";
        let is_lost = !state::read(folder.tree, folder.now, &mut Vec::new()).is_readable
            && !folder.tree.files().any(is_artifact);
        let name = name_of(folder.spot);
        let report = || {
            format!(
                "Nothing tells how far session {name} was: {STATE} cannot be read, and no other file of it is there."
            )
        };
        is_lost.then(|| Question::WhereToResume { report: report() }).into_iter().collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { quick_summary: Some(&Ocr), own_screen: Some(&Ocr), ..Capabilities::default() }
    }
}

impl QuickSummary for Ocr {
    fn summary(&self, folder: &Folder<'_>) -> Option<Reading<Summary>> {
        let Reading { value: session, warnings } = read(name_of(folder.spot), folder.tree, folder.now);
        // What the state does not say, the other files must.
        let tells_kind =
            session.state.kind.is_some() || OF_A_KIND.iter().any(|name| folder.tree.has_folder(name));
        if !session.says_phase || !tells_kind {
            return None;
        }
        let phases = session.kind.phases();
        let (created_at, updated_at) = history::span(&session, folder);
        let value = Summary {
            title: session.folder,
            workflow: session.kind.workflow(),
            lifecycle: if session.is_closed { "completed" } else { "active" },
            phase: phases[session.phase],
            phases_done: session.phase + usize::from(session.is_finished),
            phases: phases.len(),
            created_at,
            updated_at,
        };
        Some(Reading { value, warnings })
    }
}

impl OwnScreen for Ocr {
    fn screen(&self, session: &Session, folder: &Folder<'_>) -> Screen {
        let mut shown = read(name_of(folder.spot), folder.tree, folder.now).value;
        shown.stand_as_known(session);
        screen::of(&shown)
    }
}

/// The folders that tell the workflow, where the state does not. Asked for every line of a list: it is only looked
/// whether they are there.
fn needed_for_a_summary(tree: &Tree) -> Vec<Need> {
    let needs = || OF_A_KIND.iter().map(|name| Need::Name((*name).to_owned())).collect();
    if mentions(tree, "workflow_type") { Vec::new() } else { needs() }
}

/// Without rounds and runs that begin after the one that we wrote: they came since.
fn as_written(tree: &Tree) -> Tree {
    let said = state::of_tree(tree);
    let mut before = tree.clone();
    for (folder, prefix, last) in
        [("rounds", "round-", said.current_round), ("map/runs", "run-", said.current_map_run)]
    {
        let Some(last) = last else { continue };
        let newer = tree.numbered(folder, prefix).into_iter().filter(|number| *number > last);
        for number in newer {
            before.remove_folder(&format!("{folder}/{prefix}{number}"));
        }
    }
    before
}

/// Only session folders should stand among them, and others do. One that cannot be looked into may be one.
fn holds_any(tree: &Tree) -> bool {
    ARTIFACTS.iter().any(|name| tree.get(name).is_some()) || tree.is_unusable("")
}

fn name_of(spot: &Spot) -> &str {
    spot.path.rsplit('/').next().unwrap_or_default()
}

/// Whether a word stands in the state, without reading it for that.
fn mentions(tree: &Tree, word: &str) -> bool {
    let word = word.as_bytes();
    tree.content(STATE).is_some_and(|bytes| bytes.windows(word.len()).any(|part| part == word))
}

/// Reads one session's folder. Never fails: what cannot be read is a warning, and the rest is told.
pub fn read(folder: &str, tree: &Tree, now: Timestamp) -> Reading<OcrSession> {
    let mut warnings = Vec::new();
    let mut state = state::read(tree, now, &mut warnings);
    warnings.extend(copied::times(folder, tree, now, &mut state));
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
    // The result of a review is presented, then the session is closed; a map that was presented stays active.
    let is_finished = is_said_complete && (is_closed || kind == Kind::Map);
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

/// The status decides. Releases before 1.1.0 wrote none, and their last phase said that a review was over.
fn is_closed(kind: Kind, state: &State, is_said_complete: bool) -> bool {
    match state.status.as_deref() {
        Some(status) => status == "closed",
        None => kind == Kind::Review && is_said_complete,
    }
}

fn id_of(folder: &str) -> SessionId {
    id_of_name("ocr", folder)
}

/// What the file says, else what lies there alone, else what only one of the two can say: its phase, or which of them it
/// counts; else a review.
fn kind(state: &State, tree: &Tree) -> Kind {
    let alone = match (tree.has_folder("map"), tree.has_folder("rounds")) {
        (true, false) => Some(Kind::Map),
        (false, true) => Some(Kind::Review),
        (true, true) | (false, false) => None,
    };
    let said = state.kind.or(alone).or_else(|| state.kind_of_phase()).or_else(|| state.kind_counted());
    said.unwrap_or(Kind::Review)
}

fn ordinal(kind: Kind, state: &State, rounds: &[Round], map_runs: &[MapRun]) -> u32 {
    let (said, last) = match kind {
        Kind::Review => (state.current_round, rounds.last().map(|round| (round.number, round.is_final))),
        Kind::Map => (state.current_map_run, map_runs.last().map(|run| (run.number, run.is_final))),
    };
    current(said, last)
}

/// The round or run that is shown. Folders are the truth; only the one after a finished one may have none yet.
fn current(said: Option<u32>, last: Option<(u32, bool)>) -> u32 {
    match (said, last) {
        (said, None) => said.unwrap_or(1),
        (Some(said), Some((last, true))) if last.checked_add(1) == Some(said) => said,
        (_, Some((last, _))) => last,
    }
}

/// What the state says about the current round or run. One that is finished there is another, when the files show a
/// newer one.
fn said(kind: Kind, state: &State, current: u32, warnings: &mut Vec<Problem>) -> Option<usize> {
    let phase = state.phase(kind, warnings)?;
    let about = match kind {
        Kind::Review => state.current_round,
        Kind::Map => state.current_map_run,
    };
    let is_older = about.is_some_and(|about| about < current) && phase + 1 == kind.phases().len();
    Some(if is_older { 0 } else { phase })
}

/// How far the other workflow's newest round or run is. The state keeps its number and when it began, and no word of
/// its phase: that the files alone tell.
fn beside(kind: Kind, state: &State, rounds: &[Round], map_runs: &[MapRun], tree: &Tree) -> Option<Beside> {
    // A template that was copied whole names a run of a map that nobody has begun: folders tell.
    let (kind, has_begun) = match kind {
        Kind::Review => (Kind::Map, !map_runs.is_empty()),
        Kind::Map => (Kind::Review, !rounds.is_empty()),
    };
    if !has_begun {
        return None;
    }
    let ordinal = ordinal(kind, state, rounds, map_runs);
    let phase = shown(kind, ordinal, rounds, map_runs, tree);
    let has_folder = kind == Kind::Map || tree.has_folder("rounds");
    let place = if has_folder { format!("{}/", kind.folder(ordinal)) } else { String::new() };
    let result = match kind {
        Kind::Review => format!("{place}final.md"),
        Kind::Map => format!("{place}map.md"),
    };
    let is_finished = phase + 1 == kind.phases().len();
    let since = state.clock(kind);
    let ended_at = tree.modified(&result).filter(|_| is_finished);
    Some(Beside { kind, ordinal, phase, is_finished, since, ended_at, skipped: Vec::new() })
}

/// How far the files alone show a round or run to be.
fn shown(kind: Kind, ordinal: u32, rounds: &[Round], map_runs: &[MapRun], tree: &Tree) -> usize {
    proven(kind, ordinal, rounds, map_runs).unwrap_or_else(|| approximate(kind, ordinal, rounds, tree))
}

/// The phase that the finished files of the current round or run show to be reached.
fn proven(kind: Kind, current: u32, rounds: &[Round], map_runs: &[MapRun]) -> Option<usize> {
    let last = kind.phases().len() - 1;
    match kind {
        Kind::Review => match rounds.iter().find(|round| round.number == current) {
            Some(round) if round.is_final => Some(last),
            Some(round) if round.has_discourse => Some(last - 1),
            Some(_) | None => None,
        },
        Kind::Map => map_runs.iter().any(|run| run.number == current && run.is_final).then_some(last),
    }
}

/// The phase that the files alone suggest.
fn approximate(kind: Kind, current: u32, rounds: &[Round], tree: &Tree) -> usize {
    match kind {
        Kind::Review => {
            let round = rounds.iter().find(|round| round.number == current);
            // What lies in the session's own folder is of the first round.
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
        Kind::Map => {
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
