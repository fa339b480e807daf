//! Claude-Code-Workflow: `.workflow/session_status.jsonl` with a line for each session, and a folder for each with its
//! state, its plan and a file for each task. Every era that was seen is read; what is not ours is left as it is.

mod documents;
mod fields;
mod health;
mod history;
mod place;
mod registry;
mod state;
mod status;
mod tasks;
#[cfg(test)]
mod tests;
mod words;
mod write;

pub use documents::{Document, PLAN};
pub use place::{Ground, MOST_IN_AN_ID};
pub use state::State;
pub use status::Stands;
pub use tasks::{Task, TaskStatus, Tasks};
pub use words::{PhaseWord, Size};

use crate::layout::{
    Beginning, Depth, Details, FileChange, Folder, Furniture, Health, Index, Interest, Layout, Place, Spot,
    Standing, Survey, Told,
};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::tree::Tree;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::run::Run;
use model::session::Session;
use std::collections::{BTreeMap, BTreeSet};

/// Where everything is, below the project's folder; paths in a tree are relative to it.
pub const HOME: &str = ".workflow";
/// A line for each session.
pub const REGISTRY: &str = "session_status.jsonl";
/// The file with a session's state, below its folder.
pub const STATE: &str = "workflow-session.json";
/// The folder with a session's tasks, below its own.
pub const TASKS: &str = ".task";
/// Folders of later releases, in which the place is the state.
const ACTIVE: &str = "active";
const ARCHIVES: &str = "archives";
/// A file of this name and a session's id says, in later releases, that the session is the active one.
const MARKER: &str = ".active-";
const MOST_OF_A_FILE: u64 = 1024 * 1024;
/// Tens of thousands of sessions.
const MOST_OF_THE_REGISTRY: u64 = 4 * 1024 * 1024;
/// The workflow that all of its sessions follow.
const WORKFLOW: &str = "ccw";

/// A session as its files tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct CcwSession {
    /// The folder's own name.
    pub name: String,
    /// Where the folder is, below the home of all sessions.
    pub folder: String,
    pub ground: Ground,
    pub state: State,
    /// As the registry has it.
    pub line: Option<registry::Line>,
    /// The phase as a word of the format: what the file says, or what was worked out where it says nothing valid.
    pub phase: PhaseWord,
    pub stands: Stands,
    pub tasks: Tasks,
    pub documents: Vec<Document>,
    pub health: Vec<Health>,
}

/// The layout.
pub struct Ccw;

