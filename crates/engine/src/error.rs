//! Every error, with the next step. Front ends format errors but do not reword them.

mod hints;
mod not_restored;
mod parts;
mod unsigned;

pub use not_restored::NotRestored;
pub use parts::{Choice, FileMistake};
pub use unsigned::Unsigned;

use crate::policy::PolicyHelps;
use model::Refusal;
use model::hint::Hint;
use model::id::InvalidId;
use model::refusal::WayOn;
use std::path::PathBuf;

pub type Result<T> = std::result::Result<T, Error>;

/// The kind of failure; it determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Reading or writing failed, or the store failed.
    Failed,
    WrongUsage,
    NothingThere,
    Refused,
    /// A person must answer, and none is present.
    NeedsAPerson,
    OutcomeUnknown,
}

/// Where a workflow of this name was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkflowPlace {
    /// Among the workflows in leftoff's own format.
    Ours,
    /// Among the workflows in leftoff's own format. Sessions of this layout could follow a workflow of this name.
    OursAndDefinedFor(&'static str),
    /// Among the workflows of another tool, in this folder.
    Theirs(&'static str),
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A refusal in the words of the session's own tool.
    #[error("{words}")]
    RefusedInOwnWords { words: String, refusal: Box<Refusal> },
    #[error("{folder} is not inside a leftoff project or a git repository")]
    NoProject { folder: PathBuf },
    #[error("{folder} has no sessions yet")]
    NoStore { folder: PathBuf },
    #[error("no active session in {worktree}")]
    NoSession { worktree: String },
    #[error("no active session here; {session} is finished")]
    OnlyFinished { session: String },
    #[error("no session has worked on branch {branch}")]
    NoSessionOfBranch { branch: String },
    #[error("no paused session in {worktree}{}", listed(there_are))]
    NothingPaused { worktree: String, there_are: Vec<String> },
    #[error("no active session in {worktree}; paused: {}", paused.join(", "))]
    NothingActive { worktree: String, paused: Vec<String> },
    #[error("there is no session '{asked}'")]
    UnknownSession { asked: String, nearest: Option<String> },
    #[error("'{asked}' is ambiguous: {}", candidates.join(", "))]
    AmbiguousSession { asked: String, candidates: Vec<String> },
    #[error("{asked:?} cannot be a session's id: {why}")]
    InvalidSessionId { asked: String, why: InvalidId },
    #[error("{asked:?} cannot be a workflow's name: {why}")]
    InvalidWorkflowName { asked: String, why: InvalidId },
    #[error("session {existing} already exists")]
    IdTaken {
        existing: String,
        way_on: WayOn,
        /// The workflow that was asked for, if the existing session can start a run of it.
        run: Option<String>,
    },
    #[error("the files of session {session} contain that text and would bring it back: {}", paths.join(", "))]
    StillInFiles { session: String, paths: Vec<String> },
    #[error("there is no workflow '{asked}'")]
    UnknownWorkflow { asked: String, nearest: Option<String>, known: Vec<String>, place: WorkflowPlace },
    #[error("no workflow of {layout} is defined in this project")]
    NoWorkflowsOf {
        layout: String,
        asked: Option<String>,
        file: &'static str,
        folders: &'static [&'static str],
    },
    #[error("{why}")]
    NeedsTarget { why: Box<FileMistake>, workflow: String, layout: &'static str },
    #[error("{}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    BadDefinition { mistakes: Vec<FileMistake> },
    #[error("{path} already exists")]
    AlreadyThere { path: PathBuf },
    #[error("{path} already has a session {session}")]
    ListedAlready { path: PathBuf, session: String },
    #[error("{mistake}")]
    BadConfig { mistake: FileMistake },
    #[error("key '{key}' was used for another command")]
    KeyUsed { key: String },
    #[error("{what} is too long: {length} bytes; the maximum is {longest}")]
    TooLong { what: &'static str, length: usize, longest: usize },
    #[error("{path} would have {length} bytes; the maximum is {longest}")]
    FileTooLong { path: String, length: u64, longest: u64 },
    #[error("{message}")]
    Sharing { message: String, hint: Hint },
    #[error("{fork} is a fork: it can be read but not changed")]
    ReadOnlyFork { fork: String, session: String },
    #[error("session {session} is on another machine: {place}")]
    OnAnotherMachine { session: String, place: String },
    #[error("session {session} is in use on another machine: {place}, last changed {when}")]
    ActiveOnAnotherMachine { session: String, place: String, when: String },
    #[error("{message}")]
    WrongUsage { message: String, hint: Hint },
    #[error("the files of session {session} belong to another worktree and stay there: {worktree}")]
    FilesElsewhere { session: String, worktree: String },
    #[error("the files of session {session} were in {worktree}, {}", if *is_here { "but the project was moved or copied since" } else { "but they are not here" })]
    CameAlong { session: String, worktree: String, is_here: bool },
    #[error("session {session} is active in another worktree: {worktree}")]
    ActiveElsewhere { session: String, worktree: String, agent: String },
    #[error("{question}")]
    NeedsAnswer { question: String, hint: Hint },
    #[error("{question}{lines}", lines = choices.iter().map(Choice::line).collect::<String>())]
    NeedsChoice { question: String, choices: Vec<Choice> },
    #[error(
        "cannot undo this: session {session} would become active, but {active} is the active session of {worktree}"
    )]
    ActiveAlready { session: String, active: String, worktree: String },
    #[error("cannot purge this: it is part of {what}, which the history needs")]
    NotPurgeable { what: String },
    #[error("{path} cannot be imported: {why}", path = path.display())]
    BadBundle { path: PathBuf, why: String, hint: Hint },
    #[error("session {session} differs between {path} and this project after version {version}", path = path.display())]
    Diverged { path: PathBuf, session: String, version: u64 },
    #[error(
        "{place} is not empty: its session {session} is missing from the store to copy, or differs there"
    )]
    CopyRefused { place: String, session: String },
    #[error("{what} is not supported")]
    NotSupported { what: String, hint: Hint },
    #[error("{doing} needs a person at a terminal{}", agent.as_ref().map(|agent| format!("; this runs under {agent}")).unwrap_or_default())]
    NeedsAPerson { doing: String, policy: PolicyHelps, agent: Option<String> },
    #[error(transparent)]
    Unsigned(#[from] Unsigned),
    #[error(transparent)]
    NotRestored(#[from] NotRestored),
    #[error("the gate of phase '{phase}' cannot be overridden: workflow '{workflow}' does not allow it")]
    NoOverride { phase: String, workflow: String },
    #[error("the files of phase '{phase}' changed after they were shown")]
    FilesChanged { phase: String },
    #[error("phase '{phase}' was reopened while its gate ran")]
    MovedMeanwhile { phase: String },
    #[error("nothing has failed in phase '{phase}'")]
    NothingFailed { phase: String },
    #[error("phase '{phase}' has no check '{asked}' that waits for approval")]
    UnknownCheck { asked: String, phase: String, known: Vec<String> },
    #[error("other processes kept changing the session during this command")]
    Contended,
    #[error(transparent)]
    Store(store::Error),
    #[error("{doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("{path} cannot be used: {why}", path = path.display())]
    BrokenFile { path: PathBuf, why: String },
    #[error("{path} cannot be read ({why}), and nothing else records session {session}")]
    NothingKnown { session: String, path: String, why: String },
    #[error("the folder of session {session} is gone: {path}")]
    FolderGone { session: String, path: String, hint: Hint },
    #[error("{path} is being written by somebody else", path = path.display())]
    FileBusy { path: PathBuf },
    #[error("no session was completed or abandoned in {worktree}")]
    NothingFinished { worktree: String, elsewhere: Vec<String> },
    #[error("{asked} is not a session: {why}")]
    NotASession { asked: String, why: String, instead: Hint },
    #[error("there is no requirement '{asked}'")]
    UnknownRequirement { asked: String, nearest: Option<String>, known: Vec<String> },
    #[error("requirement '{requirement}' is satisfied by phase '{phase}', not by hand")]
    ProvedByPhase { requirement: String, phase: String },
    #[error("no agent session is known here")]
    NoAgentSession,
    #[error("{reason}")]
    NoRequirementsHere { reason: String },
    #[error("the log of session {session} cannot be read: {why}")]
    BrokenLog { session: String, why: String },
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::IdTaken { existing } => {
                Self::IdTaken { existing: existing.to_string(), way_on: WayOn::Resume, run: None }
            }
            other => Self::Store(other),
        }
    }
}

