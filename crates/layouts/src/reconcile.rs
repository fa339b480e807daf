//! What somebody changed in a session's files, as events. Pure, and the same for every layout: what we wrote and what
//! is there now are both read, and what differs between the two is brought into the session as it is by now.
//! An edit is never refused: what no gate has shown becomes a claim.

mod dates;
mod draft;
mod items;
mod notes;
mod proofs;
mod spelling;
#[cfg(test)]
mod tests;

pub use draft::Draft;
pub use items::{count_parts, drop_listed, drop_parts};
pub use proofs::{prove, shown_by};
pub use spelling::in_known_spelling;

use crate::layout::{self, Approved};
use dates::Said;
use model::event::Event;
use model::gate::{Attempt, AttemptOutcome};
use model::id::Name;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::phase::{Phase, PhaseState};
use model::run::Run;
use model::session::{RevisionMade, Session};
use serde_json::Value;
use std::collections::BTreeMap;

/// A field of items of which nothing but a list in a session's file tells: where that list is.
pub const LISTED: &str = "listed_in";

/// A session with its items.
#[derive(Debug, Clone, Copy)]
pub struct Laid<'a> {
    pub session: &'a Session,
    pub items: &'a ItemBook,
}

/// Brings into `draft`, a session of ours, what differs between the files as we wrote them and as they are now.
pub fn reconcile(draft: &mut Draft, base: Laid<'_>, theirs: Laid<'_>) {
    let was = draft.session().lifecycle.clone();
    let begun = runs(draft, base.session, theirs.session);
    let revised = revisions(draft, base.session, theirs.session);
    phases(draft, base.session, theirs.session, begun, revised);
    fields(draft, base.session, theirs.session);
    notes::notes(draft, base.session, theirs.session);
    items::items(draft, base.items, theirs);
    items::open_with(draft, &not_begun(base.session, theirs.session), theirs.items);
    draft.contest();
    // Last: what is closed takes no more of the others.
    let is_opened = draft.session().lifecycle != was && !is_older_than_its_run(theirs.session);
    lifecycle(draft, Some(&base.session.lifecycle).filter(|_| !is_opened), theirs.session);
}

/// Whether what the files say of a session's end was said before the run began that they tell of: it is no word about that.
fn is_older_than_its_run(theirs: &Session) -> bool {
    let ended = match theirs.lifecycle {
        Lifecycle::Completed { at, .. } | Lifecycle::Abandoned { at, .. } => Some(at),
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => None,
    };
    theirs.run().zip(ended).is_some_and(|(run, ended)| ended < run.started_at)
}

/// Checks that the files do not call approved any more: a phase that was done with one of them is only claimed now.
pub fn withdraw(draft: &mut Draft, before: &[Approved], now: &[Approved]) {
    for Approved { phase, check } in before.iter().filter(|approved| !now.contains(approved)) {
        let (Ok(phase), Ok(check)) = (Name::parse(phase), Name::parse(check)) else { continue };
        if draft.session().approval(&phase, &check).is_some() {
            draft.push(Event::ApprovalWithdrawn { phase: phase.clone(), check });
        }
        let is_completed = |phase: &Phase| matches!(phase.state, PhaseState::Completed { .. });
        if draft.phase(&phase).is_some_and(|phase| is_completed(phase) && !phase.claimed) {
            draft.push(Event::PhaseClaimed { phase, attempt: None });
        }
    }
}

/// What the files now say that the session is about, where they said something else before.
pub fn described(base: &Session, theirs: &Session) -> (Option<String>, Option<String>, Option<String>) {
    let changed = |base: &Option<String>, theirs: &Option<String>| theirs.clone().filter(|_| base != theirs);
    let title = (base.title != theirs.title).then(|| theirs.title.clone());
    (title, changed(&base.goal, &theirs.goal), changed(&base.target, &theirs.target))
}

