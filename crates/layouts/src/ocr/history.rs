//! Tells a session's files as events: folding them gives the session, and adopting it keeps just these.

use super::{Kind, OcrSession};
use crate::builtin;
use crate::definition;
use crate::reading::Dated;
use jiff::Timestamp;
use model::event::Event;
use model::gate::AttemptReport;
use model::phase::PhaseStub;
use model::run::{RunPlan, WorkflowRef};
use std::collections::BTreeMap;

pub(super) fn of(session: &OcrSession, worktree: &str, now: Timestamp) -> Vec<Dated> {
    let begin = session.state.started_at.or(session.since()).or(session.state.updated_at).unwrap_or(now);
    let end = session.state.updated_at.unwrap_or(begin);
    let mut events = vec![Dated {
        at: begin,
        event: Event::SessionStarted {
            id: session.id.clone(),
            title: session.folder.clone(),
            goal: None,
            target: None,
            layout: "ocr".to_owned(),
            worktree: worktree.to_owned(),
            parallel: false,
            fields: BTreeMap::new(),
        },
    }];
    let other = match session.kind {
        Kind::Review => Kind::Map,
        Kind::Map => Kind::Review,
    };
    for (kind, number, is_final) in finished_or_not(session, other) {
        let phase = if is_final { kind.phases().len() - 1 } else { 0 };
        events.extend(run(session, kind, number, phase, begin, begin));
    }
    for (kind, number, _) in finished_or_not(session, session.kind) {
        if number < session.ordinal() {
            events.extend(run(session, kind, number, kind.phases().len() - 1, begin, begin));
        }
    }
    let since = session.since().unwrap_or(begin);
    events.extend(run(session, session.kind, session.ordinal(), session.phase, since, end));
    if session.is_closed {
        let forced = session.phase + 1 < session.kind.phases().len();
        events.push(Dated { at: end, event: Event::SessionCompleted { forced } });
    }
    events
}

/// The rounds, or runs, that the files show.
fn finished_or_not(session: &OcrSession, kind: Kind) -> Vec<(Kind, u32, bool)> {
    match kind {
        Kind::Review => session.rounds.iter().map(|round| (kind, round.number, round.is_final)).collect(),
        Kind::Map => session.map_runs.iter().map(|run| (kind, run.number, run.is_final)).collect(),
    }
}

/// One run up to its current phase. What lies before was done, says the tool; we have no proof of our own for it.
fn run(
    session: &OcrSession,
    kind: Kind,
    ordinal: u32,
    current: usize,
    since: Timestamp,
    end: Timestamp,
) -> Vec<Dated> {
    let Some((workflow, phases)) = workflow(kind) else { return Vec::new() };
    let mut events = Vec::new();
    let mut add = |at: Timestamp, event: Event| events.push(Dated { at, event });
    let stubs = phases.clone();
    add(since, Event::RunStarted { workflow, ordinal, phases });
    for (position, stub) in stubs.iter().enumerate().take(current + 1) {
        let phase = stub.id.clone();
        if stub.id.as_str() == "requirements-mapping" && !session.has_requirements {
            add(end, Event::PhaseSkipped { phase, reason: "there is no requirements.md".to_owned() });
            continue;
        }
        add(if position == 0 { since } else { end }, Event::PhaseStarted { phase: phase.clone() });
        if position < current || stub.terminal {
            add(end, Event::PhaseCompleted { phase, attempt: AttemptReport::default() });
        }
    }
    if current + 1 == stubs.len() {
        add(end, Event::RunCompleted);
    }
    events
}

/// The built-in definition; it has no mistakes, which its own tests show.
fn workflow(kind: Kind) -> Option<(WorkflowRef, Vec<PhaseStub>)> {
    let text = builtin::find(kind.workflow())?.text;
    let plan = RunPlan::new(&definition::read(text).ok()?.workflow, Vec::new());
    Some((plan.workflow, plan.phases))
}
