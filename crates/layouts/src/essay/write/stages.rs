//! Writes the stages.

use super::birds_eye::{BIRDS_EYE_KEY, BirdsEye};
use super::{Changes, time};
use crate::essay::STAGES;
use crate::essay::state::{FILE_KEYS, SHARED_KEYS, StageStatus};
use crate::yaml::Step::Key;
use model::event::Event;
use model::phase::Phase;
use serde_json::{Value, json};

impl Changes<'_> {
    pub(super) fn stage(&mut self, position: usize) {
        let key = STAGES[position].key;
        let path = |name| [Key("stages"), Key(key), Key(name)];
        let Some(ours) = self.ours.phase(position) else { return };
        let (status, said) = (self.ours.status(position), self.said.status(position));
        // A new file contains every status. In an existing file, only a status that differs is written: the
        // stage in progress may have none, because `current_stage` names it.
        if let Some(status) = status.filter(|status| self.is_new || Some(*status) != said) {
            self.set(&path("status"), &json!(status.name()));
        }
        // A stage that needs review keeps the completion time that it has, and gets no new one.
        let is_flagged = (said, status) == (Some(StageStatus::Completed), Some(StageStatus::NeedsReview));
        if said != status && !is_flagged {
            let ended = ours.completed_at().map_or(Value::Null, time);
            self.set(&path("completed_at"), &ended);
        }
        for (_, name, file) in FILE_KEYS.into_iter().filter(|(of, _, _)| *of == position) {
            let is_touched = self.touched.contains(name);
            // The path of the file that proves a completed stage is set here, not with the other fields.
            let value = ours.fields.get(name);
            if value.is_some() || status != Some(StageStatus::Completed) {
                self.field(&path(name), value, is_touched);
            }
            let is_there = status == Some(StageStatus::Completed) && self.folder.tree.has_file(file);
            let made = is_there.then(|| json!(format!("{}/{file}", self.session_dir())));
            self.fill(&path(name), made.filter(|_| said != status || self.is_new));
        }
        self.fields_of_stage(position, ours);
    }

    fn fields_of_stage(&mut self, position: usize, ours: &Phase) {
        let key = STAGES[position].key;
        let session = self.publication.session;
        for (_, name) in SHARED_KEYS.into_iter().filter(|(of, _)| *of == position) {
            let path = [Key("stages"), Key(key), Key(name)];
            let value = match name {
                "total_sections" => session.fields.get(name).cloned().or_else(|| self.outlined()),
                BIRDS_EYE_KEY => match self.birds_eye_now() {
                    BirdsEye::Says(value) => value,
                    BirdsEye::AsItIs => continue,
                },
                _ => session.fields.get(name).cloned(),
            };
            let is_touched = match name {
                "total_sections" => self.touched.contains(name) || self.is_completed_now(1),
                BIRDS_EYE_KEY => true,
                _ => self.touched.contains(name),
            };
            self.field(&path, value.as_ref(), is_touched);
        }
        // A field that is not the format's is updated only if the file already has its key.
        for (name, value) in &ours.fields {
            let path = [Key("stages"), Key(key), Key(name)];
            if self.document.get(&path).is_some() {
                self.field(&path, Some(value), self.touched.contains(name));
            }
        }
    }

    /// True if a stage was completed since the file was last written.
    pub(super) fn is_completed_now(&self, position: usize) -> bool {
        let name = STAGES[position].name;
        let is_it = |event: &Event| matches!(event, Event::PhaseCompleted { phase, .. } if *phase == *name);
        self.publication.since.iter().any(|recorded| is_it(&recorded.event))
    }

    /// The number of sections that was given when the outline was completed.
    fn outlined(&self) -> Option<Value> {
        let attempt = self.ours.phase(1)?.last_attempt()?;
        let targets = attempt.report.evidence.get("word_targets")?.as_array()?;
        (!targets.is_empty()).then(|| json!(targets.len()))
    }
}
