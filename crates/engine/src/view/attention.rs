//! The status of a session in words, and messages about everything that needs attention, in the same words on every
//! screen. Knows no colours.

use super::{CheckView, GateOutcome, PhaseView, View};
use crate::words::{ago, duration, one_line, quoted};
use jiff::Timestamp;
use model::gate::{Attempt, AttemptOutcome};
use model::lifecycle::Lifecycle;
use model::outcome::Outcome;
use model::status::Status;

const LONGEST: usize = 300;
/// The maximum number of open questions and blockers that are mentioned. Further ones are shown only among the notes.
pub const MOST_NOTES: usize = 5;

/// How bad a status or message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Good,
    Warning,
    Bad,
}

impl View {
    /// Returns the status in the words that people use.
    pub fn status_words(&self) -> (&'static str, Severity) {
        let (words, _, severity) = self.standing();
        (words, severity)
    }

    /// Returns the status in one or two words, for a narrow column.
    pub fn short_status(&self) -> &'static str {
        self.standing().1
    }

    fn standing(&self) -> (&'static str, &'static str, Severity) {
        match self.status {
            Status::Active | Status::CheckpointFailed if self.next.needs_person() => {
                ("waiting for a person", "waiting", Severity::Warning)
            }
            Status::Active => ("active", "active", Severity::Good),
            Status::Completed if self.progress.outcomes.is_plain() => {
                ("completed", "completed", Severity::Good)
            }
            Status::Completed => ("completed, not fully verified", "not fully verified", Severity::Warning),
            Status::Failed => ("failed", "failed", Severity::Bad),
            Status::CheckpointFailed => ("gate failed", "gate failed", Severity::Bad),
            Status::Abandoned => ("abandoned", "abandoned", Severity::Warning),
            Status::Paused => ("paused", "paused", Severity::Warning),
            Status::PossiblyStalled => ("possibly stalled", "stalled?", Severity::Warning),
        }
    }

    /// Returns, for example, `last change by anna, 10 minutes ago`.
    pub fn last_change(&self, now: Timestamp) -> String {
        format!("last change by {}, {}", line(&self.last_actor.to_string()), ago(self.updated_at, now))
    }

    /// Returns the estimated time left; `None` if a gate failed or if the work waits for a person.
    pub fn seconds_left(&self) -> Option<u64> {
        let is_held_up = self.failed_attempt().is_some() || self.next.needs_person();
        self.progress.estimated_remaining_seconds.filter(|_| self.progress.remaining > 0 && !is_held_up)
    }

    /// Returns one sentence about each thing that needs attention.
    pub fn attention(&self, now: Timestamp) -> Vec<(Severity, String)> {
        let mut said = Vec::new();
        match &self.lifecycle {
            Lifecycle::Paused { at, reason, .. } => {
                said.push((Severity::Warning, format!("Paused {}: {}", ago(*at, now), line(reason))));
            }
            Lifecycle::Failed { error, .. } => said.push((Severity::Bad, format!("Failed: {}", line(error)))),
            Lifecycle::Active | Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {}
        }
        let failed = self.failed_gate();
        let is_explained = failed.is_some() || !said.is_empty();
        said.extend(failed);
        said.extend(self.phases.iter().filter_map(shortcut).map(|text| (Severity::Warning, text)));
        said.extend(self.unsigned_phases().map(|text| (Severity::Warning, text)));
        let open = self.open_notes().into_iter().take(MOST_NOTES);
        said.extend(open.map(|note| {
            (Severity::Warning, format!("Open {} {}: {}", note.kind.name(), note.id, line(&note.text)))
        }));
        if self.progress.stalled && !is_explained {
            let seconds = self.progress.time_in_phase_seconds.unwrap_or(0);
            said.push((Severity::Warning, format!("Possibly stalled: {} in this phase", duration(seconds))));
        }
        said
    }

    /// One sentence about all phases whose proof no allowed key signed.
    fn unsigned_phases(&self) -> Option<String> {
        let is_claim = |phase: &&PhaseView| phase.unsigned && phase.outcome == Some(Outcome::Claimed);
        match self.phases.iter().filter(is_claim).count() {
            0 => None,
            1 => Some("1 phase is only claimed: no allowed key signed it".to_owned()),
            count => Some(format!("{count} phases are only claimed: no allowed key signed them")),
        }
    }

    fn failed_gate(&self) -> Option<(Severity, String)> {
        let (phase, _) = self.failed_attempt()?;
        let title = title(phase);
        let missing: Vec<&CheckView> = phase.gate.checks.iter().filter(|check| check.is_missing()).collect();
        if missing.is_empty() {
            let text = format!("The gate of {title} can be tried again: all checks pass now");
            return Some((Severity::Warning, text));
        }
        if missing.iter().all(|check| check.kind == "approval") {
            let names: Vec<String> = missing.iter().map(|check| quoted(&check.id, LONGEST)).collect();
            let text = format!("{title} waits for a person to approve {}", names.join(" and "));
            return Some((Severity::Warning, text));
        }
        let times = match phase.attempt_count {
            0 | 1 => String::new(),
            count => format!(" {count} times"),
        };
        let failed: Vec<String> = missing.into_iter().map(failed_check).collect();
        Some((Severity::Bad, format!("The gate of {title} failed{times}: {}", failed.join("; "))))
    }
}

