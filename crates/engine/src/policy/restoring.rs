//! Restricts the return to an earlier state. An agent must not restore an approval, an override or a skip that somebody
//! withdrew, nor the completion of a phase that a person reopened. Only a person can do that.

use super::Restricted;
use crate::engine::Engine;
use crate::error::Result;
use model::event::{Event, Recorded};
use model::lifecycle::Lifecycle;
use model::lineage::lineage;
use model::outcome::Outcome;
use model::session::Session;
use std::collections::BTreeSet;

impl Engine {
    /// Refuses to restore a version if this would make restricted acts count again, and the caller may not carry out
    /// these acts.
    pub(crate) fn authorise_restoring(
        &self,
        now: &Session,
        history: &[Recorded],
        to_version: u64,
    ) -> Result<()> {
        restored_acts(now, history, to_version).into_iter().try_for_each(|rule| self.require_person(rule))
    }
}

/// Returns the restricted acts that do not count now, but would count again in a restored version.
pub(crate) fn restored_acts(now: &Session, history: &[Recorded], to_version: u64) -> Vec<Restricted> {
    let kept = usize::try_from(to_version).unwrap_or(usize::MAX).min(history.len());
    let Some(restored) = Session::fold(&history[..kept]) else { return Vec::new() };
    // Anybody may skip a phase without a gate, so only a skip by a person counts as restricted.
    let by_person = |recorded: &&Recorded| {
        matches!(recorded.event, Event::PhaseSkipped { .. }) && recorded.actor.is_person()
    };
    let is_skip_restricted = lineage(history, to_version).iter().any(by_person);
    let reopened = finishes_what_person_reopened(now, &restored, &history[kept..]);
    let brought_back = brought_back(now, &restored)
        .into_iter()
        .filter(|rule| *rule != Restricted::Skip || is_skip_restricted);
    reopened.then_some(Restricted::Override).into_iter().chain(brought_back).collect()
}

/// True if a person went back since that version, and the restored version would finish a phase that is open now.
fn finishes_what_person_reopened(now: &Session, restored: &Session, since: &[Recorded]) -> bool {
    let goes_back = |recorded: &Recorded| {
        recorded.actor.is_person()
            && matches!(
                recorded.event,
                Event::RolledBack { .. } | Event::PhaseRevised { .. } | Event::Restored { .. }
            )
    };
    let finished = |session: &Session| -> BTreeSet<_> {
        Outcome::ALL.into_iter().flat_map(|outcome| ended(session, outcome)).collect()
    };
    since.iter().any(goes_back) && !finished(restored).is_subset(&finished(now))
}

fn brought_back(now: &Session, restored: &Session) -> Vec<Restricted> {
    let is_new_approval = restored.approvals.iter().any(|approval| !now.approvals.contains(approval));
    let is_new = |outcome: Outcome| !ended(restored, outcome).is_subset(&ended(now, outcome));
    let is_forced =
        |session: &Session| matches!(session.lifecycle, Lifecycle::Completed { forced: true, .. });
    [
        (Restricted::Approve, is_new_approval),
        (Restricted::Override, is_new(Outcome::Overridden)),
        (Restricted::Skip, is_new(Outcome::Skipped)),
        (Restricted::Close, is_forced(restored) && !is_forced(now)),
    ]
    .into_iter()
    .filter_map(|(rule, is_meant)| is_meant.then_some(rule))
    .collect()
}

/// Returns the phases that ended with this outcome, with their runs.
fn ended(session: &Session, outcome: Outcome) -> BTreeSet<(String, u32, String)> {
    let phases = session.runs.iter().flat_map(|run| run.phases.iter().map(move |phase| (run, phase)));
    phases
        .filter(|(_, phase)| Outcome::of(phase) == Some(outcome))
        .map(|(run, phase)| (run.workflow.name.to_string(), run.ordinal, phase.id().to_string()))
        .collect()
}
