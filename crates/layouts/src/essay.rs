//! The essay pipeline: `essay-pipeline-{date}-{time}/` with its session-state.yaml, and an artifact for every stage.
//! The state is the truth; where neither it nor its backup can be read the artifacts are, and then a person is asked.

mod elsewhere;
mod fields;
mod history;
mod merge;
mod position;
mod recover;
mod revise;
mod state;
#[cfg(test)]
mod tests;
mod validate;
mod words;
mod write;

use crate::capabilities::{Consequences, FieldOf, ItemHome, ItemRules, Moment, Saying, ToolVoice};
use crate::layout::{
    Approved, Capabilities, Depth, Facts, FileChange, FileOp, FileRules, Fits, Folder, ForeignSession, Knows,
    Layout, Merge, Need, NewName, NewSession, Place, Purpose, Question, Role, Rule, Shows, Spot, Standing,
    Unplaced, WriteRequest,
};
use crate::problem::{Problem, Then, What, Why};
use crate::reading::{Dated, Reading};
use crate::tree::{Entry, Tree};
use crate::yaml;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::event::Event;
use model::id::{ItemId, SessionId};
use model::revision::Revision;
use position::Standpoint;
use serde_json::Value;
use state::State;

pub use position::Position;

pub(crate) const NAME: &str = "essay";
/// The file with the state, below a session's folder.
pub const STATE: &str = "session-state.yaml";
/// A section that was done, as a field of its item: another stage has changed since.
const NEEDS_REVIEW: &str = "needs_review";
/// What the ids of sections begin with: those of stage 3, which is also their kind, and those of stage 4.
const SECTION: &str = "section";
const WRITTEN_SECTION: &str = "draft";
const PREFIX: &str = "essay-pipeline-";
/// How many names are tried for a new folder: one for every second of a minute.
const MOST_TRIES: i64 = 60;

pub const RECOVERED_FROM_BACKUP: &str = "Session state recovered from backup. Last state update may be lost.";
pub const RECONSTRUCTED: &str =
    "Session state reconstructed from artifact files. Some metadata may be approximate.";
pub const NOT_RECOVERED: &str = "Session state could not be automatically recovered.";

/// A stage, as the file names it.
struct Stage {
    key: &'static str,
    name: &'static str,
    title: &'static str,
}

const STAGES: [Stage; 4] = [
    Stage { key: "stage_1", name: "thesis_development", title: "Thesis Development" },
    Stage { key: "stage_2", name: "essay_structuring", title: "Essay Structuring" },
    Stage { key: "stage_3", name: "argument_development", title: "Argument Development" },
    Stage { key: "stage_4", name: "paragraph_writing", title: "Paragraph Writing" },
];

/// Plain data about the layout.
static FACTS: Facts = Facts {
    name: NAME,
    title: "Essay pipeline",
    looks_for: "a folder essay-pipeline-YYYYMMDD-HHMMSS",
    places: &[Place::Project(""), Place::Temporary(PREFIX)],
    folders: &[],
    workflows: &[NAME],
    shows: Shows::Phases(&[STAGES[0].name, STAGES[1].name, STAGES[2].name, STAGES[3].name]),
    summary_files: &[],
    reopened_in: Some(STATE),
    may_be_there: &[],
    no_archives_in: None,
    marker_prefix: None,
    older_places: &[],
    list_heading: Some("Sessions found:"),
    newest_first: true,
    recovered_note: Some(RECOVERED_FROM_BACKUP),
    takes_every_folder: false,
    ordered_by_name: true,
    local_times: false,
    exclusive: false,
    pauses_active_only: false,
    // `total_paragraphs`.
    counts_parts: true,
    edits_only_claim: true,
    goes_with_folder: false,
    stalls_in_silence: false,
    taken_up_again: true,
    private: true,
    expires: true,
    kept_elsewhere: None,
    run_folders: &[],
    null_clears: true,
    titled_by_target: false,
    keeps_commands: false,
    unpromised: crate::layout::Unpromised::Fields(&["style_profile_path", "samples_dir_path"]),
    deferred_reasons: &state::DEFERRED_REASONS,
};

/// The layout.
pub struct Essay;

impl Layout for Essay {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot> {
        let name = path.rsplit('/').next()?;
        began_at(name).filter(|_| is_folder)?;
        let id = SessionId::parse(name).ok()?;
        let path = path.to_owned();
        Some(Spot { id, home: path.clone(), workspace: path.clone(), path, known_by: None })
    }

