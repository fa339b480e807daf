//! Writes sections and paragraphs to the lists of stages 3 and 4, and the current section and paragraph.

use super::{Changes, time};
use crate::essay::STAGES;
use crate::essay::artifacts::argument_map;
use crate::essay::state::StageStatus;
use crate::yaml::Step;
use crate::yaml::Step::{At, Key};
use model::event::{Event, ItemEvent};
use model::id::ItemId;
use model::item::{Item, ItemStatus};
use model::revision::Impact;
use serde_json::{Map, Value, json};

impl Changes<'_> {
    pub(super) fn sections(&mut self) {
        for position in [2, 3] {
            let ours: Vec<(u32, &Item)> =
                self.ours.sections(position).iter().map(|(index, item)| (*index, *item)).collect();
            for (index, item) in ours {
                if let Some(place) = self.place_in_list(position, index) {
                    self.section(position, place, index, item);
                } else if !self.was_taken_out(position, index, item) {
                    let entry = self.new_entry(position, index, item);
                    self.push(&[Key("stages"), Key(STAGES[position].key), Key("sections")], &entry);
                }
            }
            self.sections_taken_back(position);
        }
    }

    /// True if somebody removed a section from the file since leftoff wrote it, and the section was neither
    /// added nor worked on after that. Such a section stays in the log only.
    fn was_taken_out(&self, position: usize, index: u32, item: &Item) -> bool {
        let has_not_begun = self.ours.status(position) == Some(StageStatus::NotStarted);
        let is_back = self.happened_to(&item.id).any(|event| match event {
            ItemEvent::ItemAdded { item: new } => new.id.is(&item.id),
            // If a section is beyond the number of sections, or its stage has not started, these events do
            // not add it to the file again.
            ItemEvent::ItemStarted { .. } | ItemEvent::ItemCompleted { .. } | ItemEvent::ItemSet { .. } => {
                self.ours.is_outlined(index) && !has_not_begun
            }
            ItemEvent::ItemBlocked { .. }
            | ItemEvent::ItemUnblocked { .. }
            | ItemEvent::ItemReopened { .. }
            | ItemEvent::ItemClaimed { .. }
            | ItemEvent::ItemReleased { .. }
            | ItemEvent::ItemLeaseRenewed { .. }
            | ItemEvent::ItemSplit { .. }
            | ItemEvent::ItemDropped { .. } => false,
        });
        !is_back && !self.is_outlined_anew(index) && !self.is_new && !self.went_back
    }

    /// True if the number of sections was set again, and includes this section.
    fn is_outlined_anew(&self, index: u32) -> bool {
        let total = self.ours.session.fields.get("total_sections").and_then(Value::as_u64);
        self.touched.contains("total_sections") && total.is_some_and(|total| u64::from(index) <= total)
    }

    /// Removes sections of an earlier run, and sections whose addition was undone.
    fn sections_taken_back(&mut self, position: usize) {
        let said: Vec<u32> = self.said.sections(position).keys().copied().collect();
        let is_gone = |index: &u32| !self.ours.sections(position).contains_key(index);
        let takes_back = self.went_back || self.began_again();
        for index in said.into_iter().filter(|_| takes_back).filter(is_gone).collect::<Vec<u32>>() {
            if let Some(place) = self.place_in_list(position, index) {
                self.drop_entry(&[Key("stages"), Key(STAGES[position].key), Key("sections")], place);
            }
        }
    }

    /// Sets the current section and paragraph. A restarted stage has neither.
    pub(super) fn place(&mut self) {
        for position in 2..STAGES.len() {
            self.no_place(position);
        }
        let (Some(ours), said) = (self.ours.position(), self.said.position()) else { return };
        let Some(position) = self.ours.current().filter(|position| *position > 1) else { return };
        let path = |name| [Key("stages"), Key(STAGES[position].key), Key(name)];
        let is_moved = said != Some(ours);
        if let Some(section) = ours.section.filter(|_| is_moved || self.is_new) {
            self.set(&path("current_section"), &json!(section));
            if let Some(paragraph) = ours.paragraph.filter(|_| position == 3) {
                self.set(&path("current_paragraph"), &json!(paragraph));
            }
        }
    }

    fn no_place(&mut self, position: usize) {
        if !self.begins_anew(position) {
            return;
        }
        for name in ["current_section", "current_paragraph"] {
            let path = [Key("stages"), Key(STAGES[position].key), Key(name)];
            if self.document.get(&path).is_some() {
                self.set(&path, &Value::Null);
            }
        }
    }

    /// True if the whole stage is redone, because an earlier stage was revised or a new run started.
    fn begins_anew(&self, position: usize) -> bool {
        let name = STAGES[position].name;
        let is_major = |event: &Event| match event {
            Event::PhaseRevised { revision } => {
                revision.impact == Impact::Major && revision.restarted.iter().any(|phase| *phase == *name)
            }
            _ => false,
        };
        self.ours.status(position) == Some(StageStatus::NotStarted)
            && (self.began_again() || self.publication.since.iter().any(|recorded| is_major(&recorded.event)))
    }

    /// True if a new run started since the file was last written.
    fn began_again(&self) -> bool {
        let is_run = |event: &Event| matches!(event, Event::RunStarted { ordinal, .. } if *ordinal > 1);
        self.publication.since.iter().any(|recorded| is_run(&recorded.event))
    }

    /// The index of a section in the list. An entry without a number is identified by its position.
    fn place_in_list(&self, position: usize, index: u32) -> Option<usize> {
        let list = self.document.get(&[Key("stages"), Key(STAGES[position].key), Key("sections")])?;
        list.as_array()?.iter().enumerate().position(|(place, entry)| {
            let said = entry.get("section_index").and_then(Value::as_u64);
            entry.is_object() && said.unwrap_or(place as u64 + 1) == u64::from(index)
        })
    }

    fn section(&mut self, position: usize, place: usize, index: u32, ours: &Item) {
        let key = STAGES[position].key;
        let path = |name| [Key("stages"), Key(key), Key("sections"), At(place), Key(name)];
        let said = self.said.sections(position).get(&index).copied();
        let status = self.ours.status_of(ours);
        // The current section of the file counts as started, whatever its status in the file. Only a change
        // of its status is written.
        let is_said = self.document.get(&path("status")) == Some(json!(status.name()));
        let is_moved = self.is_moved(&ours.id) && !is_said;
        if is_moved || said.is_none_or(|said| self.said.status_of(said) != status) {
            self.set(&path("status"), &json!(status.name()));
            let ended = ended(ours);
            if position == 2 || self.document.get(&path("completed_at")).is_some() {
                self.set(&path("completed_at"), &ended);
            }
        }
        // The argument map may be newer than the completion of the section.
        let is_news = self.is_touched(&ours.id) || self.is_completed_now(2);
        if position == 2 && status == StageStatus::Completed && is_news {
            self.fill(&path("argument_map_file"), self.map_file(index));
        }
        self.counters(&path, ours, said);
        self.fields_of_section(position, &path, ours, said);
        if position == 3 && self.is_touched(&ours.id) {
            let (total, approved) = self.ours.counts(ours);
            let had_some = said.is_some_and(|said| self.said.counts(said).0 > 0);
            if total > 0 || (self.went_back && had_some) {
                let number = if total > 0 { json!(total) } else { Value::Null };
                self.set(&path("total_paragraphs"), &number);
                self.set(&path("completed_paragraphs"), &json!(approved));
            }
        }
    }

    fn counters<'k>(
        &mut self,
        path: &impl Fn(&'k str) -> [Step<'k>; 5],
        ours: &'k Item,
        said: Option<&'k Item>,
    ) {
        let undone = said.into_iter().flat_map(|said| &said.counters).map(|(name, _)| (name, &0));
        let undone = undone.filter(|(name, _)| self.went_back && !ours.counters.contains_key(*name));
        let undone: Vec<(&String, &i64)> = undone.collect();
        for (name, count) in ours.counters.iter().chain(undone) {
            let was = said.and_then(|said| said.counters.get(name)).copied().unwrap_or(0);
            let is_known = ["verified_claims", "deferred_claims"].contains(&name.as_str());
            if was != *count && (is_known || self.document.get(&path(name)).is_some()) {
                self.set(&path(name), &json!(count));
            }
        }
    }

    fn fields_of_section<'k>(
        &mut self,
        position: usize,
        path: &impl Fn(&'k str) -> [Step<'k>; 5],
        ours: &'k Item,
        said: Option<&Item>,
    ) {
        let known = if position == 2 { "argument_map_file" } else { "voice_check_score" };
        // The argument map of a completed section was already set above.
        let is_named = position == 2 && ours.is_done();
        if self.went_back && !is_named && !ours.fields.contains_key(known) {
            self.field(&path(known), None, true);
        }
        for (name, value) in &ours.fields {
            let is_said = said.is_some_and(|said| said.fields.get(name) == Some(value));
            let is_there = self.document.get(&path(name)).is_some();
            let has_own_place = ["section_index", "status", "completed_at"].contains(&name.as_str());
            if !is_said && !has_own_place && (is_there || name == known) {
                let is_touched =
                    self.is_touched(&ours.id) && (!value.is_null() || self.is_taken_away(&ours.id, name));
                self.field(&path(name), Some(value), is_touched);
            }
        }
    }

    fn new_entry(&self, position: usize, index: u32, item: &Item) -> Value {
        let mut entry = Map::new();
        let mut put = |name: &str, value: Value| drop(entry.insert(name.to_owned(), value));
        let status = self.ours.status_of(item);
        let field = |name: &str| item.fields.get(name).cloned().unwrap_or_default();
        let counter = |name: &str| json!(item.counters.get(name).copied().unwrap_or(0));
        put("section_index", json!(index));
        if position == 2 {
            let made = self.map_file(index).filter(|_| status == StageStatus::Completed);
            let map = item.fields.get("argument_map_file").cloned().or(made);
            put("status", json!(status.name()));
            put("argument_map_file", map.unwrap_or_default());
            put("verified_claims", counter("verified_claims"));
            put("deferred_claims", counter("deferred_claims"));
            put("completed_at", ended(item));
        } else {
            let (total, approved) = self.ours.counts(item);
            put("total_paragraphs", if total > 0 { json!(total) } else { Value::Null });
            put("completed_paragraphs", json!(approved));
            put("status", json!(status.name()));
            put("voice_check_score", field("voice_check_score"));
        }
        Value::Object(entry)
    }

    fn map_file(&self, index: u32) -> Option<Value> {
        let name = argument_map(index);
        self.folder.tree.has_file(&name).then(|| json!(format!("{}/{name}", self.session_dir())))
    }

    /// True if a section or its paragraphs changed since the file was last written.
    fn is_touched(&self, section: &ItemId) -> bool {
        self.is_new || self.went_back || self.happened_to(section).next().is_some()
    }

    /// True if the status of a section changed since the file was last written.
    fn is_moved(&self, section: &ItemId) -> bool {
        let is_move = |event: &ItemEvent| match event {
            ItemEvent::ItemStarted { .. }
            | ItemEvent::ItemCompleted { .. }
            | ItemEvent::ItemReopened { .. }
            | ItemEvent::ItemReleased { .. } => true,
            ItemEvent::ItemAdded { .. }
            | ItemEvent::ItemBlocked { .. }
            | ItemEvent::ItemUnblocked { .. }
            | ItemEvent::ItemClaimed { .. }
            | ItemEvent::ItemLeaseRenewed { .. }
            | ItemEvent::ItemSplit { .. }
            | ItemEvent::ItemSet { .. }
            | ItemEvent::ItemDropped { .. } => false,
        };
        self.happened_to(section).any(is_move)
    }

    fn is_taken_away(&self, section: &ItemId, name: &str) -> bool {
        self.happened_to(section).any(|event| match event {
            ItemEvent::ItemSet { id, change } => {
                id.is(section) && change.fields.get(name).is_some_and(Value::is_null)
            }
            _ => false,
        })
    }

    fn happened_to<'s>(&'s self, section: &'s ItemId) -> impl Iterator<Item = &'s ItemEvent> {
        let inside = format!("{}.", section.key());
        self.publication.since.iter().filter_map(move |recorded| {
            let Event::Item(event) = &recorded.event else { return None };
            let (id, parent) = named(event);
            let is_its =
                id.is(section) || id.key().starts_with(&inside) || parent.is_some_and(|id| id.is(section));
            is_its.then_some(event)
        })
    }
}

fn ended(item: &Item) -> Value {
    match item.status {
        ItemStatus::Completed { completed_at } => time(completed_at),
        ItemStatus::Pending
        | ItemStatus::Active
        | ItemStatus::Blocked { .. }
        | ItemStatus::Dropped { .. } => Value::Null,
    }
}

/// The item of an event, and the container of that item if the event names one.
fn named(event: &ItemEvent) -> (&ItemId, Option<&ItemId>) {
    match event {
        ItemEvent::ItemAdded { item } => (&item.id, item.parent.as_ref()),
        ItemEvent::ItemStarted { id }
        | ItemEvent::ItemCompleted { id, .. }
        | ItemEvent::ItemBlocked { id, .. }
        | ItemEvent::ItemUnblocked { id }
        | ItemEvent::ItemReopened { id, .. }
        | ItemEvent::ItemClaimed { id, .. }
        | ItemEvent::ItemReleased { id }
        | ItemEvent::ItemLeaseRenewed { id, .. }
        | ItemEvent::ItemSplit { id, .. }
        | ItemEvent::ItemSet { id, .. }
        | ItemEvent::ItemDropped { id, .. } => (id, None),
    }
}
