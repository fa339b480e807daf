//! A session with events laid over it that nobody has kept yet.

use crate::reading::Dated;
use jiff::Timestamp;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::id::Name;
use model::item::ItemBook;
use model::phase::{Phase, PhaseState};
use model::session::Session;

/// Each event is laid over as it comes, so that the next one can be decided on what there is by then.
pub struct Draft {
    session: Session,
    items: ItemBook,
    events: Vec<Event>,
    times: Vec<Timestamp>,
    at: Timestamp,
    actor: Actor,
}

impl Draft {
    pub fn new(session: Session, items: ItemBook, at: Timestamp, actor: Actor) -> Self {
        Self { session, items, events: Vec::new(), times: Vec::new(), at, actor }
    }

    pub fn push(&mut self, event: Event) {
        let version = self.session.version + 1;
        let recorded = Recorded { version, at: self.at, actor: self.actor.clone(), event };
        if let Event::Item(event) = &recorded.event {
            self.items.apply(event, self.at, &self.actor);
        }
        self.session = self.session.clone().apply(&recorded);
        self.events.push(recorded.event);
        self.times.push(self.at);
    }

    /// What comes now happened then, where that is known; never before what is there already.
    pub fn happens_at(&mut self, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.at = at.max(self.session.updated_at);
        }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn items(&self) -> &ItemBook {
        &self.items
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The events, each with when it happened.
    pub fn dated(&self) -> Vec<Dated> {
        let events = self.events.iter().zip(&self.times);
        events.map(|(event, at)| Dated { at: *at, event: event.clone() }).collect()
    }

    pub fn into_parts(self) -> (Vec<Event>, Session, ItemBook) {
        (self.events, self.session, self.items)
    }

    /// A phase of the current run.
    pub fn phase(&self, id: &Name) -> Option<&Phase> {
        self.session.run()?.phases.iter().find(|phase| phase.id() == id)
    }

    pub fn is_done(&self, id: &Name) -> bool {
        self.phase(id).is_some_and(Phase::is_done)
    }

    pub fn is_in_progress(&self, id: &Name) -> bool {
        self.phase(id).is_some_and(|phase| matches!(phase.state, PhaseState::InProgress { .. }))
    }
}
