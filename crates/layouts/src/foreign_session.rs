//! A session as read from its files: its history, its proofs, and unreadable parts.

use crate::proof::Proof;
use crate::reading::Dated;
use crate::reconcile::{Draft, prove};
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::item::ItemBook;
use model::session::Session;
use model::workflow::Workflow;

/// A session as read from its files.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSession {
    /// The session's history according to its state files, beginning with the start: folding the history
    /// gives the session. What other files prove is separate.
    pub history: Vec<Dated>,
    /// Definitions of the workflows in the history, except built-in ones.
    pub workflows: Vec<Workflow>,
    /// Facts that other files prove, in order of precedence.
    pub proofs: Vec<Proof>,
    /// Missing or unreadable state files. If there are any, the history is approximate.
    pub unreadable: Vec<String>,
    /// Unreadable files of single parts; everything else is known.
    pub unreadable_parts: Vec<String>,
    /// True if the folder contains something of a session; otherwise it may exist for another reason.
    pub holds: bool,
    pub knows: Knows,
    /// Created, but not started: such a session does not pause the active session.
    pub is_unbegun: bool,
    /// Checks that the files mark as approved.
    pub approved: Vec<Approved>,
    /// Health checks before continuing the session; empty if the layout has none.
    pub checks: Vec<Health>,
    /// Files to read before working on the session, besides results of finished phases. Paths are below the
    /// session's home.
    pub context: Vec<String>,
}

/// How well the state files determine a session's position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knows {
    /// The state files contain the position.
    Said,
    /// The position is inferred from other files.
    WorkedOut,
    /// This file is the only one, and is not enough to continue.
    Nothing(String),
}

/// A check marked approved in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approved {
    pub phase: &'static str,
    pub check: &'static str,
}

impl ForeignSession {
    /// True for an unreadable file.
    pub fn cannot_read(&self, path: &str) -> bool {
        self.unreadable.iter().chain(&self.unreadable_parts).any(|unreadable| unreadable == path)
    }

    /// A session with only a history.
    pub fn of_history(history: Vec<Dated>) -> Self {
        Self {
            history,
            workflows: Vec::new(),
            proofs: Vec::new(),
            unreadable: Vec::new(),
            unreadable_parts: Vec::new(),
            holds: true,
            knows: Knows::Said,
            is_unbegun: false,
            approved: Vec::new(),
            checks: Vec::new(),
            context: Vec::new(),
        }
    }

    /// True if the state files are readable and state the position. A session for which this is false never
    /// hides one for which it is true.
    pub fn says_where_it_stands(&self) -> bool {
        self.unreadable.is_empty() && self.knows != Knows::WorkedOut
    }

    /// The session without passed gates: completed phases become claims.
    #[must_use]
    pub fn only_claiming(mut self) -> Self {
        for dated in &mut self.history {
            if let Event::PhaseCompleted { phase, .. } = &dated.event {
                dated.event = Event::PhaseClaimed { phase: phase.clone(), attempt: None };
            }
        }
        self
    }

    /// Folds the whole history, proofs included, of a session that was not adopted. Returns the events, the
    /// session and its items; `None` if the history does not begin with the session's start.
    pub fn fold(&self, actor: &Actor) -> Option<(Vec<Recorded>, Session, ItemBook)> {
        let record = |(dated, version): (&Dated, u64)| Recorded {
            version,
            at: dated.at,
            actor: actor.clone(),
            event: dated.event.clone(),
        };
        let mut recorded: Vec<Recorded> = self.history.iter().zip(1..).map(record).collect();
        let session = Session::fold(&recorded)?;
        let at = session.updated_at;
        let mut draft = Draft::new(session, ItemBook::fold(&recorded), at, actor.clone());
        // No phase was reopened since, so every file counts.
        prove(&mut draft, self, &|_| true);
        let version = recorded.len() as u64;
        let proven = draft.dated().into_iter().zip(version + 1..);
        recorded.extend(proven.map(|(dated, version)| record((&dated, version))));
        let (_, session, items) = draft.into_parts();
        Some((recorded, session, items))
    }
}

/// One check of a session's files, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub check: &'static str,
    pub is_well: bool,
    pub found: String,
    /// The phase that the check is about, if it is not the current one.
    pub phase: Option<&'static str>,
    /// The fix to offer before continuing.
    pub remedy: Option<Hint>,
}
