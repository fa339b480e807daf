//! Writes state.json as the tool's own reader expects it. Sets only what would be read as something else than the
//! session is; what nobody understands stays, until what it is about changes.

use super::state::{self, State};
use super::{Kind, STATE, map_runs, ordinal, rounds};
use crate::json::Document;
use crate::layout::{Folder, Standing};
use jiff::Timestamp;
use model::event::{Event, ItemEvent};
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use serde_json::{Value, json};

/// Keys whose values are read.
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

/// What is written where the file shows the session already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Nothing.
    StaysOut,
    /// The keys that new files have.
    ComesIn,
}

/// The file as it is to be; none when it shows the session already.
pub(super) fn state(standing: &Standing<'_>, folder: &Folder<'_>, missing: Missing) -> Option<Vec<u8>> {
    let run = standing.session.run()?;
    let kind = kind_of(run)?;
    let there = folder.tree.content(STATE);
    let there = there.and_then(|bytes| Some((Document::parse(bytes).ok()?, state::of_bytes(bytes))));
    let is_new = there.is_none();
    let (document, said) = there.unwrap_or_else(|| (Document::new(), State::default()));
    let wanted = Wanted::of(standing.session, run, kind);
    let due = Due::of(&wanted, &said, standing, folder);
    let taken_back = taken_back(kind, &said, standing, folder);
    if !(is_new || missing == Missing::ComesIn || due.any() || taken_back.is_some()) {
        return None;
    }
    let mut changes = Changes { document, said, any: false };
    changes.set_missing("session_id", &json!(folder.spot.path.rsplit('/').next().unwrap_or_default()));
    changes.make(&wanted, &due, standing.session, run);
    if let Some(other) = taken_back {
        changes.take_back(other, standing.session);
    }
    if changes.any || due.work {
        let updated_at = changes.latest(standing.session);
        changes.set("updated_at", &time(updated_at));
        changes.document.drop_mark();
    }
    changes.any.then(|| changes.document.into_bytes())
}

/// What the file is to say.
struct Wanted {
    kind: Kind,
    /// Position in `kind.phases()`; none for a phase that the tool does not have.
    phase: Option<usize>,
    ordinal: u32,
    is_over: bool,
}

impl Wanted {
    fn of(session: &Session, run: &Run, kind: Kind) -> Self {
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

/// Of what the file says something else, for whoever reads it.
struct Due {
    kind: bool,
    status: bool,
    phase: bool,
    round: bool,
    clock: bool,
    /// Work of the phase was done: a reviewer is ready, a file was recorded, a save point was made.
    work: bool,
}

impl Due {
    fn of(wanted: &Wanted, said: &State, standing: &Standing<'_>, folder: &Folder<'_>) -> Self {
        let (kind, tree) = (wanted.kind, folder.tree);
        let is_other_kind = |said: &State| super::kind(said, tree) != kind;
        let read = said.phase(kind, &mut Vec::new());
        // The tool's own screen goes by the number: one of another phase than the name is no word of its own.
        let numbered = said.numbered_phase(kind);
        let is_elsewhere = read != wanted.phase || numbered.is_some_and(|at| Some(at) != wanted.phase);
        let phase = wanted.phase.is_some()
            && (is_other_kind(said) || if read.is_some() { is_elsewhere } else { has_moved(standing) });
        // By its name alone a phase may be of the other workflow.
        let named = wanted.phase.filter(|_| phase).map(|at| kind.phases()[at].to_owned());
        let after = State { phase_name: named.or(said.phase_name.clone()), ..said.clone() };
        let number = number_of(kind, said);
        let round = number.unwrap_or_else(|| ordinal(kind, said, &rounds(tree), &map_runs(tree)));
        let is_closed = super::is_closed(kind, said, read == Some(kind.phases().len() - 1));
        Self {
            kind: is_other_kind(&after),
            status: is_closed != wanted.is_over && said.status.as_deref() != Some(wanted.status()),
            phase,
            round: round != wanted.ordinal,
            clock: is_late(kind, said, standing.session.run()),
            work: has_work(standing),
        }
    }

    fn any(&self) -> bool {
        self.kind || self.status || self.phase || self.round || self.clock || self.work
    }
}

/// Whether work of a phase was done since the file was last written, or since it was taken in.
fn has_work(standing: &Standing<'_>) -> bool {
    let is_adoption = |event: &Event| matches!(event, Event::Adopted { .. });
    let ours = standing.since_written(STATE).iter().rev();
    ours.map(|recorded| &recorded.event).take_while(|event| !is_adoption(event)).any(|event| {
        matches!(
            event,
            Event::Item(ItemEvent::ItemCompleted { .. })
                | Event::ArtifactRecorded { .. }
                | Event::CheckpointMade { .. }
        )
    })
}

/// Whether a phase of it was begun or done since the file was last written, or since it was taken in.
fn has_moved(standing: &Standing<'_>) -> bool {
    let is_adoption = |event: &Event| matches!(event, Event::Adopted { .. });
    let ours = standing.since.iter().rev().take_while(|recorded| !is_adoption(&recorded.event));
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

/// Without a word about when the round began, its clock would run since the session did, and that is longer.
fn is_late(kind: Kind, said: &State, run: Option<&Run>) -> bool {
    let own = match kind {
        Kind::Review => said.round_started_at,
        Kind::Map => said.map_started_at,
    };
    let began = run.map(|run| run.started_at.as_second());
    own.is_none() && said.started_at.is_some_and(|started| Some(started.as_second()) < began)
}

/// The other workflow, where the file still names a round or run of it whose beginning was undone.
fn taken_back(current: Kind, said: &State, standing: &Standing<'_>, folder: &Folder<'_>) -> Option<Kind> {
    let other = match current {
        Kind::Review => Kind::Map,
        Kind::Map => Kind::Review,
    };
    let number = number_of(other, said)?;
    let is_undone = standing.undone.iter().any(|recorded| {
        matches!(&recorded.event, Event::RunStarted { workflow, ordinal, .. }
            if workflow.name.as_str() == other.workflow() && *ordinal == number)
    });
    // An empty folder is one that the beginning made.
    let place = format!("{}/", other.folder(number));
    let is_there = folder.tree.files().any(|path| path.starts_with(&place));
    let goes_on = last_of(other, standing.session).is_some_and(|run| run.ordinal >= number);
    (is_undone && !is_there && !goes_on).then_some(other)
}

pub(super) fn last_of(kind: Kind, session: &Session) -> Option<&Run> {
    session.runs.iter().filter(|run| kind_of(run) == Some(kind)).max_by_key(|run| run.ordinal)
}

/// Where the file counts rounds or runs, and where it says since when the last one goes on.
fn keys_of(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Review => ("current_round", "round_started_at"),
        Kind::Map => ("current_map_run", "map_started_at"),
    }
}

fn number_of(kind: Kind, said: &State) -> Option<u32> {
    match kind {
        Kind::Review => said.current_round,
        Kind::Map => said.current_map_run,
    }
}

struct Changes {
    document: Document,
    /// What the file said.
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
            // Older names of the same phase are left to whoever wrote them.
            let is_named = due.phase && (due.kind || self.said.named_phase(kind) != phase);
            self.set_or_fill("current_phase", &json!(kind.phases()[at]), is_named);
            self.set_or_fill("phase_number", &json!(at + 1), due.phase);
        }
        let (number, clock) = keys_of(kind);
        self.set_or_fill(number, &json!(ordinal), due.round);
        self.set_missing("started_at", &time(session.created_at));
        // A new round starts the clock anew; what somebody wrote about one that goes on stays.
        let restarted = self.said.started_at.filter(|at| *at <= session.updated_at);
        // Nor does a clock that stepped back make it begin before the session.
        let began = run.started_at.max(session.created_at);
        let began = restarted.map_or(began, |at| at.max(began));
        self.set_or_fill(clock, &time(began), due.round);
    }

