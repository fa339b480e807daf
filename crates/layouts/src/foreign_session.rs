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
    /// Its history according to its state files: folding it gives the session. Begins with its start. Proofs
    /// by other files are separate.
    pub history: Vec<Dated>,
    /// Definitions of the runs in the history, unless built in.
    pub workflows: Vec<Workflow>,
    /// Proofs by other files, in order of precedence.
    pub proofs: Vec<Proof>,
    /// Missing or unreadable state files. Without one of them the history is approximate.
    pub unreadable: Vec<String>,
    /// Unreadable files of single parts; everything else is known.
    pub unreadable_parts: Vec<String>,
    /// The folder contains something of a session; it may exist for another reason.
    pub holds: bool,
    pub knows: Knows,
    /// Made, but not begun: it takes nobody's place where only one session can be active.
    pub is_unbegun: bool,
    /// Checks marked approved in the files.
    pub approved: Vec<Approved>,
    /// Health checks before continuing the session; empty if the layout has none.
    pub checks: Vec<Health>,
    /// Files to read before working on the session, besides results of finished phases. Below its home.
    pub context: Vec<String>,
}

/// How well the state files determine a session's position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knows {
    /// The files state it.
    Said,
    /// Inferred from other files.
    WorkedOut,
    /// This file is all there is, and is not enough to continue.
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

    /// Without passed gates: completed phases become claims.
    #[must_use]
    pub fn only_claiming(mut self) -> Self {
        for dated in &mut self.history {
            if let Event::PhaseCompleted { phase, .. } = &dated.event {
                dated.event = Event::PhaseClaimed { phase: phase.clone(), attempt: None };
            }
        }
        self
    }

    /// The whole history including proofs, for a session that was not adopted; with the session and its
    /// items. `None` if it does not begin with the session's start.
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
        // Nothing was reopened here, so every file counts.
        prove(&mut draft, self, &|_| true);
        let version = recorded.len() as u64;
        let proven = draft.dated().into_iter().zip(version + 1..);
        recorded.extend(proven.map(|(dated, version)| record((&dated, version))));
        let (_, session, items) = draft.into_parts();
        Some((recorded, session, items))
    }
}

/// One check of a session's files, and its findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub check: &'static str,
    pub is_well: bool,
    pub found: String,
    /// Its phase, if not the current one.
    pub phase: Option<&'static str>,
    /// The fix to offer before continuing.
    pub remedy: Option<Hint>,
}
