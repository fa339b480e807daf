//! Trims a snapshot to the parts that commands need. The log has the whole history.

use super::Session;
use crate::note::{Note, NoteKind};
use std::collections::BTreeMap;

const KEPT_ATTEMPTS: usize = 5;
const KEPT_NOTES_OF_A_KIND: usize = 50;
/// The maximum number of notes of the kind "note" in a snapshot. These notes are the most frequent, and every command
/// writes the snapshot.
const KEPT_PLAIN_NOTES: usize = 10;
const KEPT_RUNS: usize = 4;
const KEPT_REVISIONS: usize = 20;
const KEPT_CHECKPOINTS: usize = 50;

impl Session {
    /// Returns the session without old history, so that its size does not grow with the log. Trimming after each event
    /// has the same result as trimming once at the end.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        self.trim_runs();
        for phase in self.runs.iter_mut().flat_map(|run| &mut run.phases) {
            keep_last(&mut phase.attempts, KEPT_ATTEMPTS);
        }
        keep_last(&mut self.revisions, KEPT_REVISIONS);
        keep_last(&mut self.checkpoints, KEPT_CHECKPOINTS);
        self.trim_notes();
        self
    }

    fn trim_runs(&mut self) {
        let current = self.run().map(|run| (run.workflow.name.clone(), run.ordinal));
        let first_kept = self.runs.len().saturating_sub(KEPT_RUNS);
        let mut position = 0;
        self.runs.retain(|run| {
            position += 1;
            let is_current = current
                .as_ref()
                .is_some_and(|(name, ordinal)| run.workflow.name == *name && run.ordinal == *ordinal);
            position > first_kept || run.is_open() || is_current
        });
        if let Some((name, ordinal)) = current {
            self.select(&name, ordinal);
        }
    }

    /// Drops old notes, except open notes and the newest of each kind.
    fn trim_notes(&mut self) {
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        let mut kept: Vec<Note> = Vec::with_capacity(self.notes.len());
        for note in self.notes.drain(..).rev() {
            if note.is_open() {
                kept.push(note);
                continue;
            }
            let rank = seen.entry(note.kind).or_default();
            *rank += 1;
            let most = if note.kind == NoteKind::Note { KEPT_PLAIN_NOTES } else { KEPT_NOTES_OF_A_KIND };
            if *rank <= most {
                kept.push(note);
            }
        }
        kept.reverse();
        self.notes = kept;
    }
}

fn keep_last<T>(values: &mut Vec<T>, most: usize) {
    let surplus = values.len().saturating_sub(most);
    values.drain(..surplus);
}
