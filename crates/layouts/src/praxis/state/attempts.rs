//! Reads attempts at the gates of phases: the tool's latest artifact and evidence of each phase, and the attempts that
//! leftoff recorded in addition.

use super::fields::Fields;
use super::{AttemptSaid, PhaseSaid, State};
use crate::praxis::{ARTIFACTS, ATTEMPTS};
use crate::problem::{Type, What};
use jiff::Timestamp;
use model::gate::{AttemptOutcome, AttemptReport};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One artifact of a phase, with its time.
pub(super) struct Artifact {
    at: Option<Timestamp>,
    report: AttemptReport,
}

/// The latest record that the tool itself made of each phase.
pub(super) fn artifacts(fields: &mut Fields<'_>) -> BTreeMap<u32, Artifact> {
    let mut found: BTreeMap<u32, Artifact> = BTreeMap::new();
    for (number, value) in fields.by_phase("phase_artifacts") {
        // In the second format, the value is an object of another structure or a list.
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

/// Reads several artifacts of one phase. All of them are kept. The time is that of the last one.
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

/// Reads attempts that leftoff records separately, because an artifact contains only one attempt.
pub(super) fn kept(fields: &mut Fields<'_>, state: &State) -> BTreeMap<u32, Vec<AttemptSaid>> {
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

pub(super) fn attempts(
    phase: &PhaseSaid,
    is_completed: bool,
    artifact: Option<&Artifact>,
    kept: Option<&Vec<AttemptSaid>>,
) -> Vec<AttemptSaid> {
    let mut attempts = kept.cloned().unwrap_or_default();
    let outcome = match phase.checkpoint.as_deref() {
        Some("passed") => Some(AttemptOutcome::Passed),
        Some("failed") => Some(AttemptOutcome::Failed),
        // The artifact was not validated. It is an attempt only if the phase was completed with it.
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
