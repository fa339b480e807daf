//! The check that every item of the phase is done, and the form in which expressions see items.

use super::{Surroundings, Verdict};
use crate::NATIVE;
use crate::error::Result;
use crate::execute::CLAIMED;
use crate::hex;
use crate::items::read_item;
use model::actor::Actor;
use model::event::{Event, ItemEvent, Recorded};
use model::gate::CheckResult;
use model::id::ItemId;
use model::item::Item;
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// How many unfinished items are named. Further items are only counted.
const NAMED: usize = 5;
/// The maximum number of items that an expression can read.
const MOST: usize = 1_000;

pub(super) fn run(around: &Surroundings<'_>) -> Result<Verdict> {
    let phase = &around.phase.id;
    let record = around.session.run().and_then(|run| run.phases.iter().find(|record| record.id() == phase));
    let counts = record.map(|record| record.items).unwrap_or_default();
    let dropped = around.engine.dropped_items(around.session, phase, NAMED)?;
    let found = match (counts.total, counts.dropped) {
        (0, 0) => "there are no items".to_owned(),
        (0, _) => "every item was dropped".to_owned(),
        (total, 0) => format!("{} of {total} are done", counts.done),
        (total, _) => format!("{} of {total} are done; dropped: {}", counts.done, dropped.join(", ")),
    };
    if counts.total == 0 && counts.dropped > 0 {
        return Ok(Verdict::failed(found)
            .needing("an item that is done")
            .with_help("Add the work that remains: leftoff item add '<title>'"));
    }
    if counts.open() == 0 {
        return Ok(Verdict::passed(found));
    }
    let unfinished = around.engine.unfinished_items(around.session, phase, NAMED)?;
    let mut names: Vec<String> = unfinished.iter().map(ToString::to_string).collect();
    let left_out = (counts.open() as usize).saturating_sub(names.len());
    if left_out > 0 {
        names.push(format!("{left_out} more"));
    }
    Ok(Verdict::failed(format!("{found}; unfinished: {}", names.join(", ")))
        .needing("every item done")
        .with_help("Finish the items, starting with the first ready one: leftoff item claim"))
}

/// Returns the phase's items for expressions: the numbers of items, and the items themselves if an expression reads
/// them.
pub(super) fn seen(around: &Surroundings<'_>) -> Value {
    let phase = &around.phase.id;
    let record = around.session.run().and_then(|run| run.phases.iter().find(|record| record.id() == phase));
    let counts = record.map(|record| record.items).unwrap_or_default();
    let mut items = json!({ "total": counts.total, "done": counts.done, "open": counts.open() });
    if around.phase.checks.iter().any(|check| check.kind.looks_at_each_item()) {
        let mut each = around.engine.items_of(around.session, phase, MOST).unwrap_or_default();
        for changed in around.changed.iter().filter_map(|row| read_item(row).ok()) {
            each.retain(|item| !item.id.is(&changed.id));
            each.extend(Some(changed).filter(|changed| changed.phase == *phase));
        }
        each.retain(|item| !item.is_dropped());
        each.sort_by_key(Item::sort_key);
        items["each"] = each.iter().map(one).collect();
    }
    items
}

impl Surroundings<'_> {
    /// True if a passed check requires finished items, but only a file says that one of the items is finished.
    pub(super) fn rests_on_claimed_items(&self, results: &[CheckResult]) -> Result<bool> {
        if !asks_for_finished_items(self.phase, results) {
            return Ok(false);
        }
        let items = self.engine.items_of(self.session, &self.phase.id, MOST)?;
        let done: Vec<Item> = items.into_iter().filter(Item::is_done).collect();
        if done.iter().any(is_ticked_in_list) {
            return Ok(true);
        }
        // Without a command, only files of another tool's layout can complete items.
        if done.is_empty() || self.session.layout == NATIVE {
            return Ok(false);
        }
        let history = self.engine.history_kept(&self.session.id)?;
        Ok(done.iter().any(|item| is_completed_by_file(&history, &item.id)))
    }

    /// Returns the hash of the phase's items; `None` if no check reads each item.
    pub(super) fn items_judged(&self) -> Result<Option<String>> {
        let looks_at_each = |check: &CheckDefinition| match &check.kind {
            CheckKind::Artifact { path, .. } => path.contains("{item}"),
            CheckKind::Expr { .. } => check.kind.looks_at_each_item(),
            CheckKind::Command { .. }
            | CheckKind::Git { .. }
            | CheckKind::Items
            | CheckKind::Approval { .. } => false,
        };
        if !self.phase.checks.iter().any(looks_at_each) {
            return Ok(None);
        }
        let items = self.engine.items_of(self.session, &self.phase.id, MOST)?;
        Ok(Some(items_hash(items.iter())))
    }
}

