//! praxis OS: one JSON file per session, in one of three formats. Workflows and gates are in folders of their
//! own. A session in an older format keeps that format; only new and imported sessions use the newest.

mod definition;
mod evidence_check;
mod gate;
mod history;
mod lambda;
mod merge;
mod refusal_text;
mod state;
mod tasks;
#[cfg(test)]
mod tests;
mod time_format;
mod write;

pub use state::{Shape, State};

use crate::capabilities::{OwnDefinitions, Saying, ToolVoice};
use crate::hash::hex;
use crate::layout::{
    Asked, Capabilities, Defined, Definitions, Depth, Facts, FileChange, FileOp, FileRules, Fits, Folder,
    ForeignSession, Knows, Layout, Merge, Need, NewName, NewSession, Place, Places, Purpose, Question, Role,
    Rule, SessionPlace, Shows, Spot, Unplaced, WriteRequest, id_of_name,
};
use crate::problem::{Problem, Taken, What};
use crate::reading::Reading;
use crate::tree::Tree;
use definition::Definition;
use model::id::Name;
use model::workflow::Workflow;

/// The folder of new sessions.
const STATES: &str = ".praxis-os/.cache/state";
/// Folders of sessions in the first format, including folders under the tool's former name.
const FIRST: &[&str] = &[STATES, ".agent-os/.cache/state", ".agent-os/state"];
/// In the second format, this folder contains one folder per status. A session has the status of the folder
/// that contains it.
const SECOND: &str = ".praxis-os/state/workflow";
/// The status folders. An interrupted move may leave a session in two of them; the first is then used.
const STATUSES: &[&str] = &["error", "completed", "active"];
/// The maximum number of phases. A higher number is a mistake.
const MOST_PHASES: u32 = 500;
const CHECKPOINTS: &[&str] = &["pending", "passed", "failed", "skipped"];
/// Keys of `metadata` that belong to the format.
const ATTEMPTS: &str = "attempts";
const TOTAL: &str = "total_phases";
/// leftoff's own section in the second format, below `metadata`. Unknown keys are allowed only here.
const OURS: &str = "leftoff";
/// The key for the time during which a phase was paused.
const PAUSED: &str = "paused_duration_seconds";
/// In the outputs of an attempt, the key for artifacts that the second format stores as a list.
const ARTIFACTS: &str = "artifacts";

/// Plain data about the layout.
static FACTS: Facts = Facts {
    name: "praxis",
    title: "praxis OS",
    looks_for: "a .json file in .praxis-os/.cache/state or .praxis-os/state/workflow",
    places: &[
        Place::Project(STATES),
        Place::Project(".agent-os/.cache/state"),
        Place::Project(".agent-os/state"),
        Place::Project(".praxis-os/state/workflow/active"),
        Place::Project(".praxis-os/state/workflow/completed"),
        Place::Project(".praxis-os/state/workflow/error"),
    ],
    folders: &[".praxis-os", ".agent-os"],
    workflows: &[],
    shows: Shows::AnyRun,
    summary_files: &[],
    reopened_in: None,
    may_be_there: &[],
    no_archives_in: None,
    marker_prefix: None,
    older_places: &[],
    list_heading: None,
    newest_first: false,
    recovered_note: None,
    takes_every_folder: false,
    ordered_by_name: false,
    local_times: true,
    exclusive: false,
    pauses_active_only: false,
    counts_parts: false,
    edits_only_claim: false,
    goes_with_folder: false,
    stalls_in_silence: false,
    taken_up_again: false,
    private: false,
    expires: true,
    kept_elsewhere: None,
    run_folders: &[],
    null_clears: false,
    titled_by_target: true,
    keeps_commands: true,
    records_outputs: false,
    status_words: &[("error", "failed")],
    unpromised: crate::layout::Unpromised::Everything,
    deferred_reasons: &[],
};

/// The praxis OS layout.
pub struct Praxis;

impl Layout for Praxis {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot> {
        let (folder, name) = path.rsplit_once('/')?;
        let stem = name.strip_suffix(".json").filter(|stem| !stem.is_empty() && !stem.starts_with('.'))?;
        let is_place = FIRST.contains(&folder) || folder_status(path).is_some() || folder == SECOND;
        (is_place && !is_folder).then(|| Spot {
            id: id_of_name("praxis", stem),
            // In the second format, a session's file moves between folders. This path stays, and identifies
            // the session.
            path: if FIRST.contains(&folder) { path.to_owned() } else { format!("{SECOND}/{name}") },
            home: String::new(),
            workspace: format!(".praxis-os/workspace/{stem}"),
            known_by: None,
        })
    }

