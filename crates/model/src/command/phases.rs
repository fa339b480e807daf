//! Decides commands about phases: completing, skipping, rolling back, revising.

use super::{not_active, require_active, require_open, run_of};
use crate::event::Event;
use crate::gate::AttemptReport;
use crate::id::Name;
use crate::lifecycle::Lifecycle;
use crate::nearest_name::nearest;
use crate::note::NoteKind;
use crate::phase::{Phase, PhaseState, PhaseStub};
use crate::refusal::Refusal;
use crate::revision::Revision;
use crate::run::{Run, Skip};
use crate::session::Session;
use crate::workflow::OnComplete;
use std::collections::BTreeMap;

/// The state of the phase that a command is about.
#[derive(Debug, PartialEq)]
pub enum NamedPhase<'a> {
    Current(&'a Phase),
    /// Only a file says that the phase is done, or the session continued after the phase's gate failed. If the gate
    /// passes now, the phase is proven.
    Claimed(&'a Phase),
    AlreadyDone(&'a Phase),
}

/// Returns the state of the named phase, or of the current phase if none is named.
pub fn named_phase<'a>(session: &'a Session, asked: Option<&str>) -> Result<NamedPhase<'a>, Refusal> {
    let run = run_of(session, "advance")?;
    let phase = match asked {
        None => run.current(),
        Some(text) => run.resolve(text).ok_or_else(|| unknown(run, text))?,
    };
    if asked.is_some() && (phase.claimed || session.is_passed_over(phase)) {
        return contested_before(session, phase).map_or(Ok(NamedPhase::Claimed(phase)), Err);
    }
    if asked.is_some() && phase.is_done() {
        return Ok(NamedPhase::AlreadyDone(phase));
    }
    require_active(session, "advance")?;
    if !run.is_open() {
        return Err(Refusal::RunFinished {
            doing: "advance",
            session: session.id.clone(),
            workflow: run.workflow.name.clone(),
            ordinal: run.ordinal,
        });
    }
    if phase.id() != run.current().id() {
        return Err(Refusal::PhaseNotCurrent {
            session: session.id.clone(),
            asked: phase.id().clone(),
            current: run.current().id().clone(),
        });
    }
    Ok(NamedPhase::Current(phase))
}

/// Returns the earlier phase that must be proven before a claimed phase. This is a phase whose gate failed or that has
/// open items. If the claimed phase has no gate, it may also be any other claimed phase.
pub fn to_prove_before<'a>(
    session: &Session,
    run: &'a Run,
    phase: &Phase,
    has_gate: bool,
) -> Option<&'a Phase> {
    first_contested(session, run, phase)
        .or_else(|| before(run, phase).find(|earlier| earlier.claimed).filter(|_| !has_gate))
}

/// Returns a refusal if the log contradicts that an earlier phase is done: its gate failed, or it has open items.
pub fn contested_before(session: &Session, phase: &Phase) -> Option<Refusal> {
    let earlier = first_contested(session, session.run()?, phase)?;
    Some(earlier_unproven(session, phase, earlier))
}

fn first_contested<'a>(session: &Session, run: &'a Run, phase: &Phase) -> Option<&'a Phase> {
    before(run, phase).find(|earlier| session.is_contested(earlier))
}

fn before<'a>(run: &'a Run, phase: &Phase) -> impl Iterator<Item = &'a Phase> {
    let id = phase.id().clone();
    run.phases.iter().take_while(move |earlier| *earlier.id() != id)
}

fn earlier_unproven(session: &Session, asked: &Phase, earlier: &Phase) -> Refusal {
    Refusal::EarlierUnproven {
        session: session.id.clone(),
        asked: asked.id().clone(),
        earlier: earlier.id().clone(),
    }
}

