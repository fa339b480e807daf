//! The outcome of a phase: verified, reported, skipped and so on. Computed from the session on demand, never stored.

use crate::gate::{AttemptReport, CheckResult};
use crate::phase::{Phase, PhaseState};
use crate::run::Run;
use crate::workflow::CheckKind;
use serde::{Deserialize, Serialize};

/// How a phase was completed or skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Passed a check that leftoff runs itself: a file, a command, git, items or an approval.
    Verified,
    /// Passed, but only the caller's values were checked: evidence, and expressions over evidence.
    Reported,
    /// Completed although checks failed, because the gate is lenient.
    Warned,
    /// Completed without checks, because the phase has none.
    Done,
    /// Only a file says that the phase is done, or another machine says so without an allowed signature.
    Claimed,
    /// Completed by a person who overrode failed checks.
    Overridden,
    Skipped,
    /// Skipped because the phase's `when` is false.
    NotApplicable,
}

impl Outcome {
    /// All outcomes, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Verified,
        Self::Reported,
        Self::Warned,
        Self::Done,
        Self::Claimed,
        Self::Overridden,
        Self::Skipped,
        Self::NotApplicable,
    ];

    /// Returns the outcome of a phase, or `None` while the phase is open.
    pub fn of(phase: &Phase) -> Option<Self> {
        let outcome = Self::in_history(phase)?;
        Some(if phase.unsigned { outcome.without_signature() } else { outcome })
    }

    /// The outcome of a phase whose proof came from another machine, and that no allowed key signed.
    #[must_use]
    pub fn without_signature(self) -> Self {
        if self == Self::Skipped { self } else { Self::Claimed }
    }

    /// The outcome that the history tells, whoever wrote it.
    fn in_history(phase: &Phase) -> Option<Self> {
        match phase.state {
            PhaseState::NotStarted | PhaseState::InProgress { .. } | PhaseState::NeedsReview { .. } => None,
            PhaseState::Skipped { not_applicable: true, .. } => Some(Self::NotApplicable),
            PhaseState::Skipped { not_applicable: false, .. } => Some(Self::Skipped),
            PhaseState::Completed { .. } if phase.claimed => Some(Self::Claimed),
            PhaseState::Completed { .. } => {
                Some(phase.last_attempt().map_or(Self::Done, |attempt| Self::of_report(&attempt.report)))
            }
        }
    }

    fn of_report(report: &AttemptReport) -> Self {
        let ran_itself = |check: &CheckResult| CheckKind::RUN_BY_LEFTOFF.contains(&check.kind.as_str());
        if report.overridden.is_some() {
            Self::Overridden
        } else if report.checks.iter().any(CheckResult::failed) {
            Self::Warned
        } else if report.claimed_items {
            Self::Claimed
        } else if report.checks.iter().any(ran_itself) {
            Self::Verified
        } else if report.checks.is_empty() {
            Self::Done
        } else {
            Self::Reported
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Reported => "reported",
            Self::Warned => "warned",
            Self::Done => "done",
            Self::Claimed => "claimed",
            Self::Overridden => "overridden",
            Self::Skipped => "skipped",
            Self::NotApplicable => "not applicable",
        }
    }
}

/// The number of phases of a run for each outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcomes {
    pub verified: u32,
    pub reported: u32,
    pub warned: u32,
    pub done: u32,
    pub claimed: u32,
    pub overridden: u32,
    pub skipped: u32,
    pub not_applicable: u32,
}

impl Outcomes {
    pub fn of(run: &Run) -> Self {
        run.phases.iter().filter_map(Outcome::of).fold(Self::default(), Self::and)
    }

    /// Adds one phase with the given outcome.
    #[must_use]
    pub fn and(mut self, outcome: Outcome) -> Self {
        *self.count_mut(outcome) += 1;
        self
    }

    pub fn count(&self, outcome: Outcome) -> u32 {
        let mut copy = *self;
        *copy.count_mut(outcome)
    }

    /// Returns the same counts without the phases that have nothing to check.
    #[must_use]
    pub fn without_done(self) -> Self {
        Self { done: 0, ..self }
    }

    /// True if every finished phase was completed without failed checks or does not apply: no phase was claimed,
    /// overridden or skipped.
    pub fn is_plain(&self) -> bool {
        self.unverified() == 0
    }

    /// Returns the number of phases that were claimed, overridden, skipped or completed with failed checks.
    pub fn unverified(&self) -> u32 {
        self.claimed + self.overridden + self.skipped + self.warned
    }

    fn count_mut(&mut self, outcome: Outcome) -> &mut u32 {
        match outcome {
            Outcome::Verified => &mut self.verified,
            Outcome::Reported => &mut self.reported,
            Outcome::Warned => &mut self.warned,
            Outcome::Done => &mut self.done,
            Outcome::Claimed => &mut self.claimed,
            Outcome::Overridden => &mut self.overridden,
            Outcome::Skipped => &mut self.skipped,
            Outcome::NotApplicable => &mut self.not_applicable,
        }
    }
}

/// For example `2 verified, 1 overridden, 3 skipped`; empty if no phase is completed or skipped.
impl std::fmt::Display for Outcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counted = Outcome::ALL.into_iter().map(|outcome| (outcome, self.count(outcome)));
        let words: Vec<String> = counted
            .filter(|(_, count)| *count > 0)
            .map(|(outcome, count)| format!("{count} {}", outcome.name()))
            .collect();
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::CheckOutcome;

    fn check(kind: &str, outcome: CheckOutcome) -> CheckResult {
        CheckResult {
            id: "x".to_owned(),
            kind: kind.to_owned(),
            outcome,
            found: None,
            needed: None,
            help: None,
        }
    }

    #[test]
    fn a_report_is_worth_what_its_checks_are() {
        use CheckOutcome::{Failed, Passed};
        let report = |checks: &[(&str, CheckOutcome)], overridden: Option<&str>| AttemptReport {
            checks: checks.iter().map(|(kind, outcome)| check(kind, *outcome)).collect(),
            overridden: overridden.map(ToOwned::to_owned),
            ..AttemptReport::default()
        };
        for (report, expected) in [
            (report(&[], None), Outcome::Done),
            (report(&[("evidence", Passed), ("expr", Passed)], None), Outcome::Reported),
            (report(&[("evidence", Passed), ("artifact", Passed)], None), Outcome::Verified),
            (report(&[("approval", Passed)], None), Outcome::Verified),
            (report(&[("artifact", Passed), ("expr", Failed)], None), Outcome::Warned),
            (report(&[("artifact", Failed)], Some("late")), Outcome::Overridden),
        ] {
            assert_eq!(Outcome::of_report(&report), expected, "{report:?}");
        }
    }

    #[test]
    fn outcomes_are_told_in_one_order_and_only_those_that_there_are() {
        let counts = Outcomes { skipped: 3, verified: 2, overridden: 1, ..Outcomes::default() };
        assert_eq!(counts.to_string(), "2 verified, 1 overridden, 3 skipped");
        assert_eq!(Outcomes::default().to_string(), "");
    }
}
