//! Writes a session's file. A file in an old format keeps its place, keys and local times, and leftoff adds
//! its own values. A new file has nine sections, after the ten keys of the old formats. Only values that
//! differ are changed.

mod lifecycle;
mod phases;
mod second_format;

use super::state::{self, Recorded, Shape, State};
use super::time_format::{self, Writing};
use super::{ATTEMPTS, OURS, TOTAL, definition, folder_status, history, spec_of};
use crate::json::Document;
use crate::layout::{Folder, SessionToPublish};
use crate::redaction_mark::hides_a_secret;
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::run::Run;
use model::session::Session;
use model::workflow::{Indexing, OnComplete};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The updated file. `None` if the file already shows the session.
pub(super) fn state(
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
    path: &str,
    there: Option<&[u8]>,
) -> Option<Vec<u8>> {
    match there.and_then(|bytes| Some((bytes, Document::parse_python(bytes).ok()?))) {
        Some((bytes, document)) => edit(publication, folder, path, bytes, document),
        None => anew(publication, folder, path),
    }
}

/// The updated file of a session that continued while its file was missing. Phases that started in the
/// meantime get their times.
pub(super) fn back(
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
    path: &str,
    there: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let Some((bytes, document)) = there.and_then(|bytes| Some((bytes, Document::parse_python(bytes).ok()?)))
    else {
        return anew(publication, folder, path);
    };
    let mut change = Change::new(publication, folder, path, bytes, document)?;
    change.went_on_without = change.said.updated_at;
    change.all();
    change.any.then(|| change.document.into_bytes())
}

/// A complete new file. It is in the second format if the project has files in that format, otherwise in the
/// newest. Other keys of an older file are kept.
pub(super) fn anew(publication: &SessionToPublish<'_>, folder: &Folder<'_>, path: &str) -> Option<Vec<u8>> {
    let kept = folder.tree.content(path).and_then(|content| Document::parse_python(content).ok());
    if kept.is_none() && folder_status(path).is_some() {
        return second_format::anew(publication, folder, path);
    }
    let run = publication.session.run()?;
    let session = publication.session;
    let mut document = Document::new();
    let at = |at: Timestamp| json!(time_format::write(at, Writing::Utc, &TimeZone::UTC));
    let before = folder.tree.content(path).map(|content| read(path, content, folder)).unwrap_or_default();
    let own_id = kept.as_ref().and_then(|kept| kept.get(&["session_id"])).filter(Value::is_string);
    let named = before.workflow_type.clone().unwrap_or_else(|| run.workflow.name.to_string());
    for (key, value) in [
        ("session_id", own_id.unwrap_or_else(|| json!(session.id))),
        ("workflow_type", json!(named)),
        ("target_file", json!(about(session))),
        ("current_phase", json!(run.current_number())),
        ("completed_phases", json!([])),
        ("phase_artifacts", json!({})),
        ("checkpoints", json!({})),
        ("created_at", at(session.created_at)),
        ("updated_at", at(session.updated_at)),
        ("metadata", json!({})),
        ("workflow_structure", structure(run)),
        ("phase_timing", json!({})),
        ("lifecycle", lifecycle::none()),
    ] {
        document.set(&[key], &value);
    }
    let blank = document.into_bytes();
    let document = Document::parse(&blank).ok()?;
    let mut change = Change::new(publication, folder, path, &blank, document)?;
    if let Some(kept) = &kept {
        change.carry_over(&before, kept);
    }
    change.any = true;
    change.all();
    if let Some(kept) = &kept {
        change.carry_details(kept);
    }
    Some(change.document.into_bytes())
}

/// A description of the session. It is never an empty string.
fn about(session: &Session) -> &str {
    session.target.as_deref().unwrap_or(&session.title)
}

fn edit(
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
    path: &str,
    bytes: &[u8],
    document: Document,
) -> Option<Vec<u8>> {
    let mut change = Change::new(publication, folder, path, bytes, document)?;
    change.all();
    change.any.then(|| change.document.into_bytes())
}

fn read(path: &str, content: &[u8], folder: &Folder<'_>) -> State {
    let mut tree = Tree::default();
    tree.set_zone(folder.tree.zone());
    tree.insert(path, Entry::File(content.to_vec()));
    state::read(path, &tree, folder.now, &mut Vec::new())
}