/// True if a passed check requires finished items.
pub(crate) fn asks_for_finished_items(phase: &PhaseDefinition, results: &[CheckResult]) -> bool {
    let has_passed = |check: &&CheckDefinition| {
        results.iter().any(|known| known.id == check.id.as_str() && !known.failed())
    };
    phase.checks.iter().filter(|check| check.kind.asks_for_items()).any(|check| has_passed(&check))
}

/// True if the item is done only because its box was ticked in an imported list.
pub(crate) fn is_ticked_in_list(item: &Item) -> bool {
    item.fields.get(CLAIMED).is_some_and(Value::is_string)
}

/// True if, according to this part of a history, an imported list ticked the item and nobody opened it again. Used
/// because the item's own field may have been cleared.
pub(crate) fn was_ticked_in_list(history: &[Recorded], item: &ItemId) -> bool {
    let ticked = history.iter().rev().find_map(|recorded| match &recorded.event {
        Event::Item(ItemEvent::ItemReopened { id, .. }) if id.is(item) => Some(false),
        Event::Item(ItemEvent::ItemSet { id, change }) if id.is(item) => {
            change.fields.get(CLAIMED).is_some_and(Value::is_string).then_some(true)
        }
        _ => None,
    });
    ticked.unwrap_or(false)
}

/// True if the item was last completed by another tool's file, according to this part of a history.
pub(crate) fn is_completed_by_file(history: &[Recorded], item: &ItemId) -> bool {
    let mut completions = history.iter().rev().filter(|recorded| match &recorded.event {
        Event::Item(ItemEvent::ItemCompleted { id, .. }) => id.is(item),
        _ => false,
    });
    completions.next().is_some_and(|recorded| matches!(recorded.actor, Actor::Tool { .. }))
}

/// Returns the hash of a phase's items, as checks see them.
pub(crate) fn items_hash<'a>(items: impl Iterator<Item = &'a Item>) -> String {
    let mut items: Vec<&Item> = items.collect();
    items.sort_by_key(|item| item.sort_key());
    let mut hasher = Sha256::new();
    for item in items.into_iter().take(MOST) {
        hasher.update(format!("{}\n", one(item)));
    }
    hex(&hasher.finalize())
}

/// Returns the fields that have a value. Null means that a field is unset, so `has` is false for it.
pub(super) fn set_ones(fields: &BTreeMap<String, Value>) -> BTreeMap<&String, &Value> {
    fields.iter().filter(|(_, value)| !value.is_null()).collect()
}

/// Returns an item as expressions see it, without unset fields. Its number is that of its outermost container.
fn one(item: &Item) -> Value {
    let outermost = item.id.as_str().split('.').next().unwrap_or_default();
    let digits = &outermost[outermost.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()..];
    json!({
        "id": item.id,
        "number": digits.parse::<u32>().unwrap_or(0),
        "title": item.title,
        "parent": item.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
        "parts": item.parts,
        "done": item.is_done(),
        "status": item.status.name(),
        "fields": set_ones(&item.fields),
        "counters": item.counters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::Name;
    use model::item::ItemChange;
    use model::item::RunRef;

    #[test]
    fn a_box_that_a_list_ticked_stays_ticked_until_its_item_is_opened_again() {
        let id = ItemId::parse("one").expect("an id");
        let set = |value: Value| {
            let fields = [(CLAIMED.to_owned(), value)].into();
            Event::Item(ItemEvent::ItemSet {
                id: id.clone(),
                change: ItemChange { fields, ..ItemChange::default() },
            })
        };
        let run = RunRef { workflow: Name::parse("w").expect("a name"), ordinal: 1 };
        let phase = Name::parse("p").expect("a name");
        let reopened = Event::Item(ItemEvent::ItemReopened { id: id.clone(), run, phase });
        let history = |events: Vec<Event>| -> Vec<Recorded> {
            let actor = Actor::Automation { name: "a".to_owned(), host: "h".to_owned() };
            let recorded = |(event, version)| Recorded {
                version,
                at: jiff::Timestamp::UNIX_EPOCH,
                actor: actor.clone(),
                event,
            };
            events.into_iter().zip(1..).map(recorded).collect()
        };
        let ticked = |events| was_ticked_in_list(&history(events), &id);
        assert!(!ticked(Vec::new()));
        assert!(ticked(vec![set(json!("TASKS.md"))]));
        assert!(
            ticked(vec![set(json!("TASKS.md")), set(Value::Null)]),
            "an item whose field was cleared still counts"
        );
        assert!(!ticked(vec![set(json!("TASKS.md")), reopened]));
    }
}
