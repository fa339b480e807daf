//! The part of a session that a gate relies on, as text. The hash of the text is stored with the gate's event. The form
//! of the text never changes, because later programs compare it with the text that they fold from the same events.

use super::Session;
use crate::approval::Approval;
use crate::id::Name;
use crate::item::ItemCounts;
use crate::phase::{Phase, PhaseState};
use crate::run::Run;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Basis<'a> {
    layout: &'a str,
    path: Option<&'a str>,
    worktree: &'a str,
    title: &'a str,
    goal: Option<&'a str>,
    target: Option<&'a str>,
    fields: &'a BTreeMap<String, Value>,
    run: Option<RunBasis<'a>>,
    approvals: &'a [Approval],
    /// Path, hash, size and version of each file.
    artifacts: Vec<(&'a str, &'a str, u64, u32)>,
    went_back_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct RunBasis<'a> {
    workflow: &'a Name,
    hash: &'a str,
    ordinal: u32,
    current: &'a Name,
    phases: Vec<PhaseBasis<'a>>,
}

#[derive(Serialize)]
struct PhaseBasis<'a> {
    id: &'a Name,
    state: &'a PhaseState,
    claimed: bool,
    fields: &'a BTreeMap<String, Value>,
    items: ItemCounts,
    evidence: Option<&'a Map<String, Value>>,
}

impl Session {
    /// Returns everything in a session that checks and conditions can see, except the session's id, which may differ
    /// between stores.
    pub fn basis(&self) -> String {
        let artifacts = self.artifacts.values().map(|known| &known.newest);
        let basis = Basis {
            layout: &self.layout,
            path: self.path.as_deref(),
            worktree: &self.worktree,
            title: &self.title,
            goal: self.goal.as_deref(),
            target: self.target.as_deref(),
            fields: &self.fields,
            run: self.run().map(RunBasis::of),
            approvals: &self.approvals,
            artifacts: artifacts
                .map(|file| (file.path.as_str(), file.hash.as_str(), file.size, file.version))
                .collect(),
            went_back_at: self.went_back_at,
        };
        serde_json::to_string(&basis).unwrap_or_default()
    }
}

impl<'a> RunBasis<'a> {
    fn of(run: &'a Run) -> Self {
        Self {
            workflow: &run.workflow.name,
            hash: &run.workflow.hash,
            ordinal: run.ordinal,
            current: run.current().id(),
            phases: run.phases.iter().map(PhaseBasis::of).collect(),
        }
    }
}

impl<'a> PhaseBasis<'a> {
    fn of(phase: &'a Phase) -> Self {
        Self {
            id: phase.id(),
            state: &phase.state,
            claimed: phase.claimed,
            fields: &phase.fields,
            items: phase.items,
            evidence: phase.last_attempt().map(|attempt| &attempt.report.evidence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::event::{Event, Recorded};
    use serde_json::json;

    /// Old events contain hashes of this text, so it must never change.
    #[test]
    fn the_text_stays_as_it_is() {
        let event = |version: u64, body: Value| Recorded {
            version,
            at: Timestamp::UNIX_EPOCH,
            actor: Actor::person("anna", "host"),
            event: serde_json::from_value::<Event>(body).expect("an event"),
        };
        let workflow = json!({ "name": "w", "version": "1", "title": "W", "hash": "h", "indexing": "one", "on_complete": "close" });
        let session = Session::fold(&[
            event(1, json!({ "type": "session_started", "id": "s", "title": "T", "layout": "native", "worktree": "/w", "fields": { "a": 1 } })),
            event(2, json!({ "type": "run_started", "workflow": workflow, "ordinal": 1, "phases": [{ "id": "p", "title": "P" }], "definition": "d" })),
            event(3, json!({ "type": "phase_started", "phase": "p" })),
            event(4, json!({ "type": "artifact_recorded", "artifact": { "path": "x", "hash": "y", "size": 3, "version": 1 } })),
        ])
        .expect("a session");
        assert_eq!(
            session.basis(),
            r#"{"layout":"native","path":null,"worktree":"/w","title":"T","goal":null,"target":null,"fields":{"a":1},"run":{"workflow":"w","hash":"h","ordinal":1,"current":"p","phases":[{"id":"p","state":{"state":"in_progress","started_at":"1970-01-01T00:00:00Z"},"claimed":false,"fields":{},"items":{"total":0,"done":0},"evidence":null}]},"approvals":[],"artifacts":[["x","y",3,1]],"went_back_at":null}"#
        );
    }
}
