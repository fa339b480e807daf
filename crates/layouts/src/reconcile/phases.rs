//! Adopts phases that an edit completed, reopened, skipped or added.

use super::dates::Said;
use super::draft::Draft;
use super::fields::fields_of_phase;
use super::is_same;
use model::event::Event;
use model::gate::{Attempt, AttemptOutcome};
use model::id::Name;
use model::phase::{Phase, PhaseState};
use model::run::Run;
use model::session::Session;

pub(super) fn phases(draft: &mut Draft, base: &Session, theirs: &Session, begun: bool, revised: bool) {
    let Some(now) = theirs.run() else { return };
    added_phases(draft, now);
    let before = base.run().filter(|_| !begun);
    let was = |phase: &Phase| before.and_then(|run| run.phases.iter().find(|found| found.id() == phase.id()));
    let changed = |phase: &&Phase| was(phase).is_none_or(|was| was.status() != phase.status());
    let opened = now.phases.iter().filter(changed).find(|phase| !is_over(phase) && draft.is_done(phase.id()));
    let went_back = opened.map(|phase| phase.id().clone());
    if let Some(phase) = &went_back {
        go_back(draft, now, phase);
    }
    let went_back = went_back.is_some() || revised;
    let moved = before.is_none_or(|run| run.current().id() != now.current().id());
    let reached = now.phases.iter().rposition(|phase| {
        let is_reached = moved && phase.id() == now.current().id();
        is_reached || (changed(&phase) && is_over(phase))
    });
    for (place, phase) in now.phases.iter().enumerate() {
        // A rollback reopened all later phases. Those that are done in the files are completed again.
        let is_as_ours = draft.phase(phase.id()).is_some_and(|ours| ours.status() == phase.status());
        // The files may say more than the log, for example of a session that was closed unfinished. If an
        // edit advances in such a session, all earlier phases are over.
        let is_passed = Some(place) < reached && draft.phase(phase.id()).is_some_and(|ours| !is_over(ours));
        let is_over_now = (went_back || is_passed || changed(&phase)) && is_over(phase) && !is_as_ours;
        if is_over_now {
            began_unseen(draft, now, phase);
        }
        // Failed attempts come before the completion, because the gate first failed and then passed.
        failed_attempts(draft, phase, was(phase));
        if is_over_now {
            if !draft.is_done(phase.id()) {
                let is_news = was(phase).is_none_or(|was| !is_over(was));
                if is_news { called_done(draft, phase) } else { done(draft, phase) }
            }
            if matches!(phase.state, PhaseState::NeedsReview { .. }) {
                draft.push(Event::PhaseFlagged { phase: phase.id().clone() });
            }
        }
        corrected(draft, phase, was(phase));
        fields_of_phase(draft, phase, was(phase));
    }
    let is_there = draft.session().run().is_some_and(|run| run.current().id() == now.current().id());
    if moved && !is_there && matches!(now.current().state, PhaseState::NeedsReview { .. }) {
        review(draft, now.current());
        return;
    }
    let is_in_progress = is_there && draft.is_in_progress(now.current().id());
    if (moved || went_back || changed(&now.current())) && !is_over(now.current()) && !is_in_progress {
        let began = now.current().started_at().map(Said::Began);
        draft.push_said(Event::PhaseStarted { phase: now.current().id().clone() }, began);
    }
    let finished = |run: &Run| !run.is_open();
    if finished(now) && !before.is_some_and(finished) && draft.session().run().is_some_and(Run::is_open) {
        draft.push_said(Event::RunCompleted, ended(now));
    }
}

/// Adds the start of a phase that started and ended since the files were last read, if the files contain both
/// times. Without its start, the phase would have no duration.
fn began_unseen(draft: &mut Draft, now: &Run, phase: &Phase) {
    let (Some(began), Some(ended)) = (phase.started_at(), phase.completed_at()) else { return };
    let Some(ours) = draft.session().run() else { return };
    let place = |id: &Name| now.phases.iter().position(|phase| phase.id() == id);
    let is_next = is_over(ours.current())
        && place(ours.current().id()) < place(phase.id())
        && place(phase.id()) <= place(now.current().id());
    let is_begun = |phase: &Phase| !matches!(phase.state, PhaseState::NotStarted);
    if is_next && draft.is_told(began, ended) && !draft.phase(phase.id()).is_none_or(is_begun) {
        draft.push_said(Event::PhaseStarted { phase: phase.id().clone() }, Some(Said::Began(began)));
    }
}

/// When a run ended, if the files contain the time. If they do not, the end of its last phase is used.
pub(super) fn ended(run: &Run) -> Option<Said> {
    run.completed_at.map(Said::Began)
}

/// Reopens a completed phase and all phases after it. If the phase has not started in the files although a
/// later phase is in progress, it is not started here either: the phase before it is reopened and completed
/// again instead.
fn go_back(draft: &mut Draft, now: &Run, phase: &Name) {
    let place = |id: &Name| now.phases.iter().position(|phase| phase.id() == id);
    let is_passed = place(phase) < place(now.current().id());
    let earlier = place(phase).and_then(|place| now.phases.get(place.checked_sub(1)?));
    let earlier = earlier.and_then(|earlier| draft.phase(earlier.id()).filter(|ours| is_over(ours)).cloned());
    let is_ahead = place(now.current().id()) < place(phase) && !is_over(now.current());
    match earlier.filter(|_| is_passed) {
        // The edit returned to an earlier phase, so that phase is reopened.
        None if is_ahead => {
            draft.push(Event::RolledBack { phase: now.current().id().clone(), reason: None });
        }
        Some(earlier) => {
            draft.push(Event::RolledBack { phase: earlier.id().clone(), reason: None });
            done(draft, &earlier);
        }
        None => draft.push(Event::RolledBack { phase: phase.clone(), reason: None }),
    }
}

