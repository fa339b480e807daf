//! Reads workflow-session.json as any version of the tool writes it, and reports odd values. Ignores unknown
//! keys.

use super::STATE;
use super::fields::{Fields, cut};
use super::phase_and_size_names::{PhaseWord, Size};
use super::place::Ground;
use crate::json;
use crate::problem::{Problem, Taken, Then, Type, Unknown, What, Why};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// The values of a state file. All are empty if the file is unreadable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// True if the state file exists and is readable.
    pub is_readable: bool,
    /// True if a later release wrote the file. Such a file has no `meta`, has its times and status at the top
    /// level, and does not name a phase.
    pub is_later: bool,
    pub project: Option<String>,
    pub description: Option<String>,
    pub size: Option<Size>,
    pub phase: Option<PhaseWord>,
    /// The phase as written in the file, if it is not a valid word.
    pub odd_phase: Option<String>,
    /// The status as written, such as `implementing` or `interrupted`.
    pub status: Option<String>,
    /// True if the file says that the review, the last phase, is done. The file may still name it as the
    /// current phase.
    pub is_review_done: bool,
    /// The phases that the file calls done.
    pub completed: Vec<PhaseWord>,
    /// The completion time of each phase, from the key `phases`.
    pub times: Vec<(PhaseWord, Timestamp)>,
    pub transitions: Vec<Transition>,
    pub current_tasks: Vec<String>,
    pub last_checkpoint: Option<Timestamp>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub paused_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub is_abandoned: bool,
    pub last_error: Option<String>,
}

/// A transition from one phase to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    pub completed: Option<PhaseWord>,
    pub next: Option<PhaseWord>,
    pub at: Option<Timestamp>,
}

impl State {
    /// True for a session that the tool created and nobody activated, which its status `initialized` shows.
    pub fn is_unbegun(&self) -> bool {
        self.status.as_deref().is_some_and(|status| status.trim().eq_ignore_ascii_case("initialized"))
    }

    /// When a phase was completed, if the file contains the time.
    pub fn done_at(&self, phase: PhaseWord) -> Option<Timestamp> {
        let found = self.transitions.iter().rev().find(|transition| transition.completed == Some(phase));
        let listed = self.times.iter().find(|(done, _)| *done == phase).map(|(_, at)| *at);
        found.and_then(|transition| transition.at).or(listed)
    }
}

pub(super) fn read(tree: &Tree, file: &str, now: Timestamp, warnings: &mut Vec<Problem>) -> State {
    let content = match tree.get(file) {
        Some(Entry::File(content)) => content,
        None => {
            let why = tree.why_hidden(file).unwrap_or(Why::Missing);
            return unusable(file, why, warnings);
        }
        Some(Entry::Folder) => return unusable(file, Why::IsFolder, warnings),
        Some(Entry::Unread { .. }) => return unusable(file, Why::NotRead, warnings),
        Some(Entry::Unusable(why)) => return unusable(file, Why::Unusable(why.clone()), warnings),
    };
    match json::object_with_doubled(content) {
        Ok((map, doubled)) => {
            let mut fields = Fields { map: &map, file, now, warnings };
            fields.doubled(&doubled);
            from_fields(&mut fields)
        }
        Err(why) => unusable(file, Why::Syntax(why), warnings),
    }
}

fn unusable(file: &str, why: Why, warnings: &mut Vec<Problem>) -> State {
    let what = What::Unreadable { why, then: Then::WorkedOutWithRegistry };
    warnings.push(Problem::of_file(file, what));
    State::default()
}

