//! The essay pipeline: `essay-pipeline-{date}-{time}/` with session-state.yaml and an artifact per stage. The
//! state file decides. If neither the state file nor its backup is readable, the state is inferred from the
//! artifacts, and a person confirms it.

mod artifacts;
mod consequences;
mod history;
mod keys_that_are_not_fields;
mod merge;
mod messages;
mod moved_folder;
mod outline;
mod position;
mod recover;
mod session_names;
mod state;
#[cfg(test)]
mod tests;
mod validate;
mod write;

use crate::capabilities::{Consequences, FieldOf, ItemHome, ItemRules, Moment, Saying, ToolVoice};
use crate::layout::{
    Approved, Capabilities, Depth, Facts, FileChange, FileOp, FileRules, Fits, Folder, ForeignSession, Knows,
    Layout, Merge, Need, NewName, NewSession, Place, Purpose, Question, Role, Rule, SessionToPublish, Shows,
    Spot, Unplaced, WriteRequest,
};
use crate::problem::{Problem, Then, What, Why};
use crate::reading::{Dated, Reading};
use crate::tree::{Entry, Tree};
use crate::yaml;
use jiff::Timestamp;
use model::event::Event;
use model::gate::AttemptReport;
use model::id::{ItemId, Name, SessionId};
use model::revision::Revision;
use position::{Standpoint, VOICE_SCORE, is_voice_score};
use serde_json::Value;
use session_names::{PREFIX, began, began_at};
use state::State;

pub use position::Position;

pub(crate) const NAME: &str = "essay";
/// The state file, below a session's folder.
pub const STATE: &str = "session-state.yaml";
/// The item field that marks a section for review, because an earlier stage changed after the section was
/// done.
const NEEDS_REVIEW: &str = "needs_review";
/// Prefixes of section ids: `section` in stage 3, `draft` in stage 4. `section` is also the kind of the items
/// of stage 3.
const SECTION: &str = "section";
const WRITTEN_SECTION: &str = "draft";
pub const RECOVERED_FROM_BACKUP: &str = "Session state recovered from backup. Last state update may be lost.";
pub const RECONSTRUCTED: &str =
    "Session state reconstructed from artifact files. Some metadata may be approximate.";
pub const NOT_RECOVERED: &str = "Session state could not be automatically recovered.";

/// A stage with its name in the file.
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
    // The file counts the parts of a section in `total_paragraphs`.
    counts_parts: true,
    edits_only_claim: true,
    goes_with_folder: true,
    stalls_in_silence: false,
    taken_up_again: true,
    private: true,
    expires: true,
    kept_elsewhere: None,
    run_folders: &[],
    null_clears: true,
    titled_by_target: false,
    keeps_commands: false,
    records_outputs: true,
    status_words: &[("in_progress", "active")],
    unpromised: crate::layout::Unpromised::Fields(&["style_profile_path", "samples_dir_path"]),
    deferred_reasons: &state::DEFERRED_REASONS,
};

/// The essay layout.
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
            // All files of a session are directly in its folder.
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
        let session = ForeignSession {
            is_unbegun: false,
            approved: approved(&history),
            history,
            workflows: Vec::new(),
            // No file proves that its stage is done, because a person must approve each stage.
            proofs: Vec::new(),
            unreadable,
            unreadable_parts: Vec::new(),
            holds: true,
            knows: Knows::Said,
            checks: Vec::new(),
            context: Vec::new(),
        };
        Reading { value: session, warnings }
    }

    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp> {
        let written = write::state(request.publication, folder);
        let content = match request.purpose {
            Purpose::New => None,
            Purpose::Update => written,
            Purpose::Newest | Purpose::Export | Purpose::Restore => {
                let there = written.as_deref().or_else(|| folder.tree.content(STATE));
                let moved = there.and_then(|content| moved_folder::named(content, &messages::place(folder)));
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

    /// Nothing to change: the state names the session's folder, not the session, and the path of the folder
    /// is written once it is known.
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
            report: messages::not_recovered(&recover::artifacts(folder.tree)),
        });
        let (state, _, _) = said(folder);
        let discrepancy =
            |problem| Question::Discrepancy { problem, remedy: "restore the file, or correct its entry" };
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

impl ItemRules for Essay {
    /// `section-2` is a section of argument development. `draft-2` is the same section in the writing stage.
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

    fn instead_of_field(&self, of: FieldOf, name: &str) -> Option<String> {
        keys_that_are_not_fields::instead(of, name)
    }

    fn wanted_instead(&self, of: FieldOf, name: &str, value: &Value) -> Option<&'static str> {
        let is_score = of == FieldOf::Item && name == VOICE_SCORE;
        let least = if of == FieldOf::Session { state::least(name) } else { None };
        if is_score && !value.is_null() && !is_voice_score(value) {
            return Some("a number from 1 to 5");
        }
        let is_too_small = least.is_some_and(|least| value.as_i64().is_some_and(|number| number < least));
        is_too_small.then_some(if least == Some(0) { "0 or more" } else { "1 or more" })
    }
}

