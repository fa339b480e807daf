//! Writes session-state.yaml in the form that the pipeline's prompts expect. Changes only values that differ
//! from the session, and keeps comments, order and values of others.

mod birds_eye;
mod lists;
mod sections;
mod stages;

pub(super) use birds_eye::{BIRDS_EYE, BIRDS_EYE_KEY};

use super::artifacts::{Referred, refer};
use super::position::Standpoint;
use super::state::{OUTPUT_KEYS, SESSION_KEYS, SHARED_KEYS, State, Status, VOICE_KEYS, meant};
use super::{Essay, NAME, STAGES, STATE, messages, moved_folder, recover};
use crate::hash::hex;
use crate::layout::{Folder, Layout, SessionToPublish};
use crate::tree::{Entry, Tree};
use crate::yaml::Step::Key;
use crate::yaml::{Document, Step};
use jiff::Timestamp;
use model::actor::Actor;
use model::event::Event;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::session::Session;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

const TEMPLATE: &str = include_str!("template.yaml");

/// The updated file. `None` if the file already shows the session.
pub(super) fn state(publication: &SessionToPublish<'_>, folder: &Folder<'_>) -> Option<Vec<u8>> {
    let run = publication.session.run()?;
    if *run.workflow.name.as_str() != *NAME && !Essay.facts().can_show(run) {
        return None;
    }
    let (document, is_new) = there(folder)?;
    let (said, said_items) = read_back(&document, folder)?;
    let mut changes = Changes {
        document,
        is_new,
        any: false,
        went_back: went_back(publication),
        touched: touched(publication),
        ours: Standpoint::new(publication.session, publication.items),
        said: Standpoint::new(&said, &said_items),
        publication: *publication,
        folder: *folder,
    };
    changes.identity();
    changes.status();
    changes.current();
    (0..STAGES.len()).for_each(|position| changes.stage(position));
    changes.fields();
    changes.sections();
    changes.place();
    changes.claims();
    changes.revisions();
    changes.output();
    changes.finish()
}

/// The document in the existing file or a new document, and true if the document is new.
fn there(folder: &Folder<'_>) -> Option<(Document, bool)> {
    let readable = folder.tree.content(STATE).and_then(|bytes| {
        super::state::read(bytes, folder.now, &mut Vec::new()).ok()?;
        Document::parse(bytes).ok()
    });
    match readable {
        Some(document) => Some((document, false)),
        None => Some((Document::parse(TEMPLATE.as_bytes()).ok()?, true)),
    }
}

/// The session and the items that a document shows. They are compared with the session that must be written.
fn read_back(document: &Document, folder: &Folder<'_>) -> Option<(Session, ItemBook)> {
    let mut tree = Tree::default();
    tree.insert(STATE, Entry::File(document.clone().into_bytes()));
    let told = Essay.read(&Folder { tree: &tree, ..*folder }).value;
    let nobody = Actor::person(NAME, String::new());
    told.fold(&nobody).map(|(_, session, items)| (session, items))
}

/// The names of fields that were set since the file was last written.
fn touched(publication: &SessionToPublish<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for recorded in publication.since {
        match &recorded.event {
            Event::FieldsSet { fields, .. } | Event::SessionStarted { fields, .. } => {
                names.extend(fields.keys().cloned());
            }
            _ => {}
        }
    }
    names
}

/// True if something was undone since the file was last written. The event of an undo does not say which
/// values it reverts.
fn went_back(publication: &SessionToPublish<'_>) -> bool {
    publication.since.iter().any(|recorded| matches!(recorded.event, Event::Restored { .. }))
}

/// The value that a new file has at this path.
fn at_first(path: &[Step<'_>]) -> Value {
    let template = Document::parse(TEMPLATE.as_bytes()).ok();
    template.and_then(|template| template.get(path)).unwrap_or_default()
}

struct Changes<'a> {
    document: Document,
    /// True if the document is new.
    is_new: bool,
    any: bool,
    /// True if something was undone since the file was last written. Values that the session no longer has
    /// must then leave the file.
    went_back: bool,
    touched: BTreeSet<String>,
    ours: Standpoint<'a>,
    said: Standpoint<'a>,
    publication: SessionToPublish<'a>,
    folder: Folder<'a>,
}