fn from_fields(fields: &mut Fields<'_>) -> State {
    // Read only to report a wrong type: the folder's name is the id, whatever the file says.
    let _ = fields.text(&["session_id"]);
    for part in ["progress", "meta", "phases"] {
        fields.is_object(&[part]);
    }
    let (phase, odd_phase) = phase(fields);
    let transitions = transitions(fields);
    let last_checkpoint = fields.time(&["progress", "last_checkpoint"]);
    let (completed, is_review_done) = completed(fields, &transitions);
    State {
        is_readable: true,
        is_later: is_later(fields.map),
        project: fields.text(&["project"]),
        description: fields.text(&["description"]),
        size: size(fields),
        phase,
        odd_phase,
        status: fields.text(&["status"]),
        is_review_done,
        completed,
        times: times(fields),
        transitions,
        current_tasks: fields.texts(&["progress", "current_tasks"]).unwrap_or_default(),
        last_checkpoint,
        created: fields.first_time(&[&["meta", "created"], &["created_at"], &["created"]]),
        updated: newest(fields).max(last_checkpoint),
        paused_at: fields.time(&["paused_at"]),
        completed_at: fields.time(&["completed_at"]),
        is_abandoned: fields.text(&["completion_type"]).is_some_and(|kind| kind == "abandoned"),
        last_error: fields.text(&["last_error"]),
    }
}

/// The newest time in the file.
fn newest(fields: &mut Fields<'_>) -> Option<Timestamp> {
    [&["meta", "updated"][..], &["updated_at"], &["resumed_at"]]
        .into_iter()
        .filter_map(|path| fields.time(path))
        .max()
}

fn is_later(file: &Map<String, Value>) -> bool {
    file.contains_key("created_at") && !file.contains_key("meta")
}

fn size(fields: &mut Fields<'_>) -> Option<Size> {
    let text = fields.first_text(&[&["type"], &["complexity"]])?;
    match Size::parse(&text) {
        Some(size) => Some(size),
        // Later releases use this key for the kind of session, with other words, so an unknown word is not
        // reported.
        None if is_later(fields.map) => None,
        None => fields.odd(&["type"], no_size(&text)),
    }
}

/// The problem to report for an invalid size.
pub(super) fn no_size(text: &str) -> What {
    let known = ["simple", "medium", "complex"].map(ToOwned::to_owned).to_vec();
    What::NotOneOf { found: format!("'{}'", cut(text)), known, taken: Taken::Nothing }
}

fn phase(fields: &mut Fields<'_>) -> (Option<PhaseWord>, Option<String>) {
    let Some(text) = fields.first_text(&[&["current_phase"], &["phase"]]) else { return (None, None) };
    match PhaseWord::parse(&text) {
        Some(phase) => (Some(phase), None),
        None => (None, Some(text)),
    }
}

/// The completed phases, and true if the review is completed. Only the last transition can prove that: an
/// earlier transition also exists in a session that was rolled back.
fn completed(fields: &mut Fields<'_>, transitions: &[Transition]) -> (Vec<PhaseWord>, bool) {
    let listed = fields.texts(&["progress", "completed_phases"]);
    if let Some(odd) = listed.iter().flatten().find(|name| PhaseWord::parse(name).is_none()) {
        let unknown = Unknown::PhaseInList { name: cut(odd) };
        let _: Option<()> = fields.odd(&["progress", "completed_phases"], What::NoSuch(unknown));
    }
    let by_name = by_name(fields);
    if let Some(listed) = listed {
        let mut all: Vec<PhaseWord> = listed.iter().filter_map(|name| PhaseWord::parse(name)).collect();
        let is_done = all.contains(&PhaseWord::Review);
        all.extend(by_name);
        return (all, is_done);
    }
    let last = transitions.last().and_then(|transition| transition.completed);
    let is_done = by_name.contains(&PhaseWord::Review) || last == Some(PhaseWord::Review);
    let moved = transitions.iter().filter_map(|transition| transition.completed);
    (by_name.iter().copied().chain(moved).collect(), is_done)
}

/// Completed phases according to `phases{NAME:{status}}`.
fn by_name(fields: &mut Fields<'_>) -> Vec<PhaseWord> {
    let Some(Value::Object(phases)) = fields.get(&["phases"]) else { return Vec::new() };
    let known = phases.keys().filter_map(|name| Some((name.clone(), PhaseWord::parse(name)?)));
    let mut done = Vec::new();
    for (name, phase) in known.collect::<Vec<_>>() {
        fields.is_object(&["phases", &name]);
        if fields.text(&["phases", &name, "status"]).as_deref() == Some("completed") {
            done.push(phase);
        }
    }
    done
}

