//! Tests of each rule of the format, with a file for each.

mod audited;
mod corpus;
mod definitions;
mod importing;
mod mutations;
mod outside;
mod reading;
mod rows;
mod version_two;
mod writing;

use super::*;
use crate::layout::{Occasion, ReadAs, SessionToPublish, puts};
use crate::tree::Entry;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::gate::AttemptReport;
use model::item::ItemBook;
use model::session::Session;
use serde_json::{Map, Value, json};

const FIRST_PATH: &str = ".praxis-os/.cache/state/6f1c2c1e-58a4-4d8c-9a57-0d5c3a1b7e90.json";
const SECOND_NAME: &str = "workflow_default_0b6a1a86-3f0e-4a53-8a5e-7f1d2c9b4e11.json";

/// A file in the first format, with two of three phases done.
const FIRST_FILE: &str = r#"{
  "session_id": "6f1c2c1e-58a4-4d8c-9a57-0d5c3a1b7e90",
  "workflow_type": "ship_v1",
  "target_file": ".praxis-os/specs/2025-11-02-import",
  "current_phase": 2,
  "completed_phases": [
    0,
    1
  ],
  "phase_artifacts": {
    "0": {
      "phase_number": 0,
      "evidence": {
        "files_read": 4
      },
      "outputs": {},
      "commands_executed": [
        {
          "command": "make check",
          "output": "ok",
          "exit_code": 0,
          "executed_at": "2025-11-02T09:04:00.000001",
          "duration_ms": 1.50e2
        }
      ],
      "timestamp": "2025-11-02T09:05:00.250000"
    },
    "1": {
      "phase_number": 1,
      "evidence": {},
      "outputs": {
        "note": "caf\u00e9"
      },
      "commands_executed": [],
      "timestamp": "2025-11-02T10:00:00"
    }
  },
  "checkpoints": {
    "0": "passed",
    "1": "passed"
  },
  "created_at": "2025-11-02T09:00:00.123456",
  "updated_at": "2025-11-02T10:00:00",
  "metadata": {
    "spec_path": ".praxis-os/specs/2025-11-02-import",
    "total_phases": 3
  }
}"#;

/// The session of `FIRST_FILE`, written in the second format. It has an open timing for a phase that does not
/// exist.
const SECOND_FILE: &str = r#"{
  "session_id": "workflow_default_0b6a1a86-3f0e-4a53-8a5e-7f1d2c9b4e11",
  "workflow_type": "ship_v1",
  "target_file": "import",
  "current_phase": 2,
  "completed_phases": [0, 1],
  "phase_artifacts": {
    "1": {"phase": 1, "artifact_type": "report", "file_path": "out/report.md", "metadata": {}, "timestamp": "2025-11-02T09:59:00"}
  },
  "checkpoints": {"0": "passed", "1": "passed"},
  "evidence_submitted": {"0": {"files_read": 4}, "1": {"done": true}},
  "phase_timings": {
    "0": {"phase": 0, "started_at": "2025-11-02T09:00:00", "completed_at": "2025-11-02T09:05:00", "duration_seconds": 300.0},
    "1": {"phase": 1, "started_at": "2025-11-02T09:05:00", "completed_at": "2025-11-02T10:00:00", "duration_seconds": 3300.0},
    "2": {"phase": 2, "started_at": "2025-11-02T10:00:00", "completed_at": null, "duration_seconds": null}
  },
  "created_at": "2025-11-02T09:00:00",
  "updated_at": "2025-11-02T10:00:00",
  "completed_at": null,
  "metadata": {"total_phases": 2},
  "status": "active"
}"#;

const SEED_FILE: &str = r#"{
  "session_id": "9a3e1a7c-1c7f-4f0e-8a55-3a1b2c3d4e5f",
  "workflow_type": "ship_v1",
  "target_file": "import",
  "current_phase": 1,
  "completed_phases": [0],
  "phase_artifacts": {
    "0": {"phase_number": 0, "evidence": {"n": 1}, "outputs": {}, "commands_executed": [], "timestamp": "2025-11-02T09:30:00Z"}
  },
  "checkpoints": {"0": "passed", "1": "failed"},
  "created_at": "2025-11-02T09:00:00Z",
  "updated_at": "2025-11-02T09:45:00Z",
  "metadata": {"user_options": {}, "attempts": {"1": [
    {"at": "2025-11-02T09:40:00Z", "outcome": "failed", "evidence": {"n": 1}},
    {"at": "2025-11-02T09:45:00Z", "outcome": "failed", "evidence": {"n": 2}}
  ]}},
  "workflow_structure": {"total_phases": 3, "starting_phase": 0, "indexing_scheme": "zero_based", "workflow_version": "v1"},
  "phase_timing": {
    "0": {"started_at": "2025-11-02T09:00:00Z", "completed_at": "2025-11-02T09:30:00Z", "paused_duration_seconds": 600},
    "1": {"started_at": "2025-11-02T09:30:00Z"}
  },
  "lifecycle": {"completed": false, "paused": false, "resume_count": 2, "last_error": null}
}"#;

