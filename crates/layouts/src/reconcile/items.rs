//! Adopts changes of items in files: items that were added, moved or described. An item that is missing in
//! the files was not deleted.

use super::{Draft, Laid};
use model::event::{Event, ItemEvent};
use model::id::{ItemId, Name};
use model::item::{Item, ItemBook, ItemChange, ItemStatus, NewItem, RunRef};
use model::session::Session;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn items(draft: &mut Draft, base: &ItemBook, theirs: Laid<'_>) {
    let mut wanted: Vec<&Item> = theirs.items.iter().collect();
    wanted.sort_by_key(|item| item.sort_key());
    // All items are added before anything else, because an item may depend on a later one.
    for item in &wanted {
        if draft.items().get(&item.id).is_none() {
            let mut item = added(item);
            if !base.contains(&item.id) {
                item.run = run_of(draft, &item, theirs.session);
            }
            item.depends_on.retain(|need| base.contains(&item.id) || draft.items().contains(need));
            draft.push(Event::Item(ItemEvent::ItemAdded { item }));
        }
    }
    drop_unlisted(draft, base, theirs.items);
    for item in wanted {
        let was = base.get(&item.id);
        describe(draft, was, item);
        move_on(draft, was, item);
    }
}

/// Drops an item that was known only from a list, once the list does not contain it any more.
fn drop_unlisted(draft: &mut Draft, base: &ItemBook, theirs: &ItemBook) {
    let is_off = |item: &&Item| item.fields.contains_key(super::LISTED) && !theirs.contains(&item.id);
    let off: Vec<ItemId> = base.iter().filter(is_off).map(|item| item.id.clone()).collect();
    for id in off {
        let is_only_listed = |ours: &Item| ours.fields.contains_key(super::LISTED) && !ours.is_done();
        if draft.items().get(&id).is_some_and(|ours| is_only_listed(ours) && ours.lease.is_none()) {
            drop_one(draft, &id);
        }
    }
}

/// The run to which an item in the files belongs. A part belongs to the run of its container. An item of the
/// current run in the files belongs to the log's current run if the files cannot represent that run.
fn run_of(draft: &Draft, item: &NewItem, theirs: &Session) -> RunRef {
    if let Some(parent) = item.parent.as_ref().and_then(|parent| draft.items().get(parent)) {
        return parent.run.clone();
    }
    let is_in_their_current = theirs.run().is_some_and(|run| RunRef::from(run) == item.run);
    let ours = draft.session().run().filter(|ours| {
        let is_told = theirs.runs.iter().any(|run| super::is_same(run, ours));
        is_in_their_current && !is_told && ours.position(item.phase.as_str()).is_some()
    });
    ours.map_or_else(|| item.run.clone(), RunRef::from)
}

/// For layouts whose files give the number of parts: drops a part that leftoff wrote and that is missing now.
/// A part that somebody finished, holds or commented on stays, and is returned.
pub fn drop_parts(draft: &mut Draft, base: &ItemBook, theirs: &ItemBook) -> Vec<ItemId> {
    let is_counted = |item: &&Item| {
        let parent = item.parent.as_ref().and_then(|parent| theirs.get(parent));
        parent.is_some_and(Item::is_container) && !theirs.contains(&item.id)
    };
    let surplus: Vec<ItemId> = base.iter().filter(is_counted).map(|item| item.id.clone()).collect();
    let mut stays = Vec::new();
    for id in surplus {
        let Some(ours) = draft.items().get(&id) else { continue };
        if is_blank(ours) && !ours.is_container() {
            drop_one(draft, &id);
        } else {
            stays.push(id);
        }
    }
    stays
}

/// For layouts whose files list the items of a phase: drops an item that was removed from a list that still
/// contains other items of the phase. The item stays, and is returned, if somebody worked on it or on its
/// parts.
pub fn drop_listed(draft: &mut Draft, base: &ItemBook, theirs: &ItemBook) -> Vec<ItemId> {
    let has_others =
        |item: &Item| theirs.iter().any(|other| other.parent.is_none() && other.phase == item.phase);
    let is_out = |item: &&Item| item.parent.is_none() && !theirs.contains(&item.id) && has_others(item);
    let out: Vec<ItemId> = base.iter().filter(is_out).map(|item| item.id.clone()).collect();
    let mut stays = Vec::new();
    for id in out {
        let Some(ours) = draft.items().get(&id) else { continue };
        let parts: Vec<&Item> = draft.items().parts_of(&id).collect();
        let is_untouched = is_blank(ours) && parts.iter().all(|part| is_blank(part) && !part.is_container());
        if is_untouched {
            let parts: Vec<ItemId> = parts.into_iter().map(|part| part.id.clone()).collect();
            parts.iter().chain([&id]).for_each(|id| drop_one(draft, id));
        } else {
            stays.push(id);
        }
    }
    stays
}

/// True if nobody finished the item, holds it, or commented on it.
fn is_blank(item: &Item) -> bool {
    let is_open = matches!(item.status, ItemStatus::Pending | ItemStatus::Active);
    let says_nothing = item.fields.values().all(Value::is_null);
    is_open && says_nothing && item.counters.values().all(|count| *count == 0) && item.lease.is_none()
}

