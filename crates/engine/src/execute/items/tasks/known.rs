//! Finds the items of tasks in a list that was imported before. A list may be reordered, renumbered and reworded since.
//! Still, a task must neither become a second item nor get the state of another task.

use super::{FoundList, LISTED_AS};
use crate::NATIVE;
use crate::error::Result;
use layouts::task_list::{Task, is_reworded};
use model::id::ItemId;
use model::item::{Item, ItemBook};
use model::session::Session;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The item of each task, by the task's id. Includes the items of new tasks.
pub(super) struct Known {
    items: BTreeMap<String, ItemId>,
    /// Open items that were imported from this list but are no longer in it.
    gone: Vec<ItemId>,
}

/// An item that may belong to a task of the list.
struct Candidate<'a> {
    item: &'a Item,
    /// The task's id when it was last imported from this list.
    listed: Option<&'a str>,
    is_taken: bool,
}

impl Known {
    pub(super) fn of(found: &FoundList, session: &Session, items: &ItemBook) -> Self {
        let mut candidates: Vec<Candidate<'_>> =
            items.iter().filter_map(|item| candidate(item, &found.path, session)).collect();
        let mut known = BTreeMap::new();
        // The most reliable sign is tried first, and for all tasks, so that a renumbered task is found by its title.
        let signs: [fn(&Task, &Candidate<'_>) -> bool; 4] = [
            |task, candidate| has_title(task, candidate) && has_number(task, candidate),
            has_title,
            |task, candidate| task.numbered && has_number(task, candidate) && may_be_renamed(task, candidate),
            |task, candidate| {
                !task.numbered
                    && candidate.listed.is_some()
                    && is_reworded(&task.title, &candidate.item.title)
            },
        ];
        for is_it in signs {
            for task in &found.list.tasks {
                if known.contains_key(&task.id) {
                    continue;
                }
                let meant = candidates.iter_mut().find(|other| !other.is_taken && is_it(task, other));
                if let Some(candidate) = meant {
                    candidate.is_taken = true;
                    known.insert(task.id.clone(), candidate.item.id.clone());
                }
            }
        }
        // Only items of native sessions record from which list they came.
        let is_gone = |candidate: &&Candidate<'_>| {
            session.layout == NATIVE
                && candidate.listed.is_some()
                && !candidate.is_taken
                && candidate.item.is_open()
        };
        let gone = candidates.iter().filter(is_gone).map(|candidate| candidate.item.id.clone()).collect();
        let taken: BTreeSet<String> = items.iter().map(|item| item.id.key()).collect();
        Self { items: with_new_ids(&found.list.tasks, known, taken), gone }
    }

    /// Returns the id of the item for the task with this id.
    pub(super) fn id(&self, task: &str) -> Result<ItemId> {
        self.items.get(task).map_or_else(|| super::super::parse(task), |id| Ok(id.clone()))
    }

    pub(super) fn ids(&self, tasks: &[String]) -> Result<Vec<ItemId>> {
        tasks.iter().map(|task| self.id(task)).collect()
    }

    pub(super) fn no_longer_listed(&self) -> Option<String> {
        const NAMED: usize = 5;
        let names: Vec<&str> = self.gone.iter().take(NAMED).map(ItemId::as_str).collect();
        let more = self.gone.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("no longer in the list, and kept: {}{more}", names.join(", ")))
    }
}

/// Returns the item as a candidate; `None` if it came from another list. If an item names no list, it was added by
/// hand, or its layout cannot record the list.
fn candidate<'a>(item: &'a Item, path: &str, session: &Session) -> Option<Candidate<'a>> {
    let listed = match item.fields.get(LISTED_AS).and_then(Value::as_str) {
        Some(listed) => Some(listed.strip_prefix(path)?.strip_prefix('#')?),
        None if session.layout == NATIVE => None,
        None => Some(item.id.as_str()),
    };
    Some(Candidate { item, listed, is_taken: false })
}

fn has_title(task: &Task, candidate: &Candidate<'_>) -> bool {
    let words = |title: &str| title.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    words(&task.title) == words(&candidate.item.title)
}

fn has_number(task: &Task, candidate: &Candidate<'_>) -> bool {
    candidate.listed.is_some_and(|listed| listed.eq_ignore_ascii_case(&task.id))
}

/// True if the task may belong to this item although its title differs. If the item is finished and the titles are
/// unrelated, the task is different work.
fn may_be_renamed(task: &Task, candidate: &Candidate<'_>) -> bool {
    candidate.item.is_open() || is_reworded(&task.title, &candidate.item.title)
}

/// Gives each new task its own id as the id of its item. If another item has that id, a number is added.
fn with_new_ids(
    tasks: &[Task],
    mut known: BTreeMap<String, ItemId>,
    mut taken: BTreeSet<String>,
) -> BTreeMap<String, ItemId> {
    for task in tasks {
        if known.contains_key(&task.id) {
            continue;
        }
        let numbered = (2_u32..).map(|number| format!("{}-{number}", task.id));
        let mut ids = std::iter::once(task.id.clone()).chain(numbered);
        // An invalid id also ends the search. It is refused when it is used.
        let free = ids.find_map(|id| match ItemId::parse(&id) {
            Ok(id) if taken.contains(&id.key()) => None,
            made => Some(made),
        });
        if let Some(Ok(id)) = free {
            taken.insert(id.key());
            known.insert(task.id.clone(), id);
        }
    }
    known
}
