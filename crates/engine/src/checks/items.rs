//! The check that every item of the phase is done, and the items as expressions see them.

use super::{Surroundings, Verdict};
use crate::error::Result;
use crate::hex;
use crate::items::read_item;
use model::item::Item;
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// How many unfinished ones are named.
const NAMED: usize = 5;
/// How many items an expression sees.
const MOST: usize = 1_000;

pub(super) fn run(around: &Surroundings<'_>) -> Result<Verdict> {
    let phase = &around.phase.id;
    let record = around.session.run().and_then(|run| run.phases.iter().find(|record| record.id() == phase));
    let counts = record.map(|record| record.items).unwrap_or_default();
    let found = match counts.total {
        0 => "there are no items".to_owned(),
        total => format!("{} of {total} are done", counts.done),
    };
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
        .with_help("Finish them, starting with the first ready one: leftoff item claim"))
}

/// The phase's items for expressions: their number, and each one if an expression needs it.
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
        each.sort_by_key(Item::sort_key);
        items["each"] = each.iter().map(one).collect();
    }
    items
}

impl Surroundings<'_> {
    /// The hash of the phase's items, if a check looks at each of them.
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

/// The hash of a phase's items as checks see them.
pub(crate) fn items_hash<'a>(items: impl Iterator<Item = &'a Item>) -> String {
    let mut items: Vec<&Item> = items.collect();
    items.sort_by_key(|item| item.sort_key());
    let mut hasher = Sha256::new();
    for item in items.into_iter().take(MOST) {
        hasher.update(format!("{}\n", one(item)));
    }
    hex(&hasher.finalize())
}

/// True if some check of the phase requires finished items.
pub(super) fn are_asked_for(phase: &PhaseDefinition) -> bool {
    phase.checks.iter().any(|check| check.kind.asks_for_items())
}

/// Empty fields are omitted; an item has the number of its outermost container.
fn one(item: &Item) -> Value {
    let fields: Map<String, Value> = item
        .fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
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
        "fields": fields,
        "counters": item.counters,
    })
}