    /// The rules for the session's files. All file names are known in advance, so no folder is searched.
    fn files(&self, spot: &Spot) -> FileRules {
        let candidates = candidates(spot);
        let rule = |path: &String| Rule::files(Fits::Is(path.clone()), Role::State);
        let place = |path: &String| SessionPlace {
            path: path.clone(),
            known_by: path.clone(),
            lifecycles: folder_status(path).map_or(&[], lifecycles),
        };
        FileRules {
            roots: Vec::new(),
            rules: candidates.iter().map(rule).collect(),
            places: Places { all: candidates.iter().map(place).collect(), when_gone: None },
        }
    }

    fn more_files(&self, spot: &Spot, tree: &Tree, _: Depth) -> Vec<Need> {
        let mut needed = candidates(spot);
        let path = file_of(spot, tree);
        let state = state::read(&path, tree, jiff::Timestamp::MAX, &mut Vec::new());
        if let Some(name) = &state.workflow_type {
            needed.extend(definition::files(name, spec_of(&state).as_deref(), tree));
        }
        needed.into_iter().map(Need::Content).collect()
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession> {
        read(folder)
    }

    /// The file operations that publish a session. An import into this layout may change the format of the
    /// file. In every other case, the file keeps the format that its tool used.
    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp> {
        let path = file_of(folder.spot, folder.tree);
        let there = folder.tree.content(&path);
        let content = match request.purpose {
            Purpose::New => None,
            Purpose::Update | Purpose::Export => write::state(request.publication, folder, &path, there),
            Purpose::Newest => write::anew(request.publication, folder, &path),
            Purpose::Restore => write::back(request.publication, folder, &path, there),
        };
        content.map(|content| FileOp::put(FileChange { path, content })).into_iter().collect()
    }

    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced> {
        let is_beside_second = STATUSES.iter().any(|status| (new.is_taken)(&format!("{SECOND}/{status}")));
        let (folder, prefix) = if is_beside_second {
            (format!("{SECOND}/active"), "workflow_default_")
        } else {
            (STATES.to_owned(), "")
        };
        let name = match new.name {
            NewName::Asked(id) => id.to_owned(),
            NewName::Made(occasion) => format!("{prefix}{}", uuid(occasion.random)),
            NewName::Beside(spot, number) => {
                let path = format!("{}-{number:03}.json", spot.path.trim_end_matches(".json"));
                return self.identify(&path, false).ok_or(Unplaced::NoFileName { name: path });
            }
        };
        let spot = self.identify(&format!("{folder}/{name}.json"), false);
        let spot = spot.filter(|spot| spot.id.as_str() == name).ok_or(Unplaced::NoFileName { name })?;
        match candidates(&spot).into_iter().find(|path| (new.is_taken)(path)) {
            Some(path) => Err(Unplaced::PathTaken { path }),
            None => Ok(spot),
        }
    }

    fn rename(&self, _: &str, content: &[u8], from: &Spot, to: &Spot) -> Vec<u8> {
        let stem =
            |spot: &Spot| spot.path.rsplit('/').next().map(|name| name.trim_end_matches(".json").to_owned());
        let (Some(old), Some(new)) = (stem(from), stem(to)) else { return content.to_vec() };
        crate::json::with_text(content, &["session_id"], &old, &new)
    }

    fn merge(&self, _: &str, merge: Merge<'_>) -> Vec<u8> {
        match merge {
            Merge::Dropped { base, theirs } => merge::merged(base, theirs),
            Merge::Onto { base, theirs, onto } => crate::json::with_changes(base, theirs, onto),
        }
    }

    fn is_whole(&self, _: &str, content: &[u8]) -> bool {
        state::is_whole(content)
    }

    fn questions(&self, _: &Folder<'_>) -> Vec<Question> {
        Vec::new()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { own_definitions: Some(&Praxis), tool_voice: Some(&Praxis), ..Capabilities::default() }
    }
}

impl OwnDefinitions for Praxis {
    fn places(&self) -> Definitions {
        Definitions { folders: definition::FOLDERS, file: definition::FILE }
    }

