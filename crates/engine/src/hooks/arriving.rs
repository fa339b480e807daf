//! An agent session begins or comes back. Tells it where things stand, and says nothing when there is nothing.

use crate::engine::Engine;
use crate::error::Result;
use crate::hooks::memory::Memory;
use crate::hooks::{HookEvent, PATIENCE, Reply, Source, Told, one_problem};

impl Engine {
    pub(super) fn arrived(&mut self, event: &HookEvent, source: Source) -> Result<Reply> {
        let session = self.unfinished()?;
        let memory = match &session {
            Some(id) => self.store.load(id)?.map(|found| Memory::of(id.as_str(), found.row.version)),
            None => None,
        };
        let memory = memory.unwrap_or_default();
        // Not being able to say that somebody is here is no reason to leave them without the brief.
        let greeted = self.greet(&event.agent, session.clone(), Some(memory.text()), PATIENCE);
        let mut problems: Vec<String> = greeted.err().map(|error| error.to_string()).into_iter().collect();
        let opening = self.at_start(&event.agent, source.name());
        problems.extend(opening.problems);
        let mut told = Vec::new();
        match session {
            // The brief names what is required, and who else is here.
            Some(id) => {
                let brief = Box::new(self.brief_of(self.view_by_id(&id)?)?);
                told.push(Told::Brief { brief, compacted: source == Source::Compact });
                let carried = opening.answer.carried_over;
                if !carried.is_empty() {
                    let names = carried.join(", ");
                    told.push(Told::Words(format!("Taken over from the agent session before: {names}")));
                }
            }
            None => told.extend(opening.answer.text.map(Told::Words)),
        }
        Ok(Reply { told, problem: one_problem(&problems), ..Reply::default() })
    }
}
