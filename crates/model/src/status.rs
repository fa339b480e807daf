//! The status of a session, computed on demand and never stored. It is one word that says the lifecycle, that a gate
//! failed, or that work may have stopped.

use crate::lifecycle::Lifecycle;
use crate::phase::Phase;
use crate::progress::{Progress, SignsOfWork};
use crate::session::Session;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The status of a session. If several apply, the first in this order is used, as documented for the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Completed,
    Failed,
    Abandoned,
    Paused,
    CheckpointFailed,
    PossiblyStalled,
    Active,
}

impl Status {
    pub fn of(session: &Session, now: Timestamp) -> Self {
        Self::with_signs(session, now, SignsOfWork::default())
    }

    /// Like `of`, but also considers signs of work in the session's files.
    pub fn with_signs(session: &Session, now: Timestamp, signs: SignsOfWork) -> Self {
        match session.lifecycle {
            Lifecycle::Completed { .. } => Self::Completed,
            Lifecycle::Failed { .. } => Self::Failed,
            Lifecycle::Abandoned { .. } => Self::Abandoned,
            Lifecycle::Paused { .. } => Self::Paused,
            Lifecycle::Active => Self::of_active(session, now, signs),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
            Self::Paused => "paused",
            Self::CheckpointFailed => "checkpoint_failed",
            Self::PossiblyStalled => "possibly_stalled",
            Self::Active => "active",
        }
    }

    fn of_active(session: &Session, now: Timestamp, signs: SignsOfWork) -> Self {
        let Some(run) = session.run() else { return Self::Active };
        let is_left_failed = |phase: &Phase| session.is_contested(phase) && session.failed_last(phase);
        if run.is_open() && (run.current().last_attempt_failed() || run.phases.iter().any(is_left_failed)) {
            return Self::CheckpointFailed;
        }
        let is_stalled = Progress::with_signs(session, run, now, signs).stalled;
        if is_stalled { Self::PossiblyStalled } else { Self::Active }
    }
}
