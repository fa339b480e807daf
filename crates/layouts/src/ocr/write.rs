//! Writes state.json as the tool's own reader expects it. Sets only what says something else than the session does.

use super::Kind;
use super::state::{self, State};
use crate::json::Document;
use crate::layout::Spot;
use jiff::Timestamp;
use model::lifecycle::Lifecycle;
use model::run::Run;
use model::session::Session;
use serde_json::{Value, json};

/// The file as it is to be; none when it shows the session already.
pub(super) fn state(session: &Session, spot: &Spot, now_there: Option<&[u8]>) -> Option<Vec<u8>> {
    let run = session.run()?;
    let kind = kind_of(run)?;
    let name = spot.path.rsplit('/').next().unwrap_or_default();
    let (mut document, said) = match now_there.and_then(|bytes| Some((Document::parse(bytes).ok()?, bytes))) {
        Some((document, bytes)) => (document, state::of_bytes(bytes)),
        None => (Document::new(), State::default()),
    };
    let mut changes = Changes { document: &mut document, any: false };
    changes.set_missing("session_id", &json!(name));
    changes.kind(kind, &said);
    changes.status(session, &said);
    changes.phase(kind, position(session, run, kind), &said);
    let is_new_round = changes.round(kind, run, &said);
    changes.set_missing("started_at", &time(session.created_at));
    changes.round_began(kind, run, is_new_round);
    if changes.any {
        changes.set("updated_at", &time(session.updated_at));
    }
    changes.any.then(|| document.into_bytes())
}

struct Changes<'a> {
    document: &'a mut Document,
    any: bool,
}

impl Changes<'_> {
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

    fn kind(&mut self, kind: Kind, said: &State) {
        if said.kind != Some(kind) {
            self.set("workflow_type", &json!(kind.workflow()));
        }
    }

    fn status(&mut self, session: &Session, said: &State) {
        let status = match session.lifecycle {
            Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => "closed",
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => "active",
        };
        if said.status.as_deref() != Some(status) {
            self.set("status", &json!(status));
        }
    }

    fn phase(&mut self, kind: Kind, position: Option<usize>, said: &State) {
        let Some(position) = position else { return };
        // Older names of the same phase are left to whoever wrote them. A number alone says nothing: the other
        // workflow has a phase of that number, too.
        if said.named_phase(kind) == Some(position) && said.numbered_phase(kind) == Some(position) {
            return;
        }
        self.set("current_phase", &json!(kind.phases()[position]));
        self.set("phase_number", &json!(position + 1));
    }

    fn round(&mut self, kind: Kind, run: &Run, said: &State) -> bool {
        let (key, number) = match kind {
            Kind::Review => ("current_round", said.current_round),
            Kind::Map => ("current_map_run", said.current_map_run),
        };
        let is_new = number != Some(run.ordinal);
        if is_new {
            self.set(key, &json!(run.ordinal));
        }
        is_new
    }

    /// A new round starts the clock anew; what somebody wrote about one that goes on stays.
    fn round_began(&mut self, kind: Kind, run: &Run, is_new: bool) {
        let key = match kind {
            Kind::Review => "round_started_at",
            Kind::Map => "map_started_at",
        };
        if is_new {
            self.set(key, &time(run.started_at));
        } else {
            self.set_missing(key, &time(run.started_at));
        }
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

/// `merged` with the workflow that somebody meant who wrote none: the one that alone has such a phase, else the one
/// whose round or run they counted on; ours, when neither tells.
pub(super) fn of_the_workflow_meant(base: &[u8], theirs: &[u8], merged: Vec<u8>) -> Vec<u8> {
    let (was, now) = (state::of_bytes(base), state::of_bytes(theirs));
    let has_word = Document::parse(theirs).is_ok_and(|document| document.get(&["workflow_type"]).is_some());
    if has_word || was.kind.is_none() {
        return merged;
    }
    let counted = |was: Option<u32>, now: Option<u32>| now.is_some() && now != was;
    let by_count = match (
        counted(was.current_round, now.current_round),
        counted(was.current_map_run, now.current_map_run),
    ) {
        (true, false) => Some(Kind::Review),
        (false, true) => Some(Kind::Map),
        (true, true) | (false, false) => None,
    };
    match now.kind_of_phase().or(by_count).filter(|kind| was.kind != Some(*kind)) {
        Some(kind) => set(&merged, "workflow_type", &json!(kind.workflow())).unwrap_or(merged),
        None => merged,
    }
}

fn set(bytes: &[u8], key: &str, value: &Value) -> Option<Vec<u8>> {
    let mut document = Document::parse(bytes).ok()?;
    document.set(&[key], value);
    Some(document.into_bytes())
}

/// To the second, in UTC.
fn time(at: Timestamp) -> Value {
    let seconds = Timestamp::from_second(at.as_second()).unwrap_or(at);
    json!(seconds.to_string())
}
