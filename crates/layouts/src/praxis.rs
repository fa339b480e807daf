//! praxis OS: one JSON file a session, in three shapes; workflows with gates beside them.
//! Old shapes are read as they are and keep their shape; only new sessions, and imported ones, have the newest.

mod definition;
mod gate;
mod history;
mod lambda;
mod merge;
mod state;
mod tasks;
#[cfg(test)]
mod tests;
mod times;
mod words;
mod write;

pub use state::{Shape, State};

use crate::layout::{
    Asked, Beginning, Defined, Definitions, Depth, Details, FileChange, Folder, Interest, Layout, Place,
    Refused, Spot, Standing, Told, id_of_name,
};
use crate::problem::{Problem, Taken, What};
use crate::reading::Reading;
use crate::tree::Tree;
use definition::Definition;
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::run::Run;
use model::session::Session;
use model::workflow::Workflow;

/// Where new sessions go.
const STATES: &str = ".praxis-os/.cache/state";
/// Where the first shape is, also from when the tool had another name.
const FIRST: &[&str] = &[STATES, ".agent-os/.cache/state", ".agent-os/state"];
/// Below it, a folder for each status; what is in one is what the folder says.
const SECOND: &str = ".praxis-os/state/workflow";
/// The one that says more first: a move that was interrupted leaves two.
const STATUSES: &[&str] = &["error", "completed", "active"];
/// More than any workflow has; a number above it is a mistake.
const MOST_PHASES: u32 = 500;
const CHECKPOINTS: &[&str] = &["pending", "passed", "failed", "skipped"];
/// Keys of `metadata` that are the format's own.
const ATTEMPTS: &str = "attempts";
const TOTAL: &str = "total_phases";
/// Below `metadata` in the second shape: all that its tool has no key for. Its models forbid unknown keys anywhere else.
const OURS: &str = "leftoff";
/// How long a phase was paused.
const PAUSED: &str = "paused_duration_seconds";
/// Among the outputs of an attempt: artifacts that the second shape lists.
const ARTIFACTS: &str = "artifacts";

/// The layout.
pub struct Praxis;

