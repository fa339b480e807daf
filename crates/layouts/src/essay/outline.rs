//! The sections that follow from a completed stage: the outline determines the sections of the argument maps,
//! and these determine the sections of the draft. This module only creates events.

use super::history::workflow;
use super::position::Standpoint;
use super::recover::{OUTLINE, titles_of_outline};
use super::state::MOST_SECTIONS;
use super::{STAGES, draft_id, section_id};
use crate::layout::SessionToPublish;
use crate::tree::Tree;
use model::event::{Event, ItemEvent};
use model::gate::AttemptReport;
use model::id::{ItemId, Name};
use model::item::{ItemChange, NewItem, ORDER_STEP, RunRef};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TOTAL: &str = "total_sections";

/// The events that follow from a completed stage. The session is the one before the stage was completed.
pub(super) fn settled(
    phase: &Name,
    attempt: &AttemptReport,
    publication: &SessionToPublish<'_>,
    tree: &Tree,
) -> Vec<Event> {
    match STAGES.iter().position(|stage| *phase == *stage.name) {
        Some(1) => outlined(attempt, publication, tree),
        Some(2) => mapped(publication),
        Some(_) | None => Vec::new(),
    }
}

/// Adds the sections of the outline. Their number is the one given by the user, or else the number of word
/// targets, or else the number of titles in the outline.
fn outlined(attempt: &AttemptReport, publication: &SessionToPublish<'_>, tree: &Tree) -> Vec<Event> {
    let text = String::from_utf8_lossy(tree.content(OUTLINE).unwrap_or_default()).into_owned();
    let titles = titles_of_outline(&text);
    let said = publication.session.fields.get(TOTAL).and_then(Value::as_u64);
    let targets =
        attempt.evidence.get("word_targets").and_then(Value::as_array).map(|list| list.len() as u64);
    let total = said.or(targets).unwrap_or(titles.len() as u64).min(u64::from(MOST_SECTIONS));
    let total = u32::try_from(total).unwrap_or(MOST_SECTIONS);
    let mut events = Vec::new();
    if said.is_none() && total > 0 {
        let fields = BTreeMap::from([(TOTAL.to_owned(), json!(total))]);
        events.push(Event::FieldsSet { phase: None, fields });
    }
    let is_titled = titles.len() == total as usize;
    let title = |index: u32| titles.get(index as usize - 1).filter(|_| is_titled).cloned();
    let new = (1..=total).filter_map(|index| Some((index, section_id(index)?, title(index))));
    events.extend(new.filter_map(|new| titled(2, new, publication)));
    events
}

/// Adds a section of the draft for every section with an argument map.
fn mapped(publication: &SessionToPublish<'_>) -> Vec<Event> {
    let standpoint = Standpoint::new(publication.session, publication.items);
    let sections = standpoint.sections(2).iter().filter(|(index, _)| standpoint.is_outlined(**index));
    let new = sections
        .filter_map(|(index, section)| Some((*index, draft_id(*index)?, Some(section.title.clone()))));
    new.filter_map(|new| titled(3, new, publication)).collect()
}

/// Adds a new section, or changes the title of an existing one.
fn titled(
    position: usize,
    (index, id, title): (u32, ItemId, Option<String>),
    publication: &SessionToPublish<'_>,
) -> Option<Event> {
    let run = publication.session.run()?;
    if let Some(known) = publication.items.get(&id) {
        let title = title.filter(|title| *title != known.title)?;
        let change = ItemChange { title: Some(title), ..ItemChange::default() };
        return Some(Event::Item(ItemEvent::ItemSet { id, change }));
    }
    let item = NewItem {
        id,
        kind: Name::parse("section").ok()?,
        title: title.unwrap_or_else(|| format!("Section {index}")),
        run: RunRef::from(run),
        phase: workflow()?.1.get(position)?.id.clone(),
        parent: None,
        order: index * ORDER_STEP,
        depends_on: Vec::new(),
        fields: BTreeMap::new(),
    };
    Some(Event::Item(ItemEvent::ItemAdded { item }))
}
