//! Writes a session to its files in the form that the tool's prompts expect. Sets only values that differ
//! from the session. Never writes to an unreadable file, except the session's state file.

mod state;
mod task_names;
mod tasks;

use self::task_names::Names;
use super::history;
use super::phase_and_size_names::Size;
use super::place::Ground;
use super::registry::{self, Entered};
use super::session_status::Word;
use super::{CcwSession, PLAN, REGISTRY, STATE};
use crate::json::Document;
use crate::layout::{FileChange, Folder, ForeignSession, SessionToPublish};
use crate::tree::Entry;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::session::Session;
use serde_json::Value;

/// The session as its files show it before the write.
struct Said<'a> {
    read: &'a CcwSession,
    session: &'a Session,
    items: &'a ItemBook,
    names: Names,
}

/// The origin of a session's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Here,
    /// The items come from another layout, which names them differently.
    Elsewhere,
}

pub(super) fn files(
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
    source: Source,
) -> Vec<FileChange> {
    let read = super::read(folder).value;
    let told = ForeignSession::of_history(history::of(&read, folder));
    let reader = Actor::person(String::new(), String::new());
    let Some((_, session, items)) = told.fold(&reader) else { return Vec::new() };
    let names = match source {
        Source::Here => Names::of(&read, publication.items),
        Source::Elsewhere => Names::numbered(&read, publication.items),
    };
    let said = Said { read: &read, session: &session, items: &items, names };
    let mut changes = Vec::new();
    changes.extend(state::file(publication, &said, folder));
    changes.extend(tasks::files(publication, &said, folder));
    changes.extend(line(publication, &said, folder));
    changes
}

/// All files of a session, as an export writes them: the changed files, and the unchanged ones as they are.
pub(super) fn anew(
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
    source: Source,
) -> Vec<FileChange> {
    let mut files = files(publication, folder, source);
    let read = super::read(folder).value;
    let own = [format!("{}/{STATE}", read.folder), format!("{}/{PLAN}", read.folder), REGISTRY.to_owned()];
    for path in own.into_iter().chain(read.tasks.tasks.into_iter().map(|task| task.file)) {
        if let Some(content) =
            folder.tree.content(&path).filter(|_| files.iter().all(|file| file.path != path))
        {
            files.push(FileChange { path, content: content.to_vec() });
        }
    }
    files
}

/// The registry with the session's line, if that line must change. Later releases have no registry, and none
/// is created for their sessions.
fn line(publication: &SessionToPublish<'_>, said: &Said<'_>, folder: &Folder<'_>) -> Option<FileChange> {
    let bytes: &[u8] = match folder.tree.get(REGISTRY) {
        Some(Entry::File(bytes)) => bytes,
        None if said.read.ground == Ground::Home && !super::uses_markers(folder.tree, said.read) => &[],
        Some(Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_)) | None => return None,
    };
    let session = publication.session;
    let word = word(&session.lifecycle);
    let known = said.read.line.as_ref().and_then(|line| line.status.as_deref()).and_then(Word::parse);
    let directory = folder.spot.below_project(&said.read.folder);
    let entered = Entered {
        name: &said.read.name,
        directory: &directory,
        status: word.text(),
        is_status_kept: known == Some(word),
        description: &session.title,
        created: super::fields::written(session.created_at),
        size: size(session).filter(|_| said.read.line.is_none()),
    };
    registry::with_line(bytes, &entered).map(|content| FileChange { path: REGISTRY.to_owned(), content })
}

/// Events since the session was adopted. All earlier events were read from these files.
fn ours(since: &[Recorded]) -> &[Recorded] {
    let adopted = since.iter().rposition(|recorded| matches!(recorded.event, Event::Adopted { .. }));
    &since[adopted.map_or(0, |at| at + 1)..]
}

/// The format's word for a lifecycle.
fn word(lifecycle: &Lifecycle) -> Word {
    match lifecycle {
        Lifecycle::Active => Word::Active,
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Word::Paused,
        Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => Word::Completed,
    }
}

fn size(session: &Session) -> Option<Size> {
    session.fields.get("type").and_then(Value::as_str).and_then(Size::parse)
}

/// A file being changed. If a path leads through a value of another tool that is not an object, that value
/// stays.
struct Changes {
    document: Document,
    any: bool,
}

impl Changes {
    /// Starts changing a file with this content, or a new file if there is no content. `None` if the content
    /// is unreadable.
    fn to(content: Option<&[u8]>) -> Option<Self> {
        let document = match content {
            Some(bytes) => Document::parse(bytes).ok()?,
            None => Document::new(),
        };
        Some(Self { document, any: false })
    }

    fn set(&mut self, path: &[&str], value: &Value) {
        if self.is_free(path) && self.document.get(path).as_ref() != Some(value) {
            self.document.set(path, value);
            self.any = true;
        }
    }

    /// Sets a value at the first of these paths that already has a value. If none has one, sets it at the
    /// first path.
    fn set_where_it_is(&mut self, paths: &[&[&str]], value: &Value) {
        let there = paths.iter().find(|path| self.document.get(path).is_some_and(|value| !value.is_null()));
        if let Some(path) = there.or(paths.first()) {
            self.set(path, value);
        }
    }

    fn push(&mut self, path: &[&str], value: &Value) {
        let is_list = self.document.get(path).is_none_or(|value| value.is_array());
        if is_list && self.is_free(path) {
            self.document.push(path, value);
            self.any = true;
        }
    }

    fn remove(&mut self, path: &[&str]) {
        if self.document.get(path).is_some() {
            self.document.remove(path);
            self.any = true;
        }
    }

    fn is_free(&self, path: &[&str]) -> bool {
        (1..path.len()).all(|depth| self.document.get(&path[..depth]).is_none_or(|value| value.is_object()))
    }

    fn into_file(self, path: String) -> Option<FileChange> {
        self.any.then(|| FileChange { path, content: self.document.into_bytes() })
    }
}
