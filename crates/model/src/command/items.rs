//! Decides commands about items: returns events, or a refusal. Sees only the items that the caller passes.

mod dropping;
mod leases;
mod refusals;
mod splitting;

pub use leases::{renewals, set_aside};

use super::{phases, require_active, run_of};
use crate::actor::Actor;
use crate::event::{Event, ItemEvent};
use crate::id::{ItemId, Name};
use crate::item::{
    HIGHEST_ORDER, Item, ItemBook, ItemChange, ItemStatus, LEASE_SECONDS, NewItem, ORDER_STEP, RunRef,
};
use crate::phase::Phase;
use crate::refusal::{ItemRefusal, Refusal};
use crate::run::Run;
use crate::session::Session;
use jiff::{SignedDuration, Timestamp};
use refusals::{Takeover, refuse_container, refuse_finished};
use serde_json::Value;
use std::collections::BTreeMap;

/// Input to a decision about items.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub session: &'a Session,
    /// The items that the command names, their containers, and the items that depend on them.
    pub book: &'a ItemBook,
    pub actor: &'a Actor,
    pub now: Timestamp,
    /// Holders that are known to have ended. Their leases do not count.
    pub gone: &'a [Actor],
    /// Holders that are active, each with the time of its last activity. Activity renews their leases.
    pub seen: &'a [(Actor, Timestamp)],
}

/// A request to change an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemCommand {
    Add(AddItem),
    Start {
        id: ItemId,
    },
    Complete {
        id: ItemId,
    },
    Block {
        id: ItemId,
        reason: String,
    },
    Unblock {
        id: ItemId,
    },
    /// Gives the item up, because it is no longer needed.
    Drop {
        id: ItemId,
        reason: String,
    },
    Claim {
        id: ItemId,
        seconds: u64,
    },
    Release {
        id: ItemId,
    },
    Split {
        id: ItemId,
        titles: Vec<String>,
    },
    Set {
        id: ItemId,
        edit: ItemEdit,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct AddItem {
    pub id: ItemId,
    pub kind: Name,
    pub title: String,
    /// Id or number of the phase. If missing, the item joins the phase of its parent; without a parent, the current
    /// phase.
    pub phase: Option<String>,
    pub parent: Option<ItemId>,
    pub needs: Vec<ItemId>,
    pub fields: BTreeMap<String, Value>,
}

/// A requested change of an item: counters as values or increments, dependencies as additions and removals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemEdit {
    pub title: Option<String>,
    pub order: Option<u64>,
    pub fields: BTreeMap<String, Value>,
    pub counters: BTreeMap<String, Count>,
    pub needs: Vec<ItemId>,
    pub no_longer: Vec<ItemId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    To(i64),
    By(i64),
}

/// Returns the events that a command about items causes, or a refusal. An empty list means that nothing needs to
/// change.
pub fn decide(context: &Context<'_>, command: ItemCommand) -> Result<Vec<Event>, Refusal> {
    if let Some(kind) = &context.session.unknown_event {
        return Err(Refusal::NewerEvent { session: context.session.id.clone(), kind: kind.clone() });
    }
    require_active(context.session, "change items")?;
    let events = match command {
        ItemCommand::Add(new) => context.add(new)?,
        ItemCommand::Start { id } => context.start(&id)?,
        ItemCommand::Complete { id } => context.complete(&id)?,
        ItemCommand::Block { id, reason } => context.block(&id, reason)?,
        ItemCommand::Unblock { id } => context.unblock(&id)?,
        ItemCommand::Drop { id, reason } => context.drop_item(&id, &reason)?,
        ItemCommand::Claim { id, seconds } => context.claim(&id, seconds)?,
        ItemCommand::Release { id } => context.release(&id)?,
        ItemCommand::Split { id, titles } => context.split(&id, titles)?,
        ItemCommand::Set { id, edit } => context.set(&id, edit)?,
    };
    Ok(events.into_iter().map(Event::Item).collect())
}

/// Returns the named phase of the current run, or the current phase if no name is given.
pub fn phase_named<'a>(session: &'a Session, asked: Option<&str>) -> Result<&'a Phase, Refusal> {
    let run = run_of(session, "list items")?;
    match asked {
        None => Ok(run.current()),
        Some(text) => run.resolve(text).ok_or_else(|| phases::unknown(run, text)),
    }
}

type Decided = Result<Vec<ItemEvent>, Refusal>;

