//! Writes state.json in the form that the tool itself reads. Changes only values that would otherwise be read
//! differently from the session. An unknown value stays until the thing that it describes changes.

use super::STATE;
use super::read::{self, ordinal};
use super::rounds_and_runs::{map_runs, rounds};
use super::session::OcrWorkflow;
use super::state::{self, State};
use crate::json::Document;
use crate::layout::{Folder, SessionToPublish};
use jiff::Timestamp;
use model::event::{Event, ItemEvent};
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use serde_json::{Value, json};

/// Keys that leftoff reads.
const KEYS: [&str; 10] = [
    "status",
    "workflow_type",
    "current_phase",
    "phase_number",
    "current_round",
    "current_map_run",
    "started_at",
    "round_started_at",
    "map_started_at",
    "updated_at",
];

/// The handling of missing keys in a file that already shows the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Leave missing keys out.
    LeaveOut,
    /// Add missing keys that new files have.
    Add,
}

/// The updated file. `None` if the file already shows the session.
pub(super) fn state(
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
    missing: Missing,
) -> Option<Vec<u8>> {
    let run = publication.session.run()?;
    let kind = kind_of(run)?;
    let there = folder.tree.content(STATE);
    let there = there.and_then(|bytes| Some((Document::parse(bytes).ok()?, state::of_bytes(bytes))));
    let is_new = there.is_none();
    let (document, said) = there.unwrap_or_else(|| (Document::new(), State::default()));
    let wanted = Wanted::of(publication.session, run, kind);
    let due = Due::of(&wanted, &said, publication, folder);
    let taken_back = taken_back(kind, &said, publication, folder);
    if !(is_new || missing == Missing::Add || due.any() || taken_back.is_some()) {
        return None;
    }
    let mut changes = Changes { document, said, any: false };
    changes.set_missing("session_id", &json!(folder.spot.path.rsplit('/').next().unwrap_or_default()));
    changes.make(&wanted, &due, publication.session, run);
    if let Some(other) = taken_back {
        changes.take_back(other, publication.session);
    }
    if changes.any || due.work {
        let updated_at = changes.latest(publication.session);
        changes.set("updated_at", &time(updated_at));
        changes.document.drop_mark();
    }
    changes.any.then(|| changes.document.into_bytes())
}

/// The values to write.
struct Wanted {
    kind: OcrWorkflow,
    /// The index of the phase in `kind.phases()`; `None` for a phase that the tool does not know.
    phase: Option<usize>,
    ordinal: u32,
    is_over: bool,
}

impl Wanted {
    fn of(session: &Session, run: &Run, kind: OcrWorkflow) -> Self {
        let is_over = match session.lifecycle {
            Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => true,
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => false,
        };
        Self { kind, phase: position(session, run, kind), ordinal: run.ordinal, is_over }
    }

    fn status(&self) -> &'static str {
        if self.is_over { "closed" } else { "active" }
    }
}

/// Which values in the file must change.
struct Due {
    kind: bool,
    status: bool,
    phase: bool,
    round: bool,
    clock: bool,
    /// True if work was done: an item or the run was completed, a file was recorded, or a checkpoint was
    /// made.
    work: bool,
}

impl Due {
    fn of(wanted: &Wanted, said: &State, publication: &SessionToPublish<'_>, folder: &Folder<'_>) -> Self {
        let (kind, tree) = (wanted.kind, folder.tree);
        let is_other_kind = |said: &State| read::kind(said, tree) != kind;
        let read = said.phase(kind, &mut Vec::new());
        // The tool's screen uses the number of the phase, so the number must match the name.
        let numbered = said.numbered_phase(kind);
        let is_elsewhere = read != wanted.phase || numbered.is_some_and(|at| Some(at) != wanted.phase);
        let is_closed = read::is_closed(kind, said, read == Some(kind.phases().len() - 1));
        // The tool closed the session, and wrote the phase in which the session ended. That phase stays in
        // the file.
        let has_ended_there = wanted.is_over && is_closed && said.named_phase(kind).is_some();
        let phase = wanted.phase.is_some()
            && (is_other_kind(said)
                || if read.is_some() { is_elsewhere && !has_ended_there } else { has_moved(publication) });
        // The workflow is written only if the file, with its new phase, would otherwise be read as the other
        // workflow.
        let named = wanted.phase.filter(|_| phase).map(|at| kind.phases()[at].to_owned());
        let after = State { phase_name: named.or(said.phase_name.clone()), ..said.clone() };
        let number = number_of(kind, said);
        let round = number.unwrap_or_else(|| ordinal(kind, said, &rounds(tree), &map_runs(tree)));
        Self {
            kind: is_other_kind(&after),
            status: is_closed != wanted.is_over && said.status.as_deref() != Some(wanted.status()),
            phase,
            round: round != wanted.ordinal,
            clock: is_late(kind, said, publication.session.run()),
            work: has_work(publication),
        }
    }

