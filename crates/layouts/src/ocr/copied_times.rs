//! Finds times in state.json that were copied from an example: they lie long before the session can have
//! started. Such times are reported and ignored. The file keeps them.

use super::STATE;
use super::state::State;
use crate::problem::{Problem, What};
use crate::tree::Tree;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// How much earlier than the day in a session's name a time in the state may be. The day is in local time,
/// and the clocks of agents differ.
const SLACK: SignedDuration = SignedDuration::from_hours(36);

/// Removes copied times from the state, and reports each.
pub(super) fn times(folder: &str, tree: &Tree, now: Timestamp, state: &mut State) -> Vec<Problem> {
    let plausible = day_of(folder).or_else(|| written(tree, now, state));
    let Some(earliest) = plausible.and_then(|at| at.checked_sub(SLACK).ok()) else { return Vec::new() };
    let mut copied = Vec::new();
    for (key, time) in [
        ("started_at", &mut state.started_at),
        ("round_started_at", &mut state.round_started_at),
        ("map_started_at", &mut state.map_started_at),
        ("updated_at", &mut state.updated_at),
    ] {
        if let Some(at) = time.take_if(|at| *at < earliest) {
            copied.push(Problem::of_field(STATE, key, What::Copied { found: at.to_string() }));
        }
    }
    copied
}

/// The day in the name of a session's folder.
fn day_of(folder: &str) -> Option<Timestamp> {
    let day: Date = folder.get(..10)?.parse().ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// The modification time of the state file, if it contradicts the file's own `updated_at`.
fn written(tree: &Tree, now: Timestamp, state: &State) -> Option<Timestamp> {
    let written = tree.modified(STATE).filter(|at| *at <= now)?;
    let made = state.updated_at.or(state.started_at)?;
    (made < written.checked_sub(SLACK).ok()?).then_some(written)
}
