//! Folds a history event by event. Keeps, for the end of each phase, what it is based on: files, approvals and
//! definition.

use crate::checks::items_hash;
use crate::engine::read_event;
use crate::error::{Error, Result};
use crate::hex;
use crate::project::workspace_path;
use jiff::Timestamp;
use model::actor::Actor;
use model::artifact::Artifact;
use model::event::{Event, Recorded};
use model::gate::AttemptReport;
use model::id::{Name, SessionId};
use model::item::ItemBook;
use model::lineage::lineage;
use model::run::Run;
use model::session::Session;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use store::EventRow;

/// Identifies a phase of a run: the name of the workflow, the number of the run, and the phase.
type PhaseKey = (String, u32, Name);

pub(crate) struct Replay {
    pub(crate) session: Session,
    pub(crate) history: Vec<Recorded>,
    /// The last end of each finished phase.
    ends: BTreeMap<PhaseKey, End>,
    /// The newest approval for each check of each phase.
    approvals: Vec<Approved>,
    /// The last branch and commit that the history names.
    pub(crate) branch: Option<String>,
    pub(crate) commit: Option<String>,
}

/// The end of a phase, and what it is based on.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) version: u64,
    pub(crate) at: Timestamp,
    pub(crate) actor: Actor,
    /// The title and goal that the session had when the phase ended.
    pub(crate) aim: Aim,
    /// The hash of the source of the run's definition when the phase ended.
    pub(crate) definition: String,
    /// The SHA-256 of the stored text of that definition; `None` if the history does not name it.
    pub(crate) named: Option<String>,
    /// The hash of the session's state before the phase ended.
    pub(crate) state: String,
    /// The number of open items that the phase had when it ended.
    pub(crate) open_items: u32,
    /// The session's folder. The paths in the definition are relative to it.
    pub(crate) workspace: String,
    /// The result of the gate; `None` if the phase was skipped or only claimed.
    pub(crate) report: Option<AttemptReport>,
    /// The files that were recorded for the phase when it ended: their hashes by path.
    pub(crate) files: BTreeMap<String, String>,
    /// All files that the session had recorded when the phase ended: their hashes by path.
    pub(crate) all_files: BTreeMap<String, String>,
    pub(crate) approvals: Vec<Approved>,
}

/// The title and goal of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aim {
    pub(crate) title: String,
    pub(crate) goal: Option<String>,
}

impl Aim {
    pub(crate) fn of(session: &Session) -> Self {
        Self { title: session.title.clone(), goal: session.goal.clone() }
    }
}

/// An approval of a check.
#[derive(Debug, Clone)]
pub(crate) struct Approved {
    pub(crate) version: u64,
    pub(crate) at: Timestamp,
    pub(crate) actor: Actor,
    pub(crate) phase: Name,
    pub(crate) check: Name,
    pub(crate) remark: Option<String>,
    pub(crate) evidence: Option<String>,
    pub(crate) expires_at: Option<Timestamp>,
}

impl Approved {
    fn still_counts(&self, session: &Session) -> bool {
        session.approval(&self.phase, &self.check).is_some_and(|known| known.at == self.at)
    }
}

impl Replay {
    pub(crate) fn of(id: &SessionId, rows: &[EventRow]) -> Result<Self> {
        let history: Vec<Recorded> = rows.iter().map(|row| read_event(id, row)).collect::<Result<_>>()?;
        let session = Session::fold(&history).ok_or_else(|| Error::BrokenLog {
            session: id.to_string(),
            why: "its first event does not start the session".to_owned(),
        })?;
        let mut replay = Self {
            session,
            history: Vec::new(),
            ends: BTreeMap::new(),
            approvals: Vec::new(),
            branch: None,
            commit: None,
        };
        replay.walk(&history);
        replay.history = history;
        Ok(replay)
    }

    pub(crate) fn end(&self, run: &Run, phase: &Name) -> Option<&End> {
        self.ends.get(&(run.workflow.name.to_string(), run.ordinal, phase.clone()))
    }

    /// Returns the hash of a phase's items as they were before this version of the session.
    pub(crate) fn items_before(&self, run: &Run, phase: &Name, version: u64) -> String {
        let kept = self.history.partition_point(|recorded| recorded.version < version);
        let book = ItemBook::fold(&self.history[..kept]);
        items_hash(book.iter().filter(|item| item.run.is(run) && item.phase == *phase))
    }

