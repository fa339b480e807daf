//! Compares the definitions of a run: the one stored when the run started, and the one in the project.

use super::material::Material;
use super::problem::{Problem, Remark};
use super::replay::{End, Replay};
use crate::NATIVE;
use crate::definitions::{self, Source};
use crate::engine::Engine;
use crate::git::about;
use crate::hex;
use model::event::Event;
use model::id::Name;
use model::phase::Phase;
use model::run::{Run, WorkflowRef};
use model::session::Session;
use model::workflow::{CheckDefinition, CheckKind, OnComplete, PhaseDefinition, Workflow};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the definitions of a history that can be read, by the hash of their source.
pub(super) fn stored(material: &Material<'_>) -> BTreeMap<String, Workflow> {
    let read = |(hash, body): (&String, &String)| Some((hash.clone(), serde_json::from_str(body).ok()?));
    material.definitions.iter().filter_map(read).collect()
}

/// Returns problems with definitions. Each one that the history names is compared with the stored one. The newest one
/// of each workflow is also compared with the project's.
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
            other_phases(&replay.session, run, found).map(&mut add);
        }
    }
    problems
}

/// Returns a problem if the project does not have this definition, or has a different one.
fn not_here(engine: &Engine, session: &Session, run: &WorkflowRef, stored: &Workflow) -> Option<Problem> {
    let known = definitions::known_here(&engine.project, session, run.name.as_str());
    // A session in another tool's file may name an older version of the workflow than the project has. So the version
    // is not compared.
    let is_stored = |own: &Workflow| Workflow { version: stored.version.clone(), ..own.clone() } == *stored;
    match known {
        Some(workflow) if is_stored(&workflow) => None,
        Some(workflow) if workflow.hash == run.hash => {
            Some(Problem::DefinitionChanged { workflow: run.name.clone() })
        }
        known => {
            let differences = known.map(|now| definitions::differences(&now, stored)).unwrap_or_default();
            Some(Problem::DefinitionNotHere { workflow: run.name.clone(), differences })
        }
    }
}

/// Returns remarks about where the project's definition of a run comes from.
pub(super) fn remarks(engine: &Engine, session: &Session) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let runs = super::judge::newest_runs(session).filter(|_| session.layout == NATIVE);
    for workflow in runs.map(|run| run.workflow.name.clone()) {
        let source = definitions::find(&engine.project, workflow.as_str()).ok();
        let Some(source) = source.filter(|source| !source.is_builtin) else { continue };
        if definitions::load_builtin(workflow.as_str()).is_some() {
            remarks.push(Remark::HidesBuiltIn { workflow: workflow.clone() });
        }
        if is_not_committed(engine, &source) {
            remarks.push(Remark::NotCommitted { workflow });
        }
    }
    remarks
}

/// True if the last commit has another text for the definition. The text itself is compared, because git can be told to
/// call a changed file clean.
fn is_not_committed(engine: &Engine, source: &Source) -> bool {
    let root = &engine.project.root;
    let is_repository = about(root).args(["rev-parse", "--git-dir"]).output();
    if !is_repository.is_ok_and(|output| output.status.success()) {
        return false;
    }
    let Ok(path) = Path::new(&source.origin).strip_prefix(root) else { return true };
    let mut git = about(root);
    git.args(["--no-replace-objects", "cat-file", "blob"]).arg(format!("HEAD:./{}", path.display()));
    let committed = git.output().ok().filter(|output| output.status.success());
    let plain = |text: &str| text.replace("\r\n", "\n");
    committed.is_none_or(|output| plain(&String::from_utf8_lossy(&output.stdout)) != plain(&source.text))
}

/// Returns the recorded files that an approval of this phase covers, with the hashes that they had when the phase
/// ended.
pub(super) fn files_of(defined: &PhaseDefinition, end: &End, ordinal: u32) -> BTreeMap<String, String> {
    let is_named =
        |path: &str| names(checked(defined).chain(&defined.produces), &end.workspace, path, ordinal);
    let named = end.all_files.iter().filter(|(path, _)| is_named(path));
    named.map(|(path, hash)| (path.clone(), hash.clone())).collect()
}

/// True if a passed check of this phase covered the file: the check names the file, or it is an approval, which covers
/// all files that the phase names or produces.
pub(super) fn was_checked(defined: &PhaseDefinition, end: &End, path: &str, ordinal: u32) -> bool {
    let is_named = |check: &CheckDefinition| match &check.kind {
        CheckKind::Artifact { path: pattern, .. } => {
            names(std::iter::once(pattern), &end.workspace, path, ordinal)
        }
        CheckKind::Approval { .. } => files_of(defined, end, ordinal).contains_key(path),
        CheckKind::Expr { .. } | CheckKind::Command { .. } | CheckKind::Git { .. } | CheckKind::Items => {
            false
        }
    };
    let results = || end.report.iter().flat_map(|report| &report.checks).filter(|check| !check.failed());
    let has_passed = |check: &&CheckDefinition| {
        results().any(|known| known.id == check.id.as_str() && known.kind == check.kind.name())
    };
    defined.checks.iter().filter(has_passed).any(is_named)
}

fn checked(defined: &PhaseDefinition) -> impl Iterator<Item = &String> {
    defined.checks.iter().filter_map(|check| match &check.kind {
        CheckKind::Artifact { path, .. } => Some(path),
        CheckKind::Expr { .. }
        | CheckKind::Command { .. }
        | CheckKind::Git { .. }
        | CheckKind::Items
        | CheckKind::Approval { .. } => None,
    })
}

/// True if one of these paths of a definition stands for the file. The path may contain `{item}`.
fn names<'a>(
    mut patterns: impl Iterator<Item = &'a String>,
    workspace: &str,
    path: &str,
    ordinal: u32,
) -> bool {
    patterns.any(|pattern| {
        let pattern = pattern.replace("{run}", &ordinal.to_string());
        let whole = Path::new(workspace).join(pattern).to_string_lossy().into_owned();
        match whole.split_once("{item}") {
            Some((before, after)) => {
                let item = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                item.is_some_and(|item| !item.is_empty() && !item.contains('/'))
            }
            None => path == whole,
        }
    })
}

/// Returns a problem if a run does not have the phases of its definition, in the same order. A run without a fixed
/// number of phases, and one in another tool's files, may have more.
pub(super) fn other_phases(session: &Session, run: &Run, stored: &Workflow) -> Option<Problem> {
    let defined: Vec<&Name> = stored.phases.iter().map(|phase| &phase.id).collect();
    let may_have_more = may_have_more(session, stored);
    let is_meant = |id: &&Name| !may_have_more || defined.contains(id);
    let found: Vec<&Name> = run.phases.iter().map(Phase::id).filter(is_meant).collect();
    (found != defined).then(|| Problem::OtherPhases { workflow: run.workflow.name.clone() })
}

/// True if a run may have phases that its definition does not have.
pub(super) fn may_have_more(session: &Session, stored: &Workflow) -> bool {
    stored.on_complete == OnComplete::Grow || session.layout != NATIVE
}

fn digest(body: &str) -> String {
    hex(&Sha256::digest(body.as_bytes()))
}
