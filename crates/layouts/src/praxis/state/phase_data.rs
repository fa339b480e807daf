//! The file's data about phases: artifacts, checkpoints, timings, evidence, every recorded attempt.

use super::fields::Fields;
use super::{AttemptSaid, PhaseSaid, State};
use crate::praxis::{ARTIFACTS, ATTEMPTS, CHECKPOINTS, MOST_PHASES, PAUSED};
use crate::problem::{Taken, Type, What};
use jiff::Timestamp;
use model::gate::{AttemptOutcome, AttemptReport};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One artifact of a phase, with its time.
struct Artifact {
    at: Option<Timestamp>,
    report: AttemptReport,
}

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
    // A failed checkpoint is reported even if the submitted evidence is missing.
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

/// Reads the timings of phases: `phase_timing` is the original key, `phase_timings` the second format's.
fn timings(fields: &mut Fields<'_>, phases: &mut BTreeMap<u32, PhaseSaid>) {
    for key in ["phase_timing", "phase_timings"] {
        for (number, value) in fields.by_phase(key) {
            let Value::Object(timing) = value else {
                (fields.say)(&format!("{key} {number}"), What::NotA(Type::Object));
                continue;
            };
            let phase = phases.entry(number).or_default();
            let name = format!("{key}.{number}");
            phase.started_at = fields.time_below(&name, &timing, "started_at");
            phase.completed_at = fields.time_below(&name, &timing, "completed_at");
            let paused = timing.get(PAUSED).and_then(Value::as_f64).unwrap_or_default();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clamped to a range that fits"
            )]
            let paused = paused.clamp(0.0, 1e10) as u64;
            phase.paused_seconds = paused;
        }
    }
}

/// Reads pauses and skipped phases, for which the tool has no key and leftoff has one.
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
        // The tool has validated the evidence since then.
        let is_judged = phase.checkpoint.as_deref() == Some("passed");
        if state.completed.contains(&number) && word == "skipped" && !is_judged {
            phase.checkpoint = Some("skipped".to_owned());
        }
    }
}

fn number_of(name: &str) -> Option<u32> {
    name.parse().ok().filter(|number| *number < MOST_PHASES)
}

/// The tool's own latest record of each phase.
fn artifacts(fields: &mut Fields<'_>) -> BTreeMap<u32, Artifact> {
    let mut found: BTreeMap<u32, Artifact> = BTreeMap::new();
    for (number, value) in fields.by_phase("phase_artifacts") {
        // In the second format, the value is an object of another structure, or a list.
        let artifact = match value {
            Value::Array(values) => list(fields, number, values),
            Value::Object(artifact) => {
                let at = fields.time_below(&format!("phase_artifacts.{number}"), &artifact, "timestamp");
                Some(Artifact { at, report: report(&artifact) })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                (fields.say)(&format!("artifact {number}"), What::NotA(Type::Object));
                None
            }
        };
        found.extend(artifact.map(|artifact| (number, artifact)));
    }
    for (number, value) in fields.by_phase("evidence_submitted") {
        let artifact = found.entry(number).or_insert(Artifact { at: None, report: AttemptReport::default() });
        if let Value::Object(evidence) = value {
            artifact.report.evidence = evidence;
        }
    }
    found
}

/// Reads several artifacts of one phase: all of them are kept, and the last one gives the time.
fn list(fields: &mut Fields<'_>, number: u32, values: Vec<Value>) -> Option<Artifact> {
    if values.iter().any(|value| !value.is_object()) {
        (fields.say)(&format!("artifact {number}"), What::NotA(Type::Object));
    }
    let last = values.iter().rev().find_map(Value::as_object)?.clone();
    let mut report = report(&last);
    report.outputs.insert(ARTIFACTS.to_owned(), Value::Array(values));
    let at = fields.time_below(&format!("phase_artifacts.{number}"), &last, "timestamp");
    Some(Artifact { at, report })
}

fn report(artifact: &Map<String, Value>) -> AttemptReport {
    let object = |key: &str| artifact.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut outputs = object("outputs");
    if let Some(commands) = artifact
        .get("commands_executed")
        .filter(|commands| commands.as_array().is_some_and(|list| !list.is_empty()))
    {
        outputs.insert("commands_executed".to_owned(), commands.clone());
    }
    if let Some(path) = artifact.get("file_path").filter(|path| path.is_string()) {
        outputs.insert("file_path".to_owned(), path.clone());
    }
    AttemptReport { evidence: object("evidence"), outputs, ..AttemptReport::default() }
}

/// Attempts that leftoff records separately, because an artifact contains only one.
fn kept(fields: &mut Fields<'_>, state: &State) -> BTreeMap<u32, Vec<AttemptSaid>> {
    let Some(Value::Object(kept)) = state.metadata.get(ATTEMPTS) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for (name, values) in kept {
        let (Ok(number), Some(values)) = (name.parse::<u32>(), values.as_array()) else {
            (fields.say)(&format!("metadata.{ATTEMPTS} '{name}'"), What::NotA(Type::PhaseList));
            continue;
        };
        if number >= crate::praxis::MOST_PHASES {
            continue;
        }
        let attempts = values.iter().filter_map(|value| attempt(fields, value)).collect();
        found.insert(number, attempts);
    }
    found
}

fn attempt(fields: &mut Fields<'_>, value: &Value) -> Option<AttemptSaid> {
    let object = value.as_object()?;
    let outcome = match object.get("outcome").and_then(Value::as_str) {
        Some("passed") => AttemptOutcome::Passed,
        Some("failed") => AttemptOutcome::Failed,
        Some(_) | None => return None,
    };
    let at = fields.time_in(object, "at");
    Some(AttemptSaid { at, outcome, report: serde_json::from_value(value.clone()).ok()? })
}

fn attempts(
    phase: &PhaseSaid,
    is_completed: bool,
    artifact: Option<&Artifact>,
    kept: Option<&Vec<AttemptSaid>>,
) -> Vec<AttemptSaid> {
    let mut attempts = kept.cloned().unwrap_or_default();
    let outcome = match phase.checkpoint.as_deref() {
        Some("passed") => Some(AttemptOutcome::Passed),
        Some("failed") => Some(AttemptOutcome::Failed),
        // Nobody validated the artifact, so it is only an attempt if the phase was completed with it.
        Some(_) | None => (is_completed && artifact.is_some()).then_some(AttemptOutcome::Passed),
    };
    let Some(outcome) = outcome else { return attempts };
    let is_last = |attempts: &[AttemptSaid]| attempts.last().is_some_and(|last| last.outcome == outcome);
    let nothing = Artifact { at: None, report: AttemptReport::default() };
    let ended = phase.completed_at.filter(|_| is_completed);
    let is_known = match artifact {
        None => is_last(&attempts),
        Some(artifact) => {
            let last = attempts.last().filter(|_| is_last(&attempts));
            last.is_some_and(|last| {
                let is_of_that_time =
                    artifact.at.is_none() || last.at == artifact.at || last.at == ended.or(artifact.at);
                last.report.evidence == artifact.report.evidence && is_of_that_time
            })
        }
    };
    let artifact = artifact.unwrap_or(&nothing);
    if !is_known {
        attempts.push(AttemptSaid { at: ended.or(artifact.at), outcome, report: artifact.report.clone() });
    }
    attempts
}
