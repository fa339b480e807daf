//! Writes one file per task. A task read from a file is written back to that file; a new task gets a file
//! named after its id.

use super::task_names::Names;
use super::{Changes, Said, ours};
use crate::ccw::TASKS;
use crate::ccw::fields::written;
use crate::ccw::place::Ground;
use crate::ccw::tasks::{AGENT, CONTEXT, NEEDS, PARENT, TYPE, Task, plain};
use crate::layout::{FileChange, Folder, SessionToPublish};
use crate::reconcile::LISTED;
use jiff::Timestamp;
use model::event::{Event, ItemEvent, Recorded};
use model::id::ItemId;
use model::item::{Item, ItemBook, ItemStatus};
use serde_json::{Value, json};

pub(super) fn files(
    publication: &SessionToPublish<'_>,
    said: &Said<'_>,
    folder: &Folder<'_>,
) -> Vec<FileChange> {
    publication.items.iter().filter_map(|item| file(item, publication, said, folder)).collect()
}

fn file(
    item: &Item,
    publication: &SessionToPublish<'_>,
    said: &Said<'_>,
    folder: &Folder<'_>,
) -> Option<FileChange> {
    let read = read_of(item, publication.items, said);
    let path = read.map_or_else(|| said.new_task(&item.id), |task| task.file.clone());
    let is_there = folder.tree.get(&path).is_some();
    // A task that existed only in the list of current tasks, and has left that list, gets no file.
    let is_off_the_list = item.fields.contains_key(LISTED) && !is_there;
    if read.is_none() && (is_there || is_off_the_list) {
        return None;
    }
    let mut changes = Changes::to(folder.tree.content(&path))?;
    let known = read.and_then(|task| said.items.get(&task.id));
    let is_later = said.read.tasks.is_later || said.read.ground != Ground::Home;
    let now = publication.session.updated_at;
    let is_only_listed = read.is_some_and(|task| task.is_only_listed);
    match known {
        // A task that exists only in the list of current tasks gets no file while the list shows everything
        // about it.
        Some(known) if is_only_listed && is_as_listed(item, known) => return None,
        Some(known) if !is_only_listed => {
            let news = News { item, known, items: publication.items, names: &said.names, is_later, now };
            change(&mut changes, &news, said.items);
        }
        Some(_) | None => begin(&mut changes, item, (publication.items, &said.names), (is_later, now)),
    }
    // If the file already says that the task is in progress, its writer may have counted the attempt. A task
    // that an agent holds has this status too, but its attempt is not counted yet.
    if known.is_none_or(|known| known.status != ItemStatus::Active || item.live_lease(now).is_some()) {
        for recorded in ours(publication.since_written(&path)) {
            attempt(&mut changes, item, recorded);
        }
    }
    if changes.any {
        changes.set_where_it_is(&[&["meta", "updated"], &["updated_at"]], &written(item.updated_at));
    }
    changes.into_file(path)
}

fn is_as_listed(item: &Item, known: &Item) -> bool {
    item.status == known.status && item.title == known.title && item.fields == known.fields
}

/// The task in the files that matches the item: the task with exactly this id, or one with another spelling
/// of it, if no other item has that spelling.
fn read_of<'a>(item: &Item, items: &ItemBook, said: &Said<'a>) -> Option<&'a Task> {
    let is_its = |task: &&Task| task.id.is(&item.id) || !items.contains(&task.id);
    let mut same = said.read.tasks.tasks.iter().filter(|task| is_spelling_of(&task.id, &item.id));
    same.find(is_its)
}

impl Said<'_> {
    fn new_task(&self, id: &ItemId) -> String {
        format!("{}/{TASKS}/{}.json", self.read.folder, self.names.get(id))
    }
}

/// Fills a new task file, with the keys in the order that the tool uses.
fn begin(changes: &mut Changes, item: &Item, (items, names): (&ItemBook, &Names), of: (bool, Timestamp)) {
    let field = |name: &str| item.fields.get(name).cloned();
    changes.set(&["id"], &json!(names.get(&item.id)));
    let parent = item.parent.as_ref().map(|parent| names.get(parent));
    changes.set(&["title"], &json!(item.title));
    changes.set(&["status"], &json!(status(item, of)));
    changes.set(&["type"], &field("type").unwrap_or_else(|| json!("feature")));
    changes.set(&["agent"], &field("agent").unwrap_or(Value::Null));
    for key in CONTEXT {
        // The default value of `inherited_from` in a part is its container.
        let nothing = if key == "inherited_from" { json!(parent) } else { json!([]) };
        changes.set(&["context", key], &field(key).unwrap_or(nothing));
    }
    changes.set(&["relations", "parent"], &json!(parent));
    changes.set(&["relations", "subtasks"], &json!(names.all(parts(item, items))));
    changes.set(&["relations", "dependencies"], &json!(names.all(&item.depends_on)));
    changes
        .set(&["execution", "attempts"], &json!(item.counters.get("attempts").copied().unwrap_or_default()));
    changes.set(&["execution", "last_attempt"], &Value::Null);
    changes.set(&["meta", "created"], &written(item.created_at));
    changes.set(&["meta", "updated"], &written(item.updated_at));
}

