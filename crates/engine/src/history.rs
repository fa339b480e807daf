//! A session's history, grouped for a person; and differences between two versions of the session. Writes nothing.

use crate::error::{Error, Result};
use jiff::Timestamp;
use model::actor::Actor;
use model::difference::{Difference, between};
use model::event::{Event, Recorded};
use model::gate::{AttemptOutcome, CheckResult};
use model::hint::Hint;
use model::id::{Name, SessionId};
use model::lifecycle::Lifecycle;
use model::lineage::{lineage, step};
use model::phase::{Phase, PhaseState};
use model::revision::Impact;
use model::run::Run;
use model::session::Session;
use model::time::seconds_between;
use model::undo::point;
use model::words;
use serde::Serialize;

/// A session's events, oldest first, and questions about them. `history`, `diff` and `undone` need all events.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    pub session: SessionId,
    pub events: Vec<Recorded>,
}

/// A session's complete history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    pub session_id: String,
    pub title: String,
    pub goal: Option<String>,
    pub lifecycle: Lifecycle,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
    pub runs: Vec<RunLine>,
    pub pauses: Vec<PauseLine>,
    /// All errors with which the session failed.
    pub errors: Vec<ErrorLine>,
    pub revisions: Vec<RevisionLine>,
    pub checkpoints: Vec<CheckpointLine>,
    /// The events that were undone. The other fields leave them out.
    pub undone: Vec<UndoLine>,
    pub who: Vec<WhoLine>,
    pub now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunLine {
    pub workflow: Name,
    pub ordinal: u32,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub phases: Vec<PhaseLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseLine {
    pub number: u32,
    pub id: Name,
    pub title: String,
    pub status: String,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub duration_seconds: Option<u64>,
    pub paused_seconds: u64,
    pub skipped_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped_by: Option<Actor>,
    #[serde(skip)]
    pub skipped_at: Option<Timestamp>,
    pub attempts: Vec<AttemptLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttemptLine {
    pub at: Timestamp,
    pub actor: Actor,
    pub outcome: AttemptOutcome,
    pub failed_checks: Vec<String>,
    pub overridden: Option<String>,
    #[serde(skip)]
    pub lacks_only_approval: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PauseLine {
    pub from: Timestamp,
    /// When the pause ended; `None` while it lasts.
    pub to: Option<Timestamp>,
    pub seconds: u64,
    pub reason: String,
    pub context: Option<String>,
    pub actor: Actor,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorLine {
    pub at: Timestamp,
    pub actor: Actor,
    pub error: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RevisionLine {
    pub at: Timestamp,
    pub actor: Actor,
    pub phase: Name,
    pub impact: Impact,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointLine {
    pub name: String,
    pub version: u64,
    pub at: Timestamp,
    pub actor: Actor,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoLine {
    pub at: Timestamp,
    pub actor: Actor,
    pub version: u64,
    pub to_version: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WhoLine {
    pub actor: Actor,
    pub first: Timestamp,
    pub last: Timestamp,
    pub events: usize,
}

/// The effect of an undo or redo: the events that it undid, and the undone events that it restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Undone {
    pub to_version: u64,
    pub gone: Vec<Recorded>,
    pub back: Vec<Recorded>,
}

/// Differences between two versions of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffReport {
    pub session: SessionId,
    pub from: u64,
    pub to: u64,
    pub differences: Vec<Difference>,
}

impl Log {
    /// Returns how long the session was paused in total.
    pub(crate) fn paused_seconds(&self, now: Timestamp) -> Result<u64> {
        let version = self.at_version(u64::MAX)?.version;
        Ok(pauses(&lineage(&self.events, version), now).iter().map(|pause| pause.seconds).sum())
    }

    /// Returns the whole log, grouped for a person.
    pub fn history(&self, now: Timestamp) -> Result<History> {
        let events = &self.events;
        let session = self.at_version(u64::MAX)?;
        Ok(History {
            session_id: self.session.to_string(),
            title: session.title.clone(),
            goal: session.goal.clone(),
            lifecycle: session.lifecycle.clone(),
            started_at: session.created_at,
            updated_at: session.updated_at,
            version: session.version,
            runs: session.runs.iter().map(RunLine::from).collect(),
            pauses: pauses(&lineage(events, session.version), now),
            errors: lineage(events, session.version).into_iter().filter_map(error).collect(),
            revisions: revisions(&session),
            checkpoints: events.iter().filter_map(checkpoint).collect(),
            undone: events.iter().filter_map(undone).collect(),
            who: who(events),
            now,
        })
    }

    /// Returns the changes from one version or checkpoint to another, by default to the newest.
    pub fn diff(&self, from: &str, to: Option<&str>) -> Result<DiffReport> {
        let newest = self.events.last().map_or(0, |recorded| recorded.version);
        let from = point(&self.events, from)?;
        let to = to.map_or(Ok(newest), |to| point(&self.events, to))?;
        let differences = between(&self.at_version(from)?, &self.at_version(to)?);
        Ok(DiffReport { session: self.session.clone(), from, to, differences })
    }

    /// Returns the effect of the undo that made this version; `None` if another command made it.
    pub fn undone(&self, version: u64) -> Option<Undone> {
        let made = self.events.iter().find(|recorded| recorded.version == version)?;
        let Event::Restored { to_version } = made.event else { return None };
        let (gone, back) = step(&self.events, version - 1, to_version);
        let cloned = |events: Vec<&Recorded>| events.into_iter().cloned().collect();
        Some(Undone { to_version, gone: cloned(gone), back: cloned(back) })
    }

    fn at_version(&self, version: u64) -> Result<Session> {
        if version == 0 {
            return Err(Error::WrongUsage {
                message: "version 0 is before the session started".to_owned(),
                hint: Hint::new("see the versions: ").run(words!["log", self.session]),
            });
        }
        let kept = usize::try_from(version).unwrap_or(usize::MAX).min(self.events.len());
        Session::fold(&self.events[..kept]).ok_or_else(|| Error::BrokenLog {
            session: self.session.to_string(),
            why: "its first event does not start the session".to_owned(),
        })
    }
}

impl From<&Run> for RunLine {
    fn from(run: &Run) -> Self {
        Self {
            workflow: run.workflow.name.clone(),
            ordinal: run.ordinal,
            started_at: run.started_at,
            completed_at: run.completed_at,
            phases: run
                .phases
                .iter()
                .enumerate()
                .map(|(position, phase)| phase_line(run.number_at(position), phase))
                .collect(),
        }
    }
}

fn phase_line(number: u32, phase: &Phase) -> PhaseLine {
    PhaseLine {
        number,
        id: phase.id().clone(),
        title: phase.stub.title.clone(),
        status: phase.status().to_owned(),
        started_at: phase.started_at(),
        completed_at: phase.completed_at(),
        duration_seconds: phase.duration_seconds(),
        paused_seconds: phase.paused_seconds,
        skipped_reason: phase.skipped_reason().map(ToOwned::to_owned),
        skipped_by: phase.skipped_by().cloned(),
        skipped_at: if let PhaseState::Skipped { at, .. } = phase.state { Some(at) } else { None },
        attempts: phase
            .attempts
            .iter()
            .map(|attempt| AttemptLine {
                at: attempt.at,
                actor: attempt.actor.clone(),
                outcome: attempt.outcome,
                failed_checks: attempt
                    .report
                    .checks
                    .iter()
                    .filter(|check| CheckResult::failed(check))
                    .map(|check| check.id.clone())
                    .collect(),
                overridden: attempt.report.overridden.clone(),
                lacks_only_approval: attempt.report.lacks_only_approval(),
            })
            .collect(),
    }
}

/// Returns every pause of the session, however it ended.
fn pauses(line: &[&Recorded], now: Timestamp) -> Vec<PauseLine> {
    let mut pauses: Vec<PauseLine> = Vec::new();
    let mut state: Option<Session> = None;
    for recorded in line {
        let next = match state.take() {
            None => Session::begin(recorded),
            Some(session) => Some(session.apply(recorded)),
        };
        let pause = next.as_ref().map(|session| &session.lifecycle);
        let is_open = pauses.last().is_some_and(|pause| pause.to.is_none());
        match (pause, is_open) {
            (Some(Lifecycle::Paused { at, reason, context, .. }), false) => pauses.push(PauseLine {
                from: *at,
                to: None,
                seconds: seconds_between(*at, now),
                reason: reason.clone(),
                context: context.clone(),
                actor: recorded.actor.clone(),
            }),
            (Some(Lifecycle::Paused { reason, context, .. }), true) => {
                // The session was already paused, so the event only updates the reason.
                if let Some(pause) = pauses.last_mut() {
                    pause.reason.clone_from(reason);
                    pause.context.clone_from(context);
                }
            }
            (None, _) | (Some(_), false) => {}
            (Some(_), true) => {
                if let Some(pause) = pauses.last_mut() {
                    pause.to = Some(recorded.at);
                    pause.seconds = seconds_between(pause.from, recorded.at);
                }
            }
        }
        state = next;
    }
    pauses
}

fn error(recorded: &Recorded) -> Option<ErrorLine> {
    let Event::SessionFailed { error } = &recorded.event else { return None };
    Some(ErrorLine { at: recorded.at, actor: recorded.actor.clone(), error: error.clone() })
}

fn revisions(session: &Session) -> Vec<RevisionLine> {
    let lines = session.revisions.iter().map(|made| RevisionLine {
        at: made.at,
        actor: made.actor.clone(),
        phase: made.revision.phase.clone(),
        impact: made.revision.impact,
        reason: made.revision.reason.clone(),
    });
    lines.collect()
}

/// Returns a checkpoint, even an undone one, because a session can still return to it.
fn checkpoint(recorded: &Recorded) -> Option<CheckpointLine> {
    let Event::CheckpointMade { name } = &recorded.event else { return None };
    Some(CheckpointLine {
        name: name.clone(),
        version: recorded.version,
        at: recorded.at,
        actor: recorded.actor.clone(),
    })
}

fn undone(recorded: &Recorded) -> Option<UndoLine> {
    let Event::Restored { to_version } = recorded.event else { return None };
    Some(UndoLine { at: recorded.at, actor: recorded.actor.clone(), version: recorded.version, to_version })
}

fn who(events: &[Recorded]) -> Vec<WhoLine> {
    let mut lines: Vec<WhoLine> = Vec::new();
    for recorded in events {
        match lines.iter_mut().find(|line| line.actor == recorded.actor) {
            Some(line) => {
                line.last = recorded.at;
                line.events += 1;
            }
            None => lines.push(WhoLine {
                actor: recorded.actor.clone(),
                first: recorded.at,
                last: recorded.at,
                events: 1,
            }),
        }
    }
    lines
}
