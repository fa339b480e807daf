//! Why a command was refused, in words that say what to do next. The only place where refusals are worded.

mod item;

pub use item::ItemRefusal;

use crate::id::{Name, SessionId};
use crate::lifecycle::Lifecycle;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("cannot complete phase '{asked}': the current phase is '{current}'")]
    PhaseNotCurrent { session: SessionId, asked: Name, current: Name },
    #[error("there is no phase '{asked}' in workflow '{workflow}'")]
    UnknownPhase { asked: String, workflow: Name, known: Vec<Name>, nearest: Option<Name> },
    #[error("cannot go back to phase '{asked}': it has not begun yet, the current phase is '{current}'")]
    PhaseNotReached { session: SessionId, asked: Name, current: Name },
    #[error("cannot revisit phase '{asked}': it is not before the current phase '{current}'")]
    NotEarlier { session: SessionId, asked: Name, current: Name },
    #[error("there is a checkpoint '{name}' already")]
    CheckpointExists { name: String },
    #[error("cannot {doing}: session {session} is {lifecycle}")]
    NotActive {
        doing: &'static str,
        session: SessionId,
        lifecycle: &'static str,
        workflow: Name,
        way_on: WayOn,
    },
    #[error("cannot {doing}: run {ordinal} of '{workflow}' is finished")]
    RunFinished { doing: &'static str, session: SessionId, workflow: Name, ordinal: u32 },
    #[error("cannot start another run of '{workflow}': the last one has the highest number that there is")]
    NoMoreRuns { session: SessionId, workflow: Name },
    #[error("cannot close session {session}: {done} of {total} phases of '{workflow}' are done")]
    Unfinished { session: SessionId, workflow: Name, done: usize, total: usize, current: Name },
    #[error("there is no note {id} in this session")]
    UnknownNote { id: u32, highest: u32 },
    #[error("note {id} is a {kind}: only a blocker, a question or a deferred point can be resolved")]
    NothingToResolve { id: u32, kind: &'static str },
    #[error("cannot undo: the last change is by {actor}")]
    AnothersChange { actor: String, before: u64 },
    #[error("cannot undo the start of session {session}")]
    UndoesTheStart { session: SessionId, first: u64 },
    #[error("there is no checkpoint '{asked}' in this session")]
    UnknownCheckpoint { asked: String, nearest: Option<String>, known: Vec<String> },
    #[error("this session has no version {asked}: the newest is {newest}")]
    UnknownVersion { asked: u64, newest: u64 },
    #[error("session {session} holds an event that this program does not know: '{kind}'")]
    NewerEvent { session: SessionId, kind: String },
    #[error(transparent)]
    Item(#[from] ItemRefusal),
}

/// How work goes on from a session that is not active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayOn {
    Resume,
    NextRun,
    NewSession,
}

impl WayOn {
    pub fn from(lifecycle: &Lifecycle) -> Self {
        match lifecycle {
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Self::Resume,
            Lifecycle::Completed { .. } => Self::NextRun,
            Lifecycle::Abandoned { .. } => Self::NewSession,
        }
    }
}

impl Refusal {
    /// A short, stable name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::PhaseNotCurrent { .. } => "phase_not_current",
            Self::PhaseNotReached { .. } => "phase_not_reached",
            Self::NotEarlier { .. } => "not_earlier",
            Self::CheckpointExists { .. } => "checkpoint_exists",
            Self::UnknownPhase { .. } => "unknown_phase",
            Self::NotActive { .. } => "not_active",
            Self::RunFinished { .. } => "run_finished",
            Self::NoMoreRuns { .. } => "no_more_runs",
            Self::Unfinished { .. } => "unfinished",
            Self::UnknownNote { .. } => "unknown_note",
            Self::NothingToResolve { .. } => "nothing_to_resolve",
            Self::AnothersChange { .. } => "anothers_change",
            Self::UndoesTheStart { .. } => "undoes_the_start",
            Self::UnknownCheckpoint { .. } => "unknown_checkpoint",
            Self::UnknownVersion { .. } => "unknown_version",
            Self::NewerEvent { .. } => "newer_event",
            Self::Item(refusal) => refusal.kind(),
        }
    }

    /// Something that was named does not exist, rather than being against a rule.
    pub fn is_unknown_name(&self) -> bool {
        match self {
            Self::UnknownPhase { .. }
            | Self::UnknownNote { .. }
            | Self::UnknownCheckpoint { .. }
            | Self::UnknownVersion { .. } => true,
            Self::Item(refusal) => refusal.is_unknown_name(),
            Self::PhaseNotCurrent { .. }
            | Self::PhaseNotReached { .. }
            | Self::NotEarlier { .. }
            | Self::CheckpointExists { .. }
            | Self::NotActive { .. }
            | Self::RunFinished { .. }
            | Self::NoMoreRuns { .. }
            | Self::Unfinished { .. }
            | Self::NothingToResolve { .. }
            | Self::AnothersChange { .. }
            | Self::UndoesTheStart { .. }
            | Self::NewerEvent { .. } => false,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::PhaseNotCurrent { session, current, .. } => {
                format!("complete '{current}' first: leftoff advance --phase {current} --session {session}")
            }
            Self::PhaseNotReached { session, current, .. } | Self::NotEarlier { session, current, .. } => {
                format!("go on with: leftoff advance --phase {current} --session {session}")
            }
            Self::CheckpointExists { .. } => "choose another name".to_owned(),
            Self::UnknownPhase { known, nearest, .. } => match nearest {
                Some(name) => format!("did you mean '{name}'? The phases are {}", listed(known)),
                None => format!("the phases are {}", listed(known)),
            },
            Self::NotActive { session, workflow, way_on, .. } => match way_on {
                WayOn::NextRun => {
                    format!("begin the next run with: leftoff run start {workflow} --session {session}")
                }
                WayOn::NewSession => format!(
                    "take it up again: leftoff reopen {session}, or begin a new session with: leftoff start {workflow}"
                ),
                WayOn::Resume => format!("go on with it first: leftoff resume {session}"),
            },
            Self::RunFinished { session, workflow, .. } => format!(
                "begin the next run with: leftoff run start {workflow} --session {session}, or end the session: leftoff close --session {session}"
            ),
            Self::NoMoreRuns { session, workflow } => format!(
                "see where the number comes from: leftoff show {session}; or begin a new session: leftoff start {workflow}"
            ),
            Self::Unfinished { session, current, .. } => format!(
                "go on with phase '{current}', or close it as it is: leftoff close --force --session {session}"
            ),
            Self::UnknownNote { highest: 0, .. } => "this session has no notes yet".to_owned(),
            Self::UnknownNote { highest, .. } => {
                format!("notes are numbered 1 to {highest}: leftoff show")
            }
            Self::NothingToResolve { .. } => "nothing needs to be done about it".to_owned(),
            Self::Item(refusal) => refusal.hint(),
            Self::AnothersChange { before, .. } => {
                format!("see what it was: leftoff log; undo it all the same: leftoff undo --to {before}")
            }
            Self::UndoesTheStart { session, .. } => {
                format!("give the session up instead: leftoff abandon --session {session}")
            }
            Self::UnknownCheckpoint { nearest: Some(name), .. } => {
                format!("did you mean '{name}'? See the versions: leftoff log")
            }
            Self::UnknownCheckpoint { known, .. } if known.is_empty() => {
                "it has no checkpoints; name a version instead; they are in: leftoff log".to_owned()
            }
            Self::UnknownCheckpoint { known, .. } => format!("there are {}", known.join(", ")),
            Self::UnknownVersion { .. } => "see the versions: leftoff log".to_owned(),
            Self::NewerEvent { .. } => {
                "use the newer leftoff that wrote it; this one only shows the session".to_owned()
            }
        }
    }
}

fn listed(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}
