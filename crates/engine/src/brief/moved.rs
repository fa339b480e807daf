//! Moves made by editing a session's files: from where, to where, when, and which phase was verified last. Reads
//! events, decides nothing.

use crate::words::one_line;
use jiff::Timestamp;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::id::Name;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use serde::Serialize;

/// A phase with the name and number that people use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseName {
    pub number: u32,
    pub id: Name,
    pub title: String,
}

/// An edit that moved the session forward past phases that were not proven, or back to a point before phases that were
/// done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    pub at: Timestamp,
    pub from: PhaseName,
    /// The number of the run that the edit left; `None` if the edit stayed in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_run: Option<u32>,
    pub to: PhaseName,
    /// The last phase before the edit that its gate or its own file proves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<PhaseName>,
    /// Phases with proof that the edit opened again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opened_again: Vec<PhaseName>,
}

impl Moved {
    /// Returns, for example, `moved the session back from reviews (4) to context (1)`. The caller adds the time.
    pub fn from_to(&self) -> String {
        let back = if self.opened_again.is_empty() { "" } else { "back " };
        let run = self.from_run.map(|run| format!(" of run {run}")).unwrap_or_default();
        format!("moved the session {back}from {}{run} to {}", self.from, self.to)
    }

    /// Says in words which phase was verified last, or which phases were done before the edit.
    pub fn on_record(&self) -> String {
        if self.opened_again.is_empty() {
            let verified = self.verified.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
            return format!("last verified phase: {verified}");
        }
        let names: Vec<String> = self.opened_again.iter().map(ToString::to_string).collect();
        format!("done before that, with proof: {}", names.join(", "))
    }
}

/// A rollback by a command to an earlier phase that is not completed again yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WentBack {
    pub at: Timestamp,
    pub by: String,
    pub from: PhaseName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Written like `reviews (4)`.
impl std::fmt::Display for PhaseName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Some layouts know their phases only by number.
        let is_number = self.id.as_str() == self.number.to_string();
        let name = if is_number { one_line(&self.title, 80) } else { self.id.to_string() };
        write!(f, "{name} ({})", self.number)
    }
}

/// Returns the last edit that moved the session to another phase or run; `None` if there is none, or if a later command
/// moved the session.
pub(crate) fn last_move(events: &[Recorded]) -> Option<Moved> {
    let edit = events.iter().rposition(|recorded| match &recorded.event {
        Event::PhaseClaimed { .. } => true,
        Event::RolledBack { .. } => matches!(recorded.actor, Actor::Tool { .. }),
        _ => false,
    })?;
    let is_of_edit = |recorded: &&Recorded| recorded.actor == events[edit].actor;
    let first = edit + 1 - events[..=edit].iter().rev().take_while(is_of_edit).count();
    let last = edit + events[edit..].iter().take_while(is_of_edit).count();
    let (before, after) = (Session::fold(&events[..first])?, Session::fold(&events[..last])?);
    let (from, to) = (before.run()?, after.run()?);
    let is_same_run = from.ordinal == to.ordinal;
    if from.workflow.name != to.workflow.name || is_same_run && from.current().id() == to.current().id() {
        return None;
    }
    let opened_again = if is_same_run { opened_again(from, to) } else { Vec::new() };
    let is_settled = || events[last..].iter().any(|recorded| is_about_phases(&recorded.event));
    if !opened_again.is_empty() && is_settled() {
        return None;
    }
    Some(Moved {
        at: events[edit].at,
        from: named(from, from.current()),
        from_run: (!is_same_run).then_some(from.ordinal),
        to: named(to, to.current()),
        verified: verified(to).map(|phase| named(to, phase)),
        opened_again,
    })
}

/// Returns the last rollback by a command. `None` if its phase is completed again, or if something else has since
/// decided in which phase the work is.
pub(crate) fn last_rollback(events: &[Recorded]) -> Option<WentBack> {
    let is_decided = |recorded: &Recorded| match &recorded.event {
        Event::PhaseStarted { .. } => false,
        Event::Restored { .. }
        | Event::PhaseRevised { .. }
        | Event::RunStarted { .. }
        | Event::RunSelected { .. }
        | Event::DefinitionUpdated { .. } => true,
        other => is_about_phases(other),
    };
    let last = events.iter().rposition(is_decided)?;
    let Event::RolledBack { phase, reason } = &events[last].event else { return None };
    if matches!(events[last].actor, Actor::Tool { .. }) {
        return None;
    }
    let before = Session::fold(&events[..last])?;
    let run = before.run()?;
    // A rollback to the current phase only restarts this phase.
    if run.current().id() == phase {
        return None;
    }
    Some(WentBack {
        at: events[last].at,
        by: events[last].actor.to_string(),
        from: named(run, run.current()),
        reason: reason.clone(),
    })
}

fn opened_again(from: &Run, to: &Run) -> Vec<PhaseName> {
    let is_open = |phase: &&Phase| to.phases.iter().any(|now| now.id() == phase.id() && !now.is_done());
    let proven = from.phases.iter().filter(|phase| phase.is_done() && !phase.claimed);
    proven.filter(is_open).map(|phase| named(from, phase)).collect()
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

/// Returns the last phase before the first unproven one.
fn verified(run: &Run) -> Option<&Phase> {
    run.phases.iter().take_while(|phase| phase.is_done() && !phase.claimed).last()
}

fn named(run: &Run, phase: &Phase) -> PhaseName {
    let position = run.position(phase.id().as_str()).unwrap_or_default();
    PhaseName { number: run.number_at(position), id: phase.id().clone(), title: phase.stub.title.clone() }
}