impl CheckView {
    /// True if the check failed, and would still fail as far as known.
    pub fn is_missing(&self) -> bool {
        self.outcome == GateOutcome::Failed && !self.settled
    }
}

/// Returns how an attempt at a gate ended. If only an approval was missing, the attempt does not count as failed.
pub fn attempt_words(attempt: &Attempt) -> (&'static str, Severity) {
    match attempt.outcome {
        _ if attempt.report.overridden.is_some() => ("overridden", Severity::Warning),
        AttemptOutcome::Passed => ("passed", Severity::Good),
        AttemptOutcome::Failed if attempt.report.lacks_only_approval() => {
            ("waits for approval", Severity::Warning)
        }
        AttemptOutcome::Failed => ("failed", Severity::Bad),
    }
}

/// Returns a message about a phase that was completed or skipped without passing its gate: how, by whom and why. `None`
/// for other phases.
fn shortcut(phase: &PhaseView) -> Option<String> {
    let title = title(phase);
    match phase.outcome? {
        Outcome::Overridden => {
            let attempt = phase.attempts.iter().rev().find(|attempt| attempt.report.overridden.is_some());
            let said = attempt.and_then(|attempt| {
                let reason = attempt.report.overridden.as_deref()?;
                let failed = attempt.report.checks.iter().filter(|check| check.failed());
                let failed: Vec<String> = failed.map(|check| failed_check(&CheckView::from(check))).collect();
                let what = if failed.is_empty() { "the gate".to_owned() } else { failed.join("; ") };
                let who = line(&attempt.actor.to_string());
                Some(format!("{title}: {who} overrode {what}: {}", quoted(reason, LONGEST)))
            });
            Some(said.unwrap_or_else(|| format!("{title} passed by override")))
        }
        Outcome::Skipped => {
            let by = phase.skipped_by.as_ref().map(|by| format!(" by {}", line(&by.to_string())));
            let why = phase.skipped_reason.as_deref().map(|reason| format!(": {}", quoted(reason, LONGEST)));
            Some(format!("{title} was skipped{}{}", by.unwrap_or_default(), why.unwrap_or_default()))
        }
        // Unsigned phases are usually many, and have one sentence together.
        Outcome::Claimed if phase.unsigned => None,
        Outcome::Claimed => Some(format!("{title} is only claimed, not proven")),
        Outcome::Verified | Outcome::Reported | Outcome::Warned | Outcome::Done | Outcome::NotApplicable => {
            None
        }
    }
}

/// Returns a failed check, with what was found and what is needed.
fn failed_check(check: &CheckView) -> String {
    let found = check.found.as_ref().map(|found| format!("found {}", line(found)));
    let needed = check.needed.as_ref().map(|needed| format!("needs {}", line(needed)));
    let said: Vec<String> = found.into_iter().chain(needed).collect();
    let name = quoted(&check.id, LONGEST);
    if said.is_empty() { name } else { format!("{name} ({})", said.join(", ")) }
}

fn title(phase: &PhaseView) -> String {
    line(crate::words::title_beside(phase.number, &phase.title))
}

fn line(text: &str) -> String {
    one_line(text, LONGEST)
}
