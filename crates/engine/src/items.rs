//! Items for front ends: the first items of a phase, and the next one. Reads rows, never the whole log.

mod left_behind;
mod of_a_phase;
mod rows;
mod status_text;
#[cfg(test)]
mod tests;

pub(crate) use rows::{item_row, item_rows, read_item};
pub(crate) use status_text::text_of;

use crate::engine::{Engine, Want, is_unfinished};
use crate::error::Result;
use jiff::Timestamp;
use model::actor::Actor;
use model::command::items::phase_named;
use model::id::{ItemId, Name, SessionId};
use model::item::{Item, ItemBook, ItemCounts, ItemState, Lease, RunRef};
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use store::{Batch, ItemFilter, ItemRow, ReadyQuery};

/// The maximum number of open items in a view. `leftoff item list` shows all.
const SHOWN: usize = 50;

/// How many free items are searched for one that was started. There may be any number of free items.
const LOOKED_THROUGH: usize = 20;

/// An item, as the caller sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemView {
    #[serde(flatten)]
    pub item: Item,
    /// The depth of the item, which is 1 for a top-level item.
    pub level: usize,
    pub order: u32,
    pub container: bool,
    /// True if the caller can claim the item now.
    pub ready: bool,
    /// True if somebody's lease on the item is still valid.
    pub held: bool,
    /// True if the caller holds the item.
    pub mine: bool,
    /// When the holder of the item was last seen, if the holder is known to have ended. The item can then be claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_gone_since: Option<Timestamp>,
    /// True if the holder is on another machine. Nobody here can see if the work continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
}

impl ItemView {
    fn of(item: Item, actor: &Actor, now: Timestamp, holder_gone_since: Option<Timestamp>) -> Self {
        let held = item.live_lease(now).is_some();
        let mine = item.is_held_by(actor, now);
        Self {
            level: item.level(),
            order: item.order(),
            container: item.is_container(),
            ready: item.state() == ItemState::Ready && (mine || !held || holder_gone_since.is_some()),
            held,
            mine,
            holder_gone_since,
            unconfirmed: false,
            item,
        }
    }

    pub fn id(&self) -> &ItemId {
        &self.item.id
    }
}

/// The current phase's items in a view.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ItemsSeen {
    pub(crate) counts: ItemCounts,
    /// The first open items of the current phase.
    pub(crate) open: Vec<ItemView>,
    /// The item that the caller holds, or else the first free one.
    pub(crate) next: Option<ItemView>,
    /// Open items of an earlier phase that must be done first: the log contradicts a file that calls the phase done, or
    /// the items block the end of the run.
    pub(crate) behind: Option<Behind>,
    /// True if the run cannot end because of open items.
    pub(crate) block_the_end: bool,
}

/// The open items of an earlier phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Behind {
    pub(crate) phase: Name,
    pub(crate) items: Box<ItemsSeen>,
}

