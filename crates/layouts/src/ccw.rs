//! Claude-Code-Workflow: `.workflow/session_status.jsonl` with a line per session, and a folder per session
//! with its state, plan and task files. Reads every known version of the format. Values that leftoff does not
//! know stay unchanged.

mod documents;
mod fields;
mod health;
mod history;
mod phase_and_size_names;
mod place;
mod registry;
mod session_status;
mod state;
mod tasks;
#[cfg(test)]
mod tests;
mod write;

pub use documents::{Document, PLAN};
pub use phase_and_size_names::{PhaseWord, Size};
pub use place::{Ground, MOST_IN_AN_ID};
pub use session_status::Stands;
pub use state::State;
pub use tasks::{Task, TaskStatus, Tasks};

use self::session_status::Word;
use self::write::Source;
use crate::capabilities::{IdSpelling, Registry, RegistryFile, Survey};
use crate::layout::{
    Capabilities, Depth, Facts, FileChange, FileOp, FileRules, Folder, ForeignSession, Health, Knows, Layout,
    Merge, Need, NewSession, Place, Purpose, Question, Shows, Spot, Unplaced, WriteRequest,
};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::tree::Tree;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use std::collections::{BTreeMap, BTreeSet};

/// The home of all sessions, below the project's folder; paths in a tree are relative to it.
pub const HOME: &str = ".workflow";
/// The registry: a file with a line per session.
pub const REGISTRY: &str = "session_status.jsonl";
/// A session's state file, below its folder.
pub const STATE: &str = "workflow-session.json";
/// The folder of a session's task files, below the session's folder.
pub const TASKS: &str = ".task";
/// The folder of unfinished sessions in later releases of the tool, in which a session is active or archived
/// according to its folder.
const ACTIVE: &str = "active";
const ARCHIVES: &str = "archives";
/// The prefix of marker files in later releases. The file `.active-ID` marks the session ID as the active
/// one.
const MARKER: &str = ".active-";
/// The maximum size of the registry: tens of thousands of sessions.
const MOST_OF_THE_REGISTRY: u64 = 4 * 1024 * 1024;
/// The workflow of all sessions in this layout.
const WORKFLOW: &str = "ccw";

/// A session as read from its files.
#[derive(Debug, Clone, PartialEq)]
pub struct CcwSession {
    /// The folder's name.
    pub name: String,
    /// The folder, below the home of all sessions.
    pub folder: String,
    pub ground: Ground,
    pub state: State,
    /// The session's line in the registry.
    pub line: Option<registry::Line>,
    /// The phase in the format's own words. If the state file has no valid phase, it is inferred from other
    /// values and files.
    pub phase: PhaseWord,
    pub stands: Stands,
    pub tasks: Tasks,
    pub documents: Vec<Document>,
    pub health: Vec<Health>,
}

/// Plain data about the layout.
static FACTS: Facts = Facts {
    name: "ccw",
    title: "Claude-Code-Workflow",
    looks_for: "a folder WFS-…, or one with a workflow-session.json, in .workflow",
    places: &[Place::Project(HOME), Place::Project(".workflow/active"), Place::Project(".workflow/archives")],
    folders: &[HOME],
    workflows: &[WORKFLOW],
    shows: Shows::Phases(&["plan", "implement", "review"]),
    summary_files: &[],
    reopened_in: None,
    may_be_there: &[],
    no_archives_in: Some(TASKS),
    marker_prefix: Some(MARKER),
    older_places: &[],
    list_heading: None,
    newest_first: false,
    recovered_note: None,
    takes_every_folder: false,
    ordered_by_name: true,
    local_times: false,
    exclusive: true,
    pauses_active_only: true,
    counts_parts: false,
    edits_only_claim: false,
    goes_with_folder: true,
    stalls_in_silence: false,
    taken_up_again: false,
    private: false,
    expires: false,
    kept_elsewhere: None,
    run_folders: &[],
    null_clears: false,
    titled_by_target: false,
    keeps_commands: false,
    records_outputs: false,
    status_words: &[
        ("interrupted", "paused"),
        ("inactive", "paused"),
        ("archived", "completed"),
        ("initialized", "active"),
        ("planning", "active"),
        ("implementing", "active"),
        ("reviewing", "active"),
    ],
    unpromised: crate::layout::Unpromised::Nothing,
    deferred_reasons: &[],
};

/// The Claude-Code-Workflow layout.
pub struct Ccw;

impl Layout for Ccw {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot> {
        place::spot(path, is_folder)
    }

    fn files(&self, spot: &Spot) -> FileRules {
        place::files(spot)
    }

