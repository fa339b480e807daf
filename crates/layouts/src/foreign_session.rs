//! A session as its files tell it: what happened, what they prove, and what of them cannot be read.

use crate::proof::Proof;
use crate::reading::Dated;
use crate::reconcile::{Draft, prove};
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::item::ItemBook;
use model::session::Session;
use model::workflow::Workflow;

/// A session as its files tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSession {
    /// All that happened, as far as the files of its state tell: folding it gives the session. Begins with its start.
    /// Proofs by other files are not in it.
    pub history: Vec<Dated>,
    /// The definitions that the runs in the history follow, where they are not built in.
    pub workflows: Vec<Workflow>,
    /// Proofs by other files, in the order in which they count.
    pub proofs: Vec<Proof>,
    /// Files of its state that are missing or cannot be read. Without one of them the history is approximate.
    pub unreadable: Vec<String>,
    /// Files of single parts of it that cannot be read; all else is told.
    pub unreadable_parts: Vec<String>,
    /// Something of a session is here: a folder may stand there for another reason.
    pub holds: bool,
    pub knows: Knows,
    /// Checks that the files call approved.
    pub approved: Vec<Approved>,
    /// Checks that the session can be continued, as far as its files tell; empty where a layout has none.
    pub checks: Vec<Health>,
    /// Files that whoever works on the session should have read, beside those that finished phases produced. Below its
    /// home.
    pub context: Vec<String>,
}

/// How far the files of its state tell where a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knows {
    /// They say it.
    Said,
    /// They do not say it: it was worked out from other files.
    WorkedOut,
    /// This file is all there is, and does not say enough for anybody to continue.
    Nothing(String),
}

/// A check that files call approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approved {
    pub phase: &'static str,
    pub check: &'static str,
}

impl ForeignSession {
    /// True for a file that cannot be read.
    pub fn cannot_read(&self, path: &str) -> bool {
        self.unreadable.iter().chain(&self.unreadable_parts).any(|unreadable| unreadable == path)
    }

    /// A session with a history and nothing else.
    pub fn of_history(history: Vec<Dated>) -> Self {
        Self {
            history,
            workflows: Vec::new(),
            proofs: Vec::new(),
            unreadable: Vec::new(),
            unreadable_parts: Vec::new(),
            holds: true,
            knows: Knows::Said,
            approved: Vec::new(),
            checks: Vec::new(),
            context: Vec::new(),
        }
    }

    /// True where the files of its state can be read and say where it stands. A session without that never hides one
    /// with it.
    pub fn says_where_it_stands(&self) -> bool {
        self.unreadable.is_empty() && self.knows != Knows::WorkedOut
    }

    /// Without a gate that passed: what is called done is claimed.
    #[must_use]
    pub fn only_claiming(mut self) -> Self {
        for dated in &mut self.history {
            if let Event::PhaseCompleted { phase, .. } = &dated.event {
                dated.event = Event::PhaseClaimed { phase: phase.clone(), attempt: None };
            }
        }
        self
    }

    /// The whole history with what the files prove, as a session that nobody has taken in yet has it; the session and
    /// the items that it makes. None when it does not begin with the session's start.
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
        // Nothing has been opened again here: whatever is there counts.
        prove(&mut draft, self, &|_| true);
        let version = recorded.len() as u64;
        let proven = draft.dated().into_iter().zip(version + 1..);
        recorded.extend(proven.map(|(dated, version)| record((&dated, version))));
        let (_, session, items) = draft.into_parts();
        Some((recorded, session, items))
    }
}

/// One check of a session's files, and what it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub check: &'static str,
    pub is_well: bool,
    pub found: String,
    /// The remedy, where whoever continues should be asked first.
    pub remedy: Option<String>,
}
