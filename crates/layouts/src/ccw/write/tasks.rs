//! A file for each task. A task that was read from a file goes back there; a new one gets a file by its id.

use super::{Changes, Said, ours};
use crate::ccw::TASKS;
use crate::ccw::fields::written;
use crate::ccw::place::Ground;
use crate::ccw::tasks::{AGENT, CONTEXT, NEEDS, PARENT, TYPE, Task, plain};
use crate::layout::{FileChange, Folder, Standing};
use crate::reconcile::LISTED;
use jiff::Timestamp;
use model::event::{Event, ItemEvent, Recorded};
use model::id::ItemId;
use model::item::{Item, ItemBook, ItemStatus};
use serde_json::{Value, json};

pub(super) fn files(standing: &Standing<'_>, said: &Said<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
    standing.items.iter().filter_map(|item| file(item, standing, said, folder)).collect()
}

fn file(item: &Item, standing: &Standing<'_>, said: &Said<'_>, folder: &Folder<'_>) -> Option<FileChange> {
    let read = read_of(item, standing.items, said);
    let path = read
        .map_or_else(|| format!("{}/{TASKS}/{}.json", said.read.folder, item.id), |task| task.file.clone());
    let is_there = folder.tree.get(&path).is_some();
    // A task that only a list told of gets no file of ours once the list does not count any more.
    let is_off_the_list = item.fields.contains_key(LISTED) && !is_there;
    if read.is_none() && (is_there || is_off_the_list) {
        return None;
    }
    let mut changes = Changes::to(folder.tree.content(&path))?;
    let known = read.and_then(|task| said.items.get(&task.id));
    let is_later = said.read.tasks.is_later || said.read.ground != Ground::Home;
    let now = standing.session.updated_at;
    let is_only_listed = read.is_some_and(|task| task.is_only_listed);
    match known {
        // The list alone tells of it as long as there is nothing else to tell.
        Some(known) if is_only_listed && is_as_listed(item, known) => return None,
        Some(known) if !is_only_listed => {
            change(&mut changes, item, (known, said.items), standing.items, (is_later, now));
        }
        Some(_) | None => begin(&mut changes, item, standing.items, (is_later, now)),
    }
    // Whoever wrote that it goes on has counted that attempt, or not; a claim of ours says so too, and has not.
    if known.is_none_or(|known| known.status != ItemStatus::Active || item.live_lease(now).is_some()) {
        for recorded in ours(standing.since_written(&path)) {
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

/// The task in the files that is the item: of its very id, or in another spelling that is no item's own.
fn read_of<'a>(item: &Item, items: &ItemBook, said: &Said<'a>) -> Option<&'a Task> {
    let is_its = |task: &&Task| task.id.is(&item.id) || !items.contains(&task.id);
    let mut same = said.read.tasks.tasks.iter().filter(|task| is_spelling_of(&task.id, &item.id));
    same.find(is_its)
}

/// In the order in which the tool writes it.
fn begin(changes: &mut Changes, item: &Item, items: &ItemBook, of: (bool, Timestamp)) {
    let field = |name: &str| item.fields.get(name).cloned();
    changes.set(&["id"], &json!(item.id));
    changes.set(&["title"], &json!(item.title));
    changes.set(&["status"], &json!(status(item, of)));
    changes.set(&["type"], &field("type").unwrap_or_else(|| json!("feature")));
    changes.set(&["agent"], &field("agent").unwrap_or(Value::Null));
    for key in CONTEXT {
        // A part inherits from what it is part of.
        let nothing = if key == "inherited_from" { json!(item.parent) } else { json!([]) };
        changes.set(&["context", key], &field(key).unwrap_or(nothing));
    }
    changes.set(&["relations", "parent"], &json!(item.parent));
    changes.set(&["relations", "subtasks"], &json!(parts(item, items)));
    changes.set(&["relations", "dependencies"], &json!(item.depends_on));
    changes
        .set(&["execution", "attempts"], &json!(item.counters.get("attempts").copied().unwrap_or_default()));
    changes.set(&["execution", "last_attempt"], &Value::Null);
    changes.set(&["meta", "created"], &written(item.created_at));
    changes.set(&["meta", "updated"], &written(item.updated_at));
}

fn change(
    changes: &mut Changes,
    item: &Item,
    (known, all_known): (&Item, &ItemBook),
    items: &ItemBook,
    of: (bool, Timestamp),
) {
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
        changes.set_where_it_is(NEEDS, &json!(item.depends_on));
    }
    if !is_same(item.parent.as_ref(), known.parent.as_ref()) {
        changes.set_where_it_is(PARENT, &json!(item.parent));
    }
    subtasks(changes, item, all_known, items);
    // Attempts are counted in the file, so that others can; there are never fewer than there were.
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
        // What the format has no place for stays in the log.
        _ => {}
    }
}

/// Only parts that came by this program are named: who left others out is their authors' matter.
fn subtasks(changes: &mut Changes, item: &Item, known: &ItemBook, items: &ItemBook) {
    let named: Vec<String> = match changes.document.get(&["relations", "subtasks"]) {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(plain).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(_) => return,
    };
    let is_new = |part: &&ItemId| !known.contains(part) && !named.contains(&plain(part.as_str()));
    for part in parts(item, items).into_iter().filter(is_new) {
        changes.push(&["relations", "subtasks"], &json!(part));
    }
}

/// Counted where an attempt began since the file was written; said once.
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

/// Later releases have a word of their own for one that is being worked on. What somebody holds is, begun or not.
fn status(item: &Item, (is_later, now): (bool, Timestamp)) -> &'static str {
    let is_held = item.live_lease(now).is_some();
    match &item.status {
        ItemStatus::Completed { .. } => "completed",
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
