//! Converts a session's files to events: folding the events gives the session, and adopting the session
//! stores exactly these events.

use super::STATE;
use super::read;
use super::rounds_and_runs::Round;
use super::session::{OcrSession, OcrWorkflow};
use crate::builtin;
use crate::definition;
use crate::layout::{Folder, Proof};
use crate::reading::Dated;
use crate::reconcile::shown_by;
use jiff::Timestamp;
use model::event::Event;
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
        OcrWorkflow::Review => OcrWorkflow::Map,
        OcrWorkflow::Map => OcrWorkflow::Review,
    };
    let beside = finished_or_not(session, other);
    let newest = beside.iter().map(|(_, number, _)| *number).max().unwrap_or_default();
    for (kind, number, is_final) in beside {
        if number < newest || is_final {
            events.extend(left_behind(session, folder, kind, number, is_final, begin));
        } else {
            let shown = read::shown(kind, number, &session.rounds, &session.map_runs, folder.tree);
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

/// When the session started and last changed: from its state file, or else from modification times.
pub(super) fn span(session: &OcrSession, folder: &Folder<'_>) -> (Timestamp, Timestamp) {
    let now = folder.now;
    let state = &session.state;
    let (first, last) = folder.tree.written().unwrap_or((now, now));
    // A local time written as if it were UTC may lie in the future. If it were used, later events would seem
    // to be older than the session's last change.
    let past = |at: Option<Timestamp>| at.filter(|at| *at <= now);
    let (started, since) = (past(state.started_at), past(session.since()));
    let begin = started.or(since).or(past(state.updated_at)).unwrap_or(first.min(now));
    let written = || past(folder.tree.modified(STATE)).filter(|_| state.updated_at.is_some());
    let finished =
        || finishing(session).into_iter().filter_map(|(_, path)| folder.tree.modified(&path)).max();
    let end = past(state.updated_at).or_else(written).or_else(|| past(finished())).or(since);
    (begin, end.unwrap_or(last.min(now).max(begin)))
}

/// The proofs found in folders and final files of the current round or run. A proof completes no phase,
/// because state.json names the current phase.
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
    let ended =
        [OcrWorkflow::Review, OcrWorkflow::Map].into_iter().flat_map(|kind| finished_or_not(session, kind));
    let results = ended.filter(|(_, _, is_final)| *is_final).filter_map(|(kind, ordinal, _)| {
        Some(Proof::Result { workflow: Name::parse(kind.workflow()).ok()?, ordinal })
    });
    std::iter::once(begun).chain(work).chain(results).collect()
}

/// The files that the phases of the current round or run write at their end, each with its phase.
fn finishing(session: &OcrSession) -> Vec<(&'static str, String)> {
    let ordinal = session.ordinal();
    match session.kind {
        OcrWorkflow::Review => {
            let Some(round) = session.rounds.iter().find(|round| round.number == ordinal) else {
                return Vec::new();
            };
            let place = folder_of(session, round);
            let discourse = round.has_discourse.then(|| ("discourse", format!("{place}discourse.md")));
            let last = round.is_final.then(|| ("synthesis", format!("{place}final.md")));
            discourse.into_iter().chain(last).collect()
        }
        OcrWorkflow::Map => {
            let is_final = session.map_runs.iter().any(|run| run.number == ordinal && run.is_final);
            is_final.then(|| ("synthesis", format!("map/runs/run-{ordinal}/map.md"))).into_iter().collect()
        }
    }
}

/// The folder of a round. Early releases stored the first round's files directly in the session's folder.
pub(super) fn folder_of(session: &OcrSession, round: &Round) -> String {
    if session.rounds_have_folders { format!("rounds/round-{}/", round.number) } else { String::new() }
}

/// The rounds, or runs, found in files: the workflow, the number, and true if the final file exists.
fn finished_or_not(session: &OcrSession, kind: OcrWorkflow) -> Vec<(OcrWorkflow, u32, bool)> {
    match kind {
        OcrWorkflow::Review => {
            session.rounds.iter().map(|round| (kind, round.number, round.is_final)).collect()
        }
        OcrWorkflow::Map => session.map_runs.iter().map(|run| (kind, run.number, run.is_final)).collect(),
    }
}

/// Adds a round or run before the current one. It is over: either it has its final file, or it ended
/// unfinished, in the phase that its files show.
fn left_behind(
    session: &OcrSession,
    folder: &Folder<'_>,
    kind: OcrWorkflow,
    ordinal: u32,
    is_final: bool,
    at: Timestamp,
) -> Vec<Dated> {
    if is_final {
        return run(session, folder, (kind, ordinal), Reached::End, (at, at));
    }
    let shown = read::shown(kind, ordinal, &session.rounds, &session.map_runs, folder.tree);
    let mut events = run(session, folder, (kind, ordinal), Reached::At(shown), (at, at));
    events.push(Dated { at, event: Event::RunCompleted });
    events
}

/// How far a round or run has advanced.
#[derive(Debug, Clone, Copy)]
enum Reached {
    /// The run is in the phase at this index.
    At(usize),
    End,
}

/// The evidence that a phase is over.
enum Over {
    /// The phase's own file exists.
    File(String),
    /// The phase was skipped because it had nothing to do. The text is the reason.
    Skipped(String),
}

impl Over {
    fn event(&self, phase: Name) -> Event {
        match self {
            Self::File(path) => {
                Event::PhaseCompleted { phase, attempt: shown_by(path), branch: None, head: None }
            }
            Self::Skipped(reason) => {
                Event::PhaseSkipped { phase, reason: reason.clone(), not_applicable: true }
            }
        }
    }
}

/// Adds one round or run up to the phase reached. The earlier phases are done according to the tool: some are
/// proven by files, the others only claimed.
fn run(
    session: &OcrSession,
    folder: &Folder<'_>,
    (kind, ordinal): (OcrWorkflow, u32),
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
        // A phase that is current according to the state is not skipped.
        if position < current
            && let Some(skipped @ Over::Skipped(_)) = &over
        {
            add(since, skipped.event(phase));
            continue;
        }
        // The files do not say when phases ended, so all earlier phases get one timestamp and no duration.
        // The current phase started when the state file was last changed.
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

/// The proof that an earlier phase of a round or run is over; `None` if there is no proof.
fn over(
    session: &OcrSession,
    folder: &Folder<'_>,
    kind: OcrWorkflow,
    ordinal: u32,
    phase: &str,
) -> Option<Over> {
    let round = session.rounds.iter().find(|round| kind == OcrWorkflow::Review && round.number == ordinal);
    let place = round.map_or_else(|| format!("rounds/round-{ordinal}/"), |round| folder_of(session, round));
    let run = format!("map/runs/run-{ordinal}");
    let path = match (kind, phase) {
        (_, "context" | "map-context") => "discovered-standards.md".to_owned(),
        // Both phases write `context.md`. It does not prove that the analysis is done, but it is used as the
        // proof, because no other file shows more.
        (OcrWorkflow::Review, "change-context" | "analysis") => "context.md".to_owned(),
        (OcrWorkflow::Review, "reviews") => {
            let first = round.and_then(|round| round.reviewers.first());
            first.map(|reviewer| format!("{place}reviews/{}.md", reviewer.name)).unwrap_or_default()
        }
        (OcrWorkflow::Review, "discourse") => format!("{place}discourse.md"),
        (OcrWorkflow::Review, "synthesis") => format!("{place}final.md"),
        (OcrWorkflow::Map, "requirements-mapping") if !session.has_requirements => {
            return Some(Over::Skipped("there is no requirements.md".to_owned()));
        }
        (OcrWorkflow::Map, "topology" | "flow-analysis" | "requirements-mapping") => {
            format!("{run}/{phase}.md")
        }
        (OcrWorkflow::Map, "synthesis") => format!("{run}/map.md"),
        // No file shows that the aggregation or the last step is over, so these phases can only be claimed.
        (_, _) => return None,
    };
    folder.tree.has_file(&path).then_some(Over::File(path))
}

/// The built-in workflow. Its definition has no mistakes, because tests check it. It is parsed only once,
/// because a list may contain a thousand sessions.
pub(super) fn workflow(kind: OcrWorkflow) -> Option<&'static (WorkflowRef, Vec<PhaseStub>)> {
    static REVIEW: OnceLock<Option<(WorkflowRef, Vec<PhaseStub>)>> = OnceLock::new();
    static MAP: OnceLock<Option<(WorkflowRef, Vec<PhaseStub>)>> = OnceLock::new();
    let known = match kind {
        OcrWorkflow::Review => &REVIEW,
        OcrWorkflow::Map => &MAP,
    };
    let found = known.get_or_init(|| {
        let text = builtin::find(kind.workflow())?.text;
        let plan = RunPlan::new(&definition::read(text).ok()?.workflow, Vec::new());
        Some((plan.workflow, plan.phases))
    });
    found.as_ref()
}
