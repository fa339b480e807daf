//! Finds the events that lead to a state, taking undo and restore into account. Nothing is ever removed from a log.

use crate::event::{Event, Recorded};
use std::collections::BTreeSet;

/// Returns the events that lead to the state of a version, oldest first. If one of them is `Restored`, it is included,
/// but the events that it undid are not.
pub fn lineage(events: &[Recorded], version: u64) -> Vec<&Recorded> {
    let mut line = Vec::new();
    let mut place = usize::try_from(version).unwrap_or(usize::MAX).min(events.len());
    // Every step leads to a lower index, so the loop ends whatever the log contains.
    while let Some(recorded) = place.checked_sub(1).and_then(|index| events.get(index)) {
        line.push(recorded);
        place = before(recorded, place);
    }
    line.reverse();
    line
}

/// Returns the version of the state before this event. After a `Restored` event, this is the version that it restored.
fn before(recorded: &Recorded, place: usize) -> usize {
    let Event::Restored { to_version } = recorded.event else { return place - 1 };
    match usize::try_from(to_version) {
        Ok(earlier) if (1..place).contains(&earlier) => earlier,
        Ok(_) | Err(_) => place - 1,
    }
}

/// Returns two lists of events, both oldest first: those undone by a step from one version to another, and those
/// restored.
pub fn step(events: &[Recorded], from: u64, to: u64) -> (Vec<&Recorded>, Vec<&Recorded>) {
    let (old, new) = (lineage(events, from), lineage(events, to));
    (only_in(&old, &new), only_in(&new, &old))
}

fn only_in<'a>(one: &[&'a Recorded], other: &[&'a Recorded]) -> Vec<&'a Recorded> {
    let known: BTreeSet<u64> = other.iter().map(|recorded| recorded.version).collect();
    one.iter().filter(|recorded| !known.contains(&recorded.version)).copied().collect()
}
