//! The events that lead to a state in spite of undo and restore. Nothing is ever removed from a log.

use crate::event::{Event, Recorded};
use std::collections::BTreeSet;

/// Returns the events that lead to the state of a version, oldest first. A `Restored` event is included, but not the
/// events between it and the version that it restored.
pub fn lineage(events: &[Recorded], version: u64) -> Vec<&Recorded> {
    let mut line = Vec::new();
    let mut place = usize::try_from(version).unwrap_or(usize::MAX).min(events.len());
    // Every step goes to a lower index, so the loop ends whatever the log contains.
    while let Some(recorded) = place.checked_sub(1).and_then(|index| events.get(index)) {
        line.push(recorded);
        place = before(recorded, place);
    }
    line.reverse();
    line
}

/// The length of the log before this event, or, after a `Restored` event, the version that it restored.
fn before(recorded: &Recorded, place: usize) -> usize {
    let Event::Restored { to_version } = recorded.event else { return place - 1 };
    match usize::try_from(to_version) {
        Ok(earlier) if (1..place).contains(&earlier) => earlier,
        Ok(_) | Err(_) => place - 1,
    }
}

/// Returns the events that a step from one version to another removes, and those that it restores, both oldest first.
pub fn step(events: &[Recorded], from: u64, to: u64) -> (Vec<&Recorded>, Vec<&Recorded>) {
    let (old, new) = (lineage(events, from), lineage(events, to));
    (only_in(&old, &new), only_in(&new, &old))
}

fn only_in<'a>(one: &[&'a Recorded], other: &[&'a Recorded]) -> Vec<&'a Recorded> {
    let known: BTreeSet<u64> = other.iter().map(|recorded| recorded.version).collect();
    one.iter().filter(|recorded| !known.contains(&recorded.version)).copied().collect()
}
