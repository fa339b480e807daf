//! Writes deferred verifications, overrides and revisions. Entries are added and marked as resolved. Only an
//! undo removes entries.

use super::{Changes, time};
use crate::essay::STAGES;
use crate::yaml::Step::{At, Key};
use model::note::{Note, NoteKind};
use model::revision::Impact;
use model::session::RevisionMade;
use serde_json::{Map, Value, json};

const DEFERRED: &str = "deferred_verifications";
const OVERRIDES: &str = "user_overrides";
const REVISIONS: &str = "revision_history";

impl Changes<'_> {
    pub(super) fn claims(&mut self) {
        for (kind, list) in [(NoteKind::Deferred, DEFERRED), (NoteKind::Override, OVERRIDES)] {
            let notes: Vec<&Note> =
                self.publication.session.notes.iter().filter(|note| note.kind == kind).collect();
            for (rank, note) in ranked(&notes) {
                match self.entry_with(list, &note.text, rank) {
                    Some(place) => self.settle(list, place, note),
                    None => self.push(&[Key(list)], &entry(note)),
                }
            }
            self.claims_taken_back(list, &notes);
        }
    }

    /// The index of the entry with this text; `rank` tells entries with the same text apart. An entry without
    /// a note is not removed, because a session stores only the newest resolved notes.
    fn entry_with(&self, list: &str, text: &str, rank: usize) -> Option<usize> {
        let entries = self.document.get(&[Key(list)])?;
        let same = |(_, entry): &(usize, &Value)| entry.get("claim_text") == Some(&json!(text));
        entries.as_array()?.iter().enumerate().filter(same).nth(rank).map(|(place, _)| place)
    }

    fn settle(&mut self, list: &str, place: usize, note: &Note) {
        let path = [Key(list), At(place), Key("resolved")];
        let is_said = self.document.get(&path).is_some_and(|said| is_yes(&said));
        match note.resolved_at {
            Some(_) if !is_said => self.set(&path, &json!(true)),
            None if is_said && self.went_back => self.set(&path, &json!(false)),
            Some(_) | None => {}
        }
    }

    /// After an undo, removes the open claims for which the session has no note.
    fn claims_taken_back(&mut self, list: &str, notes: &[&Note]) {
        let entries = if self.went_back { self.entries(list) } else { Vec::new() };
        for (place, entry) in entries.iter().enumerate().rev() {
            let is_it = |other: &&Value| other.get("claim_text") == entry.get("claim_text");
            let rank = entries[..place].iter().filter(is_it).count();
            let told = notes.iter().filter(|note| entry.get("claim_text") == Some(&json!(note.text))).count();
            if rank >= told && !entry.get("resolved").is_some_and(is_yes) {
                self.drop_entry(&[Key(list)], place);
            }
        }
    }

    /// Adds the revisions that are missing from the file. Revisions with the same content are matched in
    /// order.
    pub(super) fn revisions(&mut self) {
        let known = self.entries(REVISIONS);
        let made: Vec<Value> = self.publication.session.revisions.iter().filter_map(revised).collect();
        for (place, entry) in made.iter().enumerate() {
            if alike(&made[..place], entry) >= alike(&known, entry) {
                self.push(&[Key(REVISIONS)], entry);
            }
        }
        for (place, entry) in known.iter().enumerate().rev() {
            if self.went_back && alike(&known[..place], entry) >= alike(&made, entry) {
                self.drop_entry(&[Key(REVISIONS)], place);
            }
        }
    }

    fn entries(&self, list: &str) -> Vec<Value> {
        let entries = self.document.get(&[Key(list)]);
        entries.and_then(|list| list.as_array().cloned()).unwrap_or_default()
    }
}

/// How many of these entries are equal to `entry`.
fn alike(entries: &[Value], entry: &Value) -> usize {
    entries.iter().filter(|other| told(other) == told(entry)).count()
}

/// The stage, impact and reason in an entry. An unknown impact is read as the smallest.
fn told(entry: &Value) -> (Option<&Value>, &str, &str) {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let impact = Impact::ALL.into_iter().find(|impact| impact.name() == text("impact"));
    (entry.get("stage_revisited"), impact.unwrap_or(Impact::Minor).name(), text("reason"))
}

/// Each note, with the number of earlier notes that have the same text.
fn ranked<'a>(notes: &[&'a Note]) -> Vec<(usize, &'a Note)> {
    let rank = |place: usize| notes[..place].iter().filter(|other| other.text == notes[place].text).count();
    (0..notes.len()).map(|place| (rank(place), notes[place])).collect()
}

fn entry(note: &Note) -> Value {
    let field = |name: &str| note.fields.get(name).cloned().unwrap_or_default();
    let at = |name: &str| note.fields.get(name).cloned().unwrap_or_else(|| time(note.at));
    let mut entry = Map::from_iter([("claim_text".to_owned(), json!(note.text))]);
    let mut put = |name: &str, value: Value| drop(entry.insert(name.to_owned(), value));
    if note.kind == NoteKind::Deferred {
        put("section", field("section"));
        put("paragraph", field("paragraph"));
        put("reason", field("reason"));
        put("added_at", at("added_at"));
        put("resolved", json!(note.resolved_at.is_some()));
    } else {
        put("fact_checker_result", field("fact_checker_result"));
        put("user_action", note.fields.get("user_action").cloned().unwrap_or_else(|| json!("override")));
        put("user_rationale", field("user_rationale"));
        put("logged_at", at("logged_at"));
    }
    for (name, value) in &note.fields {
        entry.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(entry)
}

fn revised(made: &RevisionMade) -> Option<Value> {
    let revision = &made.revision;
    let stage = STAGES.iter().position(|stage| revision.phase == *stage.name)?;
    // The list contains only archived files of later stages. The old version of the stage's own file is a
    // copy, and not in the list.
    let archived = revision.archived.iter().filter(|archived| !archived.copied);
    let names: Vec<&str> = archived.filter_map(|archived| archived.to.rsplit('/').next()).collect();
    Some(json!({
        "stage_revisited": stage + 1,
        "impact": revision.impact.name(),
        "reason": revision.reason,
        "downstream_archived": names,
        "timestamp": time(made.at),
    }))
}

fn is_yes(said: &Value) -> bool {
    let is_word = |text: &str| ["yes", "on"].contains(&text.to_ascii_lowercase().as_str());
    said == &json!(true) || said.as_str().is_some_and(is_word)
}
