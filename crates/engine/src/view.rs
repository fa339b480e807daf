//! The view of a session that every front end shows. It is built from the model and never stored.

mod answers;
mod attention;
mod build;

pub(crate) use build::{Material, at_work, build, produced};

pub use attention::{MOST_NOTES, Severity, attempt_words};

use crate::error::Error;
use crate::foreign::LONGEST_WARNING;
use crate::items::ItemView;
use crate::next::Next;
use crate::requirements::RequirementView;
use crate::words::one_line;
use jiff::Timestamp;
use layouts::problem::{Problem, What};
use layouts::reader::Located;
use model::actor::Actor;
use model::artifact::Artifact;
use model::gate::Attempt;
use model::hint::{CommandLine, Hint};
use model::id::{Name, SessionId};
use model::item::ItemCounts;
use model::lifecycle::{Interruption, Lifecycle};
use model::note::Note;
use model::outcome::{Outcome, Outcomes};
use model::progress::Progress;
use model::session::RevisionMade;
use model::status::Status;
use model::workflow::Indexing;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    pub session_id: String,
    /// The session's number in `leftoff list`.
    pub number: u64,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub layout: String,
    pub worktree: String,
    pub parallel: bool,
    pub status: Status,
    pub lifecycle: Lifecycle,
    pub workflow: WorkflowView,
    pub run: RunView,
    pub phases: Vec<PhaseView>,
    pub current_phase: CurrentPhase,
    pub completed_phases: Vec<u32>,
    pub progress: Progress,
    /// The first open items of the current phase. `leftoff item list` shows all items.
    pub items: Vec<ItemView>,
    /// The numbers of items in the current phase.
    pub item_counts: ItemCounts,
    /// The item that the command was about, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemView>,
    pub artifacts: Vec<Artifact>,
    /// The last few revisions. `leftoff show` has all of them.
    pub revisions: Vec<RevisionMade>,
    pub notes: Vec<Note>,
    pub fields: BTreeMap<String, Value>,
    /// The requirements for agents here, in their state for the asking agent session.
    pub requirements: Vec<RequirementView>,
    pub resume_count: u32,
    /// The last pause: its reason, and the work that it interrupted. `None` after the phase has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interruption>,
    pub next: Next,
    /// Where the session came from and when it was received, if it came in a bundle or sessions are shared through git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedView>,
    pub warnings: Vec<Warning>,
    /// The layout's checks of the session's files. Set only for `status`, and only in layouts that have such checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<HealthView>,
    /// The rounds in the tool's own files. Set only for `status` and `brief`, and only for tools that have rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundView>,
    /// How long the session has taken according to its tool's screen. Set only together with `rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_seconds: Option<u64>,
    /// True if the command had been done before, and changed nothing.
    pub already: bool,
    pub view_stale: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_actor: Actor,
    pub version: u64,
    /// The whole state in the tool's own words. Set only for complete output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<String>,
    /// True if commands must name this session because they would otherwise mean another one.
    #[serde(skip)]
    pub name_session: bool,
    /// The first unproven phase, if a file closed the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_over: Option<Name>,
    /// The hash of the files that an approval would cover. A page that offers the approval uses it.
    #[serde(skip)]
    pub files_shown: Option<String>,
}

/// How a session is shared with other clones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedView {
    /// The clone that wrote the newest received event; `None` if no event was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When the newest received event arrived here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<Timestamp>,
    /// When this clone last synced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_sync: Option<Timestamp>,
    /// The other fields in a sentence.
    #[serde(skip)]
    pub told: String,
}

/// A round or run, as the tool's files show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundView {
    /// The name of the round in its tool's words, such as `review round 1` or `map run 2`.
    #[serde(default)]
    pub title: String,
    pub workflow: String,
    pub number: u32,
    /// True if the round has a result.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// The result of the round, in the words of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The finished parts of the round. Each of them has a file.
    pub parts: Vec<PartView>,
}

/// A part of a round's work, for example a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartView {
    pub kind: String,
    pub name: String,
    /// The number of findings; `None` if the part's file is unreadable.
    pub findings: Option<usize>,
}