fn now() -> Timestamp {
    "2026-02-01T12:00:00Z".parse().expect("a time")
}

fn zone() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone")
}

fn actor() -> Actor {
    Actor::person("praxis", String::new())
}

fn second(status: &str) -> String {
    format!("{SECOND}/{status}/{SECOND_NAME}")
}

/// The files of a project, including one session.
struct Case {
    spot: Spot,
    tree: Tree,
}

impl Case {
    fn new(path: &str, text: &str) -> Self {
        let mut tree = Tree::default();
        tree.set_zone(zone());
        let case = Self { spot: Praxis.identify(path, false).expect("a session's file"), tree };
        case.with(path, text)
    }

    fn first(text: &str) -> Self {
        Self::new(FIRST_PATH, text)
    }

    /// The session in the first format, after a change to its values.
    fn first_with(change: impl FnOnce(&mut Map<String, Value>)) -> Self {
        let mut fields = crate::json::object(FIRST_FILE.as_bytes()).expect("an object");
        change(&mut fields);
        Self::first(&Value::Object(fields).to_string())
    }

    fn with(mut self, path: &str, text: &str) -> Self {
        self.tree.insert(path, Entry::File(text.as_bytes().to_vec()));
        self
    }

    fn folder(&self) -> Folder<'_> {
        Folder {
            spot: &self.spot,
            id: &self.spot.id,
            worktree: "/w",
            tree: &self.tree,
            now: now(),
            read_as: ReadAs::Found,
        }
    }

    fn told(&self) -> Reading<ForeignSession> {
        Praxis.read(&self.folder())
    }

    fn warnings(&self) -> Vec<String> {
        self.told().warnings.into_iter().map(|problem| problem.to_string()).collect()
    }

    #[track_caller]
    fn warns(&self, part: &str) -> &Self {
        let warnings = self.warnings();
        assert!(warnings.iter().any(|warning| warning.contains(part)), "{part:?} is not in {warnings:?}");
        self
    }

    fn session(&self) -> Session {
        self.told().value.fold(&actor()).expect("a session").1
    }

    /// Expects this lifecycle, current phase, number of completed phases, and total number of phases.
    #[track_caller]
    fn stands(&self, expected: (&str, u32, usize, usize)) -> &Self {
        let session = self.session();
        let run = session.run().expect("a run");
        let found = (session.lifecycle.name(), run.current_number(), run.over(), run.phases.len());
        assert_eq!(found, expected, "{:?}", self.warnings());
        self
    }

    fn written(&self, session: &Session) -> Option<String> {
        let items = ItemBook::default();
        let publication = SessionToPublish::new(session, &items, &[]);
        let mut changes = puts(
            Praxis
                .write(&WriteRequest { purpose: Purpose::Update, publication: &publication }, &self.folder()),
        );
        assert!(changes.len() < 2);
        changes.pop().map(|change| String::from_utf8(change.content).expect("text"))
    }

    /// The text of the file after these events were written, and the case with that file.
    fn after(&self, events: &[(&str, Event)]) -> (String, Self) {
        let session = self.session_after(events);
        let text = self.written(&session).expect("a change");
        let path = file_of(&self.spot, &self.tree);
        let mut tree = self.tree.clone();
        tree.insert(path, Entry::File(text.clone().into_bytes()));
        (text, Self { spot: self.spot.clone(), tree })
    }

    fn session_after(&self, events: &[(&str, Event)]) -> Session {
        events.iter().fold(self.session(), |session, (at, event)| {
            let version = session.version + 1;
            let at = at.parse().expect("a time");
            session.apply(&Recorded { version, at, actor: actor(), event: event.clone() })
        })
    }
}

fn completed(number: u32, evidence: Value) -> Event {
    let Value::Object(evidence) = evidence else { panic!("evidence is an object") };
    Event::PhaseCompleted {
        phase: definition::phase_name(number),
        attempt: AttemptReport { evidence, ..AttemptReport::default() },
        branch: None,
        head: None,
    }
}

fn failed(number: u32, evidence: Value) -> Event {
    let Event::PhaseCompleted { phase, attempt, .. } = completed(number, evidence) else {
        unreachable!("made above")
    };
    Event::GateFailed { phase, attempt }
}

fn begun(number: u32) -> Event {
    Event::PhaseStarted { phase: definition::phase_name(number) }
}
