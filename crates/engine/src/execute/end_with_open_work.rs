//! Ends a run in spite of a failed gate or open items. Only a person can do this.

use crate::engine::Engine;
use crate::error::Result;
use crate::policy::Restricted;
use model::command::contested_before;
use model::event::Event;
use model::phase::Phase;
use model::refusal::{ItemRefusal, Refusal};
use model::session::Session;

impl Engine {
    /// Refuses to complete a phase if the log contradicts that an earlier phase is done: that phase's gate comes first.
    /// A person may complete the phase anyway.
    pub(super) fn refuse_to_pass_over(&self, session: &Session, phase: &Phase) -> Result<()> {
        match contested_before(session, phase) {
            Some(refusal) if self.require_person(Restricted::Close).is_err() => Err(refusal.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses to end a run that has open items, or a phase that the log contradicts. A person may end the run anyway.
    pub(super) fn refuse_to_end_over_items(&self, session: &Session, events: &[Event]) -> Result<()> {
        let ends = events.iter().any(|event| matches!(event, Event::RunCompleted));
        let Some(run) = session.run().filter(|_| ends) else { return Ok(()) };
        let Some(phase) = self.left_open_before_the_end(session, run) else {
            return if session.has_contested() { self.require_person(Restricted::Close) } else { Ok(()) };
        };
        if self.require_person(Restricted::Close).is_ok() {
            return Ok(());
        }
        let items = self.unfinished_items(session, phase.id(), 1)?;
        let item = items.into_iter().next().map(|id| id.to_string()).unwrap_or_default();
        let refusal = ItemRefusal::LeftOpen { phase: phase.id().clone(), open: phase.items.open(), item };
        Err(Refusal::from(refusal).into())
    }
}
