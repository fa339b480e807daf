//! Ending a run with open items: only a person can do that.

use crate::engine::Engine;
use crate::error::Result;
use crate::policy::Restricted;
use model::event::Event;
use model::refusal::{ItemRefusal, Refusal};
use model::session::Session;

impl Engine {
    /// Only a person can end a run with open items.
    pub(super) fn refuse_to_end_over_items(&self, session: &Session, events: &[Event]) -> Result<()> {
        let ends = events.iter().any(|event| matches!(event, Event::RunCompleted));
        let left = session.run().filter(|_| ends).and_then(|run| self.left_open_before_the_end(session, run));
        let Some(phase) = left.filter(|_| self.require_person(Restricted::Close).is_err()) else {
            return Ok(());
        };
        let items = self.unfinished_items(session, phase.id(), 1)?;
        let item = items.into_iter().next().map(|id| id.to_string()).unwrap_or_default();
        let refusal = ItemRefusal::LeftOpen { phase: phase.id().clone(), open: phase.items.open(), item };
        Err(Refusal::from(refusal).into())
    }
}
