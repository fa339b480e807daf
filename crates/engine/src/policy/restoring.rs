//! Restricts the return to an earlier state. An agent must not restore an approval, an override or a skip that somebody
//! withdrew, nor the completion of a phase that a person reopened, nor undo what a person decided. Only a person can do
//! that.

use super::Restricted;
use crate::engine::Engine;
use crate::error::Result;
use model::event::{Event, ItemEvent, Recorded};
use model::lifecycle::Lifecycle;
use model::lineage::lineage;
use model::outcome::Outcome;
use model::session::Session;
use std::collections::BTreeSet;

impl Engine {
    /// Refuses to restore a version if this would make restricted acts count again, or acts of a person count no longer,
    /// and the caller may not carry out these acts.
    pub(crate) fn authorise_restoring(
        &self,
        now: &Session,
        history: &[Recorded],
        to_version: u64,
    ) -> Result<()> {
        restored_acts(now, history, to_version).into_iter().try_for_each(|rule| self.require_person(rule))?;
        taken_back(history, now.version, to_version).into_iter().try_for_each(|rule| {
            self.require_person_for(rule, format!("undoing a person's decision ({})", rule.doing()))
        })
    }
}

/// The restricted acts of persons that count now and would not count any longer in a restored version.
fn taken_back(history: &[Recorded], now: u64, to_version: u64) -> Vec<Restricted> {
    let kept: BTreeSet<u64> = lineage(history, to_version).iter().map(|recorded| recorded.version).collect();
    let in_effect = lineage(history, now).into_iter();
    let lost = in_effect.filter(|recorded| recorded.actor.is_person() && !kept.contains(&recorded.version));
    lost.filter_map(|recorded| act_of(&recorded.event)).collect()
}

/// The restricted act that an event records.
fn act_of(event: &Event) -> Option<Restricted> {
    match event {
        Event::CheckApproved { .. } => Some(Restricted::Approve),
        Event::PhaseSkipped { not_applicable: false, .. } => Some(Restricted::Skip),
        Event::PhaseCompleted { attempt, .. } if attempt.overridden.is_some() => Some(Restricted::Override),
        Event::SessionCompleted { forced: true } => Some(Restricted::Close),
        Event::DefinitionUpdated { .. } => Some(Restricted::Update),
        Event::Item(ItemEvent::ItemDropped { reason: Some(_), .. }) => Some(Restricted::Drop),
        _ => None,
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
    let dropped_again = taken_back(history, to_version, now.version).contains(&Restricted::Drop);
    let dropped_again = dropped_again.then_some(Restricted::Drop);
    reopened.then_some(Restricted::Override).into_iter().chain(dropped_again).chain(brought_back).collect()
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
