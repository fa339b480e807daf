//! Which events a state is made of, where some were taken back. Nothing is ever taken out of a log.

use crate::event::{Event, Recorded};
use std::collections::BTreeSet;

/// The events that made the state of this version, oldest first. What was restored leads back to an earlier
/// version, so what lies between is not among them; the `Restored` itself is, as the moment it happened.
pub fn lineage(events: &[Recorded], version: u64) -> Vec<&Recorded> {
    let mut line = Vec::new();
    let mut place = usize::try_from(version).unwrap_or(usize::MAX).min(events.len());
    // Every step goes to a lower place, so this ends whatever the log says.
    while let Some(recorded) = place.checked_sub(1).and_then(|index| events.get(index)) {
        line.push(recorded);
        place = before(recorded, place);
    }
    line.reverse();
    line
}

/// How many events made the state that this one was added to.
fn before(recorded: &Recorded, place: usize) -> usize {
    let Event::Restored { to_version } = recorded.event else { return place - 1 };
    match usize::try_from(to_version) {
        Ok(earlier) if (1..place).contains(&earlier) => earlier,
        Ok(_) | Err(_) => place - 1,
    }
}

/// What a step from one version to another took back, and what it brought back; both oldest first.
pub fn step(events: &[Recorded], from: u64, to: u64) -> (Vec<&Recorded>, Vec<&Recorded>) {
    let (old, new) = (lineage(events, from), lineage(events, to));
    (only_in(&old, &new), only_in(&new, &old))
}

fn only_in<'a>(one: &[&'a Recorded], other: &[&'a Recorded]) -> Vec<&'a Recorded> {
    let known: BTreeSet<u64> = other.iter().map(|recorded| recorded.version).collect();
    one.iter().filter(|recorded| !known.contains(&recorded.version)).copied().collect()
}
