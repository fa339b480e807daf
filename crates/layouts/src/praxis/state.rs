//! Reads a session's file in any of the three formats, and reports odd values. Ignores unknown keys.

mod attempts;
pub(super) mod damage;
mod fields;
mod phase_data;
mod phase_range;
mod phase_times;
mod wrong_types;

pub use phase_range::Extent;

use super::MOST_PHASES;
use super::time_format;
use crate::json;
use crate::problem::{Disagreement, Problem, Then, What, Why};
use crate::tree::{Entry, Tree};
use fields::Fields;
use jiff::Timestamp;
use model::gate::{AttemptOutcome, AttemptReport};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The three formats of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    First,
    Second,
    /// The format that leftoff writes for new sessions.
    #[default]
    Seed,
}

/// The values of a session's file. All are empty if the file is unreadable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    pub is_readable: bool,
    pub shape: Shape,
    /// True if the times in the file have no zone. leftoff then writes new times without a zone, too.
    pub has_local_times: bool,
    pub workflow_type: Option<String>,
    pub target: Option<String>,
    /// The current phase as written in the file. In a finished session, it may be the number after the last
    /// phase.
    pub current: Option<i64>,
    pub completed: BTreeSet<u32>,
    /// The number of phases in `workflow_structure`, or in `metadata.total_phases`.
    pub recorded_total: Option<Recorded>,
    /// True if the tool recorded the number of phases itself, when the session started.
    pub is_tools_total: bool,
    pub recorded_start: Option<u32>,
    pub version: Option<String>,
    pub phases: BTreeMap<u32, PhaseSaid>,
    pub life: Life,
    /// The last recorded error, even if the session has continued since then.
    pub last_error: Option<String>,
    pub resume_count: u32,
    pub metadata: Map<String, Value>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

/// A number of phases as recorded in the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    Number(u32),
    /// A value that is not a usable number, such as "dynamic" or 0.
    Unusable(String),
}

/// The data about one phase in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PhaseSaid {
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub paused_seconds: u64,
    pub checkpoint: Option<String>,
    /// The attempts, oldest first.
    pub attempts: Vec<AttemptSaid>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AttemptSaid {
    pub at: Option<Timestamp>,
    pub outcome: AttemptOutcome,
    pub report: AttemptReport,
}

/// The overall state of the session, found from flags in the file and from its folder.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Life {
    /// No flag is set. The phases decide whether the session is completed.
    #[default]
    Unsaid,
    Active,
    Paused {
        at: Option<Timestamp>,
        reason: Option<String>,
        context: Option<String>,
    },
    Completed {
        at: Option<Timestamp>,
    },
    Failed {
        at: Option<Timestamp>,
        error: String,
    },
}

pub(super) fn read(path: &str, tree: &Tree, now: Timestamp, warnings: &mut Vec<Problem>) -> State {
    let mut say = |field: &str, what: What| warnings.push(problem(path, field, what));
    let found = match tree.get(path) {
        Some(Entry::File(content)) => {
            json::object_of_python_with_doubled(content).map_err(Why::Syntax).and_then(of_a_session)
        }
        Some(Entry::Folder) => Err(Why::IsFolder),
        Some(Entry::Unread { .. }) => Err(Why::NotRead),
        Some(Entry::Unusable(why)) => Err(Why::Unusable(why.clone())),
        None => Err(Why::Missing),
    };
    match found {
        Ok((fields, doubled)) => {
            for key in doubled {
                say(&key, What::Doubled);
            }
            let damage = damage::of(&fields);
            if !damage.is_empty() {
                let why = Why::Damaged(damage.clone());
                say("", What::Unreadable { why, then: Then::PositionUnknown });
            }
            for (place, word) in json::not_numbers(tree.content(path).unwrap_or_default()) {
                say(&place, What::NotJsonNumber { word });
            }
            for section in damage::empty(&fields) {
                say(section, What::EmptySection);
            }
            // A wrong type that was already reported as damage is not reported twice.
            let mut say = |field: &str, what: What| {
                let is_told = damage.iter().any(|damage| damage.field == field);
                if !(is_told && matches!(what, What::WrongType { .. })) {
                    say(field, what);
                }
            };
            let mut fields = Fields { of: &fields, zone: tree.zone(), now, say: &mut say };
            State { is_readable: damage.is_empty(), ..from_fields(path, &mut fields) }
        }
        Err(why) => {
            say("", What::Unreadable { why, then: Then::PositionUnknown });
            State::default()
        }
    }
}