    fn more_files(&self, _: &Spot, _: &Tree, _: Depth) -> Vec<Need> {
        Vec::new()
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession> {
        let Reading { value: session, warnings } = read(folder);
        let state = format!("{}/{STATE}", session.folder);
        let told = ForeignSession {
            is_unbegun: session.state.is_unbegun(),
            history: history::of(&session, folder),
            workflows: Vec::new(),
            proofs: Vec::new(),
            unreadable: if session.state.is_readable { Vec::new() } else { vec![state] },
            unreadable_parts: session.tasks.broken.clone(),
            holds: true,
            knows: Knows::Said,
            approved: Vec::new(),
            context: documents::files(folder.tree, &session.folder),
            checks: session.health,
        };
        Reading { value: told, warnings }
    }

    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp> {
        let publication = request.publication;
        let files = match request.purpose {
            Purpose::New => return initial_files(publication.session, folder.spot),
            Purpose::Update | Purpose::Export => write::files(publication, folder, Source::Here),
            Purpose::Restore => write::anew(publication, folder, Source::Here),
            Purpose::Newest => {
                let tree = documents::with_plan(folder);
                write::anew(publication, &Folder { tree: &tree, ..*folder }, Source::Elsewhere)
            }
        };
        let marker = FileOp::Marker {
            path: format!("{MARKER}{}", place::name_of(folder.spot)),
            on: matches!(publication.session.lifecycle, Lifecycle::Active),
        };
        let is_marked = || uses_markers(folder.tree, &read(folder).value);
        let marker = Some(marker).filter(|_| is_marked());
        files.into_iter().map(FileOp::put).chain(marker).collect()
    }

    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced> {
        place::of_new(new)
    }

    fn rename(&self, path: &str, content: &[u8], from: &Spot, to: &Spot) -> Vec<u8> {
        let (old, new) = (place::name_of(from), place::name_of(to));
        if path == REGISTRY {
            return registry::renamed(content, old, (new, &to.path));
        }
        let named = crate::json::with_text(content, &["session_id"], old, new);
        crate::json::with_text(&named, &["context", "inherited_from"], old, new)
    }

    fn merge(&self, path: &str, merge: Merge<'_>) -> Vec<u8> {
        match merge {
            Merge::Dropped { base, theirs } if path == REGISTRY => registry::with_missing_of(base, theirs),
            Merge::Dropped { base, theirs } => crate::json::with_missing_of(base, theirs),
            Merge::Onto { base, theirs, onto } if path == REGISTRY => {
                registry::with_changes(base, theirs, onto)
            }
            Merge::Onto { base, theirs, onto } => crate::json::with_changes(base, theirs, onto),
        }
    }

    /// True if the content of a file is readable. The registry always counts as readable, because its
    /// unreadable lines are skipped.
    fn is_whole(&self, path: &str, content: &[u8]) -> bool {
        match path {
            REGISTRY => true,
            _ if tasks::is_path(path) => tasks::is_whole(path, content),
            _ => crate::json::object(content).is_ok(),
        }
    }

    fn questions(&self, _: &Folder<'_>) -> Vec<Question> {
        Vec::new()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { registry: Some(&Ccw), id_spelling: Some(&Ccw), ..Capabilities::default() }
    }
}

impl Registry for Ccw {
    fn file(&self) -> RegistryFile {
        RegistryFile { home: HOME, file: REGISTRY, most: MOST_OF_THE_REGISTRY }
    }

    fn sessions(&self, tree: &Tree) -> BTreeSet<SessionId> {
        let names = registry::named_in(tree.content(REGISTRY).unwrap_or_default());
        names.iter().map(|name| place::id_of(name)).collect()
    }

    fn active(&self, tree: &Tree) -> Vec<SessionId> {
        let marked: Vec<&str> = tree.names_in("").filter_map(|name| name.strip_prefix(MARKER)).collect();
        // The tool ignores the registry if marker files exist.
        if !marked.is_empty() {
            return marked.into_iter().map(place::id_of).collect();
        }
        let names = registry::active_in(tree.content(REGISTRY).unwrap_or_default());
        names.iter().map(|name| place::id_of(name)).collect()
    }

    fn elsewhere(&self, content: &[u8]) -> Vec<Spot> {
        registry::elsewhere_in(content)
    }

    fn by_session(&self, content: &[u8]) -> BTreeMap<SessionId, Vec<u8>> {
        registry::by_session(content)
    }

