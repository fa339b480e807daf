//! Loads a session to change it: finishes interrupted file operations, and applies expiry.

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
    /// The session as it is in the log.
    before: Session,
    /// The session with found events applied, on which commands are decided.
    pub(crate) session: Session,
    /// Events found while loading, such as adoption and expiry, which are not stored yet.
    found: Vec<Event>,
}

impl Subject {
    /// The found events followed by the decided ones. If nothing was decided, nothing is written.
    pub(crate) fn change(self, events: Vec<Event>) -> Change {
        let events = if events.is_empty() { events } else { [self.found, events].concat() };
        Change { number: self.number, before: Some(self.before), events }
    }

    /// As `change`, but the found events are written in any case.
    pub(crate) fn change_and_found(self, events: Vec<Event>) -> Change {
        Change { number: self.number, before: Some(self.before), events: [self.found, events].concat() }
    }
}

impl Engine {
    /// Loads the session of a command. Call it inside the turn.
    pub(crate) fn load_subject(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up(id)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// As `load_subject`, for a command that needs none of the session's files: with a server, whose log serves
    /// all machines, the session may be on another machine, and stays there.
    pub(crate) fn load_subject_from_afar(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        let Session { machine, layout, .. } = &subject.before;
        if self.team.is_none() || machine.is_none() || layout != NATIVE {
            self.refuse_elsewhere(&subject.before)?;
            self.recover(&subject.before)?;
        }
        Ok(subject)
    }

    /// As `load_subject`, for a command that abandons a session: its folder may be gone.
    pub(crate) fn load_subject_to_end(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_on_another_machine(&subject.before)?;
        self.refuse_what_came_along(&subject.before)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// As `load_subject`, for a command that brings a session into this worktree; its files may have come with the
    /// project.
    pub(crate) fn load_subject_here(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_what_is_gone(id)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// Loads another session that a command changes.
    pub(crate) fn look_up(&self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_elsewhere(&subject.before)?;
        Ok(subject)
    }

    /// As `look_up`, for a session that makes room for another one: its folder may be gone.
    pub(crate) fn look_up_to_pause(&self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_on_another_machine(&subject.before)?;
        if subject.before.layout != NATIVE {
            self.refuse_what_came_along(&subject.before)?;
        }
        Ok(subject)
    }

    /// Refuses a session that is on another machine, or whose files are not here.
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

    /// Refuses a session on another machine: it is changed there, or resumed here first.
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