/// The number and names of the phases when the session started. Left out if their number is unknown.
fn structure(run: &Run) -> Value {
    let (start, scheme) = match run.workflow.indexing {
        Indexing::Zero => (0, "zero_based"),
        Indexing::One => (1, "one_based"),
    };
    let total = match run.workflow.on_complete {
        OnComplete::Grow => Value::Null,
        OnComplete::Close | OnComplete::Stay => json!(run.phases.len()),
    };
    json!({
        "total_phases": total,
        "starting_phase": start,
        "indexing_scheme": scheme,
        "workflow_version": run.workflow.version,
    })
}

struct Change<'a> {
    session: &'a Session,
    run: &'a Run,
    said: State,
    /// The current phase according to the file. If that phase does not exist, the nearest phase that exists.
    said_current: u32,
    zone: TimeZone,
    /// When the file was last written. Set only if the session continued while its file was missing.
    went_on_without: Option<Timestamp>,
    document: Document,
    any: bool,
}

impl<'a> Change<'a> {
    fn new(
        publication: &SessionToPublish<'a>,
        folder: &Folder<'_>,
        path: &str,
        bytes: &[u8],
        document: Document,
    ) -> Option<Self> {
        let said = read(path, bytes, folder);
        let name = said.workflow_type.clone().unwrap_or_default();
        let defined = definition::read(&name, spec_of(&said).as_deref(), folder.tree);
        let said_current = said.extent(defined.as_ref(), &mut |_, _| {}).current;
        let zone = folder.tree.zone();
        let session = publication.session;
        Some(Self {
            session,
            run: session.run()?,
            said,
            said_current,
            zone,
            went_on_without: None,
            document,
            any: false,
        })
    }

    fn all(&mut self) {
        if self.said.shape == Shape::Second {
            self.move_ours_into_metadata();
        }
        self.progress();
        self.phases();
        self.lifecycle();
        self.metadata();
        if self.any {
            if self.said.shape == Shape::Second {
                self.move_error_reason();
            }
            self.replace_unusable_current_phase();
            self.correct_impossible_values();
            let updated = self.time(self.session.updated_at);
            self.set(&["updated_at"], &updated);
            self.set_missing_sections();
        }
    }

    fn writing(&self) -> Writing {
        if self.said.has_local_times { Writing::Local } else { Writing::Utc }
    }

