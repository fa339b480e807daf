//! The position inside the stages: section, paragraph, and the progress of each. Reads and writes no files.

use super::state::StageStatus;
use super::{NEEDS_REVIEW, STAGES};
use model::id::Name;
use model::item::{Item, ItemBook, ItemStatus, RunRef};
use model::lifecycle::Lifecycle;
use model::phase::{Phase, PhaseState};
use model::session::Session;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const VOICE_SCORE: &str = "voice_check_score";
const WORST_VOICE: f64 = 1.0;
pub(super) const BEST_VOICE: f64 = 5.0;

/// The number of a stage, and the section and paragraph at which work is in that stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub stage: u32,
    pub section: Option<u32>,
    pub paragraph: Option<u32>,
}

/// A session and its items, grouped by stage and section.
#[derive(Clone)]
pub(super) struct Standpoint<'a> {
    pub session: &'a Session,
    book: &'a ItemBook,
    /// The sections of stage 3 and of stage 4, by their numbers.
    sections: [BTreeMap<u32, &'a Item>; 2],
}

impl<'a> Standpoint<'a> {
    pub fn new(session: &'a Session, book: &'a ItemBook) -> Self {
        let mut sections = [BTreeMap::new(), BTreeMap::new()];
        let run = session.run().map(RunRef::from);
        for (stage, found) in sections.iter_mut().enumerate() {
            let phase = STAGES[stage + 2].name;
            let mut own: Vec<&Item> = book
                .iter()
                .filter(|item| {
                    Some(&item.run) == run.as_ref() && item.phase == *phase && item.parent.is_none()
                })
                .collect();
            own.sort_by_key(|item| item.sort_key());
            for item in own {
                if let Some(index) = index_of(item) {
                    found.entry(index).or_insert(item);
                }
            }
        }
        Self { session, book, sections }
    }

    pub fn phase(&self, position: usize) -> Option<&'a Phase> {
        let run = self.session.run()?;
        run.phases.iter().find(|phase| *phase.id() == *STAGES[position].name)
    }

    /// The status of a stage in the file's words.
    pub fn status(&self, position: usize) -> Option<StageStatus> {
        let phase = self.phase(position)?;
        match phase.state {
            // The stage was interrupted: somebody has worked on it, so it needs review.
            PhaseState::NotStarted if self.session.was_interrupted(phase.id()) => {
                Some(StageStatus::NeedsReview)
            }
            PhaseState::NotStarted => Some(StageStatus::NotStarted),
            PhaseState::InProgress { .. } => Some(StageStatus::InProgress),
            PhaseState::Completed { .. } => Some(StageStatus::Completed),
            PhaseState::NeedsReview { .. } => Some(StageStatus::NeedsReview),
            // The format has no word for a skipped stage.
            PhaseState::Skipped { .. } => None,
        }
    }

    /// The index of the current stage, from 0 to 3.
    pub fn current(&self) -> Option<usize> {
        let current: &Name = self.session.run()?.current().id();
        STAGES.iter().position(|stage| *current == *stage.name)
    }

    /// Sections of stage 3 or 4, by index.
    pub fn sections(&self, position: usize) -> &BTreeMap<u32, &'a Item> {
        &self.sections[usize::from(position == 3)]
    }

    /// True if the declared number of sections includes this section, or no number is declared.
    pub fn is_outlined(&self, index: u32) -> bool {
        let total = self.session.fields.get("total_sections").and_then(Value::as_u64);
        total.is_none_or(|total| u64::from(index) <= total)
    }

    pub fn paragraphs(&self, section: &Item) -> Vec<&'a Item> {
        let mut parts: Vec<&Item> = self.book.parts_of(&section.id).collect();
        parts.sort_by_key(|item| item.sort_key());
        parts
    }

    /// The status of a section, including its paragraphs.
    pub fn status_of(&self, section: &Item) -> StageStatus {
        let paragraphs = self.paragraphs(section);
        let is_begun = paragraphs.iter().any(|item| item.is_done() || item.status == ItemStatus::Active);
        match &section.status {
            ItemStatus::Completed { .. } | ItemStatus::Dropped { .. } => StageStatus::Completed,
            ItemStatus::Active | ItemStatus::Blocked { .. } => StageStatus::InProgress,
            ItemStatus::Pending if section.fields.get(NEEDS_REVIEW) == Some(&Value::Bool(true)) => {
                StageStatus::NeedsReview
            }
            ItemStatus::Pending if is_begun => StageStatus::InProgress,
            ItemStatus::Pending => StageStatus::NotStarted,
        }
    }

    /// How many paragraphs a section has, and how many of them are approved.
    pub fn counts(&self, section: &Item) -> (u32, u32) {
        let paragraphs = self.paragraphs(section);
        let done = paragraphs.iter().filter(|item| item.is_done()).count();
        (count(paragraphs.len()), count(done))
    }

    pub fn position(&self) -> Option<Position> {
        let current = self.current()?;
        let stage = count(current + 1);
        if current < 2 {
            return Some(Position { stage, section: None, paragraph: None });
        }
        let (section, paragraph) = self.at_work(current);
        Some(Position { stage, section, paragraph })
    }

    /// The section and paragraph at which work continues: the active ones, or else the first that are not
    /// done.
    fn at_work(&self, position: usize) -> (Option<u32>, Option<u32>) {
        let sections = self.sections(position);
        let has_active = |section: &Item| {
            section.status == ItemStatus::Active
                || self.paragraphs(section).iter().any(|part| part.status == ItemStatus::Active)
        };
        let mut sections = sections.iter().filter(|(index, _)| self.is_outlined(**index));
        let active = sections.clone().find(|(_, section)| has_active(section));
        let found = active.or_else(|| sections.find(|(_, section)| !section.is_done()));
        let Some((index, section)) = found else { return (None, None) };
        let parts = self.paragraphs(section);
        let active = parts.iter().position(|part| part.status == ItemStatus::Active);
        let paragraph = active.or_else(|| parts.iter().position(|part| !part.is_done()));
        (Some(*index), paragraph.filter(|_| position == 3).map(|at| count(at + 1)))
    }

    pub fn counter(&self, name: &str) -> i64 {
        self.sections(2).values().filter_map(|section| section.counters.get(name)).sum()
    }

    /// Voice scores of sections, by section.
    pub fn voices(&self) -> Vec<(u32, f64)> {
        let score = |section: &&Item| section.fields.get(VOICE_SCORE).and_then(Value::as_f64);
        self.sections(3).iter().filter_map(|(index, item)| Some((*index, score(item)?))).collect()
    }

    pub fn is_finished(&self) -> bool {
        matches!(self.session.lifecycle, Lifecycle::Completed { .. })
    }
}

/// True for a valid score of the voice check, a number up to five.
pub(super) fn is_voice_score(value: &Value) -> bool {
    value.as_f64().is_some_and(|score| (WORST_VOICE..=BEST_VOICE).contains(&score))
}

/// The section's declared number, or else the number at the end of its id.
fn index_of(item: &Item) -> Option<u32> {
    let said = item.fields.get("section_index").and_then(Value::as_u64);
    let id = item.id.as_str();
    let digits = id.len() - id.trim_end_matches(|digit: char| digit.is_ascii_digit()).len();
    let index =
        said.and_then(|index| u32::try_from(index).ok()).or_else(|| id[id.len() - digits..].parse().ok());
    index.filter(|index| (1..=super::state::MOST_SECTIONS).contains(index))
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