fn drop_one(draft: &mut Draft, id: &ItemId) {
    let Some(ours) = draft.items().get(id) else { return };
    let (id, run, phase) = (id.clone(), ours.run.clone(), ours.phase.clone());
    draft.push(Event::Item(ItemEvent::ItemDropped { id, run, phase, reason: None }));
}

/// For layouts whose files give the number of parts: if the number of completed parts changed, completes that
/// many parts. The files do not say which parts are complete, because work may be done in any order.
pub fn count_parts(draft: &mut Draft, base: &ItemBook, theirs: &ItemBook) {
    for parent in theirs.iter().filter(|item| item.is_container()) {
        let is_counted = |part: &&Item| theirs.contains(&part.id);
        let done = |book: &ItemBook| {
            book.parts_of(&parent.id).filter(is_counted).filter(|part| part.is_done()).count()
        };
        let (was, now) = (done(base), done(theirs));
        let mut ours: Vec<Item> = draft.items().parts_of(&parent.id).filter(is_counted).cloned().collect();
        ours.sort_by_key(Item::sort_key);
        let (closed, open): (Vec<Item>, Vec<Item>) = ours.into_iter().partition(Item::is_done);
        let more = open.into_iter().take(now.saturating_sub(closed.len()));
        for Item { id, run, phase, .. } in more.filter(|_| now > was) {
            draft.push(Event::Item(ItemEvent::ItemCompleted { id, run, phase }));
        }
        let fewer = closed.iter().skip(now).cloned();
        for Item { id, run, phase, .. } in fewer.filter(|_| now < was) {
            draft.push(Event::Item(ItemEvent::ItemReopened { id, run, phase }));
        }
    }
}

/// Reopens completed items of phases that have not started according to the edited files, if the files do not
/// contain these items any more. Items that the files never contain, such as reviewers, stay as they are.
pub(super) fn open_with(draft: &mut Draft, phases: &[Name], base: &ItemBook, theirs: &ItemBook) {
    let run = draft.session().run().map(RunRef::from);
    let is_its = |item: &&Item| {
        Some(&item.run) == run.as_ref()
            && phases.contains(&item.phase)
            && base.contains(&item.id)
            && !theirs.contains(&item.id)
    };
    let done: Vec<Event> =
        draft.items().iter().filter(is_its).filter_map(model::revision::reopened).map(Event::Item).collect();
    for event in done {
        draft.push(event);
    }
}

fn added(item: &Item) -> NewItem {
    NewItem {
        id: item.id.clone(),
        kind: item.kind.clone(),
        title: item.title.clone(),
        run: item.run.clone(),
        phase: item.phase.clone(),
        parent: item.parent.clone(),
        order: item.order(),
        depends_on: item.depends_on.clone(),
        fields: item.fields.clone(),
    }
}

fn describe(draft: &mut Draft, was: Option<&Item>, theirs: &Item) {
    let Some(ours) = draft.items().get(&theirs.id) else { return };
    let mut change = ItemChange::default();
    if was.is_none_or(|was| was.title != theirs.title) && ours.title != theirs.title {
        change.title = Some(theirs.title.clone());
    }
    if was.is_none_or(|was| was.depends_on != theirs.depends_on) && ours.depends_on != theirs.depends_on {
        change.depends_on = Some(theirs.depends_on.clone());
    }
    let nothing = BTreeMap::default();
    change.fields =
        super::fields::changed_fields(&ours.fields, was.map_or(&nothing, |was| &was.fields), &theirs.fields);
    change.counters = theirs
        .counters
        .iter()
        .filter(|(name, count)| {
            was.is_none_or(|was| was.counters.get(*name) != Some(*count))
                && ours.counters.get(*name) != Some(*count)
        })
        .map(|(name, count)| (name.clone(), *count))
        .collect();
    if !change.is_empty() {
        draft.push(Event::Item(ItemEvent::ItemSet { id: theirs.id.clone(), change }));
    }
}

fn move_on(draft: &mut Draft, was: Option<&Item>, theirs: &Item) {
    let Some(ours) = draft.items().get(&theirs.id) else { return };
    let is_as_it_was = was.is_some_and(|was| was.status.name() == theirs.status.name());
    if is_as_it_was || ours.status.name() == theirs.status.name() {
        return;
    }
    let id = theirs.id.clone();
    let (run, phase) = (ours.run.clone(), ours.phase.clone());
    let (was_done, was_blocked) = (ours.is_done(), matches!(ours.status, ItemStatus::Blocked { .. }));
    if was_done {
        draft.push(Event::Item(ItemEvent::ItemReopened {
            id: id.clone(),
            run: run.clone(),
            phase: phase.clone(),
        }));
    } else if was_blocked {
        draft.push(Event::Item(ItemEvent::ItemUnblocked { id: id.clone() }));
    }
    let event = match &theirs.status {
        ItemStatus::Pending if was_done || was_blocked => return,
        ItemStatus::Pending => ItemEvent::ItemReleased { id },
        ItemStatus::Active => ItemEvent::ItemStarted { id },
        ItemStatus::Completed { .. } => ItemEvent::ItemCompleted { id, run, phase },
        ItemStatus::Blocked { reason } => ItemEvent::ItemBlocked { id, reason: reason.clone() },
        ItemStatus::Dropped { reason } => {
            ItemEvent::ItemDropped { id, run, phase, reason: Some(reason.clone()) }
        }
    };
    draft.push(Event::Item(event));
}
