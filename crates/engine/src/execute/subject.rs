//! Loads a session in order to change it. Finishes interrupted file operations, and applies expiry.

use crate::NATIVE;
use crate::disk::{self, Recovered};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::plan::Change;
use crate::sharing::fork_of;
use crate::view::Warning;
use model::event::Event;
use model::id::SessionId;
use model::session::Session;

/// A session that is about to be changed.
pub(crate) struct Subject {
    number: u64,
    /// The session according to its log.
    before: Session,
    /// The session after the events in `found`. Commands are decided on this state.
    pub(crate) session: Session,
    /// Events that were found while loading, such as an adoption or an expiry. They are not stored yet.
    found: Vec<Event>,
}

impl Subject {
    /// Returns the found events followed by the decided ones. If no event was decided, nothing is written.
    pub(crate) fn change(self, events: Vec<Event>) -> Change {
        let events = if events.is_empty() { events } else { [self.found, events].concat() };
        Change { number: self.number, before: Some(self.before), events }
    }

    /// Returns the found events followed by the decided ones. Unlike with `change`, the found events are written even
    /// if no event was decided.
    pub(crate) fn change_and_found(self, events: Vec<Event>) -> Change {
        Change { number: self.number, before: Some(self.before), events: [self.found, events].concat() }
    }
}

impl Engine {
    /// Loads the session of a command. Must be called within the turn to write.
    pub(crate) fn load_subject(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up(id)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// Like `load_subject`, for a command that needs none of the session's files. With a server, whose log serves all
    /// machines, the session may be on another machine, and stays there.
    pub(crate) fn load_subject_from_afar(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        let Session { machine, layout, .. } = &subject.before;
        if self.team.is_none() || machine.is_none() || layout != NATIVE {
            self.refuse_elsewhere(&subject.before)?;
            self.recover(&subject.before)?;
        }
        Ok(subject)
    }

    /// Like `load_subject`, for a command that abandons a session. The session's folder may be gone.
    pub(crate) fn load_subject_to_end(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_on_another_machine(&subject.before)?;
        self.refuse_what_came_along(&subject.before)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// Like `load_subject`, for a command that brings a session into this worktree. The session's files may have come
    /// with the project.
    pub(crate) fn load_subject_here(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_what_is_gone(id)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// Loads another session than the subject that the command also changes.
    pub(crate) fn look_up(&self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_elsewhere(&subject.before)?;
        Ok(subject)
    }

    /// Like `look_up`, for a session that is paused because another one becomes active. Its folder may be gone.
    pub(crate) fn look_up_to_pause(&self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_on_another_machine(&subject.before)?;
        if subject.before.layout != NATIVE {
            self.refuse_what_came_along(&subject.before)?;
        }
        Ok(subject)
    }

    /// Refuses a session that is on another machine, and one whose files are not here.
    fn refuse_elsewhere(&self, session: &Session) -> Result<()> {
        self.refuse_on_another_machine(session)?;
        if session.layout != NATIVE {
            self.refuse_what_came_along(session)?;
            self.refuse_what_is_gone(&session.id)?;
        }
        Ok(())
    }

    fn look_up_anywhere(&self, id: &SessionId) -> Result<Subject> {
        if let Some(session) = fork_of(id) {
            return Err(Error::ReadOnlyFork { fork: id.to_string(), session: session.to_string() });
        }
        let (loaded, before) = self.load(id)?;
        let adopted = if before.layout == NATIVE { None } else { self.adopted(&before)? };
        let mut found: Vec<Event> = adopted.into_iter().collect();
        let session = match self.expired_since(&before) {
            None => before.clone(),
            Some(since) => {
                found.push(Event::SessionExpired { since });
                before.clone().paused_by_expiry(since)
            }
        };
        Ok(Subject { number: loaded.number, before, session, found })
    }

    /// Refuses a session on another machine. It must be changed there, or resumed here first.
    fn refuse_on_another_machine(&self, session: &Session) -> Result<()> {
        match &session.machine {
            None => Ok(()),
            Some(machine) => Err(Error::OnAnotherMachine {
                session: session.id.to_string(),
                place: self.name_of_replica(machine),
            }),
        }
    }

    /// Finishes or reverts an interrupted file operation of this session.
    fn recover(&mut self, session: &Session) -> Result<()> {
        let root = self.root_of(session);
        let journal = self.journal_of(session);
        let recovered = disk::recover(&root, &journal, self.patience.left(), |operation| {
            let events = self.store.events(&session.id, 0, None)?;
            Ok(events.iter().any(|row| Event::read(&row.kind, &row.body).operation() == Some(operation)))
        })?;
        if recovered != Recovered::Nothing {
            self.scope.listing.forget();
        }
        match recovered {
            Recovered::Nothing => {}
            Recovered::RolledBack => self
                .warnings
                .push(recovered_warning("an interrupted change of files was rolled back".to_owned())),
            Recovered::RolledForward(said) => {
                let said: String = said.iter().map(|line| format!("; {line}")).collect();
                self.warnings
                    .push(recovered_warning(format!("an interrupted change of files was completed{said}")));
            }
        }
        Ok(())
    }
}

fn recovered_warning(message: String) -> Warning {
    Warning { kind: "recovered".to_owned(), message, hint: None, path: None, problem: None }
}
