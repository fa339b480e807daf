//! Why a command was refused, in words that say what to do next. The only place where refusals are worded.

use crate::id::{Name, SessionId};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("cannot complete phase '{asked}': the current phase is '{current}'")]
    PhaseNotCurrent { asked: Name, current: Name },
    #[error("there is no phase '{asked}' in workflow '{workflow}'")]
    UnknownPhase { asked: String, workflow: Name, known: Vec<Name>, nearest: Option<Name> },
    #[error("cannot go back to phase '{asked}': it has not begun yet, the current phase is '{current}'")]
    PhaseNotReached { asked: Name, current: Name },
    #[error("there is a checkpoint '{name}' already")]
    CheckpointExists { name: String },
    #[error("cannot {doing}: session {session} is {lifecycle}")]
    NotActive { doing: &'static str, session: SessionId, lifecycle: &'static str, workflow: Name },
    #[error("cannot {doing}: run {ordinal} of '{workflow}' is finished")]
    RunFinished { doing: &'static str, workflow: Name, ordinal: u32 },
    #[error("cannot close session {session}: {done} of {total} phases of '{workflow}' are done")]
    Unfinished { session: SessionId, workflow: Name, done: usize, total: usize, current: Name },
    #[error("there is no note {id} in this session")]
    UnknownNote { id: u32, highest: u32 },
    #[error("note {id} is a {kind}: only a blocker, a question or a deferred point can be resolved")]
    NothingToResolve { id: u32, kind: &'static str },
    #[error("session {session} holds an event that this program does not know: '{kind}'")]
    NewerEvent { session: SessionId, kind: String },
}

impl Refusal {
    /// A short, stable name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::PhaseNotCurrent { .. } => "phase_not_current",
            Self::PhaseNotReached { .. } => "phase_not_reached",
            Self::CheckpointExists { .. } => "checkpoint_exists",
            Self::UnknownPhase { .. } => "unknown_phase",
            Self::NotActive { .. } => "not_active",
            Self::RunFinished { .. } => "run_finished",
            Self::Unfinished { .. } => "unfinished",
            Self::UnknownNote { .. } => "unknown_note",
            Self::NothingToResolve { .. } => "nothing_to_resolve",
            Self::NewerEvent { .. } => "newer_event",
        }
    }

    /// Something that was named does not exist, rather than being against a rule.
    pub fn is_unknown_name(&self) -> bool {
        match self {
            Self::UnknownPhase { .. } | Self::UnknownNote { .. } => true,
            Self::PhaseNotCurrent { .. }
            | Self::PhaseNotReached { .. }
            | Self::CheckpointExists { .. }
            | Self::NotActive { .. }
            | Self::RunFinished { .. }
            | Self::Unfinished { .. }
            | Self::NothingToResolve { .. }
            | Self::NewerEvent { .. } => false,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::PhaseNotCurrent { current, .. } => {
                format!("complete '{current}' first: leftoff advance --phase {current}")
            }
            Self::PhaseNotReached { current, .. } => {
                format!("go on with: leftoff advance --phase {current}")
            }
            Self::CheckpointExists { .. } => "choose another name".to_owned(),
            Self::UnknownPhase { known, nearest, .. } => match nearest {
                Some(name) => format!("did you mean '{name}'? The phases are {}", listed(known)),
                None => format!("the phases are {}", listed(known)),
            },
            Self::NotActive { session, lifecycle, workflow, .. } => match *lifecycle {
                "completed" => {
                    format!("begin the next run with: leftoff run start {workflow} --session {session}")
                }
                "abandoned" => format!("begin a new session with: leftoff start {workflow}"),
                _ => format!("go on with it first: leftoff resume {session}"),
            },
            Self::RunFinished { workflow, .. } => {
                format!(
                    "begin the next run with: leftoff run start {workflow}, or end the session: leftoff close"
                )
            }
            Self::Unfinished { current, .. } => format!(
                "go on with: leftoff advance --phase {current}, or close it as it is: leftoff close --force"
            ),
            Self::UnknownNote { highest: 0, .. } => "this session has no notes yet".to_owned(),
            Self::UnknownNote { highest, .. } => {
                format!("notes are numbered 1 to {highest}: leftoff show")
            }
            Self::NothingToResolve { .. } => "nothing needs to be done about it".to_owned(),
            Self::NewerEvent { .. } => {
                "use the newer leftoff that wrote it; this one only shows the session".to_owned()
            }
        }
    }
}

fn listed(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}