    fn any(&self) -> bool {
        self.kind || self.status || self.phase || self.round || self.clock || self.work
    }
}

/// True if work was done in a phase since the file was last written, or since adoption.
fn has_work(publication: &SessionToPublish<'_>) -> bool {
    let is_adoption = |event: &Event| matches!(event, Event::Adopted { .. });
    let ours = publication.since_written(STATE).iter().rev();
    ours.map(|recorded| &recorded.event).take_while(|event| !is_adoption(event)).any(|event| {
        matches!(
            event,
            Event::Item(ItemEvent::ItemCompleted { .. })
                | Event::ArtifactRecorded { .. }
                | Event::CheckpointMade { .. }
                // A session stays active when its map is finished, and only this event shows that it is.
                | Event::RunCompleted
        )
    })
}

/// True if a phase started or ended since the file was last written, or since adoption.
fn has_moved(publication: &SessionToPublish<'_>) -> bool {
    let is_adoption = |event: &Event| matches!(event, Event::Adopted { .. });
    let ours = publication.since.iter().rev().take_while(|recorded| !is_adoption(&recorded.event));
    ours.map(|recorded| &recorded.event).any(|event| {
        matches!(
            event,
            Event::PhaseStarted { .. }
                | Event::PhaseCompleted { .. }
                | Event::PhaseClaimed { .. }
                | Event::PhaseSkipped { .. }
                | Event::RunStarted { .. }
                | Event::RunSelected { .. }
                | Event::RunCompleted
                | Event::RolledBack { .. }
                | Event::PhaseRevised { .. }
                | Event::Restored { .. }
        )
    })
}

/// True if the round started after the session, and the file lacks the round's start time. The tool would
/// then show the time since the session's start as the round's duration.
fn is_late(kind: OcrWorkflow, said: &State, run: Option<&Run>) -> bool {
    let own = match kind {
        OcrWorkflow::Review => said.round_started_at,
        OcrWorkflow::Map => said.map_started_at,
    };
    let began = run.map(|run| run.started_at.as_second());
    own.is_none() && said.started_at.is_some_and(|started| Some(started.as_second()) < began)
}

/// The workflow that is not current, if the file still names a round or run of it whose start was undone.
fn taken_back(
    current: OcrWorkflow,
    said: &State,
    publication: &SessionToPublish<'_>,
    folder: &Folder<'_>,
) -> Option<OcrWorkflow> {
    let other = match current {
        OcrWorkflow::Review => OcrWorkflow::Map,
        OcrWorkflow::Map => OcrWorkflow::Review,
    };
    let number = number_of(other, said)?;
    let is_undone = publication.undone.iter().any(|recorded| {
        matches!(&recorded.event, Event::RunStarted { workflow, ordinal, .. }
            if workflow.name.as_str() == other.workflow() && *ordinal == number)
    });
    // The start that was undone created an empty folder. A folder with files would show that the round or run
    // is in use.
    let place = format!("{}/", other.folder(number));
    let is_there = folder.tree.files().any(|path| path.starts_with(&place));
    let is_running = last_of(other, publication.session).is_some_and(|run| run.ordinal >= number);
    (is_undone && !is_there && !is_running).then_some(other)
}

pub(super) fn last_of(kind: OcrWorkflow, session: &Session) -> Option<&Run> {
    session.runs.iter().filter(|run| kind_of(run) == Some(kind)).max_by_key(|run| run.ordinal)
}

/// The keys of a workflow's counter and of its start time.
fn keys_of(kind: OcrWorkflow) -> (&'static str, &'static str) {
    match kind {
        OcrWorkflow::Review => ("current_round", "round_started_at"),
        OcrWorkflow::Map => ("current_map_run", "map_started_at"),
    }
}

fn number_of(kind: OcrWorkflow, said: &State) -> Option<u32> {
    match kind {
        OcrWorkflow::Review => said.current_round,
        OcrWorkflow::Map => said.current_map_run,
    }
}

struct Changes {
    document: Document,
    /// The values of the file before this change.
    said: State,
    any: bool,
}