impl Error {
    /// True if another process changed the session first, so that the command must be decided again.
    pub(crate) fn is_contended(&self) -> bool {
        use store::Error::{ActiveTaken, Conflict, KeyTaken, Overtaken};
        matches!(self, Self::Store(Conflict { .. } | ActiveTaken { .. } | KeyTaken | Overtaken))
    }

    pub(crate) fn io(doing: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }

    /// Returns the rule that was violated; `None` for an error that does not come from a rule.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::RefusedInOwnWords { refusal, .. } => Some(refusal),
            // No other error comes from a rule.
            _ => None,
        }
    }

    pub fn class(&self) -> Class {
        match self {
            _ if self.refusal().is_some_and(Refusal::is_unknown_name) => Class::NothingThere,
            Self::NotRestored(why) => why.class(),
            Self::Refused(_)
            | Self::RefusedInOwnWords { .. }
            | Self::IdTaken { .. }
            | Self::StillInFiles { .. }
            | Self::NeedsTarget { .. }
            | Self::BadDefinition { .. }
            | Self::AlreadyThere { .. }
            | Self::ListedAlready { .. }
            | Self::KeyUsed { .. }
            | Self::ActiveElsewhere { .. }
            | Self::Sharing { .. }
            | Self::ReadOnlyFork { .. }
            | Self::OnAnotherMachine { .. }
            | Self::ActiveOnAnotherMachine { .. }
            | Self::FilesElsewhere { .. }
            | Self::CameAlong { .. }
            | Self::NothingFailed { .. }
            | Self::FilesChanged { .. }
            | Self::MovedMeanwhile { .. }
            | Self::NoOverride { .. }
            | Self::Unsigned(_)
            | Self::ActiveAlready { .. }
            | Self::NotPurgeable { .. }
            | Self::ProvedByPhase { .. }
            | Self::BadBundle { .. }
            | Self::Diverged { .. }
            | Self::FolderGone { .. }
            | Self::CopyRefused { .. }
            | Self::NotSupported { .. } => Class::Refused,
            Self::NeedsAPerson { .. } | Self::NeedsAnswer { .. } | Self::NeedsChoice { .. } => {
                Class::NeedsAPerson
            }
            Self::NoProject { .. }
            | Self::NoStore { .. }
            | Self::NoSession { .. }
            | Self::OnlyFinished { .. }
            | Self::NoSessionOfBranch { .. }
            | Self::NothingPaused { .. }
            | Self::NothingActive { .. }
            | Self::UnknownSession { .. }
            | Self::AmbiguousSession { .. }
            | Self::UnknownCheck { .. }
            | Self::UnknownRequirement { .. }
            | Self::NoAgentSession
            | Self::NoRequirementsHere { .. }
            | Self::NotASession { .. }
            | Self::NothingFinished { .. }
            | Self::UnknownWorkflow { .. }
            | Self::NoWorkflowsOf { .. } => Class::NothingThere,
            Self::InvalidSessionId { .. }
            | Self::InvalidWorkflowName { .. }
            | Self::TooLong { .. }
            | Self::FileTooLong { .. }
            | Self::WrongUsage { .. } => Class::WrongUsage,
            Self::Store(store::Error::Unknown { .. }) => Class::OutcomeUnknown,
            Self::BadConfig { .. }
            | Self::BrokenFile { .. }
            | Self::NothingKnown { .. }
            | Self::FileBusy { .. }
            | Self::Contended
            | Self::Store(_)
            | Self::Io { .. }
            | Self::BrokenLog { .. } => Class::Failed,
        }
    }

    /// Returns a short, stable name of the error, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.kind(),
            Self::RefusedInOwnWords { refusal, .. } => refusal.kind(),
            Self::NoProject { .. } => "no_project",
            Self::NoStore { .. } => "no_store",
            Self::NoSession { .. } | Self::OnlyFinished { .. } => "no_session",
            Self::NoSessionOfBranch { .. } => "no_session_of_branch",
            Self::NothingPaused { .. } => "nothing_paused",
            Self::NothingActive { .. } => "nothing_active",
            Self::UnknownSession { .. } => "unknown_session",
            Self::AmbiguousSession { .. } => "ambiguous_session",
            Self::InvalidSessionId { .. } => "invalid_session_id",
            Self::InvalidWorkflowName { .. } => "invalid_workflow_name",
            Self::IdTaken { .. } => "id_taken",
            Self::StillInFiles { .. } => "still_in_files",
            Self::UnknownWorkflow { .. } | Self::NoWorkflowsOf { .. } => "unknown_workflow",
            Self::NeedsTarget { .. } => "needs_target",
            Self::BadDefinition { .. } => "bad_definition",
            Self::AlreadyThere { .. } | Self::ListedAlready { .. } => "already_there",
            Self::BadConfig { .. } => "bad_config",
            Self::KeyUsed { .. } => "key_used",
            Self::TooLong { .. } | Self::FileTooLong { .. } => "too_long",
            Self::WrongUsage { .. } => "wrong_usage",
            Self::ActiveElsewhere { .. } => "active_elsewhere",
            Self::Sharing { .. } => "sharing",
            Self::ReadOnlyFork { .. } => "read_only_fork",
            Self::OnAnotherMachine { .. } => "on_another_machine",
            Self::ActiveOnAnotherMachine { .. } => "active_on_another_machine",
            Self::FilesElsewhere { .. } => "files_elsewhere",
            Self::CameAlong { .. } => "came_along",
            Self::CopyRefused { .. } => "copy_refused",
            Self::NotSupported { .. } => "not_supported",
            Self::NeedsAPerson { .. } => "needs_a_person",
            Self::NeedsAnswer { .. } => "needs_answer",
            Self::NeedsChoice { .. } => "needs_choice",
            Self::ActiveAlready { .. } => "active_already",
            Self::NotPurgeable { .. } => "not_purgeable",
            Self::BadBundle { .. } => "bad_bundle",
            Self::Diverged { .. } => "diverged",
            Self::NoOverride { .. } => "no_override",
            Self::Unsigned(_) => "unsigned",
            Self::NotRestored(why) => why.kind(),
            Self::FilesChanged { .. } => "files_changed",
            Self::MovedMeanwhile { .. } => "moved_meanwhile",
            Self::NothingFailed { .. } => "nothing_failed",
            Self::UnknownCheck { .. } => "unknown_check",
            Self::Contended => "contended",
            Self::Store(error) => store_kind(error),
            Self::Io { .. } => "io",
            Self::BrokenLog { .. } => "broken_log",
            Self::BrokenFile { .. } => "broken_file",
            Self::NothingKnown { .. } => "nothing_known",
            Self::FolderGone { .. } => "folder_gone",
            Self::FileBusy { .. } => "file_busy",
            Self::UnknownRequirement { .. } => "unknown_requirement",
            Self::ProvedByPhase { .. } => "proved_by_phase",
            Self::NoAgentSession => "no_agent_session",
            Self::NoRequirementsHere { .. } => "no_requirements_here",
            Self::NotASession { .. } => "not_a_session",
            Self::NothingFinished { .. } => "nothing_finished",
        }
    }
}

/// Returns text that lists the alternatives; empty if there are none.
fn listed(there_are: &[String]) -> String {
    if there_are.is_empty() { String::new() } else { format!("; there are {}", there_are.join(", ")) }
}

fn store_kind(error: &store::Error) -> &'static str {
    match error {
        store::Error::Conflict { .. }
        | store::Error::ActiveTaken { .. }
        | store::Error::KeyTaken
        | store::Error::Overtaken => "contended",
        store::Error::IdTaken { .. } => "id_taken",
        store::Error::Busy { .. } => "store_busy",
        store::Error::LocksFail { .. } => "locks_fail",
        store::Error::Missing { .. } => "no_store",
        store::Error::NotADatabase { .. } => "not_a_database",
        store::Error::Newer { .. } => "newer_database",
        store::Error::Lost { .. } => "changes_lost",
        store::Error::ReadOnly { .. } => "read_only",
        store::Error::Full { .. } => "disk_full",
        store::Error::Unreachable { .. } => "store_unreachable",
        store::Error::Denied { .. } => "store_denied",
        store::Error::Unknown { .. } => "outcome_unknown",
        store::Error::Io { .. } => "io",
        store::Error::Engine { .. } => "store",
    }
}
