//! Tells a session's files as events: folding them gives the session, and adopting it keeps just these.

use super::{Kind, OcrSession, Round, STATE};
use crate::builtin;
use crate::definition;
use crate::layout::{Folder, Proof};
use crate::reading::Dated;
use crate::reconcile::shown_by;
use jiff::Timestamp;
use model::event::Event;
use model::gate::AttemptReport;
use model::id::Name;
use model::phase::PhaseStub;
use model::run::{RunPlan, WorkflowRef};
use serde_json::json;
use std::sync::OnceLock;

pub(super) fn of(session: &OcrSession, folder: &Folder<'_>) -> Vec<Dated> {
    let (begin, end) = span(session, folder);
    let since = session.since().filter(|since| *since <= folder.now).unwrap_or(begin);
    let mut events = vec![Dated {
        at: begin,
        event: Event::SessionStarted {
            id: folder.id.clone(),
            title: session.folder.clone(),
            goal: None,
            target: None,
            layout: "ocr".to_owned(),
            worktree: folder.worktree.to_owned(),
            parallel: false,
            fields: session.state.branch.iter().map(|branch| ("branch".to_owned(), json!(branch))).collect(),
            path: Some(folder.spot.path.clone()),
            machine: None,
            branch: None,
            head: None,
        },
    }];
    let other = match session.kind {
        Kind::Review => Kind::Map,
        Kind::Map => Kind::Review,
    };
    let beside = finished_or_not(session, other);
    let newest = beside.iter().map(|(_, number, _)| *number).max().unwrap_or_default();
    for (kind, number, is_final) in beside {
        if number < newest || is_final {
            events.extend(left_behind(session, folder, kind, number, is_final, begin));
        } else {
            let shown = super::shown(kind, number, &session.rounds, &session.map_runs, folder.tree);
            events.extend(run(session, folder, (kind, number), Reached::At(shown), (begin, begin)));
        }
    }
    for (kind, number, is_final) in finished_or_not(session, session.kind) {
        if number < session.ordinal() {
            events.extend(left_behind(session, folder, kind, number, is_final, begin));
        }
    }
    let reached = if session.is_finished { Reached::End } else { Reached::At(session.phase) };
    events.extend(run(session, folder, (session.kind, session.ordinal()), reached, (since, end)));
    if session.is_closed {
        let forced = !session.is_finished;
        events.push(Dated { at: end, event: Event::SessionCompleted { forced } });
    }
    events
}

/// When it began and when it last changed: as its state tells, else as its files were written.
pub(super) fn span(session: &OcrSession, folder: &Folder<'_>) -> (Timestamp, Timestamp) {
    let now = folder.now;
    let state = &session.state;
    let (first, last) = folder.tree.written().unwrap_or((now, now));
    // A local time that is called UTC lies hours ahead: nothing would be new enough to count after it.
    let past = |at: Option<Timestamp>| at.filter(|at| *at <= now);
    let (started, since) = (past(state.started_at), past(session.since()));
    let begin = started.or(since).or(past(state.updated_at)).unwrap_or(first.min(now));
    let written = || past(folder.tree.modified(STATE)).filter(|_| state.updated_at.is_some());
    let finished =
        || finishing(session).into_iter().filter_map(|(_, path)| folder.tree.modified(&path)).max();
    let end = past(state.updated_at).or_else(written).or_else(|| past(finished())).or(since);
    (begin, end.unwrap_or(last.min(now).max(begin)))
}

