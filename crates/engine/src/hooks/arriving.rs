//! An agent session begins, comes back, or ends. Tells it where things stand, and says nothing when there is nothing.

use crate::brief::Neighbour;
use crate::engine::Engine;
use crate::error::Result;
use crate::hooks::memory::Memory;
use crate::hooks::{HookEvent, PATIENCE, Reply, Source, Told};

impl Engine {
    pub(super) fn arrived(&mut self, event: &HookEvent, source: Source) -> Result<Reply> {
        let session = self.unfinished()?;
        let view = session.as_ref().map(|id| self.view_by_id(id)).transpose()?;
        let memory =
            view.as_ref().map_or_else(Memory::default, |view| Memory::of(&view.session_id, view.version));
        // Not being able to say that somebody is here is no reason to leave them without the brief.
        let greeted = self.greet(&event.agent, session, Some(memory.text()), PATIENCE);
        let problem = greeted.err().map(|error| error.to_string());
        let told = match view {
            Some(view) => {
                let brief = Box::new(self.brief_of(view)?);
                Some(Told::Brief { brief, compacted: source == Source::Compact })
            }
            None => self.neighbours(event)?,
        };
        Ok(Reply { told: told.into_iter().collect(), problem, ..Reply::default() })
    }

    fn neighbours(&self, event: &HookEvent) -> Result<Option<Told>> {
        let neighbours: Vec<Neighbour> =
            self.other_live_agents(Some(&event.agent))?.into_iter().map(Neighbour::from).collect();
        let now = self.clock.now();
        Ok((!neighbours.is_empty()).then_some(Told::Neighbours { neighbours, now }))
    }

    pub(super) fn ended(&mut self, event: &HookEvent) -> Result<Reply> {
        let gone = [(event.agent.agent.clone(), event.agent.id.clone())];
        self.store.forget_agents(&gone, PATIENCE)?;
        Ok(Reply::default())
    }
}
