//! Taking a session up to change it: finishes work on disk that a crash interrupted, and lays over what time has done.

use crate::disk::{self, Recovered};
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan::Change;
use crate::view::Warning;
use model::event::Event;
use model::id::SessionId;
use model::session::Session;

/// A session that is about to be changed.
pub(crate) struct Subject {
    number: u64,
    /// As the log has it.
    before: Session,
    /// As it counts now, which commands are decided on.
    pub(crate) session: Session,
    /// What makes the one out of the other, and no command has written yet.
    found: Vec<Event>,
}

impl Subject {
    /// What was decided, after what was found. Nothing decided, nothing written.
    pub(crate) fn change(self, events: Vec<Event>) -> Change {
        let events = if events.is_empty() { events } else { [self.found, events].concat() };
        Change { number: self.number, before: Some(self.before), events }
    }

    /// The same, and what was found is written in any case.
    pub(crate) fn change_and_found(self, events: Vec<Event>) -> Change {
        Change { number: self.number, before: Some(self.before), events: [self.found, events].concat() }
    }
}

impl Engine {
    /// The session that a command is about. Call it inside the turn.
    pub(crate) fn take_up(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up(id)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// The same for a command that gives a session up: its folder may be gone.
    pub(crate) fn take_up_to_end(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_what_came_along(&subject.before)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// The same for a command that brings a session here, should its files have come along with the project.
    pub(crate) fn take_up_here(&mut self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_what_is_gone(id)?;
        self.recover(&subject.before)?;
        Ok(subject)
    }

    /// A session that a command changes beside its own.
    pub(crate) fn look_up(&self, id: &SessionId) -> Result<Subject> {
        let subject = self.look_up_anywhere(id)?;
        self.refuse_what_came_along(&subject.before)?;
        self.refuse_what_is_gone(id)?;
        Ok(subject)
    }

    fn look_up_anywhere(&self, id: &SessionId) -> Result<Subject> {
        let (loaded, before) = self.load(id)?;
        self.refuse_what_nobody_knows(id)?;
        self.refuse_until_somebody_says(&before)?;
        let mut found: Vec<Event> = self.adoption(id).into_iter().collect();
        let session = match self.expired_since(&before) {
            None => before.clone(),
            Some(since) => {
                found.push(Event::SessionExpired { since });
                before.clone().laid_over_with_expiry(since)
            }
        };
        Ok(Subject { number: loaded.number, before, session, found })
    }

    /// Finishes an operation on this session's files that was interrupted, or takes it back.
    fn recover(&mut self, session: &Session) -> Result<()> {
        let root = self.root_of(session);
        let journal = self.journal_of(session);
        let recovered = disk::recover(&root, &journal, self.patience, |operation| {
            let events = self.store.events(&session.id, 0, None)?;
            Ok(events.iter().any(|row| Event::read(&row.kind, &row.body).operation() == Some(operation)))
        })?;
        match recovered {
            Recovered::Nothing => {}
            Recovered::RolledBack => self.warnings.push(recovered_warning(
                "a change of files that was interrupted before it counted was taken back".to_owned(),
            )),
            Recovered::RolledForward(said) => {
                let said: String = said.iter().map(|line| format!("; {line}")).collect();
                self.warnings.push(recovered_warning(format!(
                    "a change of files that was interrupted was carried out to its end{said}"
                )));
            }
        }
        Ok(())
    }
}

fn recovered_warning(message: String) -> Warning {
    Warning { kind: "recovered".to_owned(), message, hint: None, path: None, problem: None }
}