impl Context<'_> {
    fn add(&self, new: AddItem) -> Decided {
        self.refuse_taken(&new.id)?;
        let (run, phase, order) = match &new.parent {
            Some(parent) => self.place_in(self.item(parent)?, &new)?,
            None => self.place_in_phase(new.phase.as_deref())?,
        };
        let mut depends_on = Vec::new();
        for need in &new.needs {
            push_new(&mut depends_on, &self.item(need)?.id);
        }
        if let Some(parent) = &new.parent {
            let parent = self.item(parent)?;
            for need in &depends_on {
                self.refuse_cycle(need, parent, Some(&new.id))?;
            }
            // A part waits for whatever its container waits for.
            parent.depends_on.iter().for_each(|need| push_new(&mut depends_on, need));
        }
        let parent = new.parent.as_ref().and_then(|id| self.book.get(id)).map(|parent| parent.id.clone());
        let item = NewItem {
            id: new.id,
            kind: new.kind,
            title: new.title,
            run,
            phase,
            parent,
            order,
            depends_on,
            fields: new.fields,
        };
        Ok(vec![ItemEvent::ItemAdded { item }])
    }

    /// Refuses an id that another item of the same run already has. Different runs may use the same ids.
    fn refuse_taken(&self, id: &ItemId) -> Result<(), Refusal> {
        let current = self.session.run();
        let is_in_use = |item: &&Item| {
            let is_open = |run: &Run| run.is_open() && item.run.is(run);
            current.is_some_and(|run| item.run.is(run)) || self.session.runs.iter().any(is_open)
        };
        match self.book.get(id).filter(is_in_use) {
            Some(existing) => Err(ItemRefusal::Exists { existing: existing.id.clone() }.into()),
            None => Ok(()),
        }
    }

    fn place_in_phase(&self, asked: Option<&str>) -> Result<(RunRef, Name, u32), Refusal> {
        let run = run_of(self.session, "add an item")?;
        if !run.is_open() {
            return Err(Refusal::RunFinished {
                doing: "add an item",
                session: self.session.id.clone(),
                workflow: run.workflow.name.clone(),
                ordinal: run.ordinal,
            });
        }
        let phase = match asked {
            None => run.current(),
            Some(text) => run.resolve(text).ok_or_else(|| phases::unknown(run, text))?,
        };
        if phase.is_done() {
            let (phase, current) = (phase.id().clone(), run.current().id().clone());
            return Err(ItemRefusal::PhaseDone { phase, current }.into());
        }
        Ok((RunRef::from(run), phase.id().clone(), order_after(self.session.items_added)?))
    }

    fn place_in(&self, parent: &Item, new: &AddItem) -> Result<(RunRef, Name, u32), Refusal> {
        if let Some(asked) = new.phase.as_ref().filter(|asked| !self.is_phase_of(parent, asked)) {
            let (parent, phase, asked) = (parent.id.clone(), parent.phase.clone(), asked.clone());
            return Err(ItemRefusal::OtherPhase { parent, phase, asked }.into());
        }
        self.refuse_splitting(parent, "add a part to", parent.is_container())?;
        Ok((parent.run.clone(), parent.phase.clone(), order_after(parent.parts)?))
    }

    fn is_phase_of(&self, parent: &Item, asked: &str) -> bool {
        let run = self.session.run().filter(|run| parent.run.is(run));
        parent.phase == *asked
            || run.and_then(|run| run.resolve(asked)).is_some_and(|phase| *phase.id() == parent.phase)
    }

    fn start(&self, id: &ItemId) -> Decided {
        let item = self.item(id)?;
        self.refuse_work(item, "start")?;
        self.refuse_held(item, "start", Takeover::ByAPerson)?;
        let mut events = Vec::new();
        if !item.is_held_by(self.actor, self.now) {
            events.push(self.claimed(item, LEASE_SECONDS));
        }
        if item.status != ItemStatus::Active {
            events.push(ItemEvent::ItemStarted { id: item.id.clone() });
        }
        Ok(events)
    }

    fn claim(&self, id: &ItemId, seconds: u64) -> Decided {
        let item = self.item(id)?;
        self.refuse_work(item, "claim")?;
        self.refuse_held(item, "claim", Takeover::Never)?;
        match item.live_lease(self.now).filter(|lease| lease.actor == *self.actor) {
            // The holder of a lease may extend it.
            Some(lease) if lease.is_due(self.now) || lease.seconds != seconds => {
                Ok(vec![renewed(item, seconds, self.now)])
            }
            Some(_) => Ok(Vec::new()),
            None => Ok(vec![self.claimed(item, seconds)]),
        }
    }

    fn complete(&self, id: &ItemId) -> Decided {
        let item = self.item(id)?;
        if item.is_done() {
            return Ok(Vec::new());
        }
        self.refuse_work(item, "complete")?;
        self.refuse_held(item, "complete", Takeover::ByAPerson)?;
        let mut events = vec![completed(item)];
        let mut done = item;
        while let Some(parent) = done.parent.as_ref().and_then(|id| self.book.get(id)) {
            // A blocked container has work of its own besides its parts, so it is not completed together with its last
            // part.
            let is_blocked = matches!(parent.status, ItemStatus::Blocked { .. });
            if !parent.is_open() || is_blocked || parent.open_parts > 1 {
                break;
            }
            events.push(completed(parent));
            done = parent;
        }
        Ok(events)
    }

    fn block(&self, id: &ItemId, reason: String) -> Decided {
        const DOING: &str = "block";
        let item = self.item(id)?;
        refuse_finished(item, DOING)?;
        refuse_container(item, DOING)?;
        self.refuse_held(item, DOING, Takeover::ByAPerson)?;
        if item.status == (ItemStatus::Blocked { reason: reason.clone() }) {
            return Ok(Vec::new());
        }
        Ok(vec![ItemEvent::ItemBlocked { id: item.id.clone(), reason }])
    }

    fn unblock(&self, id: &ItemId) -> Decided {
        let item = self.item(id)?;
        refuse_finished(item, "unblock")?;
        match item.status {
            ItemStatus::Blocked { .. } => Ok(vec![ItemEvent::ItemUnblocked { id: item.id.clone() }]),
            ItemStatus::Pending
            | ItemStatus::Active
            | ItemStatus::Completed { .. }
            | ItemStatus::Dropped { .. } => Ok(Vec::new()),
        }
    }

    fn release(&self, id: &ItemId) -> Decided {
        let item = self.item(id)?;
        self.refuse_held(item, "release", Takeover::ByAPerson)?;
        match item.lease {
            Some(_) => Ok(vec![ItemEvent::ItemReleased { id: item.id.clone() }]),
            None => Ok(Vec::new()),
        }
    }

    fn set(&self, id: &ItemId, edit: ItemEdit) -> Decided {
        let item = self.item(id)?;
        let change = ItemChange {
            depends_on: self.changed_needs(item, &edit)?,
            title: edit.title.filter(|title| *title != item.title),
            order: edit.order.map(checked_order).transpose()?.filter(|order| *order != item.order()),
            fields: edit
                .fields
                .into_iter()
                .filter(|(name, value)| item.fields.get(name) != Some(value))
                .collect(),
            counters: changed_counters(item, &edit.counters),
        };
        if change.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![ItemEvent::ItemSet { id: item.id.clone(), change }])
    }

    fn changed_needs(&self, item: &Item, edit: &ItemEdit) -> Result<Option<Vec<ItemId>>, Refusal> {
        if edit.needs.is_empty() && edit.no_longer.is_empty() {
            return Ok(None);
        }
        refuse_finished(item, "change what is needed by")?;
        if item.is_container() {
            return Err(ItemRefusal::ContainerWaits { id: item.id.clone() }.into());
        }
        let mut depends_on = item.depends_on.clone();
        depends_on.retain(|need| !edit.no_longer.iter().any(|gone| gone.is(need)));
        for need in &edit.needs {
            let need = self.item(need)?;
            self.refuse_cycle(&need.id, item, None)?;
            push_new(&mut depends_on, &need.id);
        }
        Ok((depends_on != item.depends_on).then_some(depends_on))
    }

    fn claimed(&self, item: &Item, seconds: u64) -> ItemEvent {
        ItemEvent::ItemClaimed { id: item.id.clone(), until: later(self.now, seconds), seconds }
    }

    fn item(&self, id: &ItemId) -> Result<&Item, Refusal> {
        self.book.get(id).ok_or_else(|| ItemRefusal::Unknown { id: id.clone() }.into())
    }
}