    /// The path of a key that leftoff adds. The second format allows such keys only in `metadata`.
    fn ours<'k>(&self, path: &[&'k str]) -> Vec<&'k str> {
        let above: &[&str] = if self.said.shape == Shape::Second { &["metadata", OURS] } else { &[] };
        above.iter().chain(path).copied().collect()
    }

    fn time(&self, at: Timestamp) -> Value {
        json!(time_format::write(at, self.writing(), &self.zone))
    }

    fn set(&mut self, path: &[&str], value: &Value) {
        if self.document.get(path).as_ref() != Some(value) {
            self.document.set(path, value);
            self.any = true;
        }
    }

    /// Sets a time, unless the file already contains the same moment. Returns true if the time was set.
    fn set_time(&mut self, path: &[&str], at: Timestamp) -> bool {
        let there = self.document.get(path);
        let is_told = there.as_ref().and_then(Value::as_str).is_some_and(|text| self.tells(text, at));
        if !is_told {
            let value = self.time(at);
            self.set(path, &value);
        }
        !is_told
    }

    /// True if a string in the file is this time. In a file from another time zone, all local times differ by
    /// the same amount.
    fn tells(&self, text: &str, at: Timestamp) -> bool {
        let Some(told) = time_format::read(text, &self.zone) else { return false };
        let is_elsewhere = self.said.created_at.is_some_and(|created| {
            time_format::is_another_zone(created, time_format::to_micros(self.session.created_at))
        });
        let at = time_format::to_micros(at);
        told == at || (is_elsewhere && time_format::is_local(text) && time_format::is_another_zone(told, at))
    }

    fn progress(&mut self) {
        let current = self.run.current_number();
        if self.said_current != current || self.said.current.is_none() {
            self.set(&["current_phase"], &json!(current));
        }
        let phases = 0..self.run.phases.len();
        let is_ours = |number: &u32| phases.clone().any(|at| self.run.number_at(at) == *number);
        // Completed phases that the session does not know stay in the list.
        let mut done: BTreeSet<u32> =
            self.said.completed.iter().copied().filter(|number| !is_ours(number)).collect();
        done.extend(
            phases.clone().filter(|at| self.run.phases[*at].is_done()).map(|at| self.run.number_at(at)),
        );
        if self.said.completed != done {
            self.set(&["completed_phases"], &json!(done));
        }
    }

    /// Replaces a current phase that does not exist or is completed, because nobody could continue from it.
    /// In a finished session, the number after the last phase stays: old formats store it.
    fn replace_unusable_current_phase(&mut self) {
        let last = i64::from(self.run.number_at(self.run.phases.len().saturating_sub(1)));
        let is_completed =
            |said: i64| u32::try_from(said).is_ok_and(|said| self.said.completed.contains(&said));
        let is_nowhere = |said: i64| said < 0 || said > last + 1;
        if self.said.current.is_some_and(|said| is_completed(said) || is_nowhere(said)) {
            let current = self.run.current_number();
            self.set(&["current_phase"], &json!(current));
        }
    }

    /// Corrects values with which no tool could load the file: some sections must be objects. In the newest
    /// format, the current phase must exist, and the recorded number of phases must be a number.
    fn correct_impossible_values(&mut self) {
        for section in ["phase_artifacts", "checkpoints"] {
            if self.document.get(&[section]).is_some_and(|value| !value.is_object()) {
                self.set(&[section], &json!({}));
            }
        }
        if self.said.shape != Shape::Seed {
            return;
        }
        self.set(&["current_phase"], &json!(self.run.current_number()));
        let total = structure(self.run)["total_phases"].take();
        if matches!(self.said.recorded_total, Some(Recorded::Unusable(_))) && !total.is_null() {
            self.set(&["workflow_structure", TOTAL], &total);
        }
    }

    /// Writes custom fields to `metadata` in the file.
    fn metadata(&mut self) {
        let known = history::fields(&self.said);
        for (name, value) in &self.session.fields {
            // The log contains a placeholder instead of the secret. The placeholder must not replace the
            // secret in the file.
            let is_hidden = known.contains_key(name) && hides_a_secret(value);
            let is_own = [TOTAL, ATTEMPTS, OURS].contains(&name.as_str());
            if known.get(name) != Some(value) && !is_own && !is_hidden {
                self.set(&["metadata", name], value);
            }
        }
    }

    /// Adds leftoff's sections to a file in an old format, together with the first other change.
    fn set_missing_sections(&mut self) {
        let structure = structure(self.run);
        let is_known = !structure["total_phases"].is_null();
        if is_known && self.said.shape != Shape::Seed {
            self.document.set_missing(&self.ours(&["workflow_structure"]), &structure);
        }
    }

    /// Copies content of an older file for which this format has no place.
    fn carry_over(&mut self, before: &State, from: &Document) {
        const OWN: &[&str] =
            &["phase_timings", "evidence_submitted", "completed_at", "status", "error_reason"];
        if !before.metadata.is_empty() {
            for key in from.keys(&["metadata"]).iter().filter(|key| *key != TOTAL && *key != OURS) {
                self.document.copy_missing(&["metadata", key], from);
            }
        }
        for key in from.keys(&[]).iter().filter(|key| !OWN.contains(&key.as_str())) {
            self.document.copy_missing(&[key], from);
        }
    }

    /// Copies unknown keys in sections that both formats have, and data about skipped phases.
    fn carry_details(&mut self, from: &Document) {
        for section in ["phase_artifacts", "phase_timing", "checkpoints", "lifecycle", "workflow_structure"] {
            for key in &from.keys(&[section]) {
                self.document.copy_missing(&[section, key], from);
                for inner in &from.keys(&[section, key]) {
                    self.document.copy_missing(&[section, key, inner], from);
                }
            }
        }
        self.carry_times_of_artifacts(from);
        self.document.copy_not_numbers(from);
    }

    /// Copies the times of artifacts, because they are not the completion times of phases.
    fn carry_times_of_artifacts(&mut self, from: &Document) {
        for key in &from.keys(&["phase_artifacts"]) {
            let path = ["phase_artifacts", key.as_str(), "timestamp"];
            let told = from.get(&path);
            let at =
                told.as_ref().and_then(Value::as_str).and_then(|text| time_format::read(text, &self.zone));
            if let Some(at) = at {
                self.set_time(&path, at);
            }
        }
    }
}