impl Consequences for Essay {
    fn of_revision(&self, revision: &Revision, publication: &SessionToPublish<'_>) -> Vec<Event> {
        consequences::of_revision(revision, &Standpoint::new(publication.session, publication.items))
    }

    fn of_completion(
        &self,
        phase: &Name,
        attempt: &AttemptReport,
        publication: &SessionToPublish<'_>,
        tree: &Tree,
    ) -> Vec<Event> {
        outline::settled(phase, attempt, publication, tree)
    }

    fn of_new_run(&self, publication: &SessionToPublish<'_>) -> Vec<Event> {
        consequences::of_new_run(publication.items)
    }

    fn of_note(&self, event: &Event, publication: &SessionToPublish<'_>) -> Vec<Event> {
        consequences::of_note(event, &Standpoint::new(publication.session, publication.items))
    }
}

impl ToolVoice for Essay {
    fn say(&self, saying: &Saying<'_>) -> Option<String> {
        let Saying::Session { moment, publication, folder } = saying else { return None };
        let standpoint = Standpoint::new(publication.session, publication.items);
        let at = standpoint.position()?;
        Some(match moment {
            Moment::Paused => messages::paused(at),
            Moment::Resumed => messages::resuming(&standpoint, at),
            Moment::Completed => messages::completed(&standpoint, folder),
            Moment::Shown => messages::whole_state(&standpoint, folder, at),
            Moment::Listed => {
                let name = folder.spot.path.rsplit('/').next().unwrap_or_default();
                messages::line(name, at, publication.session.updated_at, folder.now)
            }
        })
    }
}

/// The checks that are approved according to the file. An approval that was later replaced by null is
/// withdrawn, and not included.
fn approved(history: &[Dated]) -> Vec<Approved> {
    let said = history.iter().rev().find_map(|dated| match &dated.event {
        Event::FieldsSet { phase: None, fields } => fields.get(write::BIRDS_EYE_KEY),
        _ => None,
    });
    let is_yes = said == Some(&Value::Bool(true));
    is_yes.then_some(Approved { phase: STAGES[2].name, check: write::BIRDS_EYE }).into_iter().collect()
}

/// The content of the first readable state file, the names of unreadable state files, and the problems found.
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
    let mut problems = vec![Problem::of_file(STATE, What::Unreadable { why, then: Then::WorkedOut })];
    // The problem is reported for the folder. A problem of the file would no longer be true once the backup
    // has replaced the file.
    let mut tell = |what: What| problems.push(Problem::of_file("", what));
    if let Some(state) = recover::from_artifacts(folder) {
        tell(What::Reconstructed { words: RECONSTRUCTED });
        return (state, unreadable, problems);
    }
    let report = messages::not_recovered(&recover::artifacts(folder.tree));
    tell(What::Lost { report, session: folder.id.clone() });
    (State { started_at: began(folder), ..State::default() }, unreadable, problems)
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

fn section_id(index: u32) -> Option<ItemId> {
    ItemId::parse(&format!("{SECTION}-{index}")).ok()
}

fn draft_id(index: u32) -> Option<ItemId> {
    ItemId::parse(&format!("{WRITTEN_SECTION}-{index}")).ok()
}