impl Changes<'_> {
    /// Sets a value. If the value cannot be set safely, the file stays as it is, and only the log contains
    /// the value.
    fn set(&mut self, path: &[Step<'_>], value: &Value) {
        if self.document.get(path).as_ref() != Some(value) && self.document.set(path, value).is_ok() {
            self.any = true;
        }
    }

    fn push(&mut self, path: &[Step<'_>], value: &Value) {
        self.any |= self.document.push(path, value).is_ok();
    }

    /// Sets a field that differs. A null that somebody else wrote stays until a command sets the field. A key
    /// that the file never had is not added before that either. A field that a command clears is cleared in
    /// the file only once: after that, somebody may restore the named file and name it again.
    fn field(&mut self, path: &[Step<'_>], value: Option<&Value>, is_touched: bool) {
        let Some(value) = value else { return self.take_back(path) };
        if self.names_the_same(path, value) || self.is_meant(path, value) {
            return;
        }
        let is_wanted = match self.document.get(path) {
            Some(Value::Null) | None => (is_touched || self.is_new) && !value.is_null(),
            Some(_) => is_touched || !value.is_null(),
        };
        if is_wanted {
            self.set(path, value);
        }
    }

    /// True if the path names the same file, even if the folder has another path now.
    fn names_the_same(&self, path: &[Step<'_>], value: &Value) -> bool {
        let session_dir = self.document.get(&[Key("session_dir")]);
        let session_dir = session_dir.as_ref().and_then(Value::as_str).map(ToOwned::to_owned);
        let state = State { session_dir, ..State::default() };
        let inside = |value: &Value| match refer(value.as_str()?, &state, &self.folder) {
            Referred::Inside(file) => Some(file),
            Referred::Outside => None,
        };
        let is_file = matches!(path.last(), Some(Key(name)) if super::state::names_a_file(name));
        let named = inside(value).filter(|_| is_file);
        named.is_some() && named == self.document.get(path).as_ref().and_then(inside)
    }

    /// True if the file contains this value in a YAML 1.1 spelling.
    fn is_meant(&self, path: &[Step<'_>], value: &Value) -> bool {
        let Some(Key(name)) = path.last() else { return false };
        self.document.get(path).is_some_and(|said| meant(name, &said) == *value)
    }

    /// Resets a field whose change was undone to the value that it has in a new file.
    fn take_back(&mut self, path: &[Step<'_>]) {
        let is_said = self.document.get(path).is_some_and(|said| !said.is_null());
        if self.went_back && is_said {
            self.set(path, &at_first(path));
        }
    }

    fn drop_entry(&mut self, path: &[Step<'_>], place: usize) {
        self.any |= self.document.remove(path, place).is_ok();
    }

    /// Adds a value for a key that has none in the file.
    fn fill(&mut self, path: &[Step<'_>], value: Option<Value>) {
        if let Some(value) = value.filter(|_| self.document.get(path).is_none_or(|there| there.is_null())) {
            self.set(path, &value);
        }
    }

    fn identity(&mut self) {
        if !self.is_new {
            return;
        }
        let session = self.publication.session;
        let id = session.fields.get("pipeline_id").cloned();
        self.fill(&[Key("pipeline_id")], Some(id.unwrap_or_else(|| json!(pipeline_id(&self.folder)))));
        self.fill(&[Key("started_at")], Some(time(session.created_at)));
        self.fill(&[Key("session_dir")], Some(json!(messages::place(&self.folder))));
    }

    fn status(&mut self) {
        let status = status_of(self.ours.session);
        if status != status_of(self.said.session) {
            self.set(&[Key("status")], &json!(status.name()));
        }
        // Resuming a session counts as activity, even if nothing else changed.
        let is_resumed = |event: &Event| matches!(event, Event::SessionResumed { .. });
        self.any |= self.publication.since.iter().any(|recorded| is_resumed(&recorded.event));
    }

    fn current(&mut self) {
        let current = self.ours.current();
        if current == self.said.current() {
            return;
        }
        if let Some(position) = current {
            self.set(&[Key("current_stage")], &json!(position + 1));
            self.set(&[Key("current_stage_name")], &json!(STAGES[position].name));
        }
    }

    fn fields(&mut self) {
        let session = self.publication.session;
        let places: [(Option<&str>, &[&str]); 3] =
            [(None, &SESSION_KEYS), (Some("voice_calibration"), &VOICE_KEYS), (Some("output"), &OUTPUT_KEYS)];
        let mut written: BTreeSet<&str> = SHARED_KEYS.iter().map(|(_, name)| *name).collect();
        for (above, names) in places {
            for name in names {
                written.insert(name);
                let path: Vec<Step<'_>> = above.into_iter().chain([*name]).map(Key).collect();
                // The id that was generated for the new file stays.
                if session.fields.contains_key(*name) || *name != "pipeline_id" {
                    self.field(&path, session.fields.get(*name), self.touched.contains(*name));
                }
            }
        }
        for (name, value) in session.fields.iter().filter(|(name, _)| !written.contains(name.as_str())) {
            for above in [None, Some("voice_calibration"), Some("output")] {
                let path: Vec<Step<'_>> = above.into_iter().chain([name.as_str()]).map(Key).collect();
                if self.document.get(&path).is_some() && !is_ours(&path) {
                    self.field(&path, Some(value), self.touched.contains(name));
                    break;
                }
            }
        }
    }

    /// Fills in the results when the essay is finished. Results that somebody has set stay.
    fn output(&mut self) {
        let Lifecycle::Completed { at, .. } = self.publication.session.lifecycle else {
            // A reopened session has no completion time.
            if status_of(self.said.session) == Status::Completed {
                self.set(&[Key("output"), Key("completed_at")], &Value::Null);
            }
            return;
        };
        let is_there = self.folder.tree.has_file(recover::FINAL);
        let essay = is_there.then(|| json!(format!("{}/{}", self.session_dir(), recover::FINAL)));
        self.result("final_essay_file", essay);
        let verified = self.ours.counter("verified_claims");
        self.result("sources_verified", Some(json!(verified)));
        self.result("voice_consistency_score", messages::mean_voice(&self.ours).map(|mean| json!(mean)));
        let words = messages::word_count(&self.folder, true);
        self.result("total_word_count", words.map(|count| json!(count)));
        self.result("completed_at", Some(time(at)));
    }

    /// Fills in one result. If the essay is finished again, a result that leftoff filled in is updated; a
    /// value that somebody else set stays.
    fn result(&mut self, name: &str, value: Option<Value>) {
        let path = [Key("output"), Key(name)];
        let is_finished_now = self
            .publication
            .since
            .iter()
            .any(|recorded| matches!(recorded.event, Event::SessionCompleted { .. }));
        let is_said = self.publication.session.fields.get(name).is_some_and(|said| !said.is_null());
        if is_finished_now && !is_said && self.document.get(&path).is_some() {
            self.set(&path, &value.unwrap_or_default());
        } else {
            self.fill(&path, value);
        }
    }

    fn session_dir(&self) -> String {
        let said = self.document.get(&[Key("session_dir")]);
        let said = said.as_ref().and_then(Value::as_str).map(|path| path.trim_end_matches('/').to_owned());
        said.filter(|path| !path.is_empty()).unwrap_or_else(|| messages::place(&self.folder))
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if !self.any {
            return None;
        }
        let now = time(self.publication.session.updated_at);
        self.set(&[Key("last_activity")], &now);
        let written = self.document.into_bytes();
        // If the folder was moved, any write also updates its path.
        Some(moved_folder::named(&written, &messages::place(&self.folder)).unwrap_or(written))
    }
}

/// True for a key that the format uses. A custom field of the same name must not overwrite it.
fn is_ours(path: &[Step<'_>]) -> bool {
    matches!(path, [Key(name)] if super::state::is_known(name)) || matches!(path, [_, Key("completed_at")])
}

fn status_of(session: &Session) -> Status {
    match session.lifecycle {
        Lifecycle::Active => Status::InProgress,
        // The format has no word for a failed session. `Paused` fits best, because the session can be
        // resumed.
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Status::Paused,
        Lifecycle::Completed { .. } => Status::Completed,
        Lifecycle::Abandoned { .. } => Status::Abandoned,
    }
}

/// The id for a new file. It is derived from the folder, because random values are not available here.
fn pipeline_id(folder: &Folder<'_>) -> String {
    let hash = Sha256::digest(format!("{}\n{}", folder.worktree, folder.spot.path));
    let hex = hex(&hash[..16]);
    format!("essay-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Formats a time to the second, in UTC.
fn time(at: Timestamp) -> Value {
    json!(Timestamp::from_second(at.as_second()).unwrap_or(at).to_string())
}