    /// When the session was last changed, and not before anything that is known of it or stands in the file: a clock may
    /// have stepped back.
    fn latest(&self, session: &Session) -> Timestamp {
        let phases = session.runs.iter().flat_map(|run| &run.phases);
        let phases = phases.flat_map(|phase: &Phase| [phase.started_at(), phase.completed_at()]).flatten();
        let runs = session.runs.iter().flat_map(|run| [Some(run.started_at), run.completed_at]).flatten();
        let State { started_at, round_started_at, map_started_at, .. } = self.said;
        let said = [started_at, round_started_at, map_started_at].into_iter().flatten();
        phases.chain(runs).chain(said).chain([session.created_at]).fold(session.updated_at, Timestamp::max)
    }

    /// The file goes back to the round or run before, or says nothing of any.
    fn take_back(&mut self, kind: Kind, session: &Session) {
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

    /// What the file says otherwise is set; what it has no word about comes in with that.
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

/// Values that were there and that nobody understood, and are there no longer.
pub(super) fn not_understood(before: &[u8], after: &[u8]) -> Vec<String> {
    let (Ok(had), Ok(has)) = (Document::parse(before), Document::parse(after)) else { return Vec::new() };
    let said = state::of_bytes(before);
    let lost = KEYS.into_iter().filter(|key| had.get(&[key]) != has.get(&[key]) && !is_read(&said, key));
    lost.filter_map(|key| Some(format!("{key}: {}", had.get(&[key])?))).collect()
}

fn is_read(said: &State, key: &str) -> bool {
    let is_in_any = |fits: &dyn Fn(Kind) -> bool| [Kind::Review, Kind::Map].into_iter().any(fits);
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

/// The phase that the file names. A session that was closed is complete there, also one that was closed unfinished: that
/// is in the log, and the file has no word for it.
fn position(session: &Session, run: &Run, kind: Kind) -> Option<usize> {
    if matches!(session.lifecycle, Lifecycle::Completed { .. }) {
        return Some(kind.phases().len() - 1);
    }
    kind.phases().iter().position(|phase| *run.current().id() == **phase)
}

pub(super) fn kind_of(run: &Run) -> Option<Kind> {
    [Kind::Review, Kind::Map].into_iter().find(|kind| run.workflow.name.as_str() == kind.workflow())
}

/// To the second, in UTC.
fn time(at: Timestamp) -> Value {
    let seconds = Timestamp::from_second(at.as_second()).unwrap_or(at);
    json!(seconds.to_string())
}
