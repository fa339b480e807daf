//! Moves that somebody made in a session's files: from where to where, when, and how far anything is verified.
//! Reads events and decides nothing.

use jiff::Timestamp;
use model::event::{Event, Recorded};
use model::id::Name;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use serde::Serialize;

/// A phase as people name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseName {
    pub number: u32,
    pub id: Name,
}

/// An edit of files that took the session past phases which nothing shows to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    pub at: Timestamp,
    pub from: PhaseName,
    pub to: PhaseName,
    /// The last phase up to there that a gate, or its own file, shows to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<PhaseName>,
}

/// The last such move in the run that goes on.
pub(crate) fn last_move(events: &[Recorded]) -> Option<Moved> {
    let claim = events.iter().rposition(|recorded| matches!(recorded.event, Event::PhaseClaimed { .. }))?;
    let is_of_edit =
        |recorded: &&Recorded| recorded.actor == events[claim].actor && is_about_phases(&recorded.event);
    let first = claim + 1 - events[..=claim].iter().rev().take_while(is_of_edit).count();
    let last = claim + events[claim..].iter().take_while(is_of_edit).count();
    let (before, after) = (Session::fold(&events[..first])?, Session::fold(&events[..last])?);
    let (from, to) = (before.run()?, after.run()?);
    let is_same_run = from.workflow.name == to.workflow.name && from.ordinal == to.ordinal;
    if !is_same_run || from.current().id() == to.current().id() {
        return None;
    }
    Some(Moved {
        at: events[claim].at,
        from: named(from, from.current()),
        to: named(to, to.current()),
        verified: verified(to).map(|phase| named(to, phase)),
    })
}

fn is_about_phases(event: &Event) -> bool {
    matches!(
        event,
        Event::PhaseClaimed { .. }
            | Event::PhaseStarted { .. }
            | Event::PhaseCompleted { .. }
            | Event::PhaseSkipped { .. }
            | Event::RolledBack { .. }
    )
}

/// The last phase before the first that is not shown to be done.
fn verified(run: &Run) -> Option<&Phase> {
    run.phases.iter().take_while(|phase| phase.is_done() && !phase.claimed).last()
}

fn named(run: &Run, phase: &Phase) -> PhaseName {
    let position = run.position(phase.id().as_str()).unwrap_or_default();
    PhaseName { number: run.number_at(position), id: phase.id().clone() }
}