impl Layout for Ccw {
    fn name(&self) -> &'static str {
        "ccw"
    }

    fn title(&self) -> &'static str {
        "Claude-Code-Workflow"
    }

    fn places(&self) -> &'static [Place] {
        &[Place::Project(HOME), Place::Project(".workflow/active"), Place::Project(".workflow/archives")]
    }

    fn spot(&self, path: &str, is_folder: bool) -> Option<Spot> {
        place::spot(path, is_folder)
    }

    fn known_by(&self, spot: &Spot) -> Option<String> {
        place::known_by(spot)
    }

    /// Its tool archives a session by moving its folder.
    fn has_moved(&self, spot: &Spot, path: &str, tree: &Tree) -> bool {
        place::has_moved(spot, path, tree)
    }

    fn found_at(&self, spot: &Spot, tree: &Tree) -> Option<String> {
        let now = place::folder_in(spot, tree);
        (now != place::below_home(spot)).then(|| format!("{HOME}/{now}"))
    }

    fn belongs(&self, session: &Session, spot: &Spot) -> Option<String> {
        place::belongs(session, spot)
    }

    fn entrances(&self, spot: &Spot) -> Vec<String> {
        place::entrances(spot)
    }

    fn interest(&self, spot: &Spot, path: &str, is_folder: bool, depth: Depth) -> Interest {
        place::interest(spot, path, is_folder, depth)
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<Told> {
        let Reading { value: session, warnings } = read(folder);
        let state = format!("{}/{STATE}", session.folder);
        let told = Told {
            history: history::of(&session, folder),
            workflows: Vec::new(),
            proofs: Vec::new(),
            unreadable: if session.state.is_readable { Vec::new() } else { vec![state] },
            unreadable_parts: session.tasks.broken.clone(),
            details: Details::Ccw(Box::new(session)),
        };
        Reading { value: told, warnings }
    }

    fn write(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        write::files(standing, folder)
    }

    fn write_anew(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        write::anew(standing, folder)
    }

    fn begin(&self, beginning: &Beginning<'_>) -> Result<Spot, String> {
        place::begin(beginning)
    }

    fn numbered(&self, spot: &Spot, number: u32) -> Option<Spot> {
        place::numbered(spot, number)
    }

    fn renamed(&self, from: &Spot, to: &Spot, path: &str, content: &[u8]) -> Vec<u8> {
        let (old, new) = (place::name_of(from), place::name_of(to));
        if path == REGISTRY {
            return registry::renamed(content, old, (new, &to.path));
        }
        let named = crate::json::with_text(content, &["session_id"], old, new);
        crate::json::with_text(&named, &["context", "inherited_from"], old, new)
    }

    fn looks_for(&self) -> &'static str {
        "a folder WFS-…, or one with a workflow-session.json, in .workflow"
    }

    /// Whatever the workflow is called: plan, implement, review.
    fn can_tell(&self, run: &Run) -> bool {
        let steps = PhaseWord::STEPS.iter().map(|(_, step)| *step);
        run.phases.iter().map(|phase| phase.id().as_str()).eq(steps)
    }

    fn workflows(&self) -> &'static [&'static str] {
        &[WORKFLOW]
    }

    fn health(&self, details: &Details) -> Vec<Health> {
        match details {
            Details::Ccw(session) => session.health.clone(),
            Details::None | Details::Ocr(_) => Vec::new(),
        }
    }

    fn takes_the_worktree(&self) -> bool {
        true
    }

    fn sign(&self) -> Option<&'static str> {
        Some(MARKER)
    }

    fn signs(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<(String, bool)> {
        let is_active = matches!(standing.session.lifecycle, Lifecycle::Active);
        let own = format!("{MARKER}{}", place::name_of(folder.spot));
        if uses_markers(folder.tree) { vec![(own, is_active)] } else { Vec::new() }
    }

    fn index(&self) -> Option<Index> {
        Some(Index { home: HOME, file: REGISTRY })
    }

    fn indexed(&self, index: &Tree) -> BTreeSet<SessionId> {
        let names = registry::named_in(index.content(REGISTRY).unwrap_or_default());
        names.iter().map(|name| place::id_of(name)).collect()
    }

    fn index_by_session(&self, content: &[u8]) -> Option<BTreeMap<SessionId, Vec<u8>>> {
        Some(registry::by_session(content))
    }

    fn called_active(&self, index: &Tree) -> Vec<SessionId> {
        let marked: Vec<&str> = index.names_in("").filter_map(|name| name.strip_prefix(MARKER)).collect();
        // Where there are markers, they are what its prompts go by.
        if !marked.is_empty() {
            return marked.into_iter().map(place::id_of).collect();
        }
        let names = registry::active_in(index.content(REGISTRY).unwrap_or_default());
        names.iter().map(|name| place::id_of(name)).collect()
    }

    fn survey(&self, index: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey {
        let mut survey = registry::check(index.content(REGISTRY).unwrap_or_default(), is_there);
        // Where markers tell which one is active, there is no registry, or nobody keeps it.
        if !uses_markers(index) && registry::can_be_read(index) {
            survey.unlisted = registry::unlisted(index, is_there);
        }
        survey.problems.extend(place::stray_markers(index, is_there));
        survey.unknown = place::strangers(index, is_there);
        survey
    }

    fn spelling(&self, item: &str) -> Option<String> {
        Some(tasks::plain(item))
    }

    fn spelled_like(&self, item: &str, known: &[&str]) -> Option<String> {
        tasks::spelled_like(item, known)
    }

    fn no_archives_in(&self) -> Option<&'static str> {
        Some(TASKS)
    }

    fn context(&self, folder: &Folder<'_>) -> Vec<String> {
        documents::files(folder.tree, &place::folder_in(folder.spot, folder.tree))
    }

    fn pauses_only_what_is_active(&self) -> bool {
        true
    }

    fn furnish(&self, session: &Session, spot: &Spot) -> Furniture {
        let folder = place::below_home(spot);
        let plan = documents::template(&session.title, session.goal.as_deref());
        Furniture {
            folders: vec![format!("{folder}/{TASKS}")],
            files: vec![FileChange { path: format!("{folder}/{PLAN}"), content: plan.into_bytes() }],
        }
    }

    fn share(&self, spot: &Spot, path: &str, content: &[u8]) -> Option<Vec<u8>> {
        (path == REGISTRY).then(|| registry::share(content, place::name_of(spot)))
    }

    fn most_bytes(&self, path: &str) -> u64 {
        if path == REGISTRY { MOST_OF_THE_REGISTRY } else { MOST_OF_A_FILE }
    }

    fn merge_slipped(&self, path: &str, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        if path == REGISTRY {
            registry::with_changes(base, theirs, onto)
        } else {
            crate::json::with_changes(base, theirs, onto)
        }
    }

    /// A registry can always be read, line by line.
    fn is_readable(&self, path: &str, content: &[u8]) -> bool {
        path == REGISTRY || crate::json::object(content).is_ok()
    }

    fn merge(&self, path: &str, base: &[u8], theirs: &[u8]) -> Vec<u8> {
        if path == REGISTRY {
            registry::with_missing_of(base, theirs)
        } else {
            crate::json::with_missing_of(base, theirs)
        }
    }
}