/// Completion times according to `phases{NAME:{completed_at}}`.
fn times(fields: &mut Fields<'_>) -> Vec<(PhaseWord, Timestamp)> {
    let Some(Value::Object(phases)) = fields.get(&["phases"]) else { return Vec::new() };
    let known = phases.keys().filter_map(|name| Some((name.clone(), PhaseWord::parse(name)?)));
    let known: Vec<(String, PhaseWord)> = known.collect();
    let found =
        known.into_iter().map(|(name, phase)| (phase, fields.time(&["phases", &name, "completed_at"])));
    found.filter_map(|(phase, at)| Some((phase, at?))).collect()
}

fn transitions(fields: &mut Fields<'_>) -> Vec<Transition> {
    let list = match fields.get(&["state_transitions"]) {
        Some(Value::Array(list)) => list.clone(),
        Some(Value::Null) | None => return Vec::new(),
        Some(_) => {
            return fields.odd(&["state_transitions"], What::NotA(Type::List)).unwrap_or_default();
        }
    };
    let named = list.into_iter().enumerate().map(|(at, entry)| (format!("state_transitions[{at}]"), entry));
    named.filter_map(|(name, entry)| one_transition(fields, &name, entry)).collect()
}

/// Reads one transition. Problems are reported under `name`, which identifies the entry in its list.
fn one_transition(fields: &mut Fields<'_>, name: &str, entry: Value) -> Option<Transition> {
    let map = Map::from_iter([(name.to_owned(), entry)]);
    let mut entry = Fields { map: &map, file: fields.file, now: fields.now, warnings: &mut *fields.warnings };
    entry.is_object(&[name]);
    let mut word = |key: &str| entry.text(&[name, key]).as_deref().and_then(PhaseWord::parse);
    let (completed, next) = (word("phase_completed"), word("next_phase"));
    let at = entry.time(&[name, "completed_at"]);
    map[name].is_object().then_some(Transition { completed, next, at })
}

/// The phase according to the file. In later releases the status may name the phase, and then overrides the
/// other fields.
pub(super) fn phase_in_file(state: &State, ground: Ground) -> Option<PhaseWord> {
    match (state.phase, by_status(state)) {
        (Some(phase), Some(status)) if ground == Ground::Active && phase.position() != status.position() => {
            Some(status)
        }
        (Some(phase), _) => Some(phase),
        (None, _) => last_valid(state),
    }
}

/// The last phase known from the file's other fields; used if the file names no valid phase.
pub(super) fn last_valid(state: &State) -> Option<PhaseWord> {
    let moved_to = state.transitions.iter().rev().find_map(|transition| transition.next);
    let after = state.completed.iter().map(|phase| phase.position() + 1).max().map(PhaseWord::at);
    moved_to.or(after).or_else(|| by_status(state))
}

fn by_status(state: &State) -> Option<PhaseWord> {
    match state.status.as_deref() {
        Some("planning") => Some(PhaseWord::Plan),
        Some("implementing") => Some(PhaseWord::Implement),
        Some("reviewing") => Some(PhaseWord::Review),
        Some(_) | None => None,
    }
}

pub(super) fn say_which_phase(state: &State, taken: PhaseWord, folder: &str, warnings: &mut Vec<Problem>) {
    let path = format!("{folder}/{STATE}");
    let what = match (&state.odd_phase, state.phase) {
        (Some(odd), _) => What::NoSuch(Unknown::Phase { name: cut(odd), last_valid: taken.word() }),
        // Files of later releases need not name a phase; their other fields suffice.
        (None, None) if state.is_readable && !state.is_later && last_valid(state).is_none() => {
            What::Absent(Taken::WorkedOut(taken.word()))
        }
        (None, _) => return,
    };
    warnings.push(Problem::of_field(path, "current_phase", what));
}
