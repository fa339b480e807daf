//! Writes session-state.yaml as the pipeline's prompts expect it. Changes only values that differ from the
//! session; keeps comments, order and foreign content.

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

/// The updated file; `None` if it already shows the session.
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

/// The existing document or a new one, and whether it is new.
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

/// The session and the items that a document shows, to compare them with the session to write.
fn read_back(document: &Document, folder: &Folder<'_>) -> Option<(Session, ItemBook)> {
    let mut tree = Tree::default();
    tree.insert(STATE, Entry::File(document.clone().into_bytes()));
    let told = Essay.read(&Folder { tree: &tree, ..*folder }).value;
    let nobody = Actor::person(NAME, String::new());
    told.fold(&nobody).map(|(_, session, items)| (session, items))
}

/// Fields set since the file was last written.
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

/// True if something was undone since the file was last written; an undo does not name what it reverts.
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
    /// The document is new.
    is_new: bool,
    any: bool,
    /// True if something was undone: values that the session no longer has must leave the file.
    went_back: bool,
    touched: BTreeSet<String>,
    ours: Standpoint<'a>,
    said: Standpoint<'a>,
    publication: SessionToPublish<'a>,
    folder: Folder<'a>,
}

impl Changes<'_> {
    /// Sets a value. One that cannot be set safely is only in the log, and the file stays as it is.
    fn set(&mut self, path: &[Step<'_>], value: &Value) {
        if self.document.get(path).as_ref() != Some(value) && self.document.set(path, value).is_ok() {
            self.any = true;
        }
    }

    fn push(&mut self, path: &[Step<'_>], value: &Value) {
        self.any |= self.document.push(path, value).is_ok();
    }

    /// Sets a field that differs. A null written by somebody else stays until a command sets the field again,
    /// and a key that the file never had is not added before that. A field that a command clears is cleared
    /// in the file once; somebody who then restores the file that the field names may name it again.
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

    /// True if the path names the same file; the folder's path may have changed.
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

    /// Resets an undone field to the value of a new file.
    fn take_back(&mut self, path: &[Step<'_>]) {
        let is_said = self.document.get(path).is_some_and(|said| !said.is_null());
        if self.went_back && is_said {
            self.set(path, &at_first(path));
        }
    }

    fn drop_entry(&mut self, path: &[Step<'_>], place: usize) {
        self.any |= self.document.remove(path, place).is_ok();
    }

    /// Sets a key that has no value in the file yet.
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
        // Resuming the session is activity, even if nothing else changed.
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
                // The id generated for a new file stays.
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

    /// Fills in the results when the essay is finished, unless somebody set them.
    fn output(&mut self) {
        let Lifecycle::Completed { at, .. } = self.publication.session.lifecycle else {
            // The session was reopened, so it has no completion time.
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
    /// value set by others stays.
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
        // Any write also updates the path of a moved folder.
        Some(moved_folder::named(&written, &messages::place(&self.folder)).unwrap_or(written))
    }
}

/// True for a key that a custom field of the same name must not overwrite.
fn is_ours(path: &[Step<'_>]) -> bool {
    matches!(path, [Key(name)] if super::state::is_known(name)) || matches!(path, [_, Key("completed_at")])
}

fn status_of(session: &Session) -> Status {
    match session.lifecycle {
        Lifecycle::Active => Status::InProgress,
        // The file has no word for a failed session; it can be resumed.
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Status::Paused,
        Lifecycle::Completed { .. } => Status::Completed,
        Lifecycle::Abandoned { .. } => Status::Abandoned,
    }
}

/// The id of a new file, derived from its folder because nothing here may be random.
fn pipeline_id(folder: &Folder<'_>) -> String {
    let hash = Sha256::digest(format!("{}\n{}", folder.worktree, folder.spot.path));
    let hex = hex(&hash[..16]);
    format!("essay-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Formats a time to the second, in UTC.
fn time(at: Timestamp) -> Value {
    json!(Timestamp::from_second(at.as_second()).unwrap_or(at).to_string())
}