/// Adds phases of a run. The log did not know all phases of the run's workflow.
fn added_phases(draft: &mut Draft, now: &Run) {
    let Some(ours) = draft.session().run().filter(|ours| is_same(ours, now)) else { return };
    let is_new = |phase: &&Phase| ours.position(phase.id().as_str()).is_none();
    let phases: Vec<_> = now.phases.iter().filter(is_new).map(|phase| phase.stub.clone()).collect();
    if !phases.is_empty() {
        draft.push(Event::PhasesAdded { phases });
    }
}

/// Returns to a completed phase for a review. The phase stays completed during the review.
fn review(draft: &mut Draft, theirs: &Phase) {
    let phase = theirs.id().clone();
    let ours = draft.phase(&phase).filter(|ours| is_over(ours)).cloned();
    draft.push(Event::PhaseStarted { phase: phase.clone() });
    done(draft, ours.as_ref().unwrap_or(theirs));
    draft.push(Event::PhaseFlagged { phase });
}

pub(super) fn is_over(phase: &Phase) -> bool {
    match phase.state {
        PhaseState::Completed { .. } | PhaseState::Skipped { .. } | PhaseState::NeedsReview { .. } => true,
        PhaseState::NotStarted | PhaseState::InProgress { .. } => false,
    }
}

/// Completes a phase that is completed according to an edit. The completion is only claimed, unless the files
/// contain a check that passed.
fn called_done(draft: &mut Draft, theirs: &Phase) {
    let last = theirs.last_attempt().filter(|last| last.outcome == AttemptOutcome::Passed);
    let is_shown =
        last.is_some_and(|last| !last.report.checks.is_empty() || last.report.overridden.is_some());
    let theirs = Phase { claimed: theirs.claimed || !is_shown, ..theirs.clone() };
    done(draft, &theirs);
}

pub(super) fn done(draft: &mut Draft, theirs: &Phase) {
    let phase = theirs.id().clone();
    match &theirs.state {
        PhaseState::Skipped { reason, at, not_applicable, by: _ } => {
            let skipped =
                Event::PhaseSkipped { phase, reason: reason.clone(), not_applicable: *not_applicable };
            draft.push_said(skipped, Some(Said::Ended(*at)));
        }
        PhaseState::Completed { .. } | PhaseState::NeedsReview { .. } => {
            let last = theirs.last_attempt().filter(|last| last.outcome == AttemptOutcome::Passed);
            let attempt = last.map(|attempt| attempt.report.clone());
            // Evidence in the files is recorded even if nothing proves that it passes.
            let event = if theirs.claimed {
                Event::PhaseClaimed { phase, attempt }
            } else {
                Event::PhaseCompleted {
                    phase,
                    attempt: attempt.unwrap_or_default(),
                    branch: None,
                    head: None,
                }
            };
            draft.push_said(event, theirs.completed_at().map(Said::Ended));
        }
        PhaseState::NotStarted | PhaseState::InProgress { .. } => {}
    }
}

/// Records changed evidence of a completed phase as a new attempt at that phase.
fn corrected(draft: &mut Draft, theirs: &Phase, was: Option<&Phase>) {
    let submitted = |phase: &Phase| {
        let last = phase.last_attempt().filter(|last| last.outcome == AttemptOutcome::Passed)?;
        Some((last.report.evidence.clone(), last.report.outputs.clone()))
    };
    let Some(before) = was.filter(|was| was.is_done()).and_then(submitted) else { return };
    let is_known = |phase: &Phase| !phase.is_done() || submitted(phase) == submitted(theirs);
    let is_news = submitted(theirs).is_some_and(|now| now != before);
    if is_news && theirs.is_done() && !draft.phase(theirs.id()).is_none_or(is_known) {
        done(draft, theirs);
    }
}

/// Records failed attempts that are new in the files. Some files keep only the last attempt, which replaces
/// the attempt before it.
fn failed_attempts(draft: &mut Draft, theirs: &Phase, was: Option<&Phase>) {
    let is_same = |known: &Attempt, attempt: &Attempt| {
        known.at == attempt.at
            && known.outcome == attempt.outcome
            && known.report.evidence == attempt.report.evidence
    };
    let mut known: Vec<&Attempt> = was.map(|was| was.attempts.iter().collect()).unwrap_or_default();
    for attempt in &theirs.attempts {
        if let Some(at) = known.iter().position(|known| is_same(known, attempt)) {
            known.remove(at);
        } else if attempt.outcome == AttemptOutcome::Failed && !draft.is_done(theirs.id()) {
            let failed = Event::GateFailed { phase: theirs.id().clone(), attempt: attempt.report.clone() };
            draft.push_said(failed, Some(Said::Ended(attempt.at)));
        }
    }
}