    /// Returns the version of an event before `end` that matters for the session's state and whose text was purged
    /// later; `None` if there is none.
    pub(super) fn purged_of_state(&self, end: u64) -> Option<u64> {
        let later = self.history.iter().filter(|recorded| recorded.version > end);
        let purged = later.filter_map(|recorded| match &recorded.event {
            Event::Purged { rewritten, .. } => Some(rewritten),
            _ => None,
        });
        let is_of_state = |version: &u64| {
            let known = self.history.iter().find(|recorded| recorded.version == *version);
            *version < end && known.is_some_and(|recorded| !is_remark(&recorded.event))
        };
        purged.flatten().map(|told| told.version).find(is_of_state)
    }

    pub(crate) fn approval(&self, phase: &Name, check: &Name) -> Option<&Approved> {
        self.approvals.iter().find(|known| known.phase == *phase && known.check == *check)
    }

    fn walk(&mut self, history: &[Recorded]) {
        let newest = history.last().map_or(0, |recorded| recorded.version);
        let line = lineage(history, newest);
        let Some((first, rest)) = line.split_first() else { return };
        let Some(mut session) = Session::begin(first) else { return };
        self.note_place(&first.event);
        let mut approvals: Vec<Approved> = Vec::new();
        for recorded in rest {
            let before = state_judged(&session, &recorded.event);
            session = session.apply(recorded);
            // An approval no longer counts after its run ended, after its phase was reopened, and after it was
            // withdrawn.
            approvals.retain(|known| known.still_counts(&session));
            self.note_place(&recorded.event);
            match &recorded.event {
                Event::CheckApproved { phase, check, remark, evidence, expires_at, .. } => {
                    approvals.retain(|known| known.phase != *phase || known.check != *check);
                    approvals.push(Approved {
                        version: recorded.version,
                        at: recorded.at,
                        actor: recorded.actor.clone(),
                        phase: phase.clone(),
                        check: check.clone(),
                        remark: remark.clone(),
                        evidence: evidence.clone(),
                        expires_at: *expires_at,
                    });
                }
                Event::PhaseCompleted { phase, attempt, .. } => {
                    let report = Some((attempt, before));
                    self.note_end(&session, recorded, phase, report, &approvals);
                }
                Event::PhaseSkipped { phase, .. } | Event::PhaseClaimed { phase, .. } => {
                    self.note_end(&session, recorded, phase, None, &approvals);
                }
                _ => {}
            }
        }
        self.approvals = approvals;
    }

    fn note_place(&mut self, event: &Event) {
        if let Event::SessionStarted { branch, head, .. } | Event::PhaseCompleted { branch, head, .. } = event
        {
            self.branch = branch.clone().or(self.branch.take());
            self.commit = head.clone().or(self.commit.take());
        }
    }

    fn note_end(
        &mut self,
        session: &Session,
        recorded: &Recorded,
        phase: &Name,
        report: Option<(&AttemptReport, String)>,
        approvals: &[Approved],
    ) {
        let Some(run) = session.run() else { return };
        let (report, state) = report.map_or((None, String::new()), |(report, state)| (Some(report), state));
        let own = session.artifacts.values().filter(|known| known.newest.phase.as_ref() == Some(phase));
        let hashed = |known: &Artifact| (known.newest.path.clone(), known.newest.hash.clone());
        let end = End {
            version: recorded.version,
            at: recorded.at,
            actor: recorded.actor.clone(),
            aim: Aim::of(session),
            definition: run.workflow.hash.clone(),
            named: run.definition.clone(),
            state,
            open_items: run.phases.iter().find(|own| own.id() == phase).map_or(0, |own| own.items.open()),
            workspace: workspace_path(session),
            report: report.cloned(),
            files: own.map(hashed).collect(),
            all_files: session.artifacts.values().map(hashed).collect(),
            approvals: approvals.iter().filter(|known| known.phase == *phase).cloned().collect(),
        };
        self.ends.insert((run.workflow.name.to_string(), run.ordinal, phase.clone()), end);
    }
}

/// True for events whose text no gate looks at.
fn is_remark(event: &Event) -> bool {
    matches!(
        event,
        Event::NoteAdded { .. }
            | Event::NoteChanged { .. }
            | Event::SessionPaused { .. }
            | Event::SessionFailed { .. }
            | Event::CheckpointMade { .. }
    )
}

/// Returns the hash of the session's state before a gate's event; empty if the event does not record one.
fn state_judged(before: &Session, event: &Event) -> String {
    match event {
        Event::PhaseCompleted { attempt, .. } if attempt.judged.is_some() => {
            hex(&Sha256::digest(before.basis().as_bytes()))
        }
        _ => String::new(),
    }
}
