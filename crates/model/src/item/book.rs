//! Folds events into items, of a whole session or only those that an event touches. Never refuses an event.

use super::{Item, ItemChange, ItemStatus, Lease, NewItem};
use crate::actor::Actor;
use crate::event::{Event, ItemEvent, Recorded};
use crate::id::ItemId;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Items by id, ignoring case. To apply an event, the book needs the item, its containers, and everything that depends
/// on the item or its containers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemBook {
    items: BTreeMap<String, Item>,
    dependents: BTreeMap<String, BTreeSet<String>>,
    parts: BTreeMap<String, BTreeSet<String>>,
    touched: BTreeSet<String>,
}

impl ItemBook {
    /// Folds all items of a session from its whole log. `Restored` events have the same effect as in `Session::fold`.
    pub fn fold(events: &[Recorded]) -> Self {
        let gone_back_to: BTreeSet<u64> = events.iter().filter_map(restored).collect();
        let mut earlier: BTreeMap<u64, Self> = BTreeMap::new();
        let mut book = Self::default();
        for recorded in events {
            if let Event::Item(event) = &recorded.event {
                book.apply(event, recorded.at, &recorded.actor);
            } else if let Some(kept) = restored(recorded).and_then(|version| earlier.get(&version)) {
                book = kept.clone().with_leases_of(&book);
            }
            if gone_back_to.contains(&recorded.version) {
                earlier.insert(recorded.version, book.clone());
            }
        }
        book.touched.clear();
        book
    }

    /// Inserts an item as read from the store.
    pub fn insert(&mut self, item: Item) {
        let key = item.id.key();
        for need in &item.depends_on {
            self.dependents.entry(need.key()).or_default().insert(key.clone());
        }
        if let Some(parent) = &item.parent {
            self.parts.entry(parent.key()).or_default().insert(key.clone());
        }
        self.items.insert(key, item);
    }

    pub fn get(&self, id: &ItemId) -> Option<&Item> {
        self.items.get(&id.key())
    }

