//! Which parts of an event are text from a caller. Names every event: a new one says here what it carries.

use super::{Kind, in_text, in_value};
use model::event::{Event, ItemEvent};
use model::gate::AttemptReport;
use model::item::NewItem;
use serde_json::Value;
use std::collections::BTreeMap;

/// Takes secrets out of an event; what was done, a line each.
pub(crate) fn event(event: &mut Event) -> Vec<String> {
    let mut said = Said::default();
    match event {
        Event::SessionStarted { title, goal, target, fields, .. } => {
            said.text("the goal", goal.as_mut());
            said.text("the title", Some(title));
            said.text("the target", target.as_mut());
            said.fields(fields);
        }
        Event::GateFailed { attempt, .. } | Event::PhaseCompleted { attempt, .. } => said.attempt(attempt),
        Event::PhaseSkipped { reason, .. } => said.text("the reason", Some(reason)),
        Event::NoteAdded { text, fields, .. } => {
            said.text("the note", Some(text));
            said.fields(fields);
        }
        Event::SessionPaused { reason, context } => {
            said.text("the reason", Some(reason));
            said.text("the context", context.as_mut());
        }
        Event::SessionAbandoned { reason, .. } | Event::RolledBack { reason, .. } => {
            said.text("the reason", reason.as_mut());
        }
        Event::SessionFailed { error } => said.text("the error", Some(error)),
        Event::FieldsSet { fields, .. } => said.fields(fields),
        Event::PhaseRevised { revision } => said.text("the reason", Some(&mut revision.reason)),
        Event::CheckpointMade { name } => said.text("the checkpoint's name", Some(name)),
        Event::Item(event) => said.item(event),
        Event::RunStarted { .. }
        | Event::RunSelected { .. }
        | Event::PhaseStarted { .. }
        | Event::RunCompleted
        | Event::NoteResolved { .. }
        | Event::SessionResumed { .. }
        | Event::SessionCompleted { .. }
        | Event::SessionReopened { .. }
        | Event::SessionExpired { .. }
        | Event::CheckApproved { .. }
        | Event::ArtifactRecorded { .. }
        | Event::Restored { .. }
        | Event::Purged { .. }
        | Event::SessionTaken { .. }
        | Event::Unknown { .. } => {}
    }
    said.lines
}

#[derive(Default)]
struct Said {
    lines: Vec<String>,
}

impl Said {
    fn item(&mut self, event: &mut ItemEvent) {
        match event {
            ItemEvent::ItemAdded { item } => self.new_item(item),
            ItemEvent::ItemSplit { parts, .. } => parts.iter_mut().for_each(|part| self.new_item(part)),
            ItemEvent::ItemBlocked { reason, .. } => self.text("the reason", Some(reason)),
            ItemEvent::ItemSet { change, .. } => {
                self.text("the item's title", change.title.as_mut());
                self.fields(&mut change.fields);
            }
            ItemEvent::ItemStarted { .. }
            | ItemEvent::ItemCompleted { .. }
            | ItemEvent::ItemUnblocked { .. }
            | ItemEvent::ItemClaimed { .. }
            | ItemEvent::ItemReleased { .. }
            | ItemEvent::ItemLeaseRenewed { .. } => {}
        }
    }

    fn new_item(&mut self, item: &mut NewItem) {
        self.text("the item's title", Some(&mut item.title));
        self.fields(&mut item.fields);
    }

    fn note(&mut self, place: &str, kinds: &[Kind]) {
        for kind in kinds {
            let line = format!("a secret in {place} was redacted ({kind})");
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
    }

    fn text(&mut self, place: &str, text: Option<&mut String>) {
        if let Some(text) = text {
            let kinds = in_text(text);
            self.note(place, &kinds);
        }
    }

    fn fields(&mut self, fields: &mut BTreeMap<String, Value>) {
        for (name, value) in fields {
            let kinds = in_value(name, value);
            self.note(&format!("field '{name}'"), &kinds);
        }
    }

    /// What a check found may repeat what was handed in.
    fn attempt(&mut self, attempt: &mut AttemptReport) {
        let mut repeated: Vec<String> = Vec::new();
        let parts = [("evidence", &mut attempt.evidence), ("output", &mut attempt.outputs)];
        for (word, values) in parts {
            for (name, value) in values.iter_mut() {
                let before = value.clone();
                let kinds = in_value(name, value);
                if let (false, Value::String(text)) = (kinds.is_empty(), before) {
                    repeated.push(text);
                }
                self.note(&format!("{word} '{name}'"), &kinds);
            }
        }
        for check in &mut attempt.checks {
            for text in [&mut check.found, &mut check.needed].into_iter().flatten() {
                for secret in repeated.iter().filter(|secret| secret.len() >= 4) {
                    *text = text.replace(secret, "[redacted]");
                }
                let kinds = in_text(text);
                self.note(&format!("check '{}'", check.id), &kinds);
            }
        }
        self.text("the reason", attempt.overridden.as_mut());
    }
}
