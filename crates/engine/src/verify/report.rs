//! The report of `verify`, for people and programs.

use super::files::FileReport;
use super::problem::{Problem, Remark};
use jiff::Timestamp;
use model::gate::CheckOutcome;
use model::id::Name;
use model::outcome::Outcome;
use serde::Serialize;

/// The verdict on one session's work, and its proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub session_id: String,
    pub title: String,
    pub goal: Option<String>,
    /// Where the history was read from: `store` or `bundle`.
    pub source: &'static str,
    pub lifecycle: &'static str,
    pub branch: Option<String>,
    pub commit: Option<String>,
    /// The last link of the hash chain.
    pub head: Option<String>,
    /// The number of stored events up to the head. Edits that are not adopted yet do not count.
    pub events: usize,
    /// True if every phase counts, every file is as it was recorded, and there is no other problem.
    pub holds: bool,
    /// True for an abandoned session of a branch. It is reported, but does not affect the verdict on the branch.
    pub aside: bool,
    pub problems: Vec<Problem>,
    /// Facts that the reader should know, although they disprove nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The newest run of each workflow, with its phases.
    pub runs: Vec<RunReport>,
    pub files: Vec<FileReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    pub workflow: Name,
    pub version: String,
    pub ordinal: u32,
    /// The SHA-256 of the source of the run's definition.
    pub definition: String,
    pub phases: Vec<PhaseReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseReport {
    pub number: u32,
    pub id: Name,
    pub title: String,
    /// How the phase ended; `None` while it is open.
    pub outcome: Option<Outcome>,
    /// True if the outcome of the phase is accepted and the phase has no problem.
    pub counts: bool,
    pub at: Option<Timestamp>,
    pub by: Option<String>,
    /// Why the phase was skipped or overridden, or does not apply.
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
    /// The signer's name in the list of allowed signers.
    pub signed_by: Option<String>,
}

impl Report {
    /// Returns the reasons why the session's work is not proven, one line each.
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
    /// Returns the outcome in one word.
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
