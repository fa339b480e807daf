//! Reads session-state.yaml with all its keys, and reports odd values. Reads no other file.

mod declared;
mod reader;
mod sections;

use super::{STAGES, STATE};
use crate::problem::{Damage, Disagreement, Problem, Range, Type, Unknown, What, Why};
use crate::yaml;
use jiff::Timestamp;
use model::revision::Impact;
use reader::Reader;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) use declared::{least, meant};
pub(super) use sections::{MOST_PARAGRAPHS, MOST_SECTIONS};

pub(super) type Fields = BTreeMap<String, Value>;

/// Top-level keys that are fields of the session.
pub(super) const SESSION_KEYS: [&str; 4] =
    ["pipeline_id", "style_profile_path", "samples_dir_path", "pushback_level"];
/// Keys of a stage that are stored as fields of the session, because gates and people refer to them by name.
pub(super) const SHARED_KEYS: [(usize, &str); 6] = [
    (0, "claim_type"),
    (1, "total_sections"),
    (1, "target_word_count"),
    (1, "audience"),
    (2, "total_sections"),
    (2, "birds_eye_approved"),
];
/// Keys of a stage that name files. Each entry has the stage, the key, and the usual name of the file.
pub(super) const FILE_KEYS: [(usize, &str, &str); 5] = [
    (0, "thesis_file", "stage-1-thesis.md"),
    (0, "development_log", "stage-1-development-log.md"),
    (1, "outline_file", "stage-2-outline.md"),
    (3, "draft_file", "stage-4-draft.md"),
    (3, "paragraph_log", "stage-4-paragraph-log.md"),
];
pub(super) const VOICE_KEYS: [&str; 3] =
    ["first_assessment_user_rating", "calibration_notes", "voice_reference_mode"];
pub(super) const OUTPUT_KEYS: [&str; 4] =
    ["final_essay_file", "sources_verified", "voice_consistency_score", "total_word_count"];
/// Valid reasons for a deferred verification.
pub(super) const DEFERRED_REASONS: [&str; 3] = ["timeout", "service_unavailable", "no_results"];
/// Top-level keys that the session does not store as fields, because it has another place for each.
const KNOWN_KEYS: [&str; 12] = [
    "started_at",
    "last_activity",
    "status",
    "session_dir",
    "current_stage",
    "current_stage_name",
    "stages",
    "voice_calibration",
    "deferred_verifications",
    "user_overrides",
    "revision_history",
    "output",
];
const KNOWN_STAGE_KEYS: [&str; 6] =
    ["status", "completed_at", "total_sections", "current_section", "current_paragraph", "sections"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    InProgress,
    Paused,
    Completed,
    Abandoned,
}

impl Status {
    const ALL: [Self; 4] = [Self::InProgress, Self::Paused, Self::Completed, Self::Abandoned];

    pub fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum StageStatus {
    #[default]
    NotStarted,
    InProgress,
    Completed,
    NeedsReview,
}

impl StageStatus {
    const ALL: [Self; 4] = [Self::NotStarted, Self::InProgress, Self::Completed, Self::NeedsReview];

    pub fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::NeedsReview => "needs_review",
        }
    }
}

/// The content of a state file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct State {
    pub status: Option<Status>,
    pub started_at: Option<Timestamp>,
    pub last_activity: Option<Timestamp>,
    pub session_dir: Option<String>,
    /// The index of the current stage, from 0 to 3.
    pub current: Option<usize>,
    pub stages: [Stage; 4],
    /// The sections of stage 3.
    pub sections: Vec<Section>,
    /// The sections of stage 4.
    pub drafts: Vec<Section>,
    /// The fields of the session, wherever they are in the file.
    pub fields: Fields,
    pub deferred: Vec<Claim>,
    pub overrides: Vec<Claim>,
    pub revisions: Vec<Revised>,
    pub completed_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Stage {
    pub status: StageStatus,
    pub completed_at: Option<Timestamp>,
    /// The current section as written in the file; the number may be invalid.
    pub current_section: Option<i64>,
    pub current_paragraph: Option<i64>,
    pub total_sections: Option<u32>,
    pub fields: Fields,
}

/// A section of stage 3 or of stage 4.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Section {
    pub index: u32,
    pub status: StageStatus,
    pub completed_at: Option<Timestamp>,
    pub counters: BTreeMap<String, i64>,
    /// How many paragraphs the section has, and how many of them are approved. Only for stage 4.
    pub paragraphs: Option<u32>,
    pub approved: u32,
    pub fields: Fields,
}

