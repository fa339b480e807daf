//! Ending a run despite a failed gate or open items, which only a person can do.

use crate::engine::Engine;
use crate::error::Result;
use crate::policy::Restricted;
use model::command::contested_before;
use model::event::Event;
use model::phase::Phase;
use model::refusal::{ItemRefusal, Refusal};
use model::session::Session;

impl Engine {
    /// Refuses to complete a phase, unless a person does, if a file calls an earlier phase done that is not
    /// done in the log: the earlier phase's gate comes first.
    pub(super) fn refuse_to_pass_over(&self, session: &Session, phase: &Phase) -> Result<()> {
        match contested_before(session, phase) {
            Some(refusal) if self.require_person(Restricted::Close).is_err() => Err(refusal.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses to end a run, unless a person does, with open items, or with a phase that a file calls done
    /// but that is not done in the log.
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
