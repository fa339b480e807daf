//! The consequences of a revised stage for later stages: sections whose argument map was archived are redone,
//! no field names an archived file any more, and the approval of all sections together is withdrawn. A new
//! run restarts everything. This module only creates events.

use super::artifacts::argument_map;
use super::position::Standpoint;
use super::recover::{DRAFT, FINAL};
use super::state::FILE_KEYS;
use super::{NEEDS_REVIEW, STAGES};
use model::event::{Event, ItemEvent};
use model::id::Name;
use model::item::{Item, ItemBook, ItemChange};
use model::note::{Note, NoteKind};
use model::phase::Phase;
use model::revision::{Impact, Revision, reopened};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

const COUNTERS: [&str; 2] = ["verified_claims", "deferred_claims"];

/// The events that follow from a revision. `before` is the session before the revision.
pub(super) fn of_revision(revision: &Revision, before: &Standpoint<'_>) -> Vec<Event> {
    let away = revision.archived.iter().filter(|archived| !archived.copied);
    let away: BTreeSet<&str> = away.map(|archived| file_name(&archived.from)).collect();
    let mut events = Vec::new();
    for position in 0..STAGES.len() {
        events.extend(before.phase(position).and_then(|phase| unnamed(phase, position, &away)));
    }
    events.extend(session_fields(revision, &away));
    let is_major = revision.impact == Impact::Major;
    for (index, section) in before.sections(2) {
        let is_away = away.contains(map_name(*index, section).as_str());
        if is_away || (is_major && is_restarted(revision, 2)) {
            events.extend(section_again(section, is_major, "argument_map_file"));
        }
    }
    for section in before.sections(3).values() {
        if away.contains(DRAFT) || (is_major && is_restarted(revision, 3)) {
            let parts = before.paragraphs(section);
            let parts = parts.into_iter().filter(|_| !is_major).filter_map(reopened).map(Event::Item);
            events.extend(parts);
            events.extend(section_again(section, is_major, "voice_check_score"));
        }
    }
    events
}

/// The events that follow from the start of a new run. `items` are the items before it. Sections of earlier
/// runs are dropped, because the file has one list of sections, and the new run uses the same ids. The log
/// keeps the earlier results.
pub(super) fn of_new_run(items: &ItemBook) -> Vec<Event> {
    let mut gone: Vec<&Item> = items.iter().collect();
    // Parts are dropped before their containers.
    gone.sort_by_key(|item| (Reverse(item.level()), item.sort_key()));
    let dropped = gone.into_iter().map(|item| {
        let (id, run, phase) = (item.id.clone(), item.run.clone(), item.phase.clone());
        Event::Item(ItemEvent::ItemDropped { id, run, phase, reason: None })
    });
    let fields = BTreeMap::from([("birds_eye_approved".to_owned(), json!(false))]);
    dropped.chain([Event::FieldsSet { phase: None, fields }]).collect()
}

/// The count of deferred claims of a section, which is at least the number of its open notes about them. A
/// count that somebody set higher stays.
pub(super) fn of_note(event: &Event, before: &Standpoint<'_>) -> Vec<Event> {
    let notes = &before.session.notes;
    let (fields, is_new) = match event {
        Event::NoteAdded { kind: NoteKind::Deferred, fields, .. } => (fields, true),
        Event::NoteResolved { id } => {
            let is_it = |note: &&Note| note.id == *id && note.kind == NoteKind::Deferred && note.is_open();
            let Some(note) = notes.iter().find(is_it) else { return Vec::new() };
            (&note.fields, false)
        }
        _ => return Vec::new(),
    };
    let place = |fields: &BTreeMap<String, Value>| u32::try_from(fields.get("section")?.as_u64()?).ok();
    let Some((index, section)) =
        place(fields).and_then(|index| Some((index, before.sections(2).get(&index)?)))
    else {
        return Vec::new();
    };
    let is_of_section = |note: &&Note| {
        note.kind == NoteKind::Deferred && note.is_open() && place(&note.fields) == Some(index)
    };
    let open = i64::try_from(notes.iter().filter(is_of_section).count()).unwrap_or(i64::MAX);
    let count = section.counters.get("deferred_claims").copied().unwrap_or(0);
    let now = if is_new {
        count.max(open.saturating_add(1))
    } else if count == open {
        open - 1
    } else {
        count
    };
    let change = ItemChange {
        counters: BTreeMap::from([("deferred_claims".to_owned(), now)]),
        ..ItemChange::default()
    };
    let set = Event::Item(ItemEvent::ItemSet { id: section.id.clone(), change });
    Some(set).filter(|_| now != count).into_iter().collect()
}

/// Clears the fields of a stage that name an archived file.
fn unnamed(phase: &Phase, position: usize, away: &BTreeSet<&str>) -> Option<Event> {
    let names = |key: &str| phase.fields.get(key).and_then(Value::as_str).map(file_name);
    let own = FILE_KEYS.into_iter().filter(|(of, _, _)| *of == position);
    let gone = own.filter(|(_, key, usual)| away.contains(names(key).unwrap_or(usual)));
    let fields: BTreeMap<String, Value> = gone.map(|(_, key, _)| (key.to_owned(), Value::Null)).collect();
    (!fields.is_empty()).then(|| Event::FieldsSet { phase: Some(phase.id().clone()), fields })
}

/// Withdraws the approval of all sections together. Clears the path of the finished essay if that file was
/// archived.
fn session_fields(revision: &Revision, away: &BTreeSet<&str>) -> Option<Event> {
    let mut fields = BTreeMap::new();
    let arguments = STAGES[2].name;
    let is_open = |names: &[Name]| names.iter().any(|name| *name == *arguments);
    if revision.phase == *arguments || is_open(&revision.flagged) || is_open(&revision.restarted) {
        fields.insert("birds_eye_approved".to_owned(), json!(false));
    }
    // The path is filled in when the session is completed, so the file may name the finished essay although
    // the session does not. The path is cleared in both cases.
    if away.contains(FINAL) {
        fields.insert("final_essay_file".to_owned(), Value::Null);
    }
    (!fields.is_empty()).then_some(Event::FieldsSet { phase: None, fields })
}

/// Restarts a section after a major change. After a smaller change, the user reviews the section and decides
/// whether to revise it.
fn section_again(section: &Item, is_major: bool, told: &str) -> Vec<Event> {
    let mut change = ItemChange::default();
    // This key is cleared even if the session does not have it, because the file may have it.
    change.fields.insert(told.to_owned(), Value::Null);
    let is_flagged = section.fields.get(NEEDS_REVIEW) == Some(&Value::Bool(true));
    if is_flagged == is_major {
        change.fields.insert(NEEDS_REVIEW.to_owned(), json!(!is_major));
    }
    for name in COUNTERS.into_iter().filter(|_| is_major) {
        if section.counters.get(name).is_some_and(|count| *count != 0) {
            change.counters.insert(name.to_owned(), 0);
        }
    }
    // Items of restarted phases are already open.
    let open = reopened(section).filter(|_| !is_major);
    let set = ItemEvent::ItemSet { id: section.id.clone(), change };
    open.into_iter().chain([set]).map(Event::Item).collect()
}

fn is_restarted(revision: &Revision, position: usize) -> bool {
    revision.restarted.iter().any(|phase| *phase == *STAGES[position].name)
}

fn map_name(index: u32, section: &Item) -> String {
    let said = section.fields.get("argument_map_file").and_then(Value::as_str);
    said.map_or_else(|| argument_map(index), |path| file_name(path).to_owned())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
