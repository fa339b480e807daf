//! Removes secrets from the parts of events that contain text from callers. Every type of event is matched by name, so
//! that a new one must be added here.

use super::{SecretKind, in_text, in_value, places};
use model::event::{Event, ItemEvent};
use model::gate::AttemptReport;
use model::item::NewItem;
use serde_json::Value;
use std::collections::BTreeMap;

/// Removes secrets from an event. Returns a line about each of them.
pub(crate) fn event(event: &mut Event) -> Vec<String> {
    let mut said = Said::default();
    match event {
        Event::SessionStarted { title, goal, target, fields, .. } => {
            said.text("the goal", goal.as_mut());
            said.text("the title", Some(title));
            said.text("the target", target.as_mut());
            said.fields(fields);
        }
        Event::GateFailed { attempt, .. }
        | Event::PhaseCompleted { attempt, .. }
        | Event::PhaseClaimed { attempt: Some(attempt), .. } => said.attempt(attempt),
        Event::PhaseSkipped { reason, .. } => said.text("the reason", Some(reason)),
        Event::NoteAdded { text, fields, .. } => {
            said.text("the note", Some(text));
            said.fields(fields);
        }
        Event::NoteChanged { text, fields, .. } => {
            said.text("the note", text.as_mut());
            said.fields(fields);
        }
        Event::SessionPaused { reason, context, saved: _ } => {
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
        Event::ExternalEdit { title, goal, target, .. } => {
            said.text("the title", title.as_mut());
            said.text("the goal", goal.as_mut());
            said.text("the target", target.as_mut());
        }
        Event::Adopted { .. }
        | Event::Imported { .. }
        | Event::SessionMoved { .. }
        | Event::PhaseClaimed { attempt: None, .. }
        | Event::PhaseFlagged { .. }
        | Event::RunStarted { .. }
        | Event::PhasesAdded { .. }
        | Event::DefinitionUpdated { .. }
        | Event::RunSelected { .. }
        | Event::PhaseStarted { .. }
        | Event::RunCompleted
        | Event::NoteResolved { .. }
        | Event::SessionResumed { .. }
        | Event::SessionCompleted { .. }
        | Event::SessionReopened { .. }
        | Event::SessionExpired { .. }
        | Event::CheckApproved { .. }
        | Event::Signed { .. }
        | Event::ApprovalWithdrawn { .. }
        | Event::ArtifactRecorded { .. }
        | Event::Restored { .. }
        | Event::Purged { .. }
        | Event::SessionTaken { .. }
        | Event::ForkResolved { .. }
        | Event::RequirementSatisfied { .. }
        | Event::RequirementCleared { .. }
        | Event::Unknown { .. } => {}
    }
    said.lines
}

/// Removes secrets from an attempt. Returns a line about each of them.
pub(crate) fn attempt(attempt: &mut AttemptReport) -> Vec<String> {
    let mut said = Said::default();
    said.attempt(attempt);
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
            ItemEvent::ItemDropped { reason, .. } => self.text("the reason", reason.as_mut()),
            ItemEvent::ItemSet { change, .. } => {
                self.text("the item's title", change.title.as_mut());
                self.fields(&mut change.fields);
            }
            ItemEvent::ItemStarted { .. }
            | ItemEvent::ItemCompleted { .. }
            | ItemEvent::ItemUnblocked { .. }
            | ItemEvent::ItemReopened { .. }
            | ItemEvent::ItemClaimed { .. }
            | ItemEvent::ItemReleased { .. }
            | ItemEvent::ItemLeaseRenewed { .. } => {}
        }
    }

    fn new_item(&mut self, item: &mut NewItem) {
        self.text("the item's title", Some(&mut item.title));
        self.fields(&mut item.fields);
    }

    fn note(&mut self, place: &str, kinds: &[SecretKind]) {
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

    /// Removes secrets from an attempt, also from the results of its checks, which may repeat submitted values.
    fn attempt(&mut self, attempt: &mut AttemptReport) {
        let mut repeated: Vec<String> = Vec::new();
        let parts = [("evidence", &mut attempt.evidence), ("output", &mut attempt.outputs)];
        for (word, values) in parts {
            for (name, value) in values.iter_mut() {
                let before = value.clone();
                let kinds = in_value(name, value);
                collect(&before, value, &mut repeated);
                self.note(&format!("{word} '{name}'"), &kinds);
            }
        }
        // Longer secrets are replaced first, because a shorter one may be part of a longer one.
        repeated.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for check in &mut attempt.checks {
            for text in [&mut check.found, &mut check.needed, &mut check.help].into_iter().flatten() {
                for secret in &repeated {
                    *text = text.replace(secret, "[redacted]");
                }
                let kinds = in_text(text);
                self.note(&format!("check '{}'", check.id), &kinds);
            }
        }
        self.text("the reason", attempt.overridden.as_mut());
    }
}

/// Collects everything that was removed from a value at any level, in all forms in which messages may repeat it.
fn collect(before: &Value, after: &Value, secrets: &mut Vec<String>) {
    const SHORTEST: usize = 4;
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.iter().zip(after).for_each(|(before, after)| collect(before, after, secrets));
        }
        (Value::Object(before), Value::Object(after)) => {
            before.values().zip(after.values()).for_each(|(before, after)| collect(before, after, secrets));
        }
        (Value::String(text), after) if before != after => {
            let parts = places(text).into_iter().map(|(range, _)| text[range].to_owned());
            let spelled = format!("{text:?}").trim_matches('"').to_owned();
            let all = parts.chain([text.clone(), spelled]);
            secrets.extend(all.filter(|secret| secret.len() >= SHORTEST));
        }
        (Value::Number(number), Value::String(_)) => {
            secrets.extend(Some(number.to_string()).filter(|secret| secret.len() >= SHORTEST));
        }
        _ => {}
    }
}