    pub fn contains(&self, id: &ItemId) -> bool {
        self.items.contains_key(&id.key())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    /// Returns the items that events changed after they were inserted.
    pub fn touched(&self) -> impl Iterator<Item = &Item> {
        self.touched.iter().filter_map(|key| self.items.get(key))
    }

    pub fn parts_of(&self, id: &ItemId) -> impl Iterator<Item = &Item> {
        self.parts.get(&id.key()).into_iter().flatten().filter_map(|key| self.items.get(key))
    }

    /// Returns the path, with both ends, by which one open item waits for another: through dependencies, and from
    /// containers to their parts. `None` if it does not wait.
    pub fn waiting_path(&self, from: &ItemId, to: &ItemId) -> Option<Vec<ItemId>> {
        let mut came_from: BTreeMap<String, Option<String>> = BTreeMap::from([(from.key(), None)]);
        let mut open = vec![from.key()];
        while let Some(key) = open.pop() {
            if key == to.key() {
                return Some(self.path_back(&came_from, key));
            }
            let Some(item) = self.items.get(&key).filter(|item| item.is_open()) else { continue };
            let waited_for = item
                .waits_for
                .iter()
                .map(ItemId::key)
                .chain(self.parts.get(&key).into_iter().flatten().cloned());
            for next in waited_for {
                if !came_from.contains_key(&next) {
                    came_from.insert(next.clone(), Some(key.clone()));
                    open.push(next);
                }
            }
        }
        None
    }

    pub fn apply(&mut self, event: &ItemEvent, at: Timestamp, actor: &Actor) {
        match event {
            ItemEvent::ItemAdded { item } => self.add(item, at),
            ItemEvent::ItemStarted { id } => self.on(id, at, |item| item.status = ItemStatus::Active),
            ItemEvent::ItemCompleted { id, .. } => self.complete(id, at),
            ItemEvent::ItemBlocked { id, reason } => self.on(id, at, |item| {
                item.status = ItemStatus::Blocked { reason: reason.clone() };
                item.lease = None;
            }),
            ItemEvent::ItemUnblocked { id } => self.on(id, at, |item| item.status = ItemStatus::Pending),
            ItemEvent::ItemReopened { id, .. } => self.reopen(id, at),
            ItemEvent::ItemClaimed { id, until, seconds } => self.on(id, at, |item| {
                item.lease = Some(Lease { actor: actor.clone(), until: *until, seconds: *seconds });
            }),
            ItemEvent::ItemReleased { id } => self.on(id, at, |item| {
                item.lease = None;
                if item.status == ItemStatus::Active {
                    item.status = ItemStatus::Pending;
                }
            }),
            ItemEvent::ItemLeaseRenewed { id, until, seconds } => self.on(id, at, |item| {
                if let Some(lease) = &mut item.lease {
                    lease.until = *until;
                    lease.seconds = *seconds;
                }
            }),
            ItemEvent::ItemSplit { parts, .. } => parts.iter().for_each(|part| self.add(part, at)),
            ItemEvent::ItemSet { id, change } => self.set(id, change, at),
            ItemEvent::ItemDropped { id, reason: None, .. } => self.take_out(id, at),
            ItemEvent::ItemDropped { id, reason: Some(reason), .. } => self.drop_kept(id, reason, at),
        }
    }

    fn add(&mut self, new: &NewItem, at: Timestamp) {
        self.make_room_for(new);
        let parent = new.parent.as_ref().and_then(|id| self.get(id));
        let mut place = parent.map(|parent| parent.place.clone()).unwrap_or_default();
        place.push(new.order);
        let inherited = parent.map(|parent| parent.waits_for.clone()).unwrap_or_default();
        let mut item = Item {
            id: new.id.clone(),
            kind: new.kind.clone(),
            title: new.title.clone(),
            run: new.run.clone(),
            phase: new.phase.clone(),
            parent: new.parent.clone(),
            place,
            status: ItemStatus::Pending,
            depends_on: new.depends_on.clone(),
            waits_for: Vec::new(),
            parts: 0,
            open_parts: 0,
            dropped_parts: 0,
            counters: BTreeMap::new(),
            fields: new.fields.clone(),
            lease: None,
            created_at: at,
            updated_at: at,
        };
        // Dependencies that a part shares with its container are open if they are open for the container. The needed
        // items may be missing from this book.
        item.waits_for = item
            .depends_on
            .iter()
            .filter(|need| self.is_open(need) || inherited.iter().any(|other| other.is(need)))
            .cloned()
            .collect();
        if let Some(parent) = &new.parent {
            self.on(parent, at, |parent| {
                parent.parts = parent.parts.saturating_add(1);
                parent.open_parts = parent.open_parts.saturating_add(1);
                // A container is done when all of its parts are done. Nobody holds the container itself.
                parent.lease = None;
            });
        }
        self.touched.insert(new.id.key());
        self.insert(item);
    }

    /// Removes an item of an earlier run that has the same id as the new item. The log and the counts of the earlier
    /// run do not change.
    fn make_room_for(&mut self, new: &NewItem) {
        let Some(earlier) = self.items.remove(&new.id.key()) else { return };
        self.rewire(&new.id, &[]);
        if let Some(parent) = &earlier.parent {
            self.parts.entry(parent.key()).or_default().remove(&new.id.key());
        }
    }

    fn complete(&mut self, id: &ItemId, at: Timestamp) {
        let Some(item) = self.get(id).filter(|item| item.is_open()) else { return };
        let parent = item.parent.clone();
        self.end(id, ItemStatus::Completed { completed_at: at }, at);
        if let Some(parent) = parent {
            self.on(&parent, at, |parent| parent.open_parts = parent.open_parts.saturating_sub(1));
        }
    }

    /// Keeps a dropped item, with the reason. Nothing waits for it any longer.
    fn drop_kept(&mut self, id: &ItemId, reason: &str, at: Timestamp) {
        let Some(item) = self.get(id).filter(|item| item.is_open()) else { return };
        let parent = item.parent.clone();
        self.end(id, ItemStatus::Dropped { reason: reason.to_owned() }, at);
        if let Some(parent) = parent {
            self.on(&parent, at, |parent| {
                parent.open_parts = parent.open_parts.saturating_sub(1);
                parent.dropped_parts = parent.dropped_parts.saturating_add(1);
            });
        }
    }

    fn end(&mut self, id: &ItemId, status: ItemStatus, at: Timestamp) {
        self.on(id, at, |item| {
            item.status = status;
            item.waits_for.clear();
            item.lease = None;
        });
        for key in self.dependents.get(&id.key()).cloned().unwrap_or_default() {
            if let Some(dependent) = self.items.get_mut(&key) {
                dependent.waits_for.retain(|need| !need.is(id));
                self.touched.insert(key);
            }
        }
    }

    fn reopen(&mut self, id: &ItemId, at: Timestamp) {
        let Some(item) = self.get(id).filter(|item| item.is_done()) else { return };
        let (parent, needs) = (item.parent.clone(), item.depends_on.clone());
        let waits_for: Vec<ItemId> = needs.into_iter().filter(|need| self.is_open(need)).collect();
        self.on(id, at, |item| {
            item.status = ItemStatus::Pending;
            item.waits_for = waits_for;
        });
        for key in self.dependents.get(&id.key()).cloned().unwrap_or_default() {
            if let Some(dependent) = self.items.get_mut(&key).filter(|item| item.is_open()) {
                dependent.waits_for.push(id.clone());
                self.touched.insert(key);
            }
        }
        if let Some(parent) = parent {
            self.on(&parent, at, |parent| parent.open_parts = parent.open_parts.saturating_add(1));
        }
    }

    /// Removes an item from the dependencies of everything that waits for it.
    fn take_out(&mut self, id: &ItemId, at: Timestamp) {
        let Some(item) = self.items.remove(&id.key()) else { return };
        self.rewire(id, &[]);
        if let Some(parent) = &item.parent {
            self.parts.entry(parent.key()).or_default().remove(&id.key());
            let was_open = u32::from(item.is_open());
            let was_dropped = u32::from(item.is_dropped());
            self.on(parent, at, |parent| {
                parent.parts = parent.parts.saturating_sub(1);
                parent.open_parts = parent.open_parts.saturating_sub(was_open);
                parent.dropped_parts = parent.dropped_parts.saturating_sub(was_dropped);
            });
        }
        for key in self.dependents.remove(&id.key()).unwrap_or_default() {
            if let Some(dependent) = self.items.get_mut(&key) {
                dependent.depends_on.retain(|need| !need.is(id));
                dependent.waits_for.retain(|need| !need.is(id));
                self.touched.insert(key);
            }
        }
    }

    fn set(&mut self, id: &ItemId, change: &ItemChange, at: Timestamp) {
        if let Some(order) = change.order {
            self.move_to(id, order);
        }
        let waits_for = change
            .depends_on
            .as_ref()
            .map(|needs| needs.iter().filter(|need| self.is_open(need)).cloned().collect::<Vec<_>>());
        if let Some(needs) = &change.depends_on {
            self.rewire(id, needs);
        }
        self.on(id, at, |item| {
            if let Some(title) = &change.title {
                item.title.clone_from(title);
            }
            item.fields.extend(change.fields.clone());
            item.counters.extend(change.counters.clone());
            if let Some(needs) = &change.depends_on {
                item.depends_on.clone_from(needs);
            }
            if let Some(waits_for) = waits_for {
                item.waits_for = waits_for;
            }
        });
    }

    fn rewire(&mut self, id: &ItemId, needs: &[ItemId]) {
        let key = id.key();
        for dependents in self.dependents.values_mut() {
            dependents.remove(&key);
        }
        for need in needs {
            self.dependents.entry(need.key()).or_default().insert(key.clone());
        }
    }

    /// Moves an item together with its parts.
    fn move_to(&mut self, id: &ItemId, order: u32) {
        let Some(level) = self.get(id).map(Item::level) else { return };
        let mut moved = vec![id.key()];
        while let Some(key) = moved.pop() {
            moved.extend(self.parts.get(&key).into_iter().flatten().cloned());
            if let Some(place) = self.items.get_mut(&key).and_then(|item| item.place.get_mut(level - 1)) {
                *place = order;
                self.touched.insert(key);
            }
        }
    }

    /// Keeps the leases of `now` when an older state is restored.
    fn with_leases_of(mut self, now: &Self) -> Self {
        for (key, item) in &mut self.items {
            let can_be_held = match item.status {
                ItemStatus::Pending | ItemStatus::Active => !item.is_container(),
                ItemStatus::Completed { .. } | ItemStatus::Blocked { .. } | ItemStatus::Dropped { .. } => {
                    false
                }
            };
            item.lease = now.items.get(key).filter(|_| can_be_held).and_then(|known| known.lease.clone());
        }
        self
    }

    fn is_open(&self, id: &ItemId) -> bool {
        self.get(id).is_some_and(Item::is_open)
    }

    fn on(&mut self, id: &ItemId, at: Timestamp, change: impl FnOnce(&mut Item)) {
        if let Some(item) = self.items.get_mut(&id.key()) {
            change(item);
            item.updated_at = at;
            self.touched.insert(id.key());
        }
    }

    fn path_back(&self, came_from: &BTreeMap<String, Option<String>>, last: String) -> Vec<ItemId> {
        let mut path = Vec::new();
        let mut at = Some(last);
        while let Some(key) = at {
            path.extend(self.items.get(&key).map(|item| item.id.clone()));
            at = came_from.get(&key).cloned().flatten();
        }
        path.reverse();
        path
    }
}

/// Returns the version that a `Restored` event restores; `None` for any other event.
fn restored(recorded: &Recorded) -> Option<u64> {
    match recorded.event {
        Event::Restored { to_version } if to_version < recorded.version => Some(to_version),
        _ => None,
    }
}
