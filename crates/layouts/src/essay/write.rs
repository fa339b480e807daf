//! Writes session-state.yaml as the pipeline's own prompts expect it. Sets only what says something else than the
//! session does; comments, order and what is not the session's stay.

mod birds_eye;
mod lists;
mod sections;

pub(super) use birds_eye::{BIRDS_EYE, BIRDS_EYE_KEY};

use super::position::Standpoint;
use super::state::{
    FILE_KEYS, OUTPUT_KEYS, SESSION_KEYS, SHARED_KEYS, StageStatus, State, Status, VOICE_KEYS, meant,
};
use super::{Essay, NAME, Referred, STAGES, STATE, elsewhere, recover, refer, words};
use crate::layout::{Folder, Layout, Standing};
use crate::tree::{Entry, Tree};
use crate::yaml::Step::Key;
use crate::yaml::{Document, Step};
use birds_eye::BirdsEye;
use jiff::Timestamp;
use model::actor::Actor;
use model::event::Event;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::session::Session;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

const TEMPLATE: &str = include_str!("template.yaml");

/// The file as it is to be; none when it shows the session already.
pub(super) fn state(standing: &Standing<'_>, folder: &Folder<'_>) -> Option<Vec<u8>> {
    let run = standing.session.run()?;
    if *run.workflow.name.as_str() != *NAME && !Essay.facts().can_show(run) {
        return None;
    }
    let (document, is_new) = there(folder)?;
    let (said, said_items) = read_back(&document, folder)?;
    let mut changes = Changes {
        document,
        is_new,
        any: false,
        went_back: went_back(standing),
        touched: touched(standing),
        ours: Standpoint::new(standing.session, standing.items),
        said: Standpoint::new(&said, &said_items),
        standing: *standing,
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

/// What is there to be changed, or a new one; whether it is new.
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

/// The session that a document shows, for comparing.
fn read_back(document: &Document, folder: &Folder<'_>) -> Option<(Session, ItemBook)> {
    let mut tree = Tree::default();
    tree.insert(STATE, Entry::File(document.clone().into_bytes()));
    let told = Essay.read(&Folder { tree: &tree, ..*folder }).value;
    let nobody = Actor::Person { name: NAME.to_owned(), host: String::new() };
    told.fold(&nobody).map(|(_, session, items)| (session, items))
}

/// Names of fields that were set since the file was last written.
fn touched(standing: &Standing<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for recorded in standing.since {
        match &recorded.event {
            Event::FieldsSet { fields, .. } | Event::SessionStarted { fields, .. } => {
                names.extend(fields.keys().cloned());
            }
            _ => {}
        }
    }
    names
}

/// Whether something was undone since the file was last written: that names nothing of what it takes back.
fn went_back(standing: &Standing<'_>) -> bool {
    standing.since.iter().any(|recorded| matches!(recorded.event, Event::Restored { .. }))
}

/// What a new file says there.
fn at_first(path: &[Step<'_>]) -> Value {
    let template = Document::parse(TEMPLATE.as_bytes()).ok();
    template.and_then(|template| template.get(path)).unwrap_or_default()
}

struct Changes<'a> {
    document: Document,
    /// Nothing of ours was in it yet.
    is_new: bool,
    any: bool,
    /// Something was undone: what the session does not say any more, the file must not go on saying.
    went_back: bool,
    touched: BTreeSet<String>,
    ours: Standpoint<'a>,
    said: Standpoint<'a>,
    standing: Standing<'a>,
    folder: Folder<'a>,
}

impl Changes<'_> {
    /// What cannot be set without harm to the rest of the file stays as it is: the log has it.
    fn set(&mut self, path: &[Step<'_>], value: &Value) {
        if self.document.get(path).as_ref() != Some(value) && self.document.set(path, value).is_ok() {
            self.any = true;
        }
    }

    fn push(&mut self, path: &[Step<'_>], value: &Value) {
        self.any |= self.document.push(path, value).is_ok();
    }

    /// A field, where the file says something else. A null that somebody wrote over it stays until it is set again, and
    /// a key that somebody's file never had is not added to it before. What was taken away is so once: a file that came
    /// back since is named again.
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

    /// Whether a file is named there that is the same one: the folder may have another path by now.
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

    /// Whether the file has the same in the spelling of older YAML.
    fn is_meant(&self, path: &[Step<'_>], value: &Value) -> bool {
        let Some(Key(name)) = path.last() else { return false };
        self.document.get(path).is_some_and(|said| meant(name, &said) == *value)
    }

    /// Undone, a field says again what it says in a new file.
    fn take_back(&mut self, path: &[Step<'_>]) {
        let is_said = self.document.get(path).is_some_and(|said| !said.is_null());
        if self.went_back && is_said {
            self.set(path, &at_first(path));
        }
    }

    fn drop_entry(&mut self, path: &[Step<'_>], place: usize) {
        self.any |= self.document.remove(path, place).is_ok();
    }

    /// A value for a key that has none yet.
    fn fill(&mut self, path: &[Step<'_>], value: Option<Value>) {
        if let Some(value) = value.filter(|_| self.document.get(path).is_none_or(|there| there.is_null())) {
            self.set(path, &value);
        }
    }

    fn identity(&mut self) {
        if !self.is_new {
            return;
        }
        let session = self.standing.session;
        let id = session.fields.get("pipeline_id").cloned();
        self.fill(&[Key("pipeline_id")], Some(id.unwrap_or_else(|| json!(pipeline_id(&self.folder)))));
        self.fill(&[Key("started_at")], Some(time(session.created_at)));
        self.fill(&[Key("session_dir")], Some(json!(words::place(&self.folder))));
    }

    fn status(&mut self) {
        let status = status_of(self.ours.session);
        if status != status_of(self.said.session) {
            self.set(&[Key("status")], &json!(status.name()));
        }
        // Taken up again it was active now, also where that is all that is new.
        let is_resumed = |event: &Event| matches!(event, Event::SessionResumed { .. });
        self.any |= self.standing.since.iter().any(|recorded| is_resumed(&recorded.event));
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

    fn stage(&mut self, position: usize) {
        let key = STAGES[position].key;
        let path = |name| [Key("stages"), Key(key), Key(name)];
        let Some(ours) = self.ours.phase(position) else { return };
        let (status, said) = (self.ours.status(position), self.said.status(position));
        // In a new file a stage that goes on is said to; an old one may leave that to `current_stage`.
        if let Some(status) = status.filter(|status| self.is_new || Some(*status) != said) {
            self.set(&path("status"), &json!(status.name()));
        }
        if said != status {
            let ended = ours.completed_at().map_or(Value::Null, time);
            self.set(&path("completed_at"), &ended);
        }
        for (_, name, file) in FILE_KEYS.into_iter().filter(|(of, _, _)| *of == position) {
            let is_touched = self.touched.contains(name);
            // The name of what shows a completed stage is ours, and no field of it.
            let value = ours.fields.get(name);
            if value.is_some() || status != Some(StageStatus::Completed) {
                self.field(&path(name), value, is_touched);
            }
            let is_there = status == Some(StageStatus::Completed) && self.folder.tree.has_file(file);
            let made = is_there.then(|| json!(format!("{}/{file}", self.session_dir())));
            self.fill(&path(name), made.filter(|_| said != status || self.is_new));
        }
        self.fields_of_stage(position, ours);
    }

    fn fields_of_stage(&mut self, position: usize, ours: &Phase) {
        let key = STAGES[position].key;
        let session = self.standing.session;
        for (_, name) in SHARED_KEYS.into_iter().filter(|(of, _)| *of == position) {
            let path = [Key("stages"), Key(key), Key(name)];
            let value = match name {
                "total_sections" => session.fields.get(name).cloned().or_else(|| self.outlined()),
                BIRDS_EYE_KEY => match self.birds_eye_now() {
                    BirdsEye::Says(value) => value,
                    BirdsEye::AsItIs => continue,
                },
                _ => session.fields.get(name).cloned(),
            };
            let is_touched = match name {
                "total_sections" => self.touched.contains(name) || self.is_completed_now(1),
                BIRDS_EYE_KEY => true,
                _ => self.touched.contains(name),
            };
            self.field(&path, value.as_ref(), is_touched);
        }
        // Keys that are not ours are kept up to date where they are there.
        for (name, value) in &ours.fields {
            let path = [Key("stages"), Key(key), Key(name)];
            if self.document.get(&path).is_some() {
                self.field(&path, Some(value), self.touched.contains(name));
            }
        }
    }

    /// Whether a stage was completed since the file was last written.
    fn is_completed_now(&self, position: usize) -> bool {
        let name = STAGES[position].name;
        let is_it = |event: &Event| matches!(event, Event::PhaseCompleted { phase, .. } if *phase == *name);
        self.standing.since.iter().any(|recorded| is_it(&recorded.event))
    }

    /// As many sections as the outline was said to have when it was done.
    fn outlined(&self) -> Option<Value> {
        let attempt = self.ours.phase(1)?.last_attempt()?;
        let targets = attempt.report.evidence.get("word_targets")?.as_array()?;
        (!targets.is_empty()).then(|| json!(targets.len()))
    }

    fn fields(&mut self) {
        let session = self.standing.session;
        let places: [(Option<&str>, &[&str]); 3] =
            [(None, &SESSION_KEYS), (Some("voice_calibration"), &VOICE_KEYS), (Some("output"), &OUTPUT_KEYS)];
        let mut written: BTreeSet<&str> = SHARED_KEYS.iter().map(|(_, name)| *name).collect();
        for (above, names) in places {
            for name in names {
                written.insert(name);
                let path: Vec<Step<'_>> = above.into_iter().chain([*name]).map(Key).collect();
                // What a new file got for a name stays.
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

    /// Filled when the essay is finished, where nobody said otherwise.
    fn output(&mut self) {
        let Lifecycle::Completed { at, .. } = self.standing.session.lifecycle else {
            // Open again: what is finished has an end, and this has none.
            if status_of(self.said.session) == Status::Completed {
                self.set(&[Key("output"), Key("completed_at")], &Value::Null);
            }
            return;
        };
        let is_there = self.folder.tree.has_file(recover::FINAL);
        let essay = is_there.then(|| json!(format!("{}/{}", self.session_dir(), recover::FINAL)));
        self.came_out("final_essay_file", essay);
        let verified = self.ours.counter("verified_claims");
        self.came_out("sources_verified", Some(json!(verified)));
        self.came_out("voice_consistency_score", words::mean_voice(&self.ours).map(|mean| json!(mean)));
        let words = words::word_count(&self.folder, true);
        self.came_out("total_word_count", words.map(|count| json!(count)));
        self.came_out("completed_at", Some(time(at)));
    }

    /// Finished once more, the essay is another: what we filled in the last time is set anew, and what somebody said
    /// stays.
    fn came_out(&mut self, name: &str, value: Option<Value>) {
        let path = [Key("output"), Key(name)];
        let is_finished_now = self
            .standing
            .since
            .iter()
            .any(|recorded| matches!(recorded.event, Event::SessionCompleted { .. }));
        let is_said = self.standing.session.fields.get(name).is_some_and(|said| !said.is_null());
        if is_finished_now && !is_said && self.document.get(&path).is_some() {
            self.set(&path, &value.unwrap_or_default());
        } else {
            self.fill(&path, value);
        }
    }

    fn session_dir(&self) -> String {
        let said = self.document.get(&[Key("session_dir")]);
        let said = said.as_ref().and_then(Value::as_str).map(|path| path.trim_end_matches('/').to_owned());
        said.filter(|path| !path.is_empty()).unwrap_or_else(|| words::place(&self.folder))
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        if !self.any {
            return None;
        }
        let now = time(self.standing.session.updated_at);
        self.set(&[Key("last_activity")], &now);
        let written = self.document.into_bytes();
        // A folder that was moved is named as it is now, once anything is written.
        Some(elsewhere::named(&written, &words::place(&self.folder)).unwrap_or(written))
    }
}

/// Keys that a free field of the same name must not reach.
fn is_ours(path: &[Step<'_>]) -> bool {
    matches!(path, [Key(name)] if super::state::is_known(name)) || matches!(path, [_, Key("completed_at")])
}

fn status_of(session: &Session) -> Status {
    match session.lifecycle {
        Lifecycle::Active => Status::InProgress,
        // The file has no word for a session that failed; it can be gone on with.
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Status::Paused,
        Lifecycle::Completed { .. } => Status::Completed,
        Lifecycle::Abandoned { .. } => Status::Abandoned,
    }
}

/// The same for the same folder, as nothing here may be random.
fn pipeline_id(folder: &Folder<'_>) -> String {
    let hash = Sha256::digest(format!("{}\n{}", folder.worktree, folder.spot.path));
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("essay-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// To the second, in UTC.
fn time(at: Timestamp) -> Value {
    json!(Timestamp::from_second(at.as_second()).unwrap_or(at).to_string())
}