/// True if a session can be read from this content.
pub(super) fn is_whole(content: &[u8]) -> bool {
    let found = json::object_of_python_with_doubled(content).ok().and_then(|found| of_a_session(found).ok());
    found.is_some_and(|(fields, _)| damage::of(&fields).is_empty())
}

/// The type of a function that reports a problem with a field. An empty field name means the whole file.
pub(super) type Say<'a> = dyn FnMut(&str, What) + 'a;

pub(super) fn problem(path: &str, field: &str, what: What) -> Problem {
    Problem { path: path.to_owned(), field: Some(field.to_owned()).filter(|field| !field.is_empty()), what }
}

/// A JSON object, with the keys that occur twice in it.
type WithDoubled = (Map<String, Value>, Vec<String>);

/// Refuses JSON that is not a session. The folder may contain files of other programs.
fn of_a_session(found: WithDoubled) -> Result<WithDoubled, Why> {
    const ANY: &[&str] = &["session_id", "workflow_type", "current_phase", "completed_phases", "checkpoints"];
    if ANY.iter().any(|key| found.0.contains_key(*key)) { Ok(found) } else { Err(Why::NoneOfTheKeys(ANY)) }
}

fn from_fields(path: &str, fields: &mut Fields<'_>) -> State {
    let shape = shape(path, fields.of);
    // Read only to report a wrong type: the name of the file is the id, whatever the file says.
    let _ = fields.text("session_id");
    wrong_types::check(fields);
    let metadata = fields.section("metadata");
    let structure = ours_or_own(fields, &metadata, "workflow_structure");
    let mut state = State {
        is_readable: true,
        shape,
        has_local_times: has_local_times(fields.of) == Some(true),
        workflow_type: fields.text("workflow_type"),
        target: fields.text("target_file"),
        current: fields.integer("current_phase"),
        completed: fields.phases("completed_phases"),
        recorded_total: structure.get("total_phases").or(metadata.get("total_phases")).and_then(total),
        is_tools_total: structure.get("total_phases").is_none(),
        recorded_start: start(&structure),
        version: structure.get("workflow_version").and_then(Value::as_str).map(ToOwned::to_owned),
        phases: BTreeMap::new(),
        life: Life::Unsaid,
        last_error: None,
        resume_count: 0,
        created_at: fields.time("created_at"),
        updated_at: fields.time("updated_at"),
        metadata,
    };
    state.phases = phase_data::phases(fields, &state);
    let lifecycle = ours_or_own(fields, &state.metadata, "lifecycle");
    let counted = lifecycle.get("resume_count").and_then(Value::as_u64).unwrap_or_default();
    state.resume_count = u32::try_from(counted).unwrap_or(u32::MAX).min(1_000);
    let error = lifecycle.get("last_error").and_then(Value::as_str).filter(|text| !text.is_empty());
    state.last_error = error.map(ToOwned::to_owned);
    state.life = life(path, fields, &lifecycle, &state.phases);
    state
}

/// A section that leftoff adds. It is below `metadata` in the second format, which has no other place for it,
/// and otherwise at the top level.
fn ours_or_own(fields: &mut Fields<'_>, metadata: &Map<String, Value>, key: &str) -> Map<String, Value> {
    match ours(metadata).and_then(|ours| ours.get(key)) {
        Some(Value::Object(section)) => section.clone(),
        Some(_) | None => fields.section(key),
    }
}

/// The part of `metadata` in a file of the second format that leftoff wrote.
fn ours(metadata: &Map<String, Value>) -> Option<&Map<String, Value>> {
    metadata.get(super::OURS).and_then(Value::as_object)
}