/// One check of a session's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthView {
    pub check: String,
    pub ok: bool,
    pub found: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowView {
    pub name: Name,
    pub version: String,
    pub title: String,
    pub indexing: Indexing,
    pub starting_phase: u32,
    pub total_phases: usize,
    /// True if more phases can be added. `total_phases` is then the number of phases so far.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub total_unknown: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    pub workflow: Name,
    pub ordinal: u32,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseView {
    pub number: u32,
    pub id: Name,
    pub title: String,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<String>,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub duration_seconds: Option<u64>,
    pub paused_seconds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// Who skipped the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_by: Option<Actor>,
    /// The phase's outcome; `None` while the phase is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// True if the proof came from another machine or needs a signature, and no allowed key signed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsigned: bool,
    pub gate: GateView,
    /// True if the log contradicts a file that calls the phase done, or if the session continued after the phase's gate
    /// failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contested: bool,
    /// For a phase that only a file calls done: the command that tries its gate.
    #[serde(skip)]
    pub proving: Option<CommandLine>,
    /// The last few attempts. `leftoff show` has all of them.
    pub attempts: Vec<Attempt>,
    pub attempt_count: u32,
    #[serde(default, skip_serializing_if = "ItemCounts::is_empty")]
    pub items: ItemCounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentPhase {
    pub number: u32,
    pub id: Name,
    pub title: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    Passed,
    Failed,
    Open,
    Claimed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateView {
    pub outcome: GateOutcome,
    pub checks: Vec<CheckView>,
}

/// The result of a check, or a check that has not run yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckView {
    pub id: String,
    pub kind: String,
    pub outcome: GateOutcome,
    pub found: Option<String>,
    pub needed: Option<String>,
    pub help: Option<String>,
    /// True if the check failed in the last attempt but passes now. The gate can then be tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
}

/// A message for people about something other than a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub kind: String,
    pub message: String,
    pub hint: Option<Hint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The problem in the session's files behind the warning, for code that decides by it.
    #[serde(skip)]
    pub(crate) problem: Option<Box<Problem>>,
}

impl Warning {
    /// True if somebody should fix the problem; false if it is enough to know about it.
    pub(crate) fn needs_repair(&self) -> bool {
        self.problem.as_ref().is_none_or(|problem| problem.needs_repair())
    }

    /// True if the problem is that a file names another one, which does not exist.
    pub(crate) fn names_missing_file(&self) -> bool {
        self.problem.as_ref().is_some_and(|problem| matches!(problem.what, What::FileMissing { .. }))
    }

    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), hint: None, path: None, problem: None }
    }

    pub(crate) fn hint(self, hint: impl Into<Hint>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn at(self, path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..self }
    }

    pub(crate) fn of(self, problem: Problem) -> Self {
        Self { problem: Some(Box::new(problem)), ..self }
    }

    /// Returns the warning about a problem in a session's files.
    pub(crate) fn of_file(located: &Located, problem: &Problem) -> Self {
        let path = problem.place(&located.spot);
        let message = one_line(&problem.sentence(path.as_deref().unwrap_or_default()), LONGEST_WARNING);
        Self { message, path, ..Self::of_session(&located.id, problem) }
    }

    pub(crate) fn of_files(located: &Located, problems: &[Problem]) -> Vec<Self> {
        problems.iter().map(|problem| Self::of_file(located, problem)).collect()
    }

    /// Returns the warning about a problem of a session as a whole.
    pub(crate) fn of_session(id: &SessionId, problem: &Problem) -> Self {
        let hint = problem.hint(id);
        Self { hint, ..Self::new(problem.kind(), problem.to_string()).of(problem.clone()) }
    }

    pub(crate) fn from_error(kind: &str, error: &Error) -> Self {
        Self { hint: error.hint(), ..Self::new(kind, error.to_string()) }
    }
}

/// A session on one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShortView {
    pub number: u64,
    pub session_id: String,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub layout: String,
    pub workflow: String,
    pub worktree: String,
    pub lifecycle: String,
    /// A status that is more specific than the lifecycle, such as `checkpoint_failed`. Set only in lists of active
    /// sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    pub parallel: bool,
    pub phase: String,
    pub phases_done: u32,
    /// The number of phases; `None` if more phases can be added.
    pub total_phases: Option<u32>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
    /// The outcomes of the session's phases. In a long list, set only for the first sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Outcomes>,
    /// True for the session that commands use here if none is named.
    #[serde(default)]
    pub current: bool,
    /// The session's line as its own tool words it. Set only when the list is restricted to that tool's sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<String>,
    /// The name of the session's machine; `None` if it is this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Problems with the session's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl ShortView {
    /// Returns the number of finished phases and, if known, the number of all phases.
    pub fn how_far(&self) -> String {
        match self.total_phases {
            Some(total) => format!("{}/{total}", self.phases_done),
            None => format!("{} done,", self.phases_done),
        }
    }
}

/// The answer to a question about a session if there is no session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nothing {
    pub session_id: Option<String>,
    pub next: Next,
    pub warnings: Vec<Warning>,
}
