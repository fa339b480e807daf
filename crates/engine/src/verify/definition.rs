//! The definition of a run: as stored when it started, and as in the project.

use super::material::Material;
use super::problem::Problem;
use super::replay::{End, Replay};
use crate::definitions;
use crate::engine::Engine;
use crate::hex;
use model::event::Event;
use model::run::WorkflowRef;
use model::session::Session;
use model::workflow::{CheckKind, PhaseDefinition, Workflow};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The readable definitions of a history, by hash.
pub(super) fn stored(material: &Material<'_>) -> BTreeMap<String, Workflow> {
    let read = |(hash, body): (&String, &String)| Some((hash.clone(), serde_json::from_str(body).ok()?));
    material.definitions.iter().filter_map(read).collect()
}

/// Compares every named definition with the stored one of its hash; the last one of each workflow also with
/// the project's.
pub(super) fn problems(
    engine: &Engine,
    material: &Material<'_>,
    replay: &Replay,
    stored: &BTreeMap<String, Workflow>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |problem: Problem| {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    for recorded in &replay.history {
        let (Event::RunStarted { workflow, definition, .. }
        | Event::DefinitionUpdated { workflow, definition, .. }) = &recorded.event
        else {
            continue;
        };
        match material.definitions.get(&workflow.hash) {
            None => add(Problem::DefinitionMissing { workflow: workflow.name.clone() }),
            Some(body) if definition.as_ref().is_some_and(|named| *named != digest(body)) => {
                add(Problem::DefinitionChanged { workflow: workflow.name.clone() });
            }
            Some(_) => {}
        }
    }
    for run in super::judge::newest_runs(&replay.session) {
        if let Some(found) = stored.get(&run.workflow.hash) {
            not_here(engine, &replay.session, &run.workflow, found).map(&mut add);
        }
    }
    problems
}

/// A definition that the project lacks, or has in another form.
fn not_here(engine: &Engine, session: &Session, run: &WorkflowRef, stored: &Workflow) -> Option<Problem> {
    let known = known_here(engine, session, run.name.as_str());
    match known {
        Some(workflow) if workflow == *stored => None,
        Some(workflow) if workflow.hash == run.hash => {
            Some(Problem::DefinitionChanged { workflow: run.name.clone() })
        }
        known => {
            let differences = known.map(|now| definitions::differences(&now, stored)).unwrap_or_default();
            Some(Problem::DefinitionNotHere { workflow: run.name.clone(), differences })
        }
    }
}

/// The definition that a session like this one would follow if it started now. A project's own definition hides the
/// built-in one of the same name, so a run that followed the built-in one followed another.
fn known_here(engine: &Engine, session: &Session, name: &str) -> Option<Workflow> {
    match layouts::layout::by_name(&session.layout) {
        Some(layout) => definitions::of_layout(&engine.project, layout, name, session.target.as_deref()).ok(),
        None => definitions::load(&engine.project, name).ok(),
    }
}

/// The recorded files that an approval of a phase is about, with their hashes when the phase ended.
pub(super) fn files_of(defined: &PhaseDefinition, end: &End, ordinal: u32) -> BTreeMap<String, String> {
    let named = end.all_files.iter().filter(|(path, _)| names_file(defined, path, ordinal));
    named.map(|(path, hash)| (path.clone(), hash.clone())).collect()
}

/// True if a phase's definition names this file, directly or by `{item}`.
pub(super) fn names_file(defined: &PhaseDefinition, path: &str, ordinal: u32) -> bool {
    let checked = defined.checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Artifact { path, .. } => Some(path),
        CheckKind::Expr { .. }
        | CheckKind::Command { .. }
        | CheckKind::Git { .. }
        | CheckKind::Items
        | CheckKind::Approval { .. } => None,
    });
    let is_named = |pattern: &String| {
        let pattern = pattern.replace("{run}", &ordinal.to_string());
        match pattern.split_once("{item}") {
            Some((before, after)) => path.ends_with(after) && path.contains(before),
            None => path == pattern || path.strip_suffix(&pattern).is_some_and(|rest| rest.ends_with('/')),
        }
    };
    checked.chain(&defined.produces).any(is_named)
}

fn digest(body: &str) -> String {
    hex(&Sha256::digest(body.as_bytes()))
}