impl Changes {
    fn make(&mut self, wanted: &Wanted, due: &Due, session: &Session, run: &Run) {
        let Wanted { kind, phase, ordinal, .. } = *wanted;
        let status = self.said.status.clone();
        self.set_or_fill("workflow_type", &json!(kind.workflow()), due.kind);
        self.set_or_fill("status", &json!(wanted.status()), due.status || status.is_some());
        if let Some(at) = phase {
            // If the file uses an older name for the same phase, that name stays.
            let is_named = due.phase && (due.kind || self.said.named_phase(kind) != phase);
            self.set_or_fill("current_phase", &json!(kind.phases()[at]), is_named);
            self.set_or_fill("phase_number", &json!(at + 1), due.phase);
        }
        let (number, clock) = keys_of(kind);
        self.set_or_fill(number, &json!(ordinal), due.round);
        self.set_missing("started_at", &time(session.created_at));
        // A new round gets a new start time. The start time of the current round stays if the file already
        // has one.
        let restarted = self.said.started_at.filter(|at| *at <= session.updated_at);
        // Even if the clock was set back, the round must not seem to start before the session.
        let began = run.started_at.max(session.created_at);
        let began = restarted.map_or(began, |at| at.max(began));
        self.set_or_fill(clock, &time(began), due.round);
    }

    /// The time of the session's last change. It is never before any time in the log or the file, even if the
    /// clock was set back.
    fn latest(&self, session: &Session) -> Timestamp {
        let phases = session.runs.iter().flat_map(|run| &run.phases);
        let phases = phases.flat_map(|phase: &Phase| [phase.started_at(), phase.completed_at()]).flatten();
        let runs = session.runs.iter().flat_map(|run| [Some(run.started_at), run.completed_at]).flatten();
        let State { started_at, round_started_at, map_started_at, .. } = self.said;
        let said = [started_at, round_started_at, map_started_at].into_iter().flatten();
        phases.chain(runs).chain(said).chain([session.created_at]).fold(session.updated_at, Timestamp::max)
    }

    /// Restores the number and start of the previous round or run; removes both if there is none.
    fn take_back(&mut self, kind: OcrWorkflow, session: &Session) {
        let (number, clock) = keys_of(kind);
        if let Some(run) = last_of(kind, session) {
            self.set(number, &json!(run.ordinal));
            self.set(clock, &time(run.started_at));
            return;
        }
        for key in [number, clock] {
            self.any |= self.document.get(&[key]).is_some();
            self.document.remove(&[key]);
        }
    }

    /// Sets the value if `is_due`. Otherwise adds it only if the key is missing.
    fn set_or_fill(&mut self, key: &str, value: &Value, is_due: bool) {
        if is_due {
            self.set(key, value);
        } else {
            self.set_missing(key, value);
        }
    }

    fn set(&mut self, key: &str, value: &Value) {
        if self.document.get(&[key]).as_ref() != Some(value) {
            self.document.set(&[key], value);
            self.any = true;
        }
    }

    fn set_missing(&mut self, key: &str, value: &Value) {
        if self.document.get(&[key]).is_none() {
            self.set(key, value);
        }
    }
}

/// Values that leftoff does not know, and that the change removed.
pub(super) fn not_understood(before: &[u8], after: &[u8]) -> Vec<String> {
    let (Ok(had), Ok(has)) = (Document::parse(before), Document::parse(after)) else { return Vec::new() };
    let said = state::of_bytes(before);
    let lost = KEYS.into_iter().filter(|key| had.get(&[key]) != has.get(&[key]) && !is_read(&said, key));
    lost.filter_map(|key| Some(format!("{key}: {}", had.get(&[key])?))).collect()
}

fn is_read(said: &State, key: &str) -> bool {
    let is_in_any =
        |fits: &dyn Fn(OcrWorkflow) -> bool| [OcrWorkflow::Review, OcrWorkflow::Map].into_iter().any(fits);
    match key {
        "status" => said.status.is_some(),
        "workflow_type" => said.kind.is_some(),
        "current_phase" => is_in_any(&|kind| said.named_phase(kind).is_some()),
        "phase_number" => is_in_any(&|kind| said.numbered_phase(kind).is_some()),
        "current_round" => said.current_round.is_some(),
        "current_map_run" => said.current_map_run.is_some(),
        "started_at" => said.started_at.is_some(),
        "round_started_at" => said.round_started_at.is_some(),
        "map_started_at" => said.map_started_at.is_some(),
        _ => said.updated_at.is_some(),
    }
}

/// The index of the phase to write to the file. A closed session is `complete` in the file, even if it was
/// closed unfinished; only the log knows that.
fn position(session: &Session, run: &Run, kind: OcrWorkflow) -> Option<usize> {
    if matches!(session.lifecycle, Lifecycle::Completed { .. }) {
        return Some(kind.phases().len() - 1);
    }
    kind.phases().iter().position(|phase| *run.current().id() == **phase)
}

pub(super) fn kind_of(run: &Run) -> Option<OcrWorkflow> {
    [OcrWorkflow::Review, OcrWorkflow::Map]
        .into_iter()
        .find(|kind| run.workflow.name.as_str() == kind.workflow())
}

/// Formats a time to the second, in UTC.
fn time(at: Timestamp) -> Value {
    let seconds = Timestamp::from_second(at.as_second()).unwrap_or(at);
    json!(seconds.to_string())
}