impl Layout for Praxis {
    fn name(&self) -> &'static str {
        "praxis"
    }

    fn title(&self) -> &'static str {
        "praxis OS"
    }

    fn places(&self) -> &'static [Place] {
        &[
            Place::Project(STATES),
            Place::Project(".agent-os/.cache/state"),
            Place::Project(".agent-os/state"),
            Place::Project(".praxis-os/state/workflow/active"),
            Place::Project(".praxis-os/state/workflow/completed"),
            Place::Project(".praxis-os/state/workflow/error"),
        ]
    }

    fn spot(&self, path: &str, is_folder: bool) -> Option<Spot> {
        let (folder, name) = path.rsplit_once('/')?;
        let stem = name.strip_suffix(".json").filter(|stem| !stem.is_empty() && !stem.starts_with('.'))?;
        let is_place = FIRST.contains(&folder) || folder_status(path).is_some() || folder == SECOND;
        (is_place && !is_folder).then(|| Spot {
            id: id_of_name("praxis", stem),
            // A session of the second shape moves from folder to folder and stays itself.
            path: if FIRST.contains(&folder) { path.to_owned() } else { format!("{SECOND}/{name}") },
            home: String::new(),
            workspace: format!(".praxis-os/workspace/{stem}"),
        })
    }

    fn interest(&self, spot: &Spot, path: &str, is_folder: bool, _: Depth) -> Interest {
        let is_own = !is_folder && candidates(spot).iter().any(|own| own == path);
        if is_own { Interest::Content } else { Interest::Skip }
    }

    /// Its file has a name that is known, and so has all that it names.
    fn walks(&self) -> bool {
        false
    }

    fn wanted(&self, spot: &Spot, tree: &Tree) -> Vec<String> {
        let mut wanted = candidates(spot);
        let path = file_of(spot, tree);
        let state = state::read(&path, tree, jiff::Timestamp::MAX, &mut Vec::new());
        if let Some(name) = &state.workflow_type {
            wanted.extend(definition::files(name, spec_of(&state).as_deref(), tree));
        }
        wanted
    }

    fn has_moved(&self, spot: &Spot, path: &str, tree: &Tree) -> bool {
        let now = file_of(spot, tree);
        now != path && tree.get(&now).is_some()
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<Told> {
        read(folder)
    }

    fn write(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        let path = file_of(folder.spot, folder.tree);
        let content = write::state(standing, folder, &path, folder.tree.content(&path));
        content.map(|content| FileChange { path, content }).into_iter().collect()
    }

    fn write_anew(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        let path = file_of(folder.spot, folder.tree);
        let content = write::anew(standing, folder, &path);
        content.map(|content| FileChange { path, content }).into_iter().collect()
    }

    /// In the shape that it had: only an import into this layout makes another of it.
    fn write_back(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        let path = file_of(folder.spot, folder.tree);
        let content = write::back(standing, folder, &path, folder.tree.content(&path));
        content.map(|content| FileChange { path, content }).into_iter().collect()
    }

    fn belongs_at(&self, session: &Session, path: &str) -> String {
        let Some((_, name)) = path.rsplit_once('/').filter(|_| folder_status(path).is_some()) else {
            return path.to_owned();
        };
        let status = match session.lifecycle {
            Lifecycle::Completed { .. } => "completed",
            Lifecycle::Failed { .. } => "error",
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Abandoned { .. } => "active",
        };
        format!("{SECOND}/{status}/{name}")
    }

    fn begin(&self, beginning: &Beginning<'_>) -> Result<Spot, String> {
        let is_beside_second =
            STATUSES.iter().any(|status| (beginning.is_taken)(&format!("{SECOND}/{status}")));
        let (folder, made_up) = match is_beside_second {
            true => (format!("{SECOND}/active"), format!("workflow_default_{}", uuid(beginning.random))),
            false => (STATES.to_owned(), uuid(beginning.random)),
        };
        let name = beginning.id.map_or(made_up, ToOwned::to_owned);
        let spot = self.spot(&format!("{folder}/{name}.json"), false);
        let spot = spot.filter(|spot| spot.id.as_str() == name);
        let spot = spot.ok_or_else(|| format!("'{name}' is no name for a session's file"))?;
        match candidates(&spot).into_iter().find(|path| (beginning.is_taken)(path)) {
            Some(path) => Err(format!("{path} is there already")),
            None => Ok(spot),
        }
    }

    fn numbered(&self, spot: &Spot, number: u32) -> Option<Spot> {
        let stem = spot.path.strip_suffix(".json")?;
        self.spot(&format!("{stem}-{number:03}.json"), false)
    }

    fn renamed(&self, from: &Spot, to: &Spot, _: &str, content: &[u8]) -> Vec<u8> {
        let stem =
            |spot: &Spot| spot.path.rsplit('/').next().map(|name| name.trim_end_matches(".json").to_owned());
        let (Some(old), Some(new)) = (stem(from), stem(to)) else { return content.to_vec() };
        crate::json::with_text(content, &["session_id"], &old, &new)
    }

    fn looks_for(&self) -> &'static str {
        "a .json file in .praxis-os/.cache/state or .praxis-os/state/workflow"
    }

    /// Phases have numbers in its files, and every workflow's can be counted.
    fn can_tell(&self, _: &Run) -> bool {
        true
    }

    fn workflows(&self) -> &'static [&'static str] {
        &[]
    }

    fn definitions(&self) -> Option<Definitions> {
        Some(Definitions { folders: definition::FOLDERS, file: definition::FILE })
    }

    fn define(&self, asked: &Asked<'_>) -> Defined {
        define(asked)
    }

    fn refuses(&self, why: &Refused<'_>) -> Option<String> {
        Some(words::refusal(why))
    }

    fn is_readable(&self, _: &str, content: &[u8]) -> bool {
        crate::json::object_of_python(content).is_ok_and(|fields| state::damage::of(&fields).is_empty())
    }

    /// Its file is all there is; without its workflow nobody can go on with it.
    fn knows_nothing_of(&self, content: Option<&[u8]>) -> bool {
        let fields = content.and_then(|content| crate::json::object_of_python(content).ok());
        !fields.is_some_and(|fields| fields.get("workflow_type").is_some_and(serde_json::Value::is_string))
    }

    fn merge(&self, _: &str, base: &[u8], theirs: &[u8]) -> Vec<u8> {
        merge::merged(base, theirs)
    }

    fn has_local_times(&self) -> bool {
        true
    }

    fn paths_tell_the_order(&self) -> bool {
        false
    }
}

fn define(asked: &Asked<'_>) -> Defined {
    let files = definition::files(asked.name, asked.target, asked.tree);
    if files.is_empty() {
        return Defined::Unknown;
    }
    let is_new = |path: &String| asked.tree.get(path).is_none() && !asked.missing.contains(path);
    let needed: Vec<String> = files.into_iter().filter(is_new).collect();
    if !needed.is_empty() {
        return Defined::Needs(needed);
    }
    match definition::read(asked.name, asked.target, asked.tree) {
        None => Defined::Unknown,
        Some(Definition { refused, .. }) if !refused.is_empty() => Defined::Refused(refused),
        Some(Definition { needs_target: Some(why), .. }) => Defined::NeedsTarget(why),
        Some(found) => match found.workflow(asked.name) {
            Some(value) => Defined::Found(Box::new(Reading { value, warnings: found.remarks })),
            None => Defined::Unknown,
        },
    }
}