/// A deferred verification, or a statement by the user that contradicts the fact check.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub text: String,
    pub at: Option<Timestamp>,
    pub is_resolved: bool,
    pub fields: Fields,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Revised {
    pub stage: usize,
    pub impact: Impact,
    pub reason: String,
    pub archived: Vec<String>,
    pub at: Option<Timestamp>,
}

/// Parses a state file. The error says why nothing in the file can be used.
pub(super) fn read(bytes: &[u8], now: Timestamp, problems: &mut Vec<Problem>) -> Result<State, Why> {
    let (fields, warnings) = yaml::object(bytes).map_err(Why::Syntax)?;
    // A mapping without a single known key was written for another purpose, and is not a state.
    if !KNOWN_KEYS.iter().any(|key| fields.contains_key(*key)) {
        return Err(Why::NoKeyOfASession);
    }
    if let Some(damage) = damage(&fields) {
        return Err(Why::Damaged(vec![damage]));
    }
    problems.extend(warnings.into_iter().map(|said| Problem::of_file(STATE, What::Syntax(said))));
    Ok(Reader { now, problems }.state(&fields))
}

/// The damage, if the stages were replaced by a value of another type. Such a change must not be adopted as
/// an edit: it would remove everything that the stages contain.
fn damage(file: &Map<String, Value>) -> Option<Damage> {
    let is_no_mapping = |value: &&Value| !value.is_object();
    let no_mapping = |name: &str, value: &Value| Damage {
        field: name.to_owned(),
        found: model::typed_value::shown(value),
        wanted: Type::Mapping,
    };
    let stages = file.get("stages")?;
    if is_no_mapping(&stages) {
        return Some(no_mapping("stages", stages));
    }
    STAGES.iter().find_map(|stage| {
        let value = stages.get(stage.key).filter(is_no_mapping)?;
        Some(no_mapping(&format!("stages.{}", stage.key), value))
    })
}

/// True for a key, at any level, that names a file of the session.
pub(super) fn names_a_file(key: &str) -> bool {
    key.ends_with("_file") || FILE_KEYS.iter().any(|(_, known, _)| *known == key)
}

/// True for a top-level key that the session does not store as a field.
pub(super) fn is_known(key: &str) -> bool {
    KNOWN_KEYS.contains(&key)
}