/// A task as it must be written, and as its file shows it.
struct News<'a> {
    item: &'a Item,
    known: &'a Item,
    items: &'a ItemBook,
    names: &'a Names,
    is_later: bool,
    now: Timestamp,
}

fn change(changes: &mut Changes, news: &News<'_>, all_known: &ItemBook) {
    let News { item, known, items, names, is_later, now } = *news;
    let of = (is_later, now);
    if item.title != known.title {
        changes.set(&["title"], &json!(item.title));
    }
    if status(item, of) != status(known, of) {
        changes.set(&["status"], &json!(status(item, of)));
    }
    for (name, value) in &item.fields {
        if known.fields.get(name) != Some(value) {
            field(changes, name, value);
        }
    }
    let is_same_need = |(one, other): (&ItemId, &ItemId)| is_spelling_of(one, other);
    let has_same_needs = item.depends_on.len() == known.depends_on.len()
        && item.depends_on.iter().zip(&known.depends_on).all(is_same_need);
    if !has_same_needs {
        changes.set_where_it_is(NEEDS, &json!(names.all(&item.depends_on)));
    }
    if !is_same(item.parent.as_ref(), known.parent.as_ref()) {
        let parent = item.parent.as_ref().map(|parent| names.get(parent));
        changes.set_where_it_is(PARENT, &json!(parent));
    }
    subtasks(changes, item, all_known, (items, names));
    // Other tools read the number of attempts from the file; leftoff never decreases it.
    if let Some(attempts) = item.counters.get("attempts")
        && known.counters.get("attempts") < Some(attempts)
    {
        changes.set(&["execution", "attempts"], &json!(attempts));
    }
}

fn field(changes: &mut Changes, name: &str, value: &Value) {
    match name {
        "type" => changes.set_where_it_is(TYPE, value),
        "agent" => changes.set_where_it_is(AGENT, value),
        _ if CONTEXT.contains(&name) => changes.set(&["context", name], value),
        // The format has no place for other changes; they are only in the log.
        _ => {}
    }
}

/// Adds parts that leftoff created to the file of their container. Parts that another tool left out of that
/// file are not added.
fn subtasks(changes: &mut Changes, item: &Item, known: &ItemBook, (items, names): (&ItemBook, &Names)) {
    let named: Vec<String> = match changes.document.get(&["relations", "subtasks"]) {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(plain).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(_) => return,
    };
    let is_new = |part: &&ItemId| !known.contains(part) && !named.contains(&plain(part.as_str()));
    for part in parts(item, items).into_iter().filter(is_new) {
        changes.push(&["relations", "subtasks"], &json!(names.get(part)));
    }
}

/// Counts an attempt that started since the file was written. An attempt that the file already contains is
/// not counted again.
fn attempt(changes: &mut Changes, item: &Item, recorded: &Recorded) {
    let Event::Item(ItemEvent::ItemStarted { id }) = &recorded.event else { return };
    let at = written(recorded.at);
    if !id.is(&item.id) || changes.document.get(&["execution", "last_attempt"]).as_ref() == Some(&at) {
        return;
    }
    let before = changes.document.get(&["execution", "attempts"]).and_then(|count| count.as_i64());
    changes.set(&["execution", "attempts"], &json!(before.unwrap_or_default().saturating_add(1)));
    changes.set(&["execution", "last_attempt"], &at);
}

/// The format's word for a task's status. A held task is in progress; later releases have their own word for
/// that.
fn status(item: &Item, (is_later, now): (bool, Timestamp)) -> &'static str {
    let is_held = item.live_lease(now).is_some();
    match &item.status {
        ItemStatus::Completed { .. } | ItemStatus::Dropped { .. } => "completed",
        ItemStatus::Blocked { .. } => "blocked",
        ItemStatus::Pending | ItemStatus::Active if item.open_parts > 0 => "container",
        ItemStatus::Pending if !is_held => "pending",
        ItemStatus::Pending | ItemStatus::Active if is_later => "in_progress",
        ItemStatus::Pending | ItemStatus::Active => "active",
    }
}

fn parts<'a>(item: &Item, items: &'a ItemBook) -> Vec<&'a ItemId> {
    let mut parts: Vec<&Item> = items.parts_of(&item.id).collect();
    parts.sort_by_key(|part| part.sort_key());
    parts.into_iter().map(|part| &part.id).collect()
}

fn is_same(one: Option<&ItemId>, other: Option<&ItemId>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_spelling_of(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn is_spelling_of(one: &ItemId, other: &ItemId) -> bool {
    plain(one.as_str()) == plain(other.as_str())
}