    fn files(&self, _: &Spot) -> FileRules {
        let is = |name: &str| Fits::Is(name.to_owned());
        FileRules::whole_home(vec![
            // All that is a session's lies in its folder itself.
            Rule::both(is(""), Role::Listed),
            Rule::folders(Fits::All, Role::Skip),
            Rule::files(is(STATE), Role::State),
            Rule::files(is(recover::THESIS), Role::ReadIfWhole),
            Rule::files(is("stage-2-outline.md"), Role::ReadIfWhole),
            Rule::files(is(recover::DRAFT), Role::ReadIfWhole),
            Rule::files(is(recover::FINAL), Role::ReadIfWhole),
            Rule::files(Fits::All, Role::Listed),
        ])
    }

    fn more_files(&self, _: &Spot, _: &Tree, _: Depth) -> Vec<Need> {
        Vec::new()
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession> {
        let (state, unreadable, warnings) = said(folder);
        let history = history::of(&state, folder);
        let told = ForeignSession {
            approved: approved(&history),
            history,
            workflows: Vec::new(),
            // That a file is there does not show that its stage is done: a person approves of each.
            proofs: Vec::new(),
            unreadable,
            unreadable_parts: Vec::new(),
            holds: true,
            knows: Knows::Said,
            checks: Vec::new(),
            context: Vec::new(),
        };
        Reading { value: told, warnings }
    }

    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp> {
        let written = write::state(request.standing, folder);
        let content = match request.purpose {
            Purpose::New => None,
            Purpose::Update => written,
            Purpose::Newest | Purpose::Export | Purpose::Restore => {
                let there = written.as_deref().or_else(|| folder.tree.content(STATE));
                let moved = there.and_then(|content| elsewhere::named(content, &words::place(folder)));
                moved.or(written)
            }
        };
        let file = |content| FileChange { path: STATE.to_owned(), content };
        content.map(|content| FileOp::put(file(content))).into_iter().collect()
    }

    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced> {
        match new.name {
            NewName::Asked(id) => self.asked_for(id),
            NewName::Made(occasion) => self.first_free(occasion.now, new.is_taken),
            NewName::Beside(spot, number) => self.numbered(spot, number),
        }
    }

    /// Its state names the folder, not the session: that is written when it is known where the folder is.
    fn rename(&self, _: &str, content: &[u8], _: &Spot, _: &Spot) -> Vec<u8> {
        content.to_vec()
    }

    fn merge(&self, _: &str, merge: Merge<'_>) -> Vec<u8> {
        match merge {
            Merge::Dropped { base, theirs } => {
                merge::with_one_total(base, merge::with_counts_of(base, yaml::with_missing_of(base, theirs)))
            }
            Merge::Onto { base, theirs, onto } => yaml::with_changes(base, theirs, onto),
        }
    }

    fn is_whole(&self, _: &str, content: &[u8]) -> bool {
        state::read(content, Timestamp::MAX, &mut Vec::new()).is_ok()
    }

    fn questions(&self, folder: &Folder<'_>) -> Vec<Question> {
        let is_lost =
            read_state(folder, &mut Vec::new()).is_err() && recover::from_artifacts(folder).is_none();
        let lost = is_lost.then(|| Question::WhereToResume {
            report: words::not_recovered(&recover::artifacts(folder.tree)),
        });
        let (state, _, _) = said(folder);
        let discrepancy = |problem| Question::Discrepancy {
            problem,
            remedy: "bring the file back, or mend what is said of it",
        };
        let discrepancies = validate::discrepancies(&state, folder).into_iter().map(discrepancy);
        lost.into_iter().chain(discrepancies).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            item_rules: Some(&Essay),
            consequences: Some(&Essay),
            tool_voice: Some(&Essay),
            ..Capabilities::default()
        }
    }
}

impl Essay {
    fn asked_for(&self, id: &str) -> Result<Spot, Unplaced> {
        let spot = self.identify(id, true).filter(|_| !id.contains('/'));
        let example = || format!("{PREFIX}20260214-143022");
        spot.ok_or_else(|| Unplaced::NotLike { name: id.to_owned(), example: example() })
    }

    fn first_free(&self, now: Timestamp, is_taken: &dyn Fn(&str) -> bool) -> Result<Spot, Unplaced> {
        let names = (0..MOST_TRIES).filter_map(|seconds| Some(name_at(later(now, seconds)?)));
        let free = names.into_iter().find(|name| !is_taken(name));
        free.and_then(|name| self.identify(&name, true)).ok_or(Unplaced::AllTaken)
    }