/// Begins or selects the run that the files now say is current. Tells whether it is another than it was.
fn runs(draft: &mut Draft, base: &Session, theirs: &Session) -> bool {
    let (Some(now), before) = (theirs.run(), base.run()) else { return false };
    if before.is_some_and(|before| is_same(before, now)) {
        return false;
    }
    if draft.session().run().is_some_and(|run| is_same(run, now)) {
        return true;
    }
    settle(draft, theirs);
    if draft.session().runs.iter().any(|run| is_same(run, now)) {
        draft.push(Event::RunSelected { workflow: now.workflow.name.clone(), ordinal: now.ordinal });
    } else {
        draft.push(Event::RunStarted {
            workflow: now.workflow.clone(),
            ordinal: now.ordinal,
            phases: now.phases.iter().map(|phase| phase.stub.clone()).collect(),
            definition: None,
        });
    }
    true
}

/// A run of ours that goes on, and that the files tell to be over: so it was before the next one began. One of which they
/// do not tell at all was left for the next of its kind.
fn settle(draft: &mut Draft, theirs: &Session) {
    let Some(ours) = draft.session().run().filter(|run| run.is_open()).cloned() else { return };
    let over = theirs.runs.iter().find(|run| is_same(run, &ours));
    let is_left =
        theirs.run().is_some_and(|now| now.workflow.name == ours.workflow.name && now.ordinal > ours.ordinal);
    if !over.map_or(is_left, |run| !run.is_open()) {
        return;
    }
    for phase in over.iter().flat_map(|run| run.phases.iter()).filter(|phase| is_over(phase)) {
        if !draft.is_done(phase.id()) {
            done(draft, phase);
        }
    }
    draft.push_said(Event::RunCompleted, over.and_then(ended));
}

/// Revisions that the files now tell of. Each begins its phase again, until the files say how that one stands.
fn revisions(draft: &mut Draft, base: &Session, theirs: &Session) -> bool {
    let is_known = |made: &&RevisionMade| {
        base.revisions.iter().any(|known| known.at == made.at && known.revision == made.revision)
    };
    let new: Vec<&RevisionMade> = theirs.revisions.iter().filter(|made| !is_known(made)).collect();
    for made in &new {
        draft.push(Event::PhaseRevised { revision: made.revision.clone() });
    }
    !new.is_empty()
}

/// Phases that the files now say have not begun, and that they said had.
fn not_begun(base: &Session, theirs: &Session) -> Vec<Name> {
    let (Some(before), Some(now)) = (base.run(), theirs.run()) else { return Vec::new() };
    let had_begun = |id: &Name| {
        let was = before.phases.iter().find(|phase| phase.id() == id);
        was.is_some_and(|was| !matches!(was.state, PhaseState::NotStarted))
    };
    let now = now.phases.iter().filter(|phase| matches!(phase.state, PhaseState::NotStarted));
    now.map(|phase| phase.id().clone()).filter(had_begun).collect()
}

fn is_same(one: &Run, other: &Run) -> bool {
    one.workflow.name == other.workflow.name && one.ordinal == other.ordinal
}

