//! The answer of `verify`, for people and programs.

use super::files::FileReport;
use super::problem::{Problem, Remark};
use jiff::Timestamp;
use model::gate::CheckOutcome;
use model::id::Name;
use model::outcome::Outcome;
use serde::Serialize;

/// The verdict on one session's work, with its proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub session_id: String,
    pub title: String,
    pub goal: Option<String>,
    /// `store` or `bundle`.
    pub source: &'static str,
    pub lifecycle: &'static str,
    pub branch: Option<String>,
    pub commit: Option<String>,
    /// The last link of the hash chain.
    pub head: Option<String>,
    /// Stored events, up to the head; edits not taken in yet are none.
    pub events: usize,
    /// Every phase counts, every file is as recorded, and there is no other problem.
    pub holds: bool,
    /// An abandoned session of a branch: shown, but not part of the verdict.
    pub aside: bool,
    pub problems: Vec<Problem>,
    /// For the reader to know; they disprove nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The newest run of each workflow.
    pub runs: Vec<RunReport>,
    pub files: Vec<FileReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    pub workflow: Name,
    pub version: String,
    pub ordinal: u32,
    /// SHA-256 of the definition's text.
    pub definition: String,
    pub phases: Vec<PhaseReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseReport {
    pub number: u32,
    pub id: Name,
    pub title: String,
    /// `None` while the phase is open.
    pub outcome: Option<Outcome>,
    /// Its outcome is accepted, and it has no problem.
    pub counts: bool,
    pub at: Option<Timestamp>,
    pub by: Option<String>,
    /// Why it was skipped, overridden or does not apply.
    pub reason: Option<String>,
    pub checks: Vec<CheckReport>,
    pub approvals: Vec<ApprovalReport>,
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    pub id: String,
    pub kind: String,
    pub outcome: CheckOutcome,
    pub found: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApprovalReport {
    pub check: Name,
    pub by: String,
    pub remark: Option<String>,
    pub at: Timestamp,
    /// The key's name among the allowed signers.
    pub signed_by: Option<String>,
}

impl Report {
    /// Everything that prevents the session from being proven, one line each.
    pub fn reasons(&self) -> Vec<String> {
        if self.aside {
            return Vec::new();
        }
        let own = self.problems.iter().map(ToString::to_string);
        let phases = self.runs.iter().flat_map(|run| &run.phases).filter(|phase| !phase.counts);
        let files = self.files.iter().filter_map(FileReport::reason);
        own.chain(phases.flat_map(PhaseReport::reasons)).chain(files).collect()
    }
}

impl PhaseReport {
    /// The outcome in a word.
    pub fn outcome_name(&self) -> &'static str {
        self.outcome.map_or("open", Outcome::name)
    }

    fn reasons(&self) -> Vec<String> {
        let is_claim = self.outcome == Some(Outcome::Claimed);
        let outcome = format!("phase {} is {}", self.id, self.outcome_name());
        let outcome = Some(outcome).filter(|_| is_claim || self.problems.is_empty());
        let problems = self.problems.iter().map(|problem| format!("phase {}: {problem}", self.id));
        outcome.into_iter().chain(problems).collect()
    }
}
