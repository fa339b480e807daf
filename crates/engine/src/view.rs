//! The session view that every front end shows. Built from the model, never stored.

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
use layouts::problem::Problem;
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
use model::progress::{Progress, Status};
use model::session::RevisionMade;
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
    /// The first open items of the current phase; `leftoff item list` shows all items.
    pub items: Vec<ItemView>,
    /// The counts of the current phase's items.
    pub item_counts: ItemCounts,
    /// The item that the command was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemView>,
    pub artifacts: Vec<Artifact>,
    /// The last few; `leftoff show` has all of them.
    pub revisions: Vec<RevisionMade>,
    pub notes: Vec<Note>,
    pub fields: BTreeMap<String, Value>,
    /// Requirements for agents here, and their state for the asking agent session.
    pub requirements: Vec<RequirementView>,
    pub resume_count: u32,
    /// The last pause, until the phase changes: its reason, and what was in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interruption>,
    pub next: Next,
    /// The origin of the session and when it was received, if sessions are shared through git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedView>,
    pub warnings: Vec<Warning>,
    /// Checks of the session's files. Only for `status`, and only in layouts with such checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<HealthView>,
    /// Rounds from the tool's own files. Only for `status` and `brief`, and only for tools with rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundView>,
    /// The duration of the current round; present only with `rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_seconds: Option<u64>,
    /// True if the command had already been done, and changed nothing.
    pub already: bool,
    pub view_stale: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_actor: Actor,
    pub version: u64,
    /// The full state in the tool's own words; only with complete output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<String>,
    /// True if commands must name this session, because otherwise they would mean another.
    #[serde(skip)]
    pub name_session: bool,
    /// The phase that is not done in the log, although a file closed the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_over: Option<Name>,
    /// The hash of the files that an approval would cover, for a page that offers the approval.
    #[serde(skip)]
    pub files_shown: Option<String>,
}

/// A session that is shared with other clones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedView {
    /// The clone that wrote the newest event received from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When that event was received here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<Timestamp>,
    /// When this clone last synced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_sync: Option<Timestamp>,
    /// The other fields as a sentence.
    #[serde(skip)]
    pub told: String,
}

/// A round or run, as the tool's files show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundView {
    /// The round in its tool's words: `review round 1`, `map run 2`.
    #[serde(default)]
    pub title: String,
    pub workflow: String,
    pub number: u32,
    /// True if the round's result exists.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// The round's result, in the words of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Finished parts of the round. Each has a file.
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
    /// True if the number of phases is not fixed: `total_phases` then counts the known phases.
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
    /// The phase's outcome; `None` while the phase is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    pub gate: GateView,
    /// True if a file calls the phase done, although its gate failed here or it still has open items.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contested: bool,
    /// The command that tries the gate of a phase that a file calls done.
    #[serde(skip)]
    pub proving: Option<CommandLine>,
    /// The last few; `leftoff show` has all of them.
    pub attempts: Vec<Attempt>,
    pub attempt_count: u32,
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

/// A check's result, or a pending check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckView {
    pub id: String,
    pub kind: String,
    pub outcome: GateOutcome,
    pub found: Option<String>,
    pub needed: Option<String>,
    pub help: Option<String>,
    /// True if the check failed in the last attempt but passes now, so that the gate can be tried again.
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
    /// The problem in a session's files, for code that decides by it.
    #[serde(skip)]
    pub(crate) problem: Option<Box<Problem>>,
}

impl Warning {
    /// True if somebody should fix it, rather than just know it.
    pub(crate) fn needs_repair(&self) -> bool {
        self.problem.as_ref().is_none_or(|problem| problem.needs_repair())
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

    /// The warning about a problem of a session's files.
    pub(crate) fn of_file(located: &Located, problem: &Problem) -> Self {
        let path = problem.place(&located.spot);
        let message = one_line(&problem.sentence(path.as_deref().unwrap_or_default()), LONGEST_WARNING);
        Self { message, path, ..Self::of_session(&located.id, problem) }
    }

    pub(crate) fn of_files(located: &Located, problems: &[Problem]) -> Vec<Self> {
        problems.iter().map(|problem| Self::of_file(located, problem)).collect()
    }

    /// The warning about a problem of a session as a whole.
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
    /// The session's status, which is more specific than the lifecycle, such as `checkpoint_failed`. Only in
    /// lists of active sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    pub parallel: bool,
    pub phase: String,
    pub phases_done: u32,
    /// The number of phases; `None` if it is not fixed.
    pub total_phases: Option<u32>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
    /// The outcomes of the session's phases; in a long list only for the first sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Outcomes>,
    /// True for the default session of commands here.
    #[serde(default)]
    pub current: bool,
    /// The session's line in its own tool's list; only in a list of that tool's sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<String>,
    /// The name of the session's machine, if it is another than this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Problems with the session's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl ShortView {
    /// The number of finished phases, and of all phases if that is known.
    pub fn how_far(&self) -> String {
        match self.total_phases {
            Some(total) => format!("{}/{total}", self.phases_done),
            None => format!("{} done,", self.phases_done),
        }
    }
}

/// The answer if there is no session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nothing {
    pub session_id: Option<String>,
    pub next: Next,
    pub warnings: Vec<Warning>,
}
