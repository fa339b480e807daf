//! Names of tasks in files: existing names stay, and new ones are spelled as in the session's release.

use crate::ccw::CcwSession;
use crate::ccw::place::Ground;
use crate::ccw::tasks::{Tasks, natural, plain};
use model::id::ItemId;
use model::item::{Item, ItemBook};
use std::collections::BTreeMap;

const TASK: &str = "impl-";

/// Names of tasks in files, keyed by ids without case and leading zeros.
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// The names of a session's items. Only folders of later releases name tasks differently from the items' ids.
    pub(super) fn of(read: &CcwSession, items: &ItemBook) -> Self {
        let mut names = in_files(&read.tasks);
        let is_lowercase = |name: &String| name.starts_with(TASK);
        if read.ground == Ground::Home || names.values().any(is_lowercase) {
            return Self(names);
        }
        for item in items.iter().filter(|item| item.id.as_str().starts_with(TASK)) {
            let key = plain(item.id.as_str());
            names.entry(key).or_insert_with(|| padded(item.id.as_str()));
        }
        Self(names)
    }

    /// Names for a session from another layout: every item becomes a numbered task, whatever its id is.
    pub(super) fn numbered(read: &CcwSession, items: &ItemBook) -> Self {
        let mut names = in_files(&read.tasks);
        let mut whole: Vec<&Item> = items.iter().filter(|item| item.parent.is_none()).collect();
        whole.sort_by_key(|item| item.sort_key());
        let taken: Vec<u32> = whole.iter().filter_map(|item| number(item.id.as_str())).collect();
        let mut free = (1..).filter(|number| !taken.contains(number));
        for item in whole {
            let number = number(item.id.as_str()).or_else(|| free.next()).unwrap_or_default();
            name_parts(item, &format!("IMPL-{number:03}"), items, &mut names);
        }
        Self(names)
    }

    pub(super) fn get(&self, id: &ItemId) -> String {
        self.0.get(&plain(id.as_str())).cloned().unwrap_or_else(|| id.to_string())
    }

    pub(super) fn all<'a>(&self, ids: impl IntoIterator<Item = &'a ItemId>) -> Vec<String> {
        ids.into_iter().map(|id| self.get(id)).collect()
    }

    pub(super) fn sorted<'a>(&self, ids: impl IntoIterator<Item = &'a ItemId>) -> Vec<String> {
        let mut names = self.all(ids);
        names.sort_by_cached_key(|name| natural(name));
        names
    }
}

fn in_files(tasks: &Tasks) -> BTreeMap<String, String> {
    let with_file = tasks.tasks.iter().filter(|task| !task.is_only_listed);
    with_file.map(|task| (plain(task.id.as_str()), task.id.to_string())).collect()
}

fn name_parts(item: &Item, name: &str, items: &ItemBook, names: &mut BTreeMap<String, String>) {
    names.entry(plain(item.id.as_str())).or_insert_with(|| name.to_owned());
    let mut parts: Vec<&Item> = items.parts_of(&item.id).collect();
    parts.sort_by_key(|part| part.sort_key());
    for (part, number) in parts.into_iter().zip(1..) {
        name_parts(part, &format!("{name}.{number}"), items, names);
    }
}

/// Turns `impl-1.2` into `IMPL-001.2`.
fn padded(id: &str) -> String {
    let (whole, parts) = id.split_once('.').map_or((id, None), |(whole, parts)| (whole, Some(parts)));
    let whole = number(whole).map_or_else(|| whole.to_owned(), |number| format!("IMPL-{number:03}"));
    parts.map_or_else(|| whole.clone(), |parts| format!("{whole}.{parts}"))
}

/// The number of a top-level task.
fn number(id: &str) -> Option<u32> {
    plain(id).strip_prefix(TASK)?.parse().ok()
}