/// The format of a file. If its times have no zone, it is in one of the two old formats, whatever keys it
/// has. A file with zones and with the `lifecycle` of the newest format is in the newest format, in whatever
/// folder it is.
fn shape(path: &str, fields: &Map<String, Value>) -> Shape {
    let is_second = super::folder_status(path).is_some()
        || ["phase_timings", "evidence_submitted"].iter().any(|key| fields.contains_key(*key));
    let has_lifecycle = fields.contains_key("lifecycle");
    let is_old = has_local_times(fields).unwrap_or(!has_lifecycle);
    match (is_old, is_second) {
        (true, true) => Shape::Second,
        (false, true) if !has_lifecycle => Shape::Second,
        (true, false) => Shape::First,
        (false, _) => Shape::Seed,
    }
}

/// True if the times in a file have no zone. `None` if the file contains no time.
fn has_local_times(fields: &Map<String, Value>) -> Option<bool> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    text("created_at").or(text("updated_at")).map(time_format::is_local)
}

fn total(value: &Value) -> Option<Recorded> {
    if value.is_null() {
        return None;
    }
    let number = fields::whole(value).and_then(|number| u32::try_from(number).ok());
    let number = number.filter(|number| (1..=MOST_PHASES).contains(number));
    Some(number.map_or_else(|| Recorded::Unusable(value.to_string()), Recorded::Number))
}

fn start(structure: &Map<String, Value>) -> Option<u32> {
    let number = structure.get("starting_phase").and_then(Value::as_u64);
    match (number, structure.get("indexing_scheme").and_then(Value::as_str)) {
        (Some(0), _) | (None, Some("zero_based")) => Some(0),
        (Some(1), _) | (None, Some("one_based")) => Some(1),
        (Some(_) | None, _) => None,
    }
}

/// The overall state of the session. Its status folder decides, or else the flags in `lifecycle`, or else
/// `status`.
fn life(
    path: &str,
    fields: &mut Fields<'_>,
    lifecycle: &Map<String, Value>,
    phases: &BTreeMap<u32, PhaseSaid>,
) -> Life {
    let flag = |key: &str| lifecycle.get(key) == Some(&Value::Bool(true));
    let text = |key: &str| lifecycle.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let ended = fields.time("completed_at");
    let reason = fields.text("error_reason");
    let status = fields.text("status").filter(|_| lifecycle.is_empty());
    let folder = super::folder_status(path);
    if let (Some(folder), Some(status)) = (folder, status.as_deref())
        && folder != status
    {
        let how = Disagreement::StatusAndFolder { status: status.to_owned(), folder };
        (fields.say)("status", What::Disagrees(how));
    }
    match folder.or(status.as_deref()) {
        Some("completed") => return Life::Completed { at: ended },
        Some("error") => {
            let known = reason.or_else(|| text("last_error").map(ToOwned::to_owned));
            let error = known.unwrap_or_else(|| "no reason was given".to_owned());
            return Life::Failed { at: ended, error };
        }
        Some(_) | None => {}
    }
    if flag("completed") {
        return Life::Completed { at: fields.time_in(lifecycle, "completed_at") };
    }
    if flag("paused") {
        return Life::Paused {
            at: fields.time_in(lifecycle, "paused_at"),
            reason: text("paused_reason").map(ToOwned::to_owned),
            context: text("paused_context").map(ToOwned::to_owned),
        };
    }
    if let Some(error) = text("last_error") {
        let at = fields.time_in(lifecycle, "last_error_at");
        let resumed = fields.time_in(lifecycle, "resumed_at");
        if !is_over(at, resumed, phases) {
            return Life::Failed { at, error: error.to_owned() };
        }
    }
    if lifecycle.is_empty() { Life::Unsaid } else { Life::Active }
}

/// True if work continued after an error: after it, the session was resumed, or a phase started or ended.
fn is_over(error: Option<Timestamp>, resumed: Option<Timestamp>, phases: &BTreeMap<u32, PhaseSaid>) -> bool {
    let Some(error) = error else { return false };
    let went_on =
        |phase: &PhaseSaid| [phase.started_at, phase.completed_at].iter().flatten().any(|at| *at > error);
    resumed.is_some_and(|resumed| resumed >= error) || phases.values().any(went_on)
}

impl State {
    /// True for a file in an old format to which leftoff has added nothing. A file with leftoff's additions
    /// in `metadata` contains as much as one in the newest format.
    pub(super) fn is_legacy(&self) -> bool {
        let has_ours = self.shape == Shape::Second && ours(&self.metadata).is_some();
        self.is_readable && self.shape != Shape::Seed && !has_ours
    }
}
