//! Writes the second format. Its tool refuses files with unknown keys, so everything that leftoff adds is
//! below `metadata`, under the key `OURS` of `praxis.rs`; `praxis/state.rs` reads it there.

use super::{Change, about};
use crate::json::Document;
use crate::layout::{Folder, SessionToPublish};
use crate::praxis::state::Shape;
use crate::praxis::time_format::{self, Writing};
use crate::praxis::{OURS, PAUSED};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Sections that an earlier release of leftoff wrote at the top level, where this format forbids unknown
/// keys.
const MISPLACED: &[&str] = &["lifecycle", "workflow_structure"];

/// The file of a new session in this format.
pub(super) fn anew(publication: &SessionToPublish<'_>, folder: &Folder<'_>, path: &str) -> Option<Vec<u8>> {
    let session = publication.session;
    let run = session.run()?;
    let zone = folder.tree.zone();
    let at = |at: Timestamp| json!(time_format::write(at, Writing::Local, &zone));
    let mut document = Document::new();
    for (key, value) in [
        ("session_id", json!(session.id)),
        ("workflow_type", json!(run.workflow.name)),
        ("target_file", json!(about(session))),
        ("current_phase", json!(run.current_number())),
        ("completed_phases", json!([])),
        ("phase_artifacts", json!({})),
        ("checkpoints", json!({})),
        ("evidence_submitted", json!({})),
        ("phase_timings", json!({})),
        ("created_at", at(session.created_at)),
        ("updated_at", at(session.updated_at)),
        ("completed_at", Value::Null),
        ("metadata", json!({})),
        ("status", json!("active")),
    ] {
        document.set(&[key], &value);
    }
    let blank = document.into_bytes();
    let document = Document::parse(&blank).ok()?;
    let mut change = Change::new(publication, folder, path, &blank, document)?;
    // No phase has times in the file yet, so every started phase gets them.
    change.went_on_without = Some(Timestamp::MIN);
    change.any = true;
    change.all();
    Some(change.document.into_bytes())
}

impl Change<'_> {
    /// Moves sections that an earlier release of leftoff misplaced. The move does not count as a change: if
    /// the session is unchanged, the file stays as it is.
    pub(super) fn move_ours_into_metadata(&mut self) {
        for key in MISPLACED {
            if let Some(section) = self.document.get(&[key]) {
                self.document.set_missing(&["metadata", OURS, key], &section);
                self.document.remove(&[key]);
            }
        }
        for number in self.document.keys(&["phase_timings"]) {
            let misplaced = ["phase_timings", &number, PAUSED];
            if let Some(seconds) = self.document.get(&misplaced) {
                self.document.set_missing(&["metadata", OURS, PAUSED, &number], &seconds);
                self.document.remove(&misplaced);
            }
        }
    }

    /// Moves the reason of an error to the last error, because the format forbids the key for the reason.
    pub(super) fn move_error_reason(&mut self) {
        if let Some(reason) = self.document.get(&["error_reason"]) {
            if reason.is_string() {
                self.document.set_missing(&["metadata", OURS, "lifecycle"], &super::lifecycle::none());
                self.document.set(&["metadata", OURS, "lifecycle", "last_error"], &reason);
            }
            self.document.remove(&["error_reason"]);
        }
    }

    /// True if the format has this word for a checkpoint. Other words are written below `metadata`.
    pub(super) fn has_word(&mut self, number: u32, word: &str) -> bool {
        let is_skipped = word == "skipped";
        if self.said.shape != Shape::Second {
            return true;
        }
        let key = number.to_string();
        let path = ["metadata", OURS, "checkpoints", key.as_str()];
        if is_skipped {
            self.set(&path, &json!(word));
        } else if self.document.get(&path).is_some() {
            self.document.remove(&path);
            self.any = true;
        }
        !is_skipped
    }

    pub(super) fn paused(&mut self, section: &str, number: &str, seconds: u64) {
        let path = match self.said.shape {
            Shape::Second => vec!["metadata", OURS, PAUSED, number],
            Shape::First | Shape::Seed => vec![section, number, PAUSED],
        };
        self.set(&path, &json!(seconds));
    }
}