/// Whether markers tell which session is active here, as far as the tree knows.
fn uses_markers(tree: &Tree) -> bool {
    tree.names_in("").chain(tree.taken_away()).any(|name| name.starts_with(MARKER))
}

/// Reads one session's files. Never fails: what cannot be read is a warning, and the rest is told.
pub fn read(folder: &Folder<'_>) -> Reading<CcwSession> {
    let mut warnings: Vec<Problem> = Vec::new();
    let name = place::name_of(folder.spot).to_owned();
    let at = place::folder_in(folder.spot, folder.tree);
    let ground = Ground::of(&at);
    let line = registry::line_of(folder.tree, &name, folder.now, &mut warnings);
    let state = state::read(folder.tree, &format!("{at}/{STATE}"), folder.now, &mut warnings);
    let tasks = tasks::read(folder.tree, &format!("{at}/{TASKS}"), folder.now, &mut warnings);
    let documents = documents::of(folder.tree, &at);
    let size = state.size.or(line.as_ref().and_then(|line| line.size));
    let phase =
        state::phase_told(&state, ground).unwrap_or_else(|| documents::approximate(&documents, &tasks, size));
    state::say_which_phase(&state, phase, &at, &mut warnings);
    let sources = status::Sources {
        name: &name,
        at: &at,
        ground,
        state: &state,
        line: line.as_ref(),
        tree: folder.tree,
    };
    let stands = status::of(&sources, &mut warnings);
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
    session.health = health::of(&session);
    Reading { value: session, warnings }
}

impl CcwSession {
    /// How large the work is, as its own file says, else the registry.
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

    /// A longer description beside the title.
    pub fn goal(&self) -> Option<&str> {
        self.state.description.as_deref().filter(|goal| *goal != self.title())
    }

    /// Position of the current phase; one more than the last when all are done.
    pub fn position(&self) -> usize {
        match self.phase.position() {
            last if last == PhaseWord::Review.position() && self.state.is_review_done => last + 1,
            position => position,
        }
    }
}
