//! Items of an agent that commands knew by another name: it keeps them under the name that its hook gives.

use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan::Plan;
use crate::items::read_item;
use crate::presence::AgentIdentity;
use model::actor::Actor;
use model::event::{Event, ItemEvent};
use model::id::SessionId;
use model::item::ItemBook;
use store::ItemRow;

impl Engine {
    /// Live leases of this agent session in a session.
    pub(crate) fn leases_of(&self, session: &SessionId, holder: &AgentIdentity) -> Result<Vec<ItemRow>> {
        let (agent, id, host) = (holder.agent.clone(), holder.id.clone(), self.caller.host.clone());
        let holder = Actor::Agent { agent, id, host, known_by: None }.key();
        let now = self.clock.now();
        let mut rows = self.store.held_items(session, &holder)?;
        rows.retain(|row| row.lease_until.is_some_and(|until| now < until));
        Ok(rows)
    }

    /// The asking agent holds from now on, until the same time, what it claimed under its earlier name.
    pub(crate) fn claim_as_renamed(&mut self, session: &SessionId, earlier: &AgentIdentity) -> Result<()> {
        let order = self.fingerprint("item claim", &format!("{earlier} is {:?}", self.caller.agent));
        self.in_turn(&order, |engine| {
            let subject = engine.take_up(session)?;
            let mut book = ItemBook::default();
            let mut events = Vec::new();
            for row in engine.leases_of(session, earlier)? {
                let item = read_item(&row)?;
                events.extend(item.lease.as_ref().map(|lease| {
                    let (until, seconds) = (lease.until, lease.seconds);
                    Event::Item(ItemEvent::ItemClaimed { id: item.id.clone(), until, seconds })
                }));
                book.insert(item);
            }
            let mut plan = Plan::of(subject.change(events));
            plan.items = Some(book);
            Ok(plan)
        })
        .map(drop)
    }
}
