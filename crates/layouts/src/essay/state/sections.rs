//! Reads the lists of sections of stages 3 and 4.

use super::reader::Reader;
use super::{Fields, Section, take};
use crate::essay::STAGES;
use crate::problem::{Range, Type, What};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The maximum number of sections. No essay has more, and a mistyped digit must not create a million items.
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
                let what = What::SectionTwice { index: section.index };
                self.odd(&format!("stages.{key}.sections"), what);
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
            let range = Range::Indexes(MOST_SECTIONS);
            self.odd("section_index", What::OutOfRange { found: index.into(), range });
            return None;
        }
        let mut counters = BTreeMap::new();
        for key in COUNTERS {
            let count = self.number(entry, key);
            // A null in place of a count means zero.
            let count = count.or_else(|| entry.get(key).is_some_and(Value::is_null).then_some(0));
            counters.extend(count.map(|count| (key.to_owned(), i64::from(count))));
        }
        let mut fields = Fields::new();
        take(&mut fields, entry, |key| !KNOWN.contains(&key) && key != VOICE);
        // A voice score that was withdrawn is recorded as null.
        let voice = entry.get(VOICE).filter(|score| score.is_null() || self.is_score(score));
        fields.extend(voice.map(|score| (VOICE.to_owned(), score.clone())));
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

    fn is_score(&mut self, score: &Value) -> bool {
        if !score.is_number() {
            let found = model::typed_value::shown(score);
            self.odd(VOICE, What::WrongType { found, wanted: Type::Number });
        }
        score.is_number()
    }

    fn paragraphs(&mut self, entry: &Map<String, Value>) -> (Option<u32>, u32) {
        let total = self.number(entry, "total_paragraphs");
        let approved = self.number(entry, "completed_paragraphs").unwrap_or(0);
        for (key, number) in [("total_paragraphs", total.unwrap_or(0)), ("completed_paragraphs", approved)] {
            if number > MOST_PARAGRAPHS {
                let range = Range::AtMost(MOST_PARAGRAPHS);
                self.odd(key, What::OutOfRange { found: number.into(), range });
            }
        }
        let (total, approved) =
            (total.map(|total| total.min(MOST_PARAGRAPHS)), approved.min(MOST_PARAGRAPHS));
        if let Some(total) = total.filter(|total| *total < approved) {
            let range = Range::Of(total);
            self.odd("completed_paragraphs", What::OutOfRange { found: approved.into(), range });
        }
        (total.map(|total| total.max(approved)).or((approved > 0).then_some(approved)), approved)
    }
}