impl Reader<'_> {
    fn state(&mut self, file: &Map<String, Value>) -> State {
        let empty = Map::new();
        let stages = self.mapping(file, "stages").unwrap_or(&empty);
        let voice = self.mapping(file, "voice_calibration").unwrap_or(&empty);
        let output = self.mapping(file, "output").unwrap_or(&empty);
        let mut state = State {
            status: self.word(file, "status", &Status::ALL, Status::name),
            started_at: self.time(file, "started_at"),
            last_activity: self.time(file, "last_activity"),
            session_dir: self.text(file, "session_dir"),
            current: self.current(file),
            deferred: self.claims(file, "deferred_verifications", "added_at"),
            overrides: self.claims(file, "user_overrides", "logged_at"),
            revisions: self.revisions(file),
            completed_at: self.time(output, "completed_at"),
            ..State::default()
        };
        for (position, stage) in STAGES.iter().enumerate() {
            let own = self.mapping_at("stages", stages, stage.key).unwrap_or(&empty);
            state.stages[position] = self.below(&format!("stages.{}", stage.key), |reader| {
                reader.stage(position, own, &mut state.fields)
            });
        }
        state.sections = self.sections(stages, 2);
        state.drafts = self.sections(stages, 3);
        let free = file.iter().filter(|(key, _)| !KNOWN_KEYS.contains(&key.as_str()));
        self.declared("", free, &mut state.fields);
        self.declared("voice_calibration.", voice.iter(), &mut state.fields);
        let output = output.iter().filter(|(key, _)| *key != "completed_at");
        self.declared("output.", output, &mut state.fields);
        state
    }

    /// The index of the current stage, found by its name, or else by its number.
    fn current(&mut self, file: &Map<String, Value>) -> Option<usize> {
        let name = self.text(file, "current_stage_name");
        let number = self.number(file, "current_stage");
        let named = name.as_deref().and_then(|name| STAGES.iter().position(|stage| stage.name == name));
        let numbered = number.filter(|number| (1..=4).contains(number)).map(|number| number as usize - 1);
        if let (Some(name), None) = (&name, named) {
            self.odd("current_stage_name", What::NoSuch(Unknown::Stage { name: name.clone() }));
        }
        if let (Some(number), None) = (number, numbered) {
            self.odd("current_stage", What::OutOfRange { found: number.into(), range: Range::Stages });
        }
        match (named, numbered) {
            (Some(named), Some(numbered)) if named != numbered => {
                let how = Disagreement::StageAndName { number: numbered + 1, name: STAGES[named].name };
                self.odd("current_stage", What::Disagrees(how));
                Some(named)
            }
            (named, numbered) => named.or(numbered),
        }
    }

    fn stage(&mut self, position: usize, own: &Map<String, Value>, shared: &mut Fields) -> Stage {
        let is_shared = |key: &str| SHARED_KEYS.contains(&(position, key));
        let mut said = Fields::new();
        self.declared("", own.iter().filter(|(key, _)| is_shared(key)), &mut said);
        for (key, value) in said {
            if let Some(other) = shared.get(&key).filter(|other| **other != value) {
                let (found, other) = (value.to_string(), other.to_string());
                self.odd(&key, What::Disagrees(Disagreement::EarlierStage { found, other }));
            }
            shared.insert(key, value);
        }
        let mut fields = Fields::new();
        take(&mut fields, own, |key| !is_shared(key) && !KNOWN_STAGE_KEYS.contains(&key));
        let completed_at = self.time(own, "completed_at");
        Stage {
            status: self.stage_status(own, completed_at.is_some()),
            completed_at,
            current_section: self.integer(own, "current_section"),
            current_paragraph: self.integer(own, "current_paragraph"),
            total_sections: self.number(own, "total_sections"),
            fields,
        }
    }

    /// The status of a stage. A completed stage with an unknown status stays completed, because it still has
    /// its completion time.
    pub(super) fn stage_status(&mut self, own: &Map<String, Value>, has_ended: bool) -> StageStatus {
        let said = self.word(own, "status", &StageStatus::ALL, StageStatus::name);
        let is_odd = said.is_none() && own.get("status").is_some_and(|status| !status.is_null());
        let meant = if is_odd && has_ended { StageStatus::Completed } else { StageStatus::NotStarted };
        said.unwrap_or(meant)
    }

    fn claims(&mut self, file: &Map<String, Value>, list: &str, time: &str) -> Vec<Claim> {
        let entries = self.list(file, list);
        let mut claims = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let claim = self.below(&format!("{list}.{}", place + 1), |reader| {
                let text = reader.required(entry, "claim_text")?;
                let mut fields = Fields::new();
                take(&mut fields, entry, |key| !["claim_text", "resolved"].contains(&key));
                let reason = fields.get("reason").and_then(Value::as_str).filter(|_| time == "added_at");
                if let Some(reason) = reason.filter(|reason| !DEFERRED_REASONS.contains(reason)) {
                    let known = DEFERRED_REASONS.map(ToOwned::to_owned).to_vec();
                    let found = format!("'{reason}'");
                    reader.odd(
                        "reason",
                        What::NotOneOf { found, known, taken: crate::problem::Taken::Nothing },
                    );
                }
                let is_resolved = reader.flag(entry, "resolved").unwrap_or(false);
                Some(Claim { text, at: reader.time(entry, time), is_resolved, fields })
            });
            claims.extend(claim);
        }
        claims
    }

    fn revisions(&mut self, file: &Map<String, Value>) -> Vec<Revised> {
        let entries = self.list(file, "revision_history");
        let mut revisions = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let revised = self.below(&format!("revision_history.{}", place + 1), |reader| {
                let number = reader.number(entry, "stage_revisited")?;
                if !(1..=4).contains(&number) {
                    let what = What::OutOfRange { found: number.into(), range: Range::Stages };
                    reader.odd("stage_revisited", what);
                    return None;
                }
                let archived = reader.texts(entry, "downstream_archived");
                Some(Revised {
                    stage: number as usize - 1,
                    impact: reader.word(entry, "impact", &Impact::ALL, Impact::name).unwrap_or(Impact::Minor),
                    reason: reader.text(entry, "reason").unwrap_or_default(),
                    archived,
                    at: reader.time(entry, "timestamp"),
                })
            });
            revisions.extend(revised);
        }
        revisions
    }
}

/// Copies the keys for which `is_wanted` is true and that have a value.
pub(super) fn take(fields: &mut Fields, from: &Map<String, Value>, is_wanted: impl Fn(&str) -> bool) {
    for (key, value) in from {
        if is_wanted(key) && !value.is_null() {
            fields.insert(key.clone(), value.clone());
        }
    }
}
