//! What files show by being there, beside what those of a session's state say.

use crate::reconcile::shown_by;
use jiff::Timestamp;
use model::event::Event;
use model::gate::AttemptReport;
use model::id::Name;

/// Something that files show by being there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// A run has begun, and is in this phase; since when, where that is known.
    Run { workflow: Name, ordinal: u32, phase: Name, path: String, at: Option<Timestamp> },
    /// A phase of a run is done, since its file was written. Everything before it counts as done too, claimed where
    /// nothing shows it.
    Phase { workflow: Name, ordinal: u32, phase: Name, path: String, at: Option<Timestamp> },
    /// How a phase is over once a later one is. It moves nothing by itself.
    Earlier { workflow: Name, ordinal: u32, phase: Name, by: Earlier },
}

/// What shows that a phase is over that others came after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// Its own file is there.
    File(String),
    /// It writes none, so that none could be missing.
    Nothing,
    /// There was nothing to do in it, and why.
    Skipped(String),
}

impl Earlier {
    /// What is told of such a phase.
    pub fn event(&self, phase: Name) -> Event {
        match self {
            Self::File(path) => Event::PhaseCompleted { phase, attempt: shown_by(path) },
            Self::Nothing => Event::PhaseCompleted { phase, attempt: AttemptReport::default() },
            Self::Skipped(reason) => Event::PhaseSkipped { phase, reason: reason.clone() },
        }
    }
}

impl Proof {
    /// The file that shows it; none where it takes none.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Run { path, .. }
            | Self::Phase { path, .. }
            | Self::Earlier { by: Earlier::File(path), .. } => Some(path),
            Self::Earlier { by: Earlier::Nothing | Earlier::Skipped(_), .. } => None,
        }
    }
}
