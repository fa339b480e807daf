//! Merges another writer's state.json with leftoff's: restores dropped keys, and infers what the changes
//! mean. Never reverts another writer's changes.

use super::session::OcrWorkflow;
use super::state::{self, State};
use crate::json::{self, Document};
use serde_json::{Value, json};

/// The other writer's version, with dropped keys restored and the consequences of its changes added.
pub(super) fn merged(base: &[u8], theirs: &[u8]) -> Vec<u8> {
    let (was, now) = (state::of_bytes(base), state::of_bytes(theirs));
    let base_without = without(base, &clocks_that_ran_out(&was, &now));
    let merged = json::with_missing_of(base_without.as_deref().unwrap_or(base), theirs);
    let merged = of_the_workflow_meant(&was, &now, theirs, merged);
    let merged = at_the_phase_meant(&was, &now, merged);
    if merged != theirs && json::has_mark(&merged) { unmarked(merged) } else { merged }
}

/// The keys of start times that are out of date, because another round or run is current, or because it was
/// restarted.
fn clocks_that_ran_out(was: &State, now: &State) -> Vec<&'static str> {
    let has_begun_anew = |began: Option<jiff::Timestamp>| {
        now.started_at > was.started_at
            && began.zip(now.started_at).is_some_and(|(began, started)| started > began)
    };
    let is_another = |was: Option<u32>, now: Option<u32>| was.is_some() && now.is_some() && was != now;
    let review = is_another(was.current_round, now.current_round) || has_begun_anew(was.round_started_at);
    let map = is_another(was.current_map_run, now.current_map_run) || has_begun_anew(was.map_started_at);
    let keys = [("round_started_at", review), ("map_started_at", map)];
    keys.into_iter().filter(|(_, ran_out)| *ran_out).map(|(key, _)| key).collect()
}

fn without(bytes: &[u8], keys: &[&str]) -> Option<Vec<u8>> {
    let mut document = Document::parse(bytes).ok().filter(|_| !keys.is_empty())?;
    for key in keys {
        document.remove(&[key]);
    }
    Some(document.into_bytes())
}

/// `merged`, with the workflow that the other writer meant without naming it: the only workflow that has the
/// written phase, or else the one whose round or run the writer changed. Otherwise the workflow stays.
fn of_the_workflow_meant(was: &State, now: &State, theirs: &[u8], merged: Vec<u8>) -> Vec<u8> {
    let has_word = Document::parse(theirs).is_ok_and(|document| document.get(&["workflow_type"]).is_some());
    if has_word || was.kind.is_none() {
        return merged;
    }
    let counted = |was: Option<u32>, now: Option<u32>| now.is_some() && now != was;
    let by_count = match (
        counted(was.current_round, now.current_round),
        counted(was.current_map_run, now.current_map_run),
    ) {
        (true, false) => Some(OcrWorkflow::Review),
        (false, true) => Some(OcrWorkflow::Map),
        (true, true) | (false, false) => None,
    };
    match now.kind_of_phase().or(by_count).filter(|kind| was.kind != Some(*kind)) {
        Some(kind) => set(&merged, "workflow_type", &json!(kind.workflow())).unwrap_or(merged),
        None => merged,
    }
}

/// `merged`, with a consistent phase. If the other writer changed only the name or only the number of the
/// phase, the other value is changed to match.
fn at_the_phase_meant(was: &State, now: &State, merged: Vec<u8>) -> Vec<u8> {
    let both = state::of_bytes(&merged);
    let kind = both.kind.or_else(|| both.kind_of_phase()).unwrap_or(OcrWorkflow::Review);
    let (named, numbered) = (both.named_phase(kind), both.numbered_phase(kind));
    let name = now.phase_name.is_some() && now.phase_name != was.phase_name;
    let number = now.phase_number.is_some() && now.phase_number != was.phase_number;
    let follows = match (name, number) {
        _ if named == numbered => None,
        (false, true) => numbered.map(|at| ("current_phase", json!(kind.phases()[at]))),
        (true, false) => named.map(|at| ("phase_number", json!(at + 1))),
        // If both were changed and disagree, the disagreement is reported elsewhere, and the name is used.
        (true, true) | (false, false) => None,
    };
    match follows {
        Some((key, value)) => set(&merged, key, &value).unwrap_or(merged),
        None => merged,
    }
}

fn unmarked(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(mut document) = Document::parse(&bytes) else { return bytes };
    document.drop_mark();
    document.into_bytes()
}

fn set(bytes: &[u8], key: &str, value: &Value) -> Option<Vec<u8>> {
    let mut document = Document::parse(bytes).ok()?;
    document.set(&[key], value);
    Some(document.into_bytes())
}
