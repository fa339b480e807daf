//! Items that an agent claimed under an earlier name, before its hook reported its real one.

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
    /// Returns the items of a session on which an agent session has live leases.
    pub(crate) fn leases_of(&self, session: &SessionId, holder: &AgentIdentity) -> Result<Vec<ItemRow>> {
        let (agent, id, host) = (holder.agent.clone(), holder.id.clone(), self.caller.host.clone());
        let holder = Actor::Agent { agent, id, host, known_by: None }.key();
        let now = self.clock.now();
        let mut rows = self.store.held_items(session, &holder)?;
        rows.retain(|row| row.lease_until.is_some_and(|until| now < until));
        Ok(rows)
    }

    /// Gives the leases that the asking agent claimed under an earlier name to its real name. They expire at the same
    /// time as before.
    pub(crate) fn claim_as_renamed(&mut self, session: &SessionId, earlier: &AgentIdentity) -> Result<()> {
        let order = self.fingerprint("item claim", &format!("{earlier} is {:?}", self.caller.agent));
        self.in_turn(&order, |engine| {
            let subject = engine.load_subject(session)?;
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
