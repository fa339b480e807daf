//! The data about phases in a session's file: artifacts, checkpoints, timings, evidence, and all attempts
//! that the file contains.

use super::attempts::{artifacts, attempts, kept};
use super::fields::Fields;
use super::phase_times::timings;
use super::{PhaseSaid, State};
use crate::praxis::{CHECKPOINTS, MOST_PHASES, PAUSED};
use crate::problem::{Taken, What};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn phases(fields: &mut Fields<'_>, state: &State) -> BTreeMap<u32, PhaseSaid> {
    let mut phases: BTreeMap<u32, PhaseSaid> = BTreeMap::new();
    timings(fields, &mut phases);
    for (number, value) in fields.by_phase("checkpoints") {
        if let Some(word) = value.as_str().filter(|word| CHECKPOINTS.contains(word)) {
            phases.entry(number).or_default().checkpoint = Some(word.to_owned());
        } else {
            let known = CHECKPOINTS.iter().map(|word| (*word).to_owned()).collect();
            let what = What::NotOneOf { found: value.to_string(), known, taken: Taken::Nothing };
            (fields.say)(&format!("checkpoint {number}"), what);
        }
    }
    only_ours(state, &mut phases);
    let artifacts = artifacts(fields);
    let kept = kept(fields, state);
    // A failed checkpoint is reported, even without the evidence that was submitted for it.
    let has_failed = |phase: &PhaseSaid| phase.checkpoint.as_deref() == Some("failed");
    let failed: Vec<u32> = phases.iter().filter(|(_, phase)| has_failed(phase)).map(|(at, _)| *at).collect();
    let numbers = artifacts.keys().chain(kept.keys()).chain(&state.completed).chain(&failed).copied();
    for number in numbers.collect::<std::collections::BTreeSet<u32>>() {
        let phase = phases.entry(number).or_default();
        let is_completed = state.completed.contains(&number);
        phase.attempts = attempts(phase, is_completed, artifacts.get(&number), kept.get(&number));
    }
    phases
}

/// Reads pauses and skipped phases. The tool has no keys for them, so leftoff uses its own.
fn only_ours(state: &State, phases: &mut BTreeMap<u32, PhaseSaid>) {
    let Some(ours) = super::ours(&state.metadata) else { return };
    let by_phase = |key: &str| {
        let section = ours.get(key).and_then(Value::as_object).into_iter().flatten();
        section.filter_map(|(name, value)| Some((number_of(name)?, value))).collect::<Vec<_>>()
    };
    for (number, seconds) in by_phase(PAUSED) {
        phases.entry(number).or_default().paused_seconds = seconds.as_u64().unwrap_or_default();
    }
    for (number, word) in by_phase("checkpoints") {
        let phase = phases.entry(number).or_default();
        // The tool validated the evidence after it was submitted.
        let is_judged = phase.checkpoint.as_deref() == Some("passed");
        if state.completed.contains(&number) && word == "skipped" && !is_judged {
            phase.checkpoint = Some("skipped".to_owned());
        }
    }
}

fn number_of(name: &str) -> Option<u32> {
    name.parse().ok().filter(|number| *number < MOST_PHASES)
}