/// A filter for a list of items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemListRequest {
    /// Id or number of the phase. If missing, the current phase.
    pub phase: Option<String>,
    pub status: Option<String>,
    /// True to list items of all phases, whether finished or not.
    pub all: bool,
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemListing {
    pub session_id: String,
    pub run: RunRef,
    /// The phases that have items in the list, with the numbers of their items.
    pub phases: Vec<PhaseItems>,
    pub items: Vec<ItemView>,
    /// True if there are more items than the limit.
    pub more: bool,
    #[serde(skip)]
    pub now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseItems {
    pub phase: Name,
    #[serde(flatten)]
    pub counts: ItemCounts,
}

/// The run and phase of items, as stored in rows.
struct Spot {
    run: String,
    phase: String,
}

impl Spot {
    fn of(run: &Run) -> Self {
        Self::in_phase(run, run.current())
    }

    fn in_phase(run: &Run, phase: &Phase) -> Self {
        Self { run: RunRef::from(run).to_string(), phase: phase.id().to_string() }
    }

    fn has(&self, row: &ItemRow) -> bool {
        row.run == self.run && row.phase == self.phase
    }

    fn filter(&self, state: ItemState, limit: usize) -> ItemFilter {
        ItemFilter {
            run: Some(self.run.clone()),
            phase: Some(self.phase.clone()),
            state: Some(state),
            limit: Some(limit),
            ..ItemFilter::default()
        }
    }
}

impl Engine {
    /// Returns an item as the caller sees it now.
    pub(crate) fn item_view(&self, mut item: Item, actor: &Actor, now: Timestamp) -> ItemView {
        // If hooks see the holder at work, the lease stays valid, even if the holder ran no command that renewed it.
        if let Some(lease) = item.lease.as_mut().filter(|lease| !lease.is_live(now))
            && let Some(seen) = self.seen_at_work(&lease.actor)
        {
            *lease = lease.with_holder_seen(seen);
        }
        let lease = item.live_lease(now).filter(|lease| lease.actor != *actor);
        let gone = lease.and_then(|lease| self.gone_since(&lease.actor));
        let is_elsewhere = |lease: &Lease| lease.actor.host() != self.caller.host;
        // With a server, all machines use the same leases, so a lease is certain even if its holder is on another
        // machine.
        let unconfirmed = self.team.is_none() && lease.is_some_and(is_elsewhere);
        ItemView { unconfirmed, ..ItemView::of(item, actor, now, gone) }
    }

    /// Returns all items of a session.
    pub(crate) fn all_items(&self, id: &SessionId) -> Result<ItemBook> {
        let mut book = ItemBook::default();
        for row in self.store.items(id, &ItemFilter::default())? {
            book.insert(read_item(&row)?);
        }
        Ok(book)
    }

    /// Returns the items of the current phase as they will be after this batch is committed.
    pub(crate) fn items_seen(&self, session: &Session, run: &Run, batch: &Batch) -> Result<ItemsSeen> {
        let current = run.current();
        let seen = if current.items.open() > 0 {
            self.items_seen_in(session, run, current, batch)?
        } else {
            ItemsSeen { counts: current.items, ..ItemsSeen::default() }
        };
        let behind = self.left_behind(session, run).map(|phase| -> Result<Behind> {
            let items = Box::new(self.items_seen_in(session, run, phase, batch)?);
            Ok(Behind { phase: phase.id().clone(), items })
        });
        let block_the_end = self.left_open_before_the_end(session, run).is_some();
        Ok(ItemsSeen { behind: behind.transpose()?, block_the_end, ..seen })
    }

    fn items_seen_in(&self, session: &Session, run: &Run, phase: &Phase, batch: &Batch) -> Result<ItemsSeen> {
        let actor = self.asking_actor()?;
        let now = self.clock.now();
        let spot = Spot::in_phase(run, phase);
        let mut open = self.open_rows(&session.id, &spot, batch)?;
        open.truncate(SHOWN);
        let next = match self.next_row(&session.id, &spot, batch, &actor, now)? {
            Some(row) => Some(self.item_view(read_item(&row)?, &actor, now)),
            None => None,
        };
        let mut open = open
            .iter()
            .map(|row| Ok(self.item_view(read_item(row)?, &actor, now)))
            .collect::<Result<Vec<_>>>()?;
        // If the session is over, nobody can claim its items.
        let is_open = is_unfinished(session.lifecycle.name());
        for item in &mut open {
            item.ready &= is_open;
        }
        Ok(ItemsSeen { counts: phase.items, open, next, ..ItemsSeen::default() })
    }

    /// Returns the first item that this actor can claim. The actor's own items come first.
    pub(crate) fn first_ready(&self, session: &Session, actor: &Actor) -> Result<Option<ItemId>> {
        let Some(run) = session.run() else { return Ok(None) };
        let row = self.next_row(&session.id, &Spot::of(run), &Batch::default(), actor, self.clock.now())?;
        Ok(row.map(|row| row.id))
    }

    /// Returns the first items of a phase of the current run, in order.
    pub(crate) fn items_of(&self, session: &Session, phase: &Name, limit: usize) -> Result<Vec<Item>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: Some(phase.to_string()),
            limit: Some(limit),
            ..ItemFilter::default()
        };
        self.store.items(&session.id, &filter)?.iter().map(read_item).collect()
    }

    /// Returns items of the current run, in order.
    pub fn items(&self, request: &ItemListRequest) -> Result<ItemListing> {
        let (_, session) = self.load(&self.select(Want::Latest)?)?;
        let phase = phase_named(&session, request.phase.as_deref())?;
        let Some(run) = session.run() else {
            return Err(crate::Error::NoSession { worktree: self.project.worktree() });
        };
        // If the current phase has no items, the items of other phases are listed.
        let is_elsewhere = request.phase.is_none() && phase.items.is_empty();
        let only = ((!request.all && !is_elsewhere) || request.phase.is_some()).then(|| phase.id().clone());
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: only.as_ref().map(ToString::to_string),
            status: request.status.clone(),
            limit: Some(request.limit.saturating_add(1)),
            ..ItemFilter::default()
        };
        let mut rows = if request.all || request.status.is_some() {
            self.store.items(&session.id, &filter)?
        } else {
            let of = |state| ItemFilter { state: Some(state), ..filter.clone() };
            let mut rows = self.store.items(&session.id, &of(ItemState::Ready))?;
            rows.extend(self.store.items(&session.id, &of(ItemState::Waiting))?);
            sort(&mut rows);
            rows
        };
        let more = rows.len() > request.limit;
        rows.truncate(request.limit);
        let actor = self.asking_actor()?;
        let now = self.clock.now();
        let items = rows.iter().map(|row| Ok(self.item_view(read_item(row)?, &actor, now)));
        let phases = run.phases.iter().filter(|phase| only.as_ref().is_none_or(|only| only == phase.id()));
        Ok(ItemListing {
            session_id: session.id.to_string(),
            run: RunRef::from(run),
            phases: phases
                .filter(|phase| !phase.items.is_empty())
                .map(|phase| PhaseItems { phase: phase.id().clone(), counts: phase.items })
                .collect(),
            items: items.collect::<Result<_>>()?,
            more,
            now,
        })
    }

    /// True if the stored rows match the items from the log, which decides if they differ.
    pub(crate) fn items_agree(&self, id: &SessionId, from_log: ItemBook) -> Result<bool> {
        let mut count = 0;
        // The rows are compared one by one. All rows together would need as much memory again as the items from the
        // log.
        for item in from_log.iter() {
            count += 1;
            if self.store.item(id, &item.id)? != Some(item_row(id, item)?) {
                return Ok(false);
            }
        }
        drop(from_log);
        Ok(self.store.items(id, &ItemFilter { limit: Some(count + 1), ..ItemFilter::default() })?.len()
            == count)
    }

    pub(crate) fn asking_actor(&self) -> Result<Actor> {
        let agent = self.asking_agent()?;
        Ok(self.actor(agent.as_ref()))
    }

    /// Returns the first open items of a phase, ready or waiting, as many as a view shows.
    fn open_rows(&self, session: &SessionId, spot: &Spot, batch: &Batch) -> Result<Vec<ItemRow>> {
        let limit = SHOWN.saturating_add(batch.items.len());
        let stored = || {
            let mut rows = self.store.items(session, &spot.filter(ItemState::Ready, limit))?;
            rows.extend(self.store.items(session, &spot.filter(ItemState::Waiting, limit))?);
            Ok(rows)
        };
        let mut rows = overlaid(session, batch, stored)?;
        rows.retain(|row| spot.has(row) && row.state != ItemState::Done);
        sort(&mut rows);
        Ok(rows)
    }

    fn next_row(
        &self,
        session: &SessionId,
        spot: &Spot,
        batch: &Batch,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Option<ItemRow>> {
        let holder = actor.key();
        let is_mine = |row: &ItemRow| row.holder.as_ref() == Some(&holder);
        let is_live = |row: &ItemRow| row.lease_until.is_some_and(|until| now < until);
        let is_here = |row: &ItemRow| spot.has(row) && row.state == ItemState::Ready;
        let mut held = overlaid(session, batch, || Ok(self.store.held_items(session, &holder)?))?;
        held.retain(|row| is_here(row) && is_mine(row) && is_live(row));
        sort(&mut held);
        if let Some(first) = held.into_iter().next() {
            return Ok(Some(first));
        }
        let limit = batch.items.len().saturating_add(LOOKED_THROUGH);
        let query = ReadyQuery { run: &spot.run, phase: &spot.phase, holder: &holder, now, limit };
        let mut free = overlaid(session, batch, || Ok(self.store.ready_items(session, &query)?))?;
        free.retain(|row| is_here(row) && (is_mine(row) || !is_live(row)));
        // The caller's own items come first, even those whose lease has ended; then started items that nobody holds.
        free.sort_by_cached_key(|row| (!is_mine(row), row.status != "active", row.place, row.id.key()));
        for row in free {
            if self.item_view(read_item(&row)?, actor, now).ready {
                return Ok(Some(row));
            }
        }
        self.left_by_somebody(session, spot, batch, actor, now)
    }
}

/// Returns the rows of the store as they will be after this batch is committed.
fn overlaid(
    session: &SessionId,
    batch: &Batch,
    stored: impl FnOnce() -> Result<Vec<ItemRow>>,
) -> Result<Vec<ItemRow>> {
    let replaced = batch.replace_items.iter().find(|replaced| replaced.session == *session);
    let mut rows = match replaced {
        Some(replaced) => replaced.rows.clone(),
        None => stored()?,
    };
    let changed: Vec<&ItemRow> = batch.items.iter().filter(|row| row.session == *session).collect();
    let keys: BTreeSet<String> = changed.iter().map(|row| row.id.key()).collect();
    rows.retain(|row| !keys.contains(&row.id.key()));
    rows.extend(changed.into_iter().cloned());
    Ok(rows)
}

fn sort(rows: &mut [ItemRow]) {
    rows.sort_by_cached_key(|row| (row.place, row.id.key()));
}