pub(super) fn complete(
    session: &Session,
    asked: Option<&str>,
    attempt: AttemptReport,
    skips: &[Skip],
) -> Result<Vec<Event>, Refusal> {
    let run = run_of(session, "advance")?;
    let (phase, does_not_apply, following) = match named_phase(session, asked)? {
        NamedPhase::AlreadyDone(_) => return Ok(Vec::new()),
        // The run has already passed this phase; only the phase's proof is missing.
        NamedPhase::Claimed(phase) => {
            if let Some(earlier) = to_prove_before(session, run, phase, !attempt.checks.is_empty()) {
                return Err(earlier_unproven(session, phase, earlier));
            }
            (phase.id().clone(), None, Vec::new())
        }
        NamedPhase::Current(phase) => {
            let does_not_apply = skips.iter().find(|skip| skip.phase == *phase.id());
            (phase.id().clone(), does_not_apply, after(session, run, phase.id(), skips))
        }
    };
    if !attempt.passes() {
        // Another tool may have entered a phase although its `when` is false. The phase is skipped even if its gate
        // fails.
        return Ok(match does_not_apply {
            Some(skip) => [left_out(skip)].into_iter().chain(following).collect(),
            None => vec![Event::GateFailed { phase, attempt }],
        });
    }
    let mut events = Vec::new();
    if let Some(reason) = &attempt.overridden {
        events.push(override_note(session, &phase, reason));
    }
    events.push(Event::PhaseCompleted { phase, attempt, branch: None, head: None });
    events.extend(following);
    Ok(events)
}

/// Returns the events that start the next phase after the given phase is completed or skipped.
fn after(session: &Session, run: &Run, phase: &Name, skips: &[Skip]) -> Vec<Event> {
    let position = run.position(phase.as_str()).unwrap_or_default();
    let (before, rest) = run.phases.split_at(position);
    // A run does not end while earlier phases are open or contradicted by the log, so these phases come last.
    let is_open = |phase: &&Phase| !phase.is_done() || session.is_contested(phase);
    let rest = rest.iter().skip(1).chain(before).filter(is_open).map(|phase| &phase.stub);
    if rest.clone().next().is_none()
        && let Some(stub) = run.following()
    {
        let phase = stub.id.clone();
        return vec![Event::PhasesAdded { phases: vec![stub] }, Event::PhaseStarted { phase }];
    }
    let closes = run.workflow.on_complete == OnComplete::Close && !has_other_open_run(session, run);
    go_on(rest, skips, closes)
}

/// Returns the event that skips a phase that does not apply.
fn left_out(skip: &Skip) -> Event {
    Event::PhaseSkipped { phase: skip.phase.clone(), reason: skip.reason.clone(), not_applicable: true }
}

/// Returns the events that start the next phase, skipping those that do not apply. If no phase remains, they complete
/// the run.
pub(super) fn go_on<'a>(
    rest: impl Iterator<Item = &'a PhaseStub>,
    skips: &[Skip],
    closes: bool,
) -> Vec<Event> {
    let mut events = Vec::new();
    for stub in rest {
        if let Some(skip) = skips.iter().find(|skip| skip.phase == stub.id) {
            events.push(left_out(skip));
            continue;
        }
        events.push(Event::PhaseStarted { phase: stub.id.clone() });
        if !stub.terminal {
            return events;
        }
        events.push(Event::PhaseCompleted {
            phase: stub.id.clone(),
            attempt: AttemptReport::default(),
            branch: None,
            head: None,
        });
    }
    events.push(Event::RunCompleted);
    if closes {
        events.push(Event::SessionCompleted { forced: false });
    }
    events
}

pub(super) fn skip(session: &Session, reason: String, skips: &[Skip]) -> Result<Vec<Event>, Refusal> {
    let phase = match named_phase(session, None)? {
        NamedPhase::AlreadyDone(_) | NamedPhase::Claimed(_) => return Ok(Vec::new()),
        NamedPhase::Current(phase) => phase.id().clone(),
    };
    let run = run_of(session, "skip")?;
    let following = after(session, run, &phase, skips);
    let mut events = vec![Event::PhaseSkipped { phase, reason, not_applicable: false }];
    events.extend(following);
    Ok(events)
}

