//! The reasons for refusals, their wording, and the suggested next steps. Refusals are worded nowhere else.

mod item;

pub use item::ItemRefusal;

use crate::hint::Hint;
use crate::id::{Name, SessionId};
use crate::lifecycle::Lifecycle;
use crate::words;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("cannot complete phase '{asked}': the current phase is '{current}'")]
    PhaseNotCurrent { session: SessionId, asked: Name, current: Name },
    #[error(
        "cannot complete phase '{asked}': phase '{earlier}' comes first, and it is not proven to be done"
    )]
    EarlierUnproven { session: SessionId, asked: Name, earlier: Name },
    #[error("there is no phase '{asked}' in workflow '{workflow}'")]
    UnknownPhase { asked: String, workflow: Name, known: Vec<Name>, nearest: Option<Name> },
    #[error(
        "cannot go back to phase '{asked}': the phase has not started yet; the current phase is '{current}'"
    )]
    PhaseNotReached { session: SessionId, asked: Name, current: Name },
    #[error("cannot revisit phase '{asked}': it is not before the current phase '{current}'")]
    NotEarlier { session: SessionId, asked: Name, current: Name },
    #[error("checkpoint '{name}' already exists")]
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
    #[error("cannot start another run of '{workflow}': the last run has the highest possible number")]
    NoMoreRuns { session: SessionId, workflow: Name },
    #[error(
        "cannot close session {session}: {done} of {} phases of '{workflow}' are done",
        .total.map_or_else(|| "an unknown number of".to_owned(), |total| total.to_string())
    )]
    Unfinished { session: SessionId, workflow: Name, done: usize, total: Option<usize>, current: Name },
    #[error("there is no note {id} in this session")]
    UnknownNote { id: u32, highest: u32 },
    #[error("note {id} is a {kind}: only a blocker, a question or a deferred point can be resolved")]
    NothingToResolve { id: u32, kind: &'static str },
    #[error("cannot undo: the last change is by {actor}")]
    AnothersChange { actor: String, before: u64 },
    #[error("cannot undo the start of session {session}")]
    UndoesTheStart { session: SessionId, first: u64 },
    #[error("nothing to redo in session {session}: its last change is not an undo")]
    NothingToRedo { session: SessionId },
    #[error("cannot redo: the last undo is by {actor}")]
    AnothersUndo { actor: String, to_version: u64 },
    #[error("there is no checkpoint '{asked}' in this session")]
    UnknownCheckpoint { asked: String, nearest: Option<String>, known: Vec<String> },
    #[error("this session has no version {asked}: the newest is {newest}")]
    UnknownVersion { asked: u64, newest: u64 },
    #[error("session {session} contains an event unknown to this version of leftoff: '{kind}'")]
    NewerEvent { session: SessionId, kind: String },
    #[error(transparent)]
    Item(#[from] ItemRefusal),
}

/// The next step to suggest if a command is refused because a session is not active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayOn {
    Resume,
    NextRun,
    /// Reopen the session, because the command is about its finished run.
    Reopen,
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
    /// Returns a short, stable name of the refusal, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::PhaseNotCurrent { .. } => "phase_not_current",
            Self::EarlierUnproven { .. } => "earlier_unproven",
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
            Self::NothingToRedo { .. } => "nothing_to_redo",
            Self::AnothersUndo { .. } => "anothers_undo",
            Self::UnknownCheckpoint { .. } => "unknown_checkpoint",
            Self::UnknownVersion { .. } => "unknown_version",
            Self::NewerEvent { .. } => "newer_event",
            Self::Item(refusal) => refusal.kind(),
        }
    }

    /// True if a named thing does not exist, false if a rule forbids the command.
    pub fn is_unknown_name(&self) -> bool {
        match self {
            Self::UnknownPhase { .. }
            | Self::UnknownNote { .. }
            | Self::UnknownCheckpoint { .. }
            | Self::UnknownVersion { .. } => true,
            Self::Item(refusal) => refusal.is_unknown_name(),
            Self::PhaseNotCurrent { .. }
            | Self::EarlierUnproven { .. }
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
            | Self::NothingToRedo { .. }
            | Self::AnothersUndo { .. }
            | Self::NewerEvent { .. } => false,
        }
    }

    /// Returns the next step that the refusal suggests.
    pub fn hint(&self) -> Hint {
        match self {
            Self::PhaseNotCurrent { session, current, .. }
            | Self::EarlierUnproven { session, earlier: current, .. } => {
                Hint::new(format!("complete '{current}' first: ")).run(words![
                    "advance",
                    "--phase",
                    current,
                    "--session",
                    session
                ])
            }
            Self::PhaseNotReached { session, current, .. } | Self::NotEarlier { session, current, .. } => {
                Hint::new("continue with: ").run(words!["advance", "--phase", current, "--session", session])
            }
            Self::CheckpointExists { .. } => "choose another name".into(),
            Self::UnknownPhase { known, nearest, .. } => match nearest {
                Some(name) => format!("did you mean '{name}'? The phases are {}", listed(known)).into(),
                None => format!("the phases are {}", listed(known)).into(),
            },
            Self::NotActive { session, workflow, way_on, .. } => match way_on {
                WayOn::NextRun => Hint::new("start the next run: ").run(words![
                    "run",
                    "start",
                    workflow,
                    "--session",
                    session
                ]),
                WayOn::Reopen => Hint::new("reopen the session first: ").run(words!["reopen", session]),
                WayOn::NewSession => Hint::new("reopen the session: ")
                    .run(words!["reopen", session])
                    .then(", or start a new session: ")
                    .run(words!["start", workflow]),
                WayOn::Resume => Hint::new("resume the session first: ").run(words!["resume", session]),
            },
            Self::RunFinished { session, workflow, .. } => Hint::new("start the next run: ")
                .run(words!["run", "start", workflow, "--session", session])
                .then(", or end the session: ")
                .run(words!["close", "--session", session]),
            Self::NoMoreRuns { session, workflow } => Hint::new("see the runs of the session: ")
                .run(words!["show", session])
                .then("; or start a new session: ")
                .run(words!["start", workflow]),
            Self::Unfinished { session, current, .. } => {
                Hint::new(format!("continue with phase '{current}', or close the session unfinished: ")).run(words![
                    "close",
                    "--force",
                    "--session",
                    session
                ])
            }
            Self::UnknownNote { highest: 0, .. } => "this session has no notes yet".into(),
            Self::UnknownNote { highest, .. } => {
                Hint::new(format!("notes are numbered 1 to {highest}: ")).run(words!["show"])
            }
            Self::NothingToResolve { .. } => "notes of this kind need no answer".into(),
            Self::Item(refusal) => refusal.hint(),
            Self::AnothersChange { before, .. } => Hint::new("see the changes: ")
                .run_here(words!["log"])
                .then("; undo anyway: ")
                .run_here(words!["undo", "--to", before]),
            Self::UndoesTheStart { session, .. } => {
                Hint::new("abandon the session instead: ").run(words!["abandon", "--session", session])
            }
            Self::NothingToRedo { .. } => Hint::new("see the numbers of all versions: ")
                .run_here(words!["log"])
                .then("; return to a version: ")
                .run_here(words!["undo", "--to", "<version>"]),
            Self::AnothersUndo { to_version, .. } => Hint::new("see the changes: ")
                .run_here(words!["log"])
                .then("; redo anyway: ")
                .run_here(words!["undo", "--to", to_version]),
            Self::UnknownCheckpoint { nearest: Some(name), .. } => {
                Hint::new(format!("did you mean '{name}'? See the versions: ")).run_here(words!["log"])
            }
            Self::UnknownCheckpoint { known, .. } if known.is_empty() => {
                Hint::new("this session has no checkpoints; use the number of a version: ").run_here(words!["log"])
            }
            Self::UnknownCheckpoint { known, .. } => format!("the checkpoints of this session: {}", known.join(", ")).into(),
            Self::UnknownVersion { .. } => Hint::new("see the versions: ").run_here(words!["log"]),
            Self::NewerEvent { .. } => {
                "use the newer version of leftoff that wrote the event; this version can only show the session".into()
            }
        }
    }
}

fn listed(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}
