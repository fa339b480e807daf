//! Converts edits of a session's files to events, without I/O, and in the same way for every layout. Compares
//! the files as leftoff wrote them with the files as they are now, and applies the differences to the current
//! session. An edit is never refused. A phase that an edit completes is only claimed, unless a gate passed.

mod dates;
mod draft;
mod fields;
mod items;
mod notes;
mod phases;
mod proofs;
mod spelling;
#[cfg(test)]
mod tests;

pub use draft::Draft;
pub use items::{count_parts, drop_listed, drop_parts};
pub use proofs::{prove, shown_by};
pub use spelling::in_known_spelling;

use crate::layout::Approved;
use dates::Said;
use fields::fields;
use model::event::Event;
use model::id::Name;
use model::item::ItemBook;
use model::lifecycle::Lifecycle;
use model::phase::{Phase, PhaseState};
use model::run::Run;
use model::session::{RevisionMade, Session};
use phases::{done, ended, is_over, phases};

/// The field that marks an item as known only from a list in a session's file. The value of the field says
/// where the list is.
pub const LISTED: &str = "listed_in";

/// A session with its items.
#[derive(Debug, Clone, Copy)]
pub struct Laid<'a> {
    pub session: &'a Session,
    pub items: &'a ItemBook,
}

/// Applies an edit to `draft`, the session according to the log: the differences between `base`, the files as
/// written, and `theirs`, the files as found.
pub fn reconcile(draft: &mut Draft, base: Laid<'_>, theirs: Laid<'_>) {
    let was = draft.session().lifecycle.clone();
    let begun = runs(draft, base.session, theirs.session);
    let revised = revisions(draft, base.session, theirs.session);
    phases(draft, base.session, theirs.session, begun, revised);
    fields(draft, base.session, theirs.session);
    notes::notes(draft, base.session, theirs.session);
    items::items(draft, base.items, theirs);
    items::open_with(draft, &not_begun(base.session, theirs.session), base.items, theirs.items);
    draft.contest();
    // The lifecycle is adopted last, because a closed session accepts no other changes.
    let is_opened = draft.session().lifecycle != was && !is_older_than_its_run(theirs.session);
    lifecycle(draft, Some(&base.session.lifecycle).filter(|_| !is_opened), theirs.session);
}

/// True if the session's end in the files is before the start of the current run in the files. Such an end
/// belongs to an earlier run.
fn is_older_than_its_run(theirs: &Session) -> bool {
    let ended = match theirs.lifecycle {
        Lifecycle::Completed { at, .. } | Lifecycle::Abandoned { at, .. } => Some(at),
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => None,
    };
    theirs.run().zip(ended).is_some_and(|(run, ended)| ended < run.started_at)
}

/// Withdraws the approval of checks that were marked approved before and are not any more. A phase that was
/// completed with such a check becomes a claim.
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

/// The title, goal and target in the files. Each is `None` if it is unchanged.
pub fn described(base: &Session, theirs: &Session) -> (Option<String>, Option<String>, Option<String>) {
    let changed = |base: &Option<String>, theirs: &Option<String>| theirs.clone().filter(|_| base != theirs);
    let title = (base.title != theirs.title).then(|| theirs.title.clone());
    (title, changed(&base.goal, &theirs.goal), changed(&base.target, &theirs.target))
}

/// Makes the run that is current in the files the current one, and starts it if needed. Returns true if this
/// changed the session.
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

/// Ends the active run of the log before the next one starts, at the time in the files. If the files do not
/// contain that run, somebody abandoned it by starting the next run of the same workflow.
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

/// Adds revisions that are new in the files. Each one restarts its phase. The status of that phase in the
/// files is adopted later.
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

/// Phases that had started before the edit, and that have not started according to the edited files.
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

/// Adopts the session's new lifecycle. `base` is the lifecycle before the edit. It is `None` if the edit
/// started a run, and thereby opened the session in the log: then only the files as edited are used.
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
