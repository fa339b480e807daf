//! Checks that refuse commands about items.

use super::Context;
use crate::id::ItemId;
use crate::item::{DEEPEST_LEVEL, Item, ItemStatus, Lease};
use crate::refusal::{ItemRefusal, Refusal};

impl Context<'_> {
    /// Refuses a new dependency if the needed item already waits for this one, because that would be a cycle. A
    /// container waits for its parts, including a part that is being added.
    pub(super) fn refuse_cycle(
        &self,
        need: &ItemId,
        waiting: &Item,
        added: Option<&ItemId>,
    ) -> Result<(), Refusal> {
        let Some(mut path) = self.book.waiting_path(need, &waiting.id) else { return Ok(()) };
        path.extend(added.cloned());
        path.extend(path.first().cloned());
        Err(ItemRefusal::Cycle { path }.into())
    }

    /// Refuses work on an item that is finished, blocked or waiting. Leases are checked elsewhere.
    pub(super) fn refuse_work(&self, item: &Item, doing: &'static str) -> Result<(), Refusal> {
        refuse_finished(item, doing)?;
        // An item that has parts as well as work of its own can be worked on after all of its parts are done.
        if item.open_parts > 0 {
            refuse_container(item, doing)?;
        }
        let id = item.id.clone();
        if let ItemStatus::Blocked { reason } = &item.status {
            return Err(ItemRefusal::Blocked { doing, id, reason: reason.clone() }.into());
        }
        if !item.waits_for.is_empty() {
            return Err(ItemRefusal::Waits { doing, id, waits_for: item.waits_for.clone() }.into());
        }
        Ok(())
    }

    pub(super) fn refuse_splitting(
        &self,
        item: &Item,
        doing: &'static str,
        has_parts: bool,
    ) -> Result<(), Refusal> {
        refuse_finished(item, doing)?;
        if item.level() >= DEEPEST_LEVEL {
            return Err(ItemRefusal::TooDeep { doing, id: item.id.clone() }.into());
        }
        if has_parts {
            return Ok(());
        }
        if item.status != ItemStatus::Pending {
            let status = item.status.name();
            return Err(ItemRefusal::NotPending { doing, id: item.id.clone(), status }.into());
        }
        self.refuse_held(item, doing, Takeover::ByAPerson)
    }

    pub(super) fn refuse_held(
        &self,
        item: &Item,
        doing: &'static str,
        takeover: Takeover,
    ) -> Result<(), Refusal> {
        let Some(Lease { actor, until, .. }) = self.lease_in_force(item) else { return Ok(()) };
        let may_take_over = match takeover {
            Takeover::ByAPerson => self.actor.is_person(),
            Takeover::Never => false,
        };
        if actor == *self.actor || may_take_over || self.gone.contains(&actor) {
            return Ok(());
        }
        Err(ItemRefusal::Held { doing, id: item.id.clone(), holder: actor.to_string(), until }.into())
    }

    fn lease_in_force(&self, item: &Item) -> Option<Lease> {
        let lease = item.lease.as_ref()?;
        let seen = self.seen.iter().find(|(holder, _)| *holder == lease.actor);
        let lease = seen.map_or_else(|| lease.clone(), |(_, seen)| lease.with_holder_seen(*seen));
        Some(lease).filter(|lease| lease.is_live(self.now))
    }
}

/// Who may take over an item that somebody else holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Takeover {
    ByAPerson,
    /// Nobody may take over the item: of several claimants, whether people or agents, exactly one gets it.
    Never,
}

pub(super) fn refuse_finished(item: &Item, doing: &'static str) -> Result<(), Refusal> {
    let id = item.id.clone();
    match &item.status {
        ItemStatus::Completed { .. } => Err(ItemRefusal::Finished { doing, id }.into()),
        ItemStatus::Dropped { reason } => {
            Err(ItemRefusal::Dropped { doing, id, reason: reason.clone() }.into())
        }
        ItemStatus::Pending | ItemStatus::Active | ItemStatus::Blocked { .. } => Ok(()),
    }
}

pub(super) fn refuse_container(item: &Item, doing: &'static str) -> Result<(), Refusal> {
    if item.is_container() {
        return Err(ItemRefusal::Container { doing, id: item.id.clone(), open: item.open_parts }.into());
    }
    Ok(())
}
