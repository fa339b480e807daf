//! Open Code Review: `.ocr/sessions/{date}-{branch}/` with state.json, review rounds and map runs. Folders
//! show which rounds and runs exist; state.json gives the phase, the status and the times. A file that a
//! phase writes at its end does not change the phase.

mod copied_times;
mod history;
mod known_from_log;
mod merge;
mod read;
mod review_findings;
mod rounds_and_runs;
mod screen;
mod screen_rows;
mod session;
mod state;
#[cfg(test)]
mod tests;
mod write;

use crate::capabilities::{OwnScreen, QuickSummary, Summary};
use crate::facts::{KeptElsewhere, OlderPlace};
use crate::layout::{
    Capabilities, Depth, Facts, FileChange, FileOp, FileRules, Fits, Folder, ForeignSession, Knows, Layout,
    Merge, Need, NewName, NewSession, Occasion, Place, Purpose, Question, ReadAs, Role, Rule, Shows, Spot,
    Unplaced, WriteRequest, id_of_name,
};
use crate::reading::Reading;
use crate::screen::Screen;
use crate::tree::Tree;
use model::id::SessionId;
use model::session::Session;
use read::read;
use session::{MAP, MAP_PHASES, REVIEW, REVIEW_PHASES, ROUND, RUN};

/// The folder of sessions, below the project's folder.
pub const SESSIONS: &str = ".ocr/sessions";
/// The state file, below a session's folder.
pub const STATE: &str = "state.json";

/// Names that a session's folder may contain, in any release.
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

/// Folders that identify the workflow if only one of these folders exists.
const OF_A_KIND: [&str; 2] = ["map", "rounds"];
/// Plain data about the layout.
static FACTS: Facts = Facts {
    name: "ocr",
    title: "Open Code Review",
    looks_for: "a folder in .ocr/sessions",
    places: &[Place::Project(SESSIONS)],
    folders: &[".ocr"],
    workflows: &[REVIEW, MAP],
    shows: Shows::Workflows(&[(REVIEW, REVIEW_PHASES), (MAP, MAP_PHASES)]),
    // A list of sessions reads only the state file, because searching a thousand folders takes too long.
    summary_files: &[STATE],
    reopened_in: None,
    // The user may write requirements.md before the session starts.
    may_be_there: &["requirements.md"],
    // The tool takes every file in `reviews/` for a reviewer, so leftoff archives no file in the session's
    // folder.
    no_archives_in: Some(""),
    marker_prefix: None,
    // Early releases stored the first round's files directly in the session's folder.
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
    // The tool takes every folder for a session. If a renamed folder were recreated under its old name, the
    // tool would show two sessions.
    goes_with_folder: true,
    // Reviewers may work for any length of time without writing a file.
    stalls_in_silence: true,
    taken_up_again: false,
    private: false,
    expires: false,
    kept_elsewhere: Some(KeptElsewhere {
        path: ".ocr/data/ocr.db",
        since: "1.5",
        instead_of: STATE,
        remedy: "use only one of the two tools; or compare their states with 'ocr state show', and report each phase completed here with 'ocr state transition'",
    }),
    // The tool shows the highest round that has a folder.
    run_folders: &[(REVIEW, ROUND), (MAP, RUN)],
    null_clears: false,
    titled_by_target: false,
    keeps_commands: false,
    records_outputs: false,
    status_words: &[("closed", "completed")],
    unpromised: crate::layout::Unpromised::Nothing,
    deferred_reasons: &[],
};

/// The Open Code Review layout.
pub struct Ocr;

impl Layout for Ocr {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot> {
        let name = path.strip_prefix(SESSIONS)?.strip_prefix('/')?;
        // Other programs create dot files and `tmp` among the sessions. These are not sessions.
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
            // Other programs may store a cache in the folder.
            Rule::folders(Fits::All, Role::Skip),
            Rule::files(Fits::Is(STATE.to_owned()), Role::State),
            Rule::files(Fits::Holds(rounds_and_runs::REVIEWS), Role::ReadIfWhole),
            Rule::files(Fits::Ends(rounds_and_runs::TOPOLOGY), Role::ReadIfWhole),
            Rule::files(Fits::Ends(rounds_and_runs::FINAL), Role::ReadIfWhole),
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
            is_unbegun: false,
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
            Purpose::Update | Purpose::Export => write::Missing::LeaveOut,
            Purpose::Newest | Purpose::Restore => write::Missing::Add,
        };
        let Some(content) = write::state(request.publication, folder, missing) else { return Vec::new() };
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

    /// Merges two versions of a file. The template with which the tool closes a session names no workflow, so
    /// the workflow may have to be inferred from the phase.
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

    /// Asks where to resume if neither the state nor any other file says anything about the session.
    fn questions(&self, folder: &Folder<'_>) -> Vec<Question> {
        let is_artifact = |path: &str| !path.starts_with(STATE) && path != "requirements.md";
        let is_lost = !state::read(folder.tree, folder.now, &mut Vec::new()).is_readable
            && !folder.tree.files().any(is_artifact);
        let name = name_of(folder.spot);
        let report = || {
            format!(
                "The position of session {name} is unknown: {STATE} cannot be read, and it has no other files."
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
        // If the state does not name the workflow, other files must identify it.
        let determines_kind =
            session.state.kind.is_some() || OF_A_KIND.iter().any(|name| folder.tree.has_folder(name));
        if !session.says_phase || !determines_kind {
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
        shown.take_known_position(session);
        screen::of(&shown)
    }
}

/// The folders that must be looked for if the state does not name the workflow. Only their existence is
/// tested, because a list does this for every session.
fn needed_for_a_summary(tree: &Tree) -> Vec<Need> {
    let needs = || OF_A_KIND.iter().map(|name| Need::Name((*name).to_owned())).collect();
    if mentions(tree, "workflow_type") { Vec::new() } else { needs() }
}

/// The tree without rounds and runs that are newer than the ones that the state names.
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

/// True if a session's folder contains a file or folder of a session. An unreadable folder counts too,
/// because it may contain one.
fn holds_any(tree: &Tree) -> bool {
    ARTIFACTS.iter().any(|name| tree.get(name).is_some()) || tree.is_unusable("")
}

fn name_of(spot: &Spot) -> &str {
    spot.path.rsplit('/').next().unwrap_or_default()
}

/// True if a word occurs in the state, without parsing it.
fn mentions(tree: &Tree, word: &str) -> bool {
    let word = word.as_bytes();
    tree.content(STATE).is_some_and(|bytes| bytes.windows(word.len()).any(|part| part == word))
}

fn id_of(folder: &str) -> SessionId {
    id_of_name("ocr", folder)
}