    /// The name is when it was begun: some seconds later.
    fn numbered(&self, spot: &Spot, number: u32) -> Result<Spot, Unplaced> {
        let (folder, name) = spot.path.rsplit_once('/').unwrap_or(("", &spot.path));
        let no_name = || Unplaced::NoFolderName { name: name.to_owned() };
        let at = began_at(name).and_then(|at| later(at, i64::from(number) - 1)).ok_or_else(no_name)?;
        let path = if folder.is_empty() { name_at(at) } else { format!("{folder}/{}", name_at(at)) };
        self.identify(&path, true).ok_or_else(no_name)
    }
}

fn later(at: Timestamp, seconds: i64) -> Option<Timestamp> {
    at.checked_add(SignedDuration::from_secs(seconds)).ok()
}

fn name_at(at: Timestamp) -> String {
    format!("{PREFIX}{}", at.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S"))
}

impl ItemRules for Essay {
    /// `section-2` is one of argument development, `draft-2` the same section as it is written.
    fn home(&self, id: &ItemId) -> Option<ItemHome> {
        let (name, number) = id.as_str().rsplit_once('-')?;
        number.parse::<u32>().ok()?;
        let position = match name {
            SECTION => 2,
            WRITTEN_SECTION => 3,
            _ => return None,
        };
        Some(ItemHome { phase: STAGES[position].name, kind: SECTION })
    }

    fn instead_of_field(&self, of: FieldOf, name: &str) -> Option<&'static str> {
        fields::instead(of, name)
    }
}

impl Consequences for Essay {
    fn of_revision(&self, revision: &Revision, standing: &Standing<'_>) -> Vec<Event> {
        revise::consequences(revision, &Standpoint::new(standing.session, standing.items))
    }

    fn of_new_run(&self, standing: &Standing<'_>) -> Vec<Event> {
        revise::all_anew(standing.items)
    }
}

impl ToolVoice for Essay {
    fn say(&self, saying: &Saying<'_>) -> Option<String> {
        let Saying::Session { moment, standing, folder } = saying else { return None };
        let standpoint = Standpoint::new(standing.session, standing.items);
        let at = standpoint.position()?;
        Some(match moment {
            Moment::Paused => words::paused(at),
            Moment::Resumed => words::resuming(&standpoint, at),
            Moment::Completed => words::completed(&standpoint, folder),
            Moment::Shown => words::whole_state(&standpoint, folder, at),
            Moment::Listed => {
                let name = folder.spot.path.rsplit('/').next().unwrap_or_default();
                words::line(name, at, standing.session.updated_at, folder.now)
            }
        })
    }
}

/// The checks that the file calls approved. A null that is written over the yes is a no as well.
fn approved(history: &[Dated]) -> Vec<Approved> {
    let said = history.iter().rev().find_map(|dated| match &dated.event {
        Event::FieldsSet { phase: None, fields } => fields.get(write::BIRDS_EYE_KEY),
        _ => None,
    });
    let is_yes = said == Some(&Value::Bool(true));
    is_yes.then_some(Approved { phase: STAGES[2].name, check: write::BIRDS_EYE }).into_iter().collect()
}

/// What the files tell, by the first of them that can be read; the files of the state that cannot be.
fn said(folder: &Folder<'_>) -> (State, Vec<String>, Vec<Problem>) {
    let mut problems = Vec::new();
    let why = match read_state(folder, &mut problems) {
        Ok(state) => {
            problems.extend(validate::discrepancies(&state, folder));
            return (state, Vec::new(), problems);
        }
        Err(why) => why,
    };
    let unreadable = vec![STATE.to_owned()];
    let mut told = vec![Problem::of_file(STATE, What::Unreadable { why, then: Then::WorkedOut })];
    // Said of the folder: of the file it is no longer true once its backup has taken its place.
    let mut tell = |what: What| told.push(Problem::of_file("", what));
    if let Some(state) = recover::from_artifacts(folder) {
        tell(What::Reconstructed { words: RECONSTRUCTED });
        return (state, unreadable, told);
    }
    let report = words::not_recovered(&recover::artifacts(folder.tree));
    tell(What::Lost { report, session: folder.id.clone() });
    (State { started_at: began(folder), ..State::default() }, unreadable, told)
}