fn completed(item: &Item) -> ItemEvent {
    ItemEvent::ItemCompleted { id: item.id.clone(), run: item.run.clone(), phase: item.phase.clone() }
}

fn renewed(item: &Item, seconds: u64, now: Timestamp) -> ItemEvent {
    ItemEvent::ItemLeaseRenewed { id: item.id.clone(), until: later(now, seconds), seconds }
}

fn later(now: Timestamp, seconds: u64) -> Timestamp {
    let length = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    now.checked_add(length).unwrap_or(Timestamp::MAX)
}

fn order_after(siblings: u32) -> Result<u32, Refusal> {
    let number = u64::from(siblings) + 1;
    // In the first half of the range, orders are assigned with gaps for insertions; in the second half, without gaps.
    let roomy = u64::from(HIGHEST_ORDER / 2 / ORDER_STEP);
    checked_order(number.min(roomy) * u64::from(ORDER_STEP) + number.saturating_sub(roomy))
}

fn checked_order(order: u64) -> Result<u32, Refusal> {
    match u32::try_from(order) {
        Ok(order) if order <= HIGHEST_ORDER => Ok(order),
        Ok(_) | Err(_) => Err(ItemRefusal::OrderTooHigh { order, highest: HIGHEST_ORDER }.into()),
    }
}

fn changed_counters(item: &Item, counts: &BTreeMap<String, Count>) -> BTreeMap<String, i64> {
    let now = |name: &str| item.counters.get(name).copied().unwrap_or_default();
    counts
        .iter()
        .map(|(name, count)| match count {
            Count::To(value) => (name.clone(), *value),
            Count::By(more) => (name.clone(), now(name).saturating_add(*more)),
        })
        .filter(|(name, value)| item.counters.get(name) != Some(value))
        .collect()
}

fn push_new(ids: &mut Vec<ItemId>, id: &ItemId) {
    if !ids.iter().any(|known| known.is(id)) {
        ids.push(id.clone());
    }
}