fn read(folder: &Folder<'_>) -> Reading<Told> {
    let path = file_of(folder.spot, folder.tree);
    let mut warnings = Vec::new();
    let state = state::read(&path, folder.tree, folder.now, &mut warnings);
    let mut say = |field: &str, what: What| warnings.push(state::problem(&path, field, what));
    if state.is_legacy() {
        say("", What::Legacy);
    }
    // A failure shows its error, and so does a pause that nothing else is said of.
    let is_shown =
        matches!(state.life, state::Life::Failed { .. } | state::Life::Paused { context: None, .. });
    if let Some(error) = state.last_error.as_ref().filter(|_| !is_shown) {
        say("lifecycle.last_error", What::LastError { error: error.clone() });
    }
    let name = state.workflow_type.clone().unwrap_or_else(|| "praxis".to_owned());
    let found = definition::read(&name, spec_of(&state).as_deref(), folder.tree);
    if state.is_readable && state.workflow_type.is_none() {
        say("workflow_type", What::Absent(Taken::Nothing));
    } else if state.is_readable && found.is_none() {
        say("workflow_type", What::Undefined { workflow: name.clone() });
    }
    let extent = state.extent(found.as_ref(), &mut say);
    let said_of = |found: &Definition| {
        found.refused.iter().chain(&found.needs_target).chain(&found.remarks).cloned().collect::<Vec<_>>()
    };
    warnings.extend(found.iter().flat_map(said_of));
    warnings.extend(left_behind(folder));
    let workflow = workflow(&name, &state, &extent, found);
    let told = Told {
        history: history::of(&state, &extent, &workflow, folder),
        workflows: vec![workflow],
        proofs: Vec::new(),
        unreadable: if state.is_readable { Vec::new() } else { vec![path] },
        unreadable_parts: Vec::new(),
        details: Details::None,
    };
    Reading { value: told, warnings }
}

/// What the session was begun with: its own number of phases, of a definition that may have another by now.
fn workflow(name: &str, state: &State, extent: &state::Extent, found: Option<Definition>) -> Workflow {
    let mut definition = found.unwrap_or_else(|| Definition::unknown(name));
    if let Some(version) = &state.version {
        definition.version.clone_from(version);
    }
    definition.cut(name, extent.range.clone(), extent.is_known)
}

/// The same session in two folders of statuses: only one of them is read.
fn left_behind(folder: &Folder<'_>) -> Option<Problem> {
    let mut there = candidates(folder.spot).into_iter().filter(|path| folder.tree.get(path).is_some());
    let (counts, other) = (there.next()?, there.next()?);
    Some(Problem::of_file(other, What::ElsewhereToo { counts }))
}

/// Where a session's file can be, what counts first before the rest.
fn candidates(spot: &Spot) -> Vec<String> {
    match spot.path.strip_prefix(SECOND).and_then(|rest| rest.strip_prefix('/')) {
        Some(name) => STATUSES.iter().map(|status| format!("{SECOND}/{status}/{name}")).collect(),
        None => vec![spot.path.clone()],
    }
}

fn file_of(spot: &Spot, tree: &Tree) -> String {
    let mut candidates = candidates(spot);
    let found = candidates.iter().position(|path| tree.get(path).is_some());
    candidates.remove(found.unwrap_or(candidates.len() - 1))
}

/// What the folder says about a session of the second shape.
fn folder_status(path: &str) -> Option<&'static str> {
    let rest = path.strip_prefix(SECOND)?.strip_prefix('/')?;
    let (folder, name) = rest.split_once('/')?;
    STATUSES.iter().find(|status| **status == folder && !name.contains('/')).copied()
}

/// The specification that a session is about.
fn spec_of(state: &State) -> Option<String> {
    let named = state.metadata.get("spec_path").and_then(serde_json::Value::as_str);
    named.map(ToOwned::to_owned).or_else(|| state.target.clone())
}

/// Text from outside as a name of ours; what a name may not have is written as a line.
fn name_of(text: &str) -> Name {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { '-' }).take(60).collect();
    let plain = plain.trim_start_matches(['-', '_']);
    Name::parse(plain)
        .or_else(|_| Name::parse("unnamed"))
        .unwrap_or_else(|_| unreachable!("every character was made a valid one"))
}

/// A random one, as the tool's own are.
fn uuid(mut random: [u8; 16]) -> String {
    random[6] = (random[6] & 0x0f) | 0x40;
    random[8] = (random[8] & 0x3f) | 0x80;
    let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