fn phases(draft: &mut Draft, base: &Session, theirs: &Session, begun: bool, revised: bool) {
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
        // Going back opened all later phases; those that the files still call done are.
        let is_as_ours = draft.phase(phase.id()).is_some_and(|ours| ours.status() == phase.status());
        // What we wrote may have said more than the log has, as the file of a session that was closed unfinished does:
        // whoever gets on in it says that all before is over.
        let is_passed = Some(place) < reached && draft.phase(phase.id()).is_some_and(|ours| !is_over(ours));
        let is_over_now = (went_back || is_passed || changed(&phase)) && is_over(phase) && !is_as_ours;
        if is_over_now {
            began_unseen(draft, now, phase);
        }
        // Before it is done: a gate that failed first has not failed after it passed.
        failed_attempts(draft, phase, was(phase));
        if is_over_now {
            if !draft.is_done(phase.id()) {
                done(draft, phase);
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
    let goes_on = is_there && draft.is_in_progress(now.current().id());
    if (moved || went_back || changed(&now.current())) && !is_over(now.current()) && !goes_on {
        let began = now.current().started_at().map(Said::Began);
        draft.push_said(Event::PhaseStarted { phase: now.current().id().clone() }, began);
    }
    let finished = |run: &Run| !run.is_open();
    if finished(now) && !before.is_some_and(finished) && draft.session().run().is_some_and(Run::is_open) {
        draft.push_said(Event::RunCompleted, ended(now));
    }
}

/// A phase that began and ended between two looks, where the files say when: else it would have taken no time.
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

/// With the last of its phases, where nothing else is said.
fn ended(run: &Run) -> Option<Said> {
    run.completed_at.map(Said::Began)
}

/// Opens a phase that was done, and all after it. One that the files call not begun, while a later one goes on, is not
/// begun here either: that is so of what comes after another, which was done as it was.
fn go_back(draft: &mut Draft, now: &Run, phase: &Name) {
    let place = |id: &Name| now.phases.iter().position(|phase| phase.id() == id);
    let is_passed = place(phase) < place(now.current().id());
    let earlier = place(phase).and_then(|place| now.phases.get(place.checked_sub(1)?));
    let earlier = earlier.and_then(|earlier| draft.phase(earlier.id()).filter(|ours| is_over(ours)).cloned());
    let is_ahead = place(now.current().id()) < place(phase) && !is_over(now.current());
    match earlier.filter(|_| is_passed) {
        // Work goes on before it: that is where it goes back to.
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

/// A run that grew: a workflow whose phases become known only on the way.
fn added_phases(draft: &mut Draft, now: &Run) {
    let Some(ours) = draft.session().run().filter(|ours| is_same(ours, now)) else { return };
    let is_new = |phase: &&Phase| ours.position(phase.id().as_str()).is_none();
    let phases: Vec<_> = now.phases.iter().filter(is_new).map(|phase| phase.stub.clone()).collect();
    if !phases.is_empty() {
        draft.push(Event::PhasesAdded { phases });
    }
}

/// On to a phase that was done and is looked at once more: it stays done as it was, and to be reviewed.
fn review(draft: &mut Draft, theirs: &Phase) {
    let phase = theirs.id().clone();
    let ours = draft.phase(&phase).filter(|ours| is_over(ours)).cloned();
    draft.push(Event::PhaseStarted { phase: phase.clone() });
    done(draft, ours.as_ref().unwrap_or(theirs));
    draft.push(Event::PhaseFlagged { phase });
}

fn is_over(phase: &Phase) -> bool {
    match phase.state {
        PhaseState::Completed { .. } | PhaseState::Skipped { .. } | PhaseState::NeedsReview { .. } => true,
        PhaseState::NotStarted | PhaseState::InProgress { .. } => false,
    }
}

fn done(draft: &mut Draft, theirs: &Phase) {
    let phase = theirs.id().clone();
    match &theirs.state {
        PhaseState::Skipped { reason, at, not_applicable } => {
            let skipped =
                Event::PhaseSkipped { phase, reason: reason.clone(), not_applicable: *not_applicable };
            draft.push_said(skipped, Some(Said::Ended(*at)));
        }
        PhaseState::Completed { .. } | PhaseState::NeedsReview { .. } => {
            let last = theirs.last_attempt().filter(|last| last.outcome == AttemptOutcome::Passed);
            let attempt = last.map(|attempt| attempt.report.clone());
            // What was submitted is kept, also where nothing shows that it passes.
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

/// What was submitted for a phase that is done already is another by now: that is the newest attempt at it.
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

/// Attempts that failed and that the files did not tell of before: another one may be in the place of one that they
/// told of.
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

fn fields(draft: &mut Draft, base: &Session, theirs: &Session) {
    let mut fields = changed_fields(&draft.session().fields, &base.fields, &theirs.fields);
    fields.extend(cleared(draft, &draft.session().fields, &base.fields, &theirs.fields));
    if !fields.is_empty() {
        draft.push(Event::FieldsSet { phase: None, fields });
    }
}

fn fields_of_phase(draft: &mut Draft, theirs: &Phase, was: Option<&Phase>) {
    let nothing = BTreeMap::new();
    let ours = draft.phase(theirs.id()).map(|phase| phase.fields.clone()).unwrap_or_default();
    let before = was.map_or(&nothing, |was| &was.fields);
    let mut fields = changed_fields(&ours, before, &theirs.fields);
    fields.extend(cleared(draft, &ours, before, &theirs.fields));
    if !fields.is_empty() {
        draft.push(Event::FieldsSet { phase: Some(theirs.id().clone()), fields });
    }
}

/// Fields that say nothing any more, in a layout whose files have a null for that. A key that another writer dropped was
/// put back before the files were read.
fn cleared(
    draft: &Draft,
    ours: &BTreeMap<String, Value>,
    base: &BTreeMap<String, Value>,
    theirs: &BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let has_nulls = layout::by_name(&draft.session().layout).is_some_and(|layout| layout.facts().null_clears);
    let is_set =
        |fields: &BTreeMap<String, Value>, name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    let is_cleared = |name: &&String| is_set(ours, name) && is_set(base, name) && !theirs.contains_key(*name);
    base.keys().filter(|_| has_nulls).filter(is_cleared).map(|name| (name.clone(), Value::Null)).collect()
}

/// A field that is missing from the files now was not deleted: another writer did not know it.
fn changed_fields(
    ours: &BTreeMap<String, Value>,
    base: &BTreeMap<String, Value>,
    theirs: &BTreeMap<String, Value>,
) -> BTreeMap<String, Value> {
    let is_new = |(name, value): &(&String, &Value)| {
        base.get(*name) != Some(*value) && ours.get(*name) != Some(*value)
    };
    theirs.iter().filter(is_new).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// `base` is none where a run that they began opened the session here: what they say of it is then all that counts.
fn lifecycle(draft: &mut Draft, base: Option<&Lifecycle>, theirs: &Session) {
    let is_same = |one: &Lifecycle| match (one, &theirs.lifecycle) {
        (
            Lifecycle::Paused { reason, context, .. },
            Lifecycle::Paused { reason: now, context: context_now, .. },
        ) => reason == now && context == context_now,
        (one, now) => one.name() == now.name(),
    };
    let ours = draft.session();
    let (worktree, parallel) = (ours.worktree.clone(), ours.parallel);
    if base.is_some_and(is_same) || is_same(&ours.lifecycle) {
        return;
    }
    let event = match &theirs.lifecycle {
        Lifecycle::Paused { reason, context, saved, .. } => {
            Event::SessionPaused { reason: reason.clone(), context: context.clone(), saved: saved.clone() }
        }
        Lifecycle::Active => match ours.lifecycle {
            Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {
                Event::SessionReopened { worktree, parallel, machine: None }
            }
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {
                Event::SessionResumed { worktree, parallel, machine: None }
            }
        },
        Lifecycle::Completed { forced, .. } => Event::SessionCompleted { forced: *forced },
        Lifecycle::Failed { error, .. } => Event::SessionFailed { error: error.clone() },
        Lifecycle::Abandoned { reason, .. } => {
            Event::SessionAbandoned { reason: reason.clone(), operation: None }
        }
    };
    let at = match theirs.lifecycle {
        Lifecycle::Active => None,
        Lifecycle::Paused { at, .. }
        | Lifecycle::Completed { at, .. }
        | Lifecycle::Failed { at, .. }
        | Lifecycle::Abandoned { at, .. } => Some(Said::Began(at)),
    };
    draft.push_said(event, at);
}