/// Facts that the folders and last files of the current round or run show. They move no phase: state.json says which
/// one is current.
pub(super) fn proofs(session: &OcrSession, folder: &Folder<'_>) -> Vec<Proof> {
    let (kind, ordinal) = (session.kind, session.ordinal());
    let Some((workflow, phases)) = workflow(kind) else { return Vec::new() };
    let workflow = &workflow.name;
    let Some(at) = phases.get(session.phase).map(|stub| stub.id.clone()) else { return Vec::new() };
    let begun = Proof::Run {
        workflow: workflow.clone(),
        ordinal,
        phase: at,
        path: kind.folder(ordinal),
        at: session.newer_since.map(|at| at.min(folder.now)),
    };
    let work = finishing(session).into_iter().filter_map(|(phase, path)| {
        Some(Proof::Work { workflow: workflow.clone(), ordinal, phase: Name::parse(phase).ok()?, path })
    });
    let ended = [Kind::Review, Kind::Map].into_iter().flat_map(|kind| finished_or_not(session, kind));
    let results = ended.filter(|(_, _, is_final)| *is_final).filter_map(|(kind, ordinal, _)| {
        Some(Proof::Result { workflow: Name::parse(kind.workflow()).ok()?, ordinal })
    });
    std::iter::once(begun).chain(work).chain(results).collect()
}

/// The files of the current round or run that are written when a phase ends, and which phase that is.
fn finishing(session: &OcrSession) -> Vec<(&'static str, String)> {
    let ordinal = session.ordinal();
    match session.kind {
        Kind::Review => {
            let Some(round) = session.rounds.iter().find(|round| round.number == ordinal) else {
                return Vec::new();
            };
            let place = folder_of(session, round);
            let discourse = round.has_discourse.then(|| ("discourse", format!("{place}discourse.md")));
            let last = round.is_final.then(|| ("synthesis", format!("{place}final.md")));
            discourse.into_iter().chain(last).collect()
        }
        Kind::Map => {
            let is_final = session.map_runs.iter().any(|run| run.number == ordinal && run.is_final);
            is_final.then(|| ("synthesis", format!("map/runs/run-{ordinal}/map.md"))).into_iter().collect()
        }
    }
}

/// Before rounds had folders of their own, the first one's files lay in the session's.
pub(super) fn folder_of(session: &OcrSession, round: &Round) -> String {
    if session.rounds_have_folders { format!("rounds/round-{}/", round.number) } else { String::new() }
}

/// The rounds, or runs, that the files show.
fn finished_or_not(session: &OcrSession, kind: Kind) -> Vec<(Kind, u32, bool)> {
    match kind {
        Kind::Review => session.rounds.iter().map(|round| (kind, round.number, round.is_final)).collect(),
        Kind::Map => session.map_runs.iter().map(|run| (kind, run.number, run.is_final)).collect(),
    }
}