fn read_state(folder: &Folder<'_>, problems: &mut Vec<Problem>) -> Result<State, Why> {
    match folder.tree.get(STATE) {
        Some(Entry::File(content)) => state::read(content, folder.now, problems),
        Some(Entry::Folder) => Err(Why::IsFolder),
        Some(Entry::Unread { .. }) => Err(Why::NotRead),
        Some(Entry::Unusable(why)) => Err(Why::Unusable(why.clone())),
        None => Err(folder.tree.why_hidden(STATE).unwrap_or(Why::Missing)),
    }
}

/// When a session's folder was made, by its name.
fn began(folder: &Folder<'_>) -> Option<Timestamp> {
    began_at(folder.spot.path.rsplit('/').next()?)
}

fn began_at(name: &str) -> Option<Timestamp> {
    let (date, time) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(date, 8) || !is_digits(time, 6) {
        return None;
    }
    let text = format!("{date}T{time}");
    // A name of the right form is a session's also when its numbers are no time.
    let at = text.parse::<DateTime>().ok().and_then(|at| Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp()));
    Some(at.unwrap_or(Timestamp::UNIX_EPOCH))
}

fn argument_map(section: u32) -> String {
    format!("stage-3-section-{section}-arguments.md")
}

/// The section that a file is the current argument map of.
fn section_of_map(path: &str) -> Option<u32> {
    let number = path.strip_prefix("stage-3-section-")?.strip_suffix("-arguments.md")?;
    number.parse().ok().filter(|section| *section > 0 && argument_map(*section) == path)
}

/// The name of a file that this is an archived version of; its own when it is none.
fn current_name(path: &str) -> String {
    let archived = path.strip_suffix(".md").and_then(|stem| {
        let (stem, version) = stem.rsplit_once(".v")?;
        (!version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())).then_some(stem)
    });
    archived.map_or_else(|| path.to_owned(), |stem| format!("{stem}.md"))
}

fn section_id(index: u32) -> Option<ItemId> {
    ItemId::parse(&format!("{SECTION}-{index}")).ok()
}

fn draft_id(index: u32) -> Option<ItemId> {
    ItemId::parse(&format!("{WRITTEN_SECTION}-{index}")).ok()
}

/// Where a path in the state leads.
enum Referred {
    /// Relative to the session's folder.
    Inside(String),
    Outside,
}

/// A folder may have been moved since its path was written down.
fn refer(path: &str, state: &State, folder: &Folder<'_>) -> Referred {
    let inside = |rest: &str| Referred::Inside(rest.trim_start_matches("./").to_owned());
    let said = state.session_dir.as_deref().map(|said| said.trim_end_matches('/'));
    let (place, name) = (folder.spot.path.as_str(), folder.spot.path.rsplit('/').next().unwrap_or_default());
    for known in said.into_iter().chain([place]) {
        if let Some(rest) = path.strip_prefix(known).and_then(|rest| rest.strip_prefix('/')) {
            return if rest.contains("..") { Referred::Outside } else { inside(rest) };
        }
    }
    if let Some((_, rest)) = path.split_once(&format!("/{name}/")) {
        return if rest.contains("..") { Referred::Outside } else { inside(rest) };
    }
    if path.starts_with('/') || path.contains("..") { Referred::Outside } else { inside(path) }
}

/// The file that shows a stage to be done, if it is there.
fn artifact_of(state: &State, position: usize, folder: &Folder<'_>) -> Option<String> {
    let named = |key: &str, usual: &str| {
        let said = state.stages[position].fields.get(key).and_then(|value| value.as_str());
        let path = match said.map(|path| refer(path, state, folder)) {
            Some(Referred::Inside(path)) => path,
            Some(Referred::Outside) => return None,
            None => usual.to_owned(),
        };
        folder.tree.has_file(&path).then_some(path)
    };
    match position {
        0 => named("thesis_file", "stage-1-thesis.md"),
        1 => named("outline_file", "stage-2-outline.md"),
        2 => {
            let maps: Option<Vec<String>> =
                state.sections.iter().map(|section| map_of(section, state, folder)).collect();
            maps?.into_iter().next()
        }
        _ => named("draft_file", recover::DRAFT)
            .or_else(|| Some(recover::FINAL.to_owned()).filter(|path| folder.tree.has_file(path))),
    }
}

/// A section's argument map, if it is there.
fn map_of(section: &state::Section, state: &State, folder: &Folder<'_>) -> Option<String> {
    let said = section.fields.get("argument_map_file").and_then(|value| value.as_str());
    let path = match said.map(|path| refer(path, state, folder)) {
        Some(Referred::Inside(path)) => path,
        Some(Referred::Outside) => return None,
        None => argument_map(section.index),
    };
    folder.tree.has_file(&path).then_some(path)
}