    fn define(&self, asked: &Asked<'_>) -> Defined {
        define(asked)
    }
}

impl ToolVoice for Praxis {
    fn say(&self, saying: &Saying<'_>) -> Option<String> {
        match saying {
            Saying::Refused(why) => Some(refusal_text::refusal(why)),
            Saying::Session { .. } => None,
        }
    }
}

fn define(asked: &Asked<'_>) -> Defined {
    let files = definition::files(asked.name, asked.target, asked.tree);
    if files.is_empty() {
        return Defined::Unknown;
    }
    let needed: Vec<String> = files.into_iter().filter(|path| !asked.tree.is_asked(path)).collect();
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

fn read(folder: &Folder<'_>) -> Reading<ForeignSession> {
    let path = file_of(folder.spot, folder.tree);
    let mut warnings = Vec::new();
    let state = state::read(&path, folder.tree, folder.now, &mut warnings);
    let mut say = |field: &str, what: What| warnings.push(state::problem(&path, field, what));
    if state.is_legacy() {
        say("", What::Legacy);
    }
    // The last error is already shown as the reason of a failure, or of a pause without another reason. It no
    // longer matters in a completed session. So it needs no warning in these cases.
    let needs_no_warning = match state.life {
        state::Life::Failed { .. } | state::Life::Completed { .. } => true,
        state::Life::Paused { ref context, .. } => context.is_none(),
        state::Life::Unsaid | state::Life::Active => false,
    };
    if let Some(error) = state.last_error.as_ref().filter(|_| !needs_no_warning) {
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
    let told = ForeignSession {
        is_unbegun: false,
        history: history::of(&state, &extent, &workflow, folder),
        workflows: vec![workflow],
        proofs: Vec::new(),
        holds: true,
        knows: if says_workflow(folder.tree.content(&path)) {
            Knows::Said
        } else {
            Knows::Nothing(path.clone())
        },
        unreadable: if state.is_readable { Vec::new() } else { vec![path] },
        unreadable_parts: Vec::new(),
        approved: Vec::new(),
        checks: Vec::new(),
        context: Vec::new(),
    };
    Reading { value: told, warnings }
}

/// True for a file that names its workflow, even if the file is otherwise damaged. Without that name, nobody
/// can continue the session.
fn says_workflow(content: Option<&[u8]>) -> bool {
    let fields = content.and_then(|content| crate::json::object_of_python(content).ok());
    fields.is_some_and(|fields| fields.get("workflow_type").is_some_and(serde_json::Value::is_string))
}

/// The workflow, with the number of phases that the session started with.
fn workflow(name: &str, state: &State, extent: &state::Extent, found: Option<Definition>) -> Workflow {
    let mut definition = found.unwrap_or_else(|| Definition::unknown(name));
    if let Some(version) = &state.version {
        definition.version.clone_from(version);
    }
    definition.cut(name, extent.range.clone(), extent.is_known)
}

/// The problem of a session that is in two status folders. Only one of the two files is read.
fn left_behind(folder: &Folder<'_>) -> Option<Problem> {
    let mut there = candidates(folder.spot).into_iter().filter(|path| folder.tree.get(path).is_some());
    let (counts, other) = (there.next()?, there.next()?);
    Some(Problem::of_file(other, What::ElsewhereToo { counts }))
}

/// Possible paths of a session's file. The first path that exists is used.
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

/// The status of a session in the second format, according to its folder.
fn folder_status(path: &str) -> Option<&'static str> {
    let rest = path.strip_prefix(SECOND)?.strip_prefix('/')?;
    let (folder, name) = rest.split_once('/')?;
    STATUSES.iter().find(|status| **status == folder && !name.contains('/')).copied()
}

/// The lifecycles that a session in this status folder of the second format can have.
fn lifecycles(status: &str) -> &'static [&'static str] {
    match status {
        "completed" => &["completed"],
        "error" => &["failed"],
        _ => &["active", "paused", "abandoned"],
    }
}

/// The path of the specification that a session works on.
fn spec_of(state: &State) -> Option<String> {
    let named = state.metadata.get("spec_path").and_then(serde_json::Value::as_str);
    // The `...` in an example is not a path.
    named
        .filter(|named| named.contains(char::is_alphanumeric))
        .map(ToOwned::to_owned)
        .or_else(|| state.target.clone())
}

/// The last part of a path.
fn last_name(path: &str) -> Option<&str> {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty())
}

/// A name made from another tool's text. Invalid characters become hyphens.
fn name_of(text: &str) -> Name {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { '-' }).take(60).collect();
    let plain = plain.trim_start_matches(['-', '_']);
    Name::parse(plain)
        .or_else(|_| Name::parse("unnamed"))
        .unwrap_or_else(|_| unreachable!("every character was made a valid one"))
}

/// A random UUID, in the form that the tool uses.
fn uuid(mut random: [u8; 16]) -> String {
    random[6] = (random[6] & 0x0f) | 0x40;
    random[8] = (random[8] & 0x3f) | 0x80;
    let hex = hex(&random);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Translates a lambda, which checks all evidence together, to an expression of a gate.
#[cfg(feature = "fuzzing")]
pub fn translated(lambda: &str) -> Result<String, String> {
    lambda::of_evidence(lambda, &std::collections::BTreeMap::new())
}