/// A run before the current one is over. Without its last file it is so unfinished, and got as far as its files show.
fn left_behind(
    session: &OcrSession,
    folder: &Folder<'_>,
    kind: Kind,
    ordinal: u32,
    is_final: bool,
    at: Timestamp,
) -> Vec<Dated> {
    if is_final {
        return run(session, folder, (kind, ordinal), Reached::End, (at, at));
    }
    let shown = super::shown(kind, ordinal, &session.rounds, &session.map_runs, folder.tree);
    let mut events = run(session, folder, (kind, ordinal), Reached::At(shown), (at, at));
    events.push(Dated { at, event: Event::RunCompleted });
    events
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
enum Reached {
    /// In the phase at this position.
    At(usize),
    End,
}

/// Why a phase is over.
enum Over {
    /// Its own file is there.
    File(String),
    /// It writes none, so that none could be missing.
    Nothing,
    /// There was nothing to do in it, and why.
    Skipped(String),
}

impl Over {
    fn event(&self, phase: Name) -> Event {
        match self {
            Self::File(path) => {
                Event::PhaseCompleted { phase, attempt: shown_by(path), branch: None, head: None }
            }
            Self::Nothing => {
                Event::PhaseCompleted { phase, attempt: AttemptReport::default(), branch: None, head: None }
            }
            Self::Skipped(reason) => {
                Event::PhaseSkipped { phase, reason: reason.clone(), not_applicable: true }
            }
        }
    }
}

/// One run up to its current phase. The tool says that what lies before was done: shown by its file, or only claimed.
fn run(
    session: &OcrSession,
    folder: &Folder<'_>,
    (kind, ordinal): (Kind, u32),
    reached: Reached,
    (since, end): (Timestamp, Timestamp),
) -> Vec<Dated> {
    let Some((workflow, phases)) = workflow(kind) else { return Vec::new() };
    let mut events = Vec::new();
    let mut add = |at: Timestamp, event: Event| events.push(Dated { at, event });
    add(
        since,
        Event::RunStarted { workflow: workflow.clone(), ordinal, phases: phases.clone(), definition: None },
    );
    let last = phases.len() - 1;
    let (current, is_finished) = match reached {
        Reached::At(current) => (current, false),
        Reached::End => (last, true),
    };
    for (position, stub) in phases.iter().enumerate().take(current + 1) {
        let phase = stub.id.clone();
        let over = over(session, folder, kind, ordinal, phase.as_str());
        // Somebody who says that they are in it is.
        if position < current
            && let Some(skipped @ Over::Skipped(_)) = &over
        {
            add(since, skipped.event(phase));
            continue;
        }
        // When a phase ended is not told anywhere: those before the current one are dated to one moment, and have no
        // duration. The current one goes on since the file was written.
        let is_over = position < current || is_finished;
        let began = if position == current { end } else { since };
        add(began, Event::PhaseStarted { phase: phase.clone() });
        if is_over {
            let over = over.map(|over| over.event(phase.clone()));
            add(began, over.unwrap_or(Event::PhaseClaimed { phase, attempt: None }));
        }
    }
    if is_finished {
        add(end, Event::RunCompleted);
    }
    events
}

/// What shows that a phase is over which a round or run is past; none where its file is not there.
fn over(session: &OcrSession, folder: &Folder<'_>, kind: Kind, ordinal: u32, phase: &str) -> Option<Over> {
    let round = session.rounds.iter().find(|round| kind == Kind::Review && round.number == ordinal);
    let place = round.map_or_else(|| format!("rounds/round-{ordinal}/"), |round| folder_of(session, round));
    let run = format!("map/runs/run-{ordinal}");
    let path = match (kind, phase) {
        (_, "context" | "map-context") => "discovered-standards.md".to_owned(),
        // One file for both: it says nothing of where the analysis is, and all there is to see of one that is over.
        (Kind::Review, "change-context" | "analysis") => "context.md".to_owned(),
        (Kind::Review, "reviews") => {
            let first = round.and_then(|round| round.reviewers.first());
            first.map(|reviewer| format!("{place}reviews/{}.md", reviewer.name)).unwrap_or_default()
        }
        (Kind::Review, "discourse") => format!("{place}discourse.md"),
        (Kind::Review, "synthesis") => format!("{place}final.md"),
        (Kind::Map, "requirements-mapping") if !session.has_requirements => {
            return Some(Over::Skipped("there is no requirements.md".to_owned()));
        }
        (Kind::Map, "topology" | "flow-analysis" | "requirements-mapping") => format!("{run}/{phase}.md"),
        (Kind::Map, "synthesis") => format!("{run}/map.md"),
        (_, "complete") => return Some(Over::Nothing),
        // No file shows that the aggregation is over: whoever says so claims it.
        (_, _) => return None,
    };
    folder.tree.has_file(&path).then_some(Over::File(path))
}

/// The built-in definition; it has no mistakes, which its own tests show. Read once: a list may hold a thousand.
pub(super) fn workflow(kind: Kind) -> Option<&'static (WorkflowRef, Vec<PhaseStub>)> {
    static REVIEW: OnceLock<Option<(WorkflowRef, Vec<PhaseStub>)>> = OnceLock::new();
    static MAP: OnceLock<Option<(WorkflowRef, Vec<PhaseStub>)>> = OnceLock::new();
    let known = match kind {
        Kind::Review => &REVIEW,
        Kind::Map => &MAP,
    };
    let found = known.get_or_init(|| {
        let text = builtin::find(kind.workflow())?.text;
        let plan = RunPlan::new(&definition::read(text).ok()?.workflow, Vec::new());
        Some((plan.workflow, plan.phases))
    });
    found.as_ref()
}