pub(super) fn roll_back(
    session: &Session,
    asked: &str,
    reason: Option<String>,
) -> Result<Vec<Event>, Refusal> {
    let run = run_of(session, "roll back")?;
    let target = run.resolve(asked).ok_or_else(|| unknown(run, asked))?;
    match session.lifecycle {
        Lifecycle::Active | Lifecycle::Failed { .. } => {}
        Lifecycle::Paused { .. } | Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {
            return Err(not_active(session, "roll back"));
        }
    }
    let position = |phase: &Phase| run.position(phase.id().as_str());
    // A phase before the current one may be returned to even if it never started, because a file may have skipped it.
    if position(target) >= position(run.current()) {
        refuse_what_never_began(session, run, target)?;
    }
    let mut events = Vec::new();
    if matches!(session.lifecycle, Lifecycle::Failed { .. }) {
        events.push(Event::SessionResumed {
            worktree: session.worktree.clone(),
            parallel: session.parallel,
            machine: session.machine.clone(),
        });
    }
    events.push(Event::RolledBack { phase: target.id().clone(), reason });
    Ok(events)
}

pub(super) fn revise(session: &Session, revision: Revision) -> Result<Vec<Event>, Refusal> {
    require_open(session, "revisit")?;
    let run = run_of(session, "revisit")?;
    let asked = revision.phase.as_str();
    let target = run.resolve(asked).ok_or_else(|| unknown(run, asked))?;
    refuse_what_never_began(session, run, target)?;
    let position = run.position(target.id().as_str());
    let in_progress = matches!(target.state, PhaseState::InProgress { .. });
    if in_progress || position > run.position(run.current().id().as_str()) {
        return Err(Refusal::NotEarlier {
            session: session.id.clone(),
            asked: target.id().clone(),
            current: run.current().id().clone(),
        });
    }
    Ok(vec![Event::PhaseRevised { revision }])
}

/// Continues at the phase that a person named. Earlier open phases become claimed.
pub(super) fn continue_at(session: &Session, asked: &str) -> Result<Vec<Event>, Refusal> {
    let run = run_of(session, "go on")?;
    let phase = resolve_phase(run, asked)?.id();
    let before = run.phases.iter().take_while(|earlier| earlier.id() != phase);
    let open = before.filter(|earlier| !earlier.is_done());
    let mut events: Vec<Event> =
        open.map(|earlier| Event::PhaseClaimed { phase: earlier.id().clone(), attempt: None }).collect();
    if phase != run.current().id() {
        events.push(Event::PhaseStarted { phase: phase.clone() });
    }
    Ok(events)
}

/// Refuses to return to a phase that was never entered.
fn refuse_what_never_began(session: &Session, run: &Run, target: &Phase) -> Result<(), Refusal> {
    match target.state {
        PhaseState::NotStarted => Err(Refusal::PhaseNotReached {
            session: session.id.clone(),
            asked: target.id().clone(),
            current: run.current().id().clone(),
        }),
        PhaseState::InProgress { .. }
        | PhaseState::Completed { .. }
        | PhaseState::NeedsReview { .. }
        | PhaseState::Skipped { .. } => Ok(()),
    }
}

/// Returns a note that records an override, so that briefs show it.
fn override_note(session: &Session, phase: &Name, reason: &str) -> Event {
    Event::NoteAdded {
        id: session.next_note(),
        kind: NoteKind::Override,
        text: format!("gate of {phase} overridden: {reason}"),
        fields: BTreeMap::new(),
        origin: None,
    }
}

pub(super) fn has_other_open_run(session: &Session, run: &Run) -> bool {
    session.runs.iter().any(|other| {
        other.is_open() && !(other.workflow.name == run.workflow.name && other.ordinal == run.ordinal)
    })
}

/// Finds a phase of a run by its id or number; refuses an unknown one.
pub fn resolve_phase<'a>(run: &'a Run, asked: &str) -> Result<&'a Phase, Refusal> {
    run.resolve(asked).ok_or_else(|| unknown(run, asked))
}

pub(super) fn unknown(run: &Run, asked: &str) -> Refusal {
    let known: Vec<Name> = run.phases.iter().map(|phase| phase.id().clone()).collect();
    let near = nearest(asked, known.iter().map(Name::as_str)).and_then(|name| Name::parse(name).ok());
    Refusal::UnknownPhase {
        asked: asked.to_owned(),
        workflow: run.workflow.name.clone(),
        known,
        nearest: near,
    }
}
