//! A session with uncommitted events that are already applied.

use super::dates::{self, Said};
use crate::reading::Dated;
use jiff::Timestamp;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::id::Name;
use model::item::ItemBook;
use model::phase::{Phase, PhaseState};
use model::session::Session;

/// A session and its uncommitted events. Each event is applied at once, so that the next decision is based on
/// its result.
pub struct Draft {
    session: Session,
    items: ItemBook,
    events: Vec<Event>,
    times: Vec<Timestamp>,
    said: Vec<Option<Said>>,
    /// The time of the last committed event.
    known: Timestamp,
    /// When the files were read. `None` if times in the files are ignored.
    read: Option<Timestamp>,
    at: Timestamp,
    actor: Actor,
}

impl Draft {
    pub fn new(session: Session, items: ItemBook, at: Timestamp, actor: Actor) -> Self {
        let known = session.updated_at;
        let (events, times, said) = (Vec::new(), Vec::new(), Vec::new());
        Self { session, items, events, times, said, known, read: None, at, actor }
    }

    /// The draft, with events at the times that the files contain. `read` is when the files were read.
    #[must_use]
    pub fn dated_by_files(self, read: Timestamp) -> Self {
        Self { read: Some(read), ..self }
    }

    pub fn push(&mut self, event: Event) {
        self.push_said(event, None);
    }

    pub(super) fn push_said(&mut self, event: Event, said: Option<Said>) {
        let event = self.but_claimed(event);
        let version = self.session.version + 1;
        let recorded = Recorded { version, at: self.at, actor: self.actor.clone(), event };
        if let Event::Item(event) = &recorded.event {
            self.items.apply(event, self.at, &self.actor);
        }
        self.session = self.session.clone().apply(&recorded);
        self.events.push(recorded.event);
        self.times.push(self.at);
        self.said.push(said);
    }

    /// The event to record. If the event completes a phase whose gate failed in the log, it becomes a claim,
    /// because a file never overrules a gate.
    fn but_claimed(&self, event: Event) -> Event {
        match event {
            Event::PhaseCompleted { phase, attempt, .. }
                if self.phase(&phase).is_some_and(|ours| self.session.failed_here(ours)) =>
            {
                let says_something = !attempt.evidence.is_empty() || !attempt.outputs.is_empty();
                Event::PhaseClaimed { phase, attempt: says_something.then_some(attempt) }
            }
            other => other,
        }
    }

    /// Changes completed phases to claimed ones if they have open items in the log, even if a file says that
    /// they are done.
    pub(super) fn contest(&mut self) {
        let mut done: Vec<Name> = Vec::new();
        for event in &self.events {
            if let Event::PhaseCompleted { phase, .. } = event {
                done.push(phase.clone());
            }
        }
        for phase in done {
            let is_open = |ours: &Phase| ours.is_done() && !ours.claimed && ours.items.open() > 0;
            if self.phase(&phase).is_some_and(is_open) {
                self.push(Event::PhaseClaimed { phase, attempt: None });
            }
        }
    }

    /// True if the files contain a plausible start and end.
    pub(super) fn is_told(&self, began: Timestamp, ended: Timestamp) -> bool {
        self.known <= began && began < ended && self.read.is_some_and(|read| ended < read)
    }

    /// Sets the time of the next events, if it is known. The time is never earlier than that of an existing
    /// event.
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

    /// The draft's events with their times.
    pub fn dated(&self) -> Vec<Dated> {
        let times = match self.read {
            Some(read) => dates::in_order(self.known, read, &self.said, &self.times),
            None => self.times.clone(),
        };
        let events = self.events.iter().zip(times);
        events.map(|(event, at)| Dated { at, event: event.clone() }).collect()
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
