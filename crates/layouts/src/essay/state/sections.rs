//! The sections of stages 3 and 4, as their lists have them.

use super::reader::Reader;
use super::{Fields, Section, take};
use crate::essay::STAGES;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// More than any essay has; a slip of a digit must not make a million items.
pub(in crate::essay) const MOST_SECTIONS: u32 = 200;
pub(in crate::essay) const MOST_PARAGRAPHS: u32 = 200;
const COUNTERS: [&str; 2] = ["verified_claims", "deferred_claims"];
const VOICE: &str = "voice_check_score";
const KNOWN: [&str; 7] = [
    "section_index",
    "status",
    "completed_at",
    "verified_claims",
    "deferred_claims",
    "total_paragraphs",
    "completed_paragraphs",
];

impl Reader<'_> {
    pub(super) fn sections(&mut self, stages: &Map<String, Value>, position: usize) -> Vec<Section> {
        let key = STAGES[position].key;
        let Some(stage) = stages.get(key).and_then(Value::as_object) else { return Vec::new() };
        let mut sections: Vec<Section> = Vec::new();
        let entries = self.below(&format!("stages.{key}"), |reader| reader.list(stage, "sections"));
        for (place, entry) in (1..).zip(entries) {
            let section =
                self.below(&format!("stages.{key}.sections.{place}"), |reader| reader.section(entry, place));
            let Some(section) = section else { continue };
            if sections.iter().any(|known| known.index == section.index) {
                self.odd(format!(
                    "stages.{key}.sections has section_index {} more than once; the first one counts",
                    section.index
                ));
            } else {
                sections.push(section);
            }
        }
        sections.sort_by_key(|section| section.index);
        sections
    }

    fn section(&mut self, entry: &Map<String, Value>, place: u32) -> Option<Section> {
        let index = self.number(entry, "section_index").unwrap_or(place);
        if !(1..=MOST_SECTIONS).contains(&index) {
            self.odd(format!("section_index is {index}, and 1 to {MOST_SECTIONS} are taken"));
            return None;
        }
        let mut counters = BTreeMap::new();
        for key in COUNTERS {
            let count = self.number(entry, key);
            // A null that somebody wrote over a count says that there are none.
            let count = count.or_else(|| entry.get(key).is_some_and(Value::is_null).then_some(0));
            counters.extend(count.map(|count| (key.to_owned(), i64::from(count))));
        }
        let mut fields = Fields::new();
        take(&mut fields, entry, |key| !KNOWN.contains(&key));
        // A voice that is no longer checked is said so, and is not just missing.
        if entry.get(VOICE).is_some_and(Value::is_null) {
            fields.insert(VOICE.to_owned(), Value::Null);
        }
        if let Some(score) = entry.get(VOICE).filter(|score| !score.is_null() && !score.is_number()) {
            self.odd(format!("{VOICE} is {}, not a number", model::gate::shown(score)));
        }
        let (paragraphs, approved) = self.paragraphs(entry);
        let completed_at = self.time(entry, "completed_at");
        let is_whole = paragraphs.is_some_and(|total| approved >= total);
        Some(Section {
            index,
            status: self.stage_status(entry, completed_at.is_some() || is_whole),
            completed_at,
            counters,
            paragraphs,
            approved,
            fields,
        })
    }

    fn paragraphs(&mut self, entry: &Map<String, Value>) -> (Option<u32>, u32) {
        let total = self.number(entry, "total_paragraphs");
        let approved = self.number(entry, "completed_paragraphs").unwrap_or(0);
        for (key, number) in [("total_paragraphs", total.unwrap_or(0)), ("completed_paragraphs", approved)] {
            if number > MOST_PARAGRAPHS {
                self.odd(format!("{key} is {number}, and {MOST_PARAGRAPHS} is the most that is taken"));
            }
        }
        let (total, approved) =
            (total.map(|total| total.min(MOST_PARAGRAPHS)), approved.min(MOST_PARAGRAPHS));
        if let Some(total) = total.filter(|total| *total < approved) {
            self.odd(format!("completed_paragraphs is {approved}, of {total}"));
        }
        (total.map(|total| total.max(approved)).or((approved > 0).then_some(approved)), approved)
    }
}