    fn survey(&self, tree: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey {
        let mut survey = registry::check(tree.content(REGISTRY).unwrap_or_default(), is_there);
        // In a project with marker files the registry is missing, or the tool does not maintain it.
        if !has_markers(tree) && registry::can_be_read(tree) {
            survey.unlisted = registry::unlisted(tree, is_there);
        }
        survey.problems.extend(place::stray_markers(tree, is_there));
        survey.unknown = place::strangers(tree, is_there);
        survey
    }

    fn part(&self, spot: &Spot, content: &[u8]) -> Vec<u8> {
        registry::share(content, place::name_of(spot))
    }
}

impl IdSpelling for Ccw {
    fn plain(&self, item: &str) -> String {
        tasks::plain(item)
    }

    fn like(&self, item: &str, known: &[&str]) -> Option<String> {
        tasks::spelled_like(item, known)
    }
}

/// The initial files of a session: a folder for tasks, and a plan template.
fn initial_files(session: &Session, spot: &Spot) -> Vec<FileOp> {
    let folder = spot.folder();
    let plan = documents::template(&session.title, session.goal.as_deref());
    let plan = FileChange { path: format!("{folder}/{PLAN}"), content: plan.into_bytes() };
    vec![FileOp::Folder(format!("{folder}/{TASKS}")), FileOp::Create(plan)]
}

/// True if marker files say which session is active. Two signs show this: the project has marker files, or a
/// later release wrote the session below the home without a registry. In even later releases, which have no
/// marker files, a session is active according to its folder.
fn uses_markers(tree: &Tree, session: &CcwSession) -> bool {
    let is_later = session.state.is_readable && session.state.is_later;
    has_markers(tree) || (session.ground == Ground::Home && tree.get(REGISTRY).is_none() && is_later)
}

fn has_markers(tree: &Tree) -> bool {
    tree.names_in("").chain(tree.taken_away()).any(|name| name.starts_with(MARKER))
}

/// Reads one session's files. Never fails: unreadable parts become warnings.
pub fn read(folder: &Folder<'_>) -> Reading<CcwSession> {
    let mut warnings: Vec<Problem> = Vec::new();
    let name = place::name_of(folder.spot).to_owned();
    let at = place::folder_in(folder.spot, folder.tree);
    let ground = Ground::of(&at);
    let line = registry::line_of(folder.tree, &name, folder.now, &mut warnings);
    let state = state::read(folder.tree, &format!("{at}/{STATE}"), folder.now, &mut warnings);
    let mut tasks = tasks::read(folder.tree, &format!("{at}/{TASKS}"), folder.now, &mut warnings);
    let documents = documents::of(folder.tree, &at);
    let size = state.size.or(line.as_ref().and_then(|line| line.size));
    let phase = state::phase_in_file(&state, ground)
        .unwrap_or_else(|| documents::approximate(&documents, &tasks, size));
    state::say_which_phase(&state, phase, &at, &mut warnings);
    let sources = session_status::Sources {
        name: &name,
        at: &at,
        ground,
        state: &state,
        line: line.as_ref(),
        tree: folder.tree,
    };
    let stands = session_status::of(&sources, &mut warnings);
    // The state file of a finished session may still list current tasks. That list is out of date, and
    // ignored.
    if stands != Stands::Completed && phase != PhaseWord::Complete && tasks.unread == 0 {
        tasks.add_listed(&state.current_tasks, &format!("{at}/{TASKS}"));
    }
    let mut session = CcwSession {
        name,
        folder: at,
        ground,
        state,
        line,
        phase,
        stands,
        tasks,
        documents,
        health: Vec::new(),
    };
    session.health = health::of(&session, has_markers(folder.tree));
    Reading { value: session, warnings }
}

impl CcwSession {
    /// The size of the work, from the session's state file or else from the registry.
    pub fn size(&self) -> Option<Size> {
        self.state.size.or(self.line.as_ref().and_then(|line| line.size))
    }

    pub fn title(&self) -> &str {
        let registered = self.line.as_ref().and_then(|line| line.description.as_deref());
        self.state
            .project
            .as_deref()
            .or(self.state.description.as_deref())
            .or(registered)
            .unwrap_or(&self.name)
    }

    /// The description, if it says more than the title.
    pub fn goal(&self) -> Option<&str> {
        self.state.description.as_deref().filter(|goal| *goal != self.title())
    }

    /// The index of the current phase. The index after the last phase means that all phases are done.
    pub fn position(&self) -> usize {
        match self.phase.position() {
            last if last == PhaseWord::Review.position() && self.state.is_review_done => last + 1,
            position => position,
        }
    }

    /// Index of the first phase that is not done, one past the last when all are: a review is also done if
    /// its file calls the session completed, without listing it.
    fn first_open(&self) -> usize {
        let is_completed = self.state.status.as_deref().and_then(Word::parse) == Some(Word::Completed);
        let is_review = self.phase == PhaseWord::Review && is_completed && !self.state.is_abandoned;
        if is_review { PhaseWord::STEPS.len() } else { self.position() }
    }
}
