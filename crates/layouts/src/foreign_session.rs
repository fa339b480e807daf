//! A session of another tool as read from its files: its history, its proofs, and its unreadable parts.

use crate::proof::Proof;
use crate::reading::Dated;
use crate::reconcile::{Draft, prove};
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::item::ItemBook;
use model::session::Session;
use model::workflow::Workflow;

/// A session of another tool as read from its files.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSession {
    /// The session's history according to its state files. It begins with the start of the session, and
    /// folding it gives the session. Facts that other files prove are not included.
    pub history: Vec<Dated>,
    /// The definitions of the workflows in the history. Built-in workflows are left out.
    pub workflows: Vec<Workflow>,
    /// Facts that other files prove. If they contradict each other, an earlier one is used.
    pub proofs: Vec<Proof>,
    /// State files that are missing or unreadable. If there are any, the history may be wrong in details.
    pub unreadable: Vec<String>,
    /// Unreadable files that contain only a part of the session. The rest of the session is known.
    pub unreadable_parts: Vec<String>,
    /// True if the folder contains something of a session. If false, the folder may exist for another reason.
    pub holds: bool,
    pub knows: Knows,
    /// True if the session was created and not started. Such a session does not pause the active session.
    pub is_unbegun: bool,
    /// The checks that are approved according to the files.
    pub approved: Vec<Approved>,
    /// Health checks to make before the session continues. Empty if the layout has none.
    pub checks: Vec<Health>,
    /// Files that an agent should read before working on the session, in addition to results of finished
    /// phases. Paths are relative to the session's home.
    pub context: Vec<String>,
}

/// How the position of a session is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knows {
    /// The state files contain the position.
    Said,
    /// The position was inferred from other files.
    WorkedOut,
    /// The position is unknown, because this file is the session's only file, and is unreadable.
    Nothing(String),
}

/// A check that is approved according to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approved {
    pub phase: &'static str,
    pub check: &'static str,
}

impl ForeignSession {
    /// True if the file at this path is unreadable.
    pub fn cannot_read(&self, path: &str) -> bool {
        self.unreadable.iter().chain(&self.unreadable_parts).any(|unreadable| unreadable == path)
    }

    /// A session of which only the history is known.
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

    /// True if the state files are readable and contain the position. A session without a readable position
    /// never hides a session with one.
    pub fn says_where_it_stands(&self) -> bool {
        self.unreadable.is_empty() && self.knows != Knows::WorkedOut
    }

    /// The session, with every completed phase changed to a claimed one.
    #[must_use]
    pub fn only_claiming(mut self) -> Self {
        for dated in &mut self.history {
            if let Event::PhaseCompleted { phase, .. } = &dated.event {
                dated.event = Event::PhaseClaimed { phase: phase.clone(), attempt: None };
            }
        }
        self
    }

    /// The events, the session and the items that the whole history gives, proofs included. For a session
    /// that was not adopted. `None` if the history does not begin with the start of the session.
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
        // No phase was reopened later, so every file is new enough to be used.
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
    /// The phase that the check is about, if that is not the current phase.
    pub phase: Option<&'static str>,
    /// The remedy to offer before the session continues.
    pub remedy: Option<Hint>,
}
