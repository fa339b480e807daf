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

use crate::layout::{
    Beginning, Depth, Details, FieldOf, FileChange, Folder, Interest, ItemHome, Layout, Moment, Place, Spot,
    Standing, Told,
};
use crate::problem::{Problem, Then, What, Why};
use crate::reading::Reading;
use crate::tree::Entry;
use crate::yaml;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::event::Event;
use model::id::{ItemId, SessionId};
use model::revision::Revision;
use model::run::Run;
use model::session::Session;
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

/// The layout.
pub struct Essay;

impl Layout for Essay {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Essay pipeline"
    }

    fn places(&self) -> &'static [Place] {
        &[Place::Project(""), Place::Temporary(PREFIX)]
    }

    fn spot(&self, path: &str, is_folder: bool) -> Option<Spot> {
        let name = path.rsplit('/').next()?;
        began_at(name).filter(|_| is_folder)?;
        let id = SessionId::parse(name).ok()?;
        Some(Spot { id, path: path.to_owned(), home: path.to_owned(), workspace: path.to_owned() })
    }

    fn interest(&self, _: &Spot, path: &str, is_folder: bool, depth: Depth) -> Interest {
        match path {
            // All that is a session's lies in its folder itself.
            "" => Interest::Name,
            _ if is_folder => Interest::Skip,
            STATE => Interest::Content,
            "stage-2-outline.md" | recover::DRAFT | recover::FINAL if depth == Depth::Whole => {
                Interest::Content
            }
            _ => Interest::Name,
        }
    }

    fn read(&self, folder: &Folder<'_>) -> Reading<Told> {
        let (state, unreadable, warnings) = said(folder);
        let told = Told {
            history: history::of(&state, folder),
            workflows: Vec::new(),
            // That a file is there does not show that its stage is done: a person approves of each.
            proofs: Vec::new(),
            unreadable,
            unreadable_parts: Vec::new(),
            details: Details::None,
        };
        Reading { value: told, warnings }
    }

    fn write(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        write::state(standing, folder)
            .map(|content| FileChange { path: STATE.to_owned(), content })
            .into_iter()
            .collect()
    }

    fn write_anew(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        self.write_elsewhere(standing, folder)
    }

    fn write_elsewhere(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        let written = write::state(standing, folder);
        let there = written.as_deref().or_else(|| folder.tree.content(STATE));
        let moved = there.and_then(|content| elsewhere::named(content, &words::place(folder)));
        let content = moved.or(written);
        content.map(|content| FileChange { path: STATE.to_owned(), content }).into_iter().collect()
    }

    fn begin(&self, beginning: &Beginning<'_>) -> Result<Spot, String> {
        if let Some(id) = beginning.id {
            return self.spot(id, true).filter(|_| !id.contains('/')).ok_or_else(|| {
                format!("'{id}' is no name for a session's folder; it must be like {PREFIX}20260214-143022")
            });
        }
        let names = (0..MOST_TRIES).filter_map(|seconds| {
            let at = beginning.now.checked_add(SignedDuration::from_secs(seconds)).ok()?;
            let at = at.to_zoned(TimeZone::UTC);
            Some(format!("{PREFIX}{}", at.strftime("%Y%m%d-%H%M%S")))
        });
        names
            .into_iter()
            .find(|name| !(beginning.is_taken)(name))
            .and_then(|name| self.spot(&name, true))
            .ok_or_else(|| "every name for a session of this minute is taken".to_owned())
    }

    /// The name is when it was begun: some seconds later.
    fn numbered(&self, spot: &Spot, number: u32) -> Option<Spot> {
        let (folder, name) = spot.path.rsplit_once('/').unwrap_or(("", &spot.path));
        let at = began_at(name)?.checked_add(SignedDuration::from_secs(i64::from(number) - 1)).ok()?;
        let name = format!("{PREFIX}{}", at.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S"));
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        self.spot(&path, true)
    }

    fn looks_for(&self) -> &'static str {
        "a folder essay-pipeline-YYYYMMDD-HHMMSS"
    }

    fn can_tell(&self, run: &Run) -> bool {
        let stages = STAGES.iter().map(|stage| stage.name);
        run.phases.iter().map(|phase| phase.id().as_str()).eq(stages)
    }

    fn workflows(&self) -> &'static [&'static str] {
        &[NAME]
    }

    fn merge(&self, _: &str, base: &[u8], theirs: &[u8]) -> Vec<u8> {
        merge::with_one_total(base, merge::with_counts_of(base, yaml::with_missing_of(base, theirs)))
    }

    fn merge_slipped(&self, _: &str, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        yaml::with_changes(base, theirs, onto)
    }

    fn edits_only_claim(&self) -> bool {
        true
    }

    fn is_readable(&self, _: &str, content: &[u8]) -> bool {
        state::read(content, Timestamp::MAX, &mut Vec::new()).is_ok()
    }

    /// `total_paragraphs`.
    fn counts_parts(&self) -> bool {
        true
    }

    /// `section-2` is one of argument development, `draft-2` the same section as it is written.
    fn home_of_item(&self, id: &ItemId) -> Option<ItemHome> {
        let (name, number) = id.as_str().rsplit_once('-')?;
        number.parse::<u32>().ok()?;
        let position = match name {
            SECTION => 2,
            WRITTEN_SECTION => 3,
            _ => return None,
        };
        Some(ItemHome { phase: STAGES[position].name, kind: SECTION })
    }

    fn no_field(&self, of: FieldOf, name: &str) -> Option<&'static str> {
        fields::instead(of, name)
    }

    fn heading(&self) -> Option<&'static str> {
        Some("Sessions found:")
    }

    fn recovered(&self) -> Option<&'static str> {
        Some(RECOVERED_FROM_BACKUP)
    }

    fn asks_where(&self, folder: &Folder<'_>) -> Option<String> {
        let is_lost =
            read_state(folder, &mut Vec::new()).is_err() && recover::from_artifacts(folder).is_none();
        is_lost.then(|| words::not_recovered(&recover::artifacts(folder.tree)))
    }

    fn discrepancies(&self, folder: &Folder<'_>) -> Vec<Problem> {
        let (state, _, _) = said(folder);
        validate::discrepancies(&state, folder)
    }

    /// A null that is written over the yes is a no as well.
    fn withdrawn(&self, before: &Session, now: &Session) -> Vec<(&'static str, &'static str)> {
        let is_yes = |session: &Session| session.fields.get(write::BIRDS_EYE_KEY) == Some(&Value::Bool(true));
        let arguments = (STAGES[2].name, write::BIRDS_EYE);
        Some(arguments).filter(|_| is_yes(before) && !is_yes(now)).into_iter().collect()
    }

    fn revised(&self, revision: &Revision, standing: &Standing<'_>) -> Vec<Event> {
        revise::consequences(revision, &Standpoint::new(standing.session, standing.items))
    }

    fn opened_in(&self) -> Option<&'static str> {
        Some(STATE)
    }

    fn takes_up_again(&self) -> bool {
        true
    }

    fn begun_again(&self, standing: &Standing<'_>) -> Vec<Event> {
        revise::all_anew(standing.items)
    }

    fn is_private(&self) -> bool {
        true
    }

    fn says(&self, moment: Moment, standing: &Standing<'_>, folder: &Folder<'_>) -> Option<String> {
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
