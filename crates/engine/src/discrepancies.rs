//! Compares a session with the disk. Only reads. Every discrepancy comes with a remedy.

use crate::artifacts::{Difference, Reading, difference};
use crate::disk::next_version;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::project::Project;
use layouts::layout;
use model::hint::Hint;
use model::id::Name;
use model::phase::{Phase, PhaseState};
use model::session::Session;
use model::words;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Suffixes of field names that mark the field's value as a path.
const NAMES_OF_PATHS: [&str; 3] = ["_file", "_path", "_dir"];

/// A difference between a session and the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Discrepancy {
    pub kind: String,
    pub phase: Option<Name>,
    pub path: Option<String>,
    pub message: String,
    pub remedy: Hint,
}

/// How a command reacts if a session changed since it was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDiscrepancy {
    /// Stop, and let a person decide.
    #[default]
    Ask,
    Continue,
    /// Go back to the first phase that is affected.
    GoBack,
}

impl Engine {
    /// Returns all differences between the session and the disk, in the order of phases.
    pub(crate) fn discrepancies(&self, session: &Session) -> Result<Vec<Discrepancy>> {
        let mut found = self.changed_artifacts(session)?;
        found.extend(self.missing_references(session));
        found.extend(self.unmet_needs(session)?);
        found.extend(self.unwell(session));
        // A missing file may already have been reported. Then it is not reported again for the field that names it.
        let reported: BTreeSet<String> = found.iter().filter_map(|known| known.path.clone()).collect();
        found.extend(self.file_discrepancies(session, &reported));
        // If the folder is gone, so is every file in it, and this is reported once.
        if let Some(folder) = session.path.as_deref().filter(|_| self.is_gone(&session.id)) {
            let is_in_it = |path: &String| Path::new(path).starts_with(folder);
            found.retain(|discrepancy| !discrepancy.path.as_ref().is_some_and(is_in_it));
        }
        let place = |discrepancy: &Discrepancy| {
            let run = session.run()?;
            run.position(discrepancy.phase.as_ref()?.as_str())
        };
        found.sort_by_key(|discrepancy| place(discrepancy).unwrap_or(usize::MAX));
        if found.iter().any(|discrepancy| discrepancy.remedy.needs_naming()) {
            let naming = self.naming(session)?;
            for discrepancy in &mut found {
                discrepancy.remedy = std::mem::take(&mut discrepancy.remedy).naming(&naming);
            }
        }
        Ok(found)
    }

    fn changed_artifacts(&self, session: &Session) -> Result<Vec<Discrepancy>> {
        let root = self.root_of(session);
        let mut found = Vec::new();
        for known in session.artifacts.values() {
            let Some(difference) = difference(&root, known, Reading::Everything) else { continue };
            let phase = known.newest.phase.as_ref();
            let is_finished = phase.is_some_and(|phase| is_finished(session, phase));
            // A phase in progress may change its own files. It also recreates a file that somebody archived by hand.
            let is_work = difference == Difference::Changed
                || difference == Difference::Missing && has_version_beside(&root.join(&known.newest.path));
            if is_work && !is_finished {
                continue;
            }
            let told = self.artifact_finding(known, difference);
            found.push(Discrepancy {
                kind: format!("artifact_{}", difference.name()),
                phase: told.phase,
                path: Some(told.path),
                message: told.message,
                remedy: told.hint,
            });
        }
        Ok(found)
    }

    /// Returns a discrepancy for each missing file that a field names and that must exist.
    fn missing_references(&self, session: &Session) -> Vec<Discrepancy> {
        self.missing(session)
            .filter(|missing| is_promise(session, missing))
            .map(|Missing { phase, field, path }| Discrepancy {
                kind: "reference_missing".to_owned(),
                phase: phase.cloned(),
                path: Some(path.to_owned()),
                message: format!("{path}, which the field '{field}' names, is missing"),
                remedy: Hint::new("restore the file, or name another file: ")
                    .run_here([words!["set"], of(phase), words![format!("{field}=PATH")]].concat()),
            })
            .collect()
    }

    /// Returns a line for each missing file that a field names but that need not exist. Shown when the session
    /// continues.
    pub(crate) fn not_found(&self, session: &Session) -> Vec<String> {
        let missing = self.missing(session).filter(|missing| !is_promise(session, missing));
        missing.map(|Missing { field, path, .. }| {
            format!("{path}, which the field '{field}' names, was not found; name another file: leftoff set {field}=PATH")
        }).collect()
    }

    /// Returns the missing files that fields name. Each file is looked for in the session's workspace, in its worktree,
    /// in the current folder and in the current project.
    fn missing<'s>(&self, session: &'s Session) -> impl Iterator<Item = Missing<'s>> {
        let phases = session.run().map(|run| &*run.phases).unwrap_or_default();
        let of_phases = phases.iter().map(|phase| (Some(phase.id()), &phase.fields));
        let here = std::env::current_dir().ok();
        let project = here.as_ref().and_then(|here| Project::find(here).ok()).map(|project| project.root);
        let places: Vec<PathBuf> =
            [Some(self.workspace(session)), Some(self.root_of(session)), here, project]
                .into_iter()
                .flatten()
                .collect();
        std::iter::once((None, &session.fields))
            .chain(of_phases)
            .flat_map(|(phase, fields)| {
                references(fields).map(move |(field, path)| Missing { phase, field, path })
            })
            .filter(move |missing| !places.iter().any(|place| place.join(missing.path).exists()))
    }

    /// Returns a discrepancy for each failed check that the layout makes before a session continues.
    fn unwell(&self, session: &Session) -> Vec<Discrepancy> {
        // If the session's folder is gone, this was already reported, and further checks would add nothing.
        if self.is_gone(&session.id) || self.lacks_its_folder(session) {
            return Vec::new();
        }
        let current = session.run().map(|run| run.current().id().clone());
        let checks = self.health(&session.id).into_iter().filter(|health| !health.is_well);
        checks
            .filter_map(|health| {
                Some(Discrepancy {
                    kind: "unwell".to_owned(),
                    phase: health.phase.and_then(|phase| Name::parse(phase).ok()).or_else(|| current.clone()),
                    path: None,
                    message: format!("{}: {}", health.check, health.found),
                    remedy: health.remedy?,
                })
            })
            .collect()
    }

    /// Returns a discrepancy for each completed phase that needs a phase which never started.
    fn unmet_needs(&self, session: &Session) -> Result<Vec<Discrepancy>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let Some(definition) = self.definition(&run.workflow.hash)? else { return Ok(Vec::new()) };
        let not_started = |id: &Name| {
            let phase = run.phases.iter().find(|phase| phase.id() == id);
            phase.is_some_and(|phase| matches!(phase.state, PhaseState::NotStarted))
        };
        let completed = run.phases.iter().filter(|phase| matches!(phase.state, PhaseState::Completed { .. }));
        Ok(completed
            .filter_map(|phase| definition.phase(phase.id().as_str()))
            .flat_map(|defined| defined.needs.iter().map(move |needed| (&defined.id, needed)))
            .filter(|(_, needed)| not_started(needed))
            .map(|(phase, needed)| Discrepancy {
                kind: "need_not_started".to_owned(),
                phase: Some(needed.clone()),
                path: None,
                message: format!(
                    "phase {phase} is completed, but phase {needed}, which it needs, was not started"
                ),
                remedy: Hint::new(format!("go back to phase {needed}: "))
                    .run_here(words!["rollback", needed]),
            })
            .collect())
    }
}

/// A missing file that a field names.
struct Missing<'s> {
    phase: Option<&'s Name>,
    field: &'s str,
    path: &'s str,
}

fn is_promise(session: &Session, missing: &Missing<'_>) -> bool {
    layout::by_name(&session.layout).is_none_or(|layout| layout.facts().promises(missing.field))
}

/// True if an archived version of the file is in the same folder.
fn has_version_beside(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str)) else {
        return false;
    };
    let names: Vec<OsString> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .collect();
    next_version(name, names.iter().map(OsString::as_os_str)) > 1
}

/// Returns the error that stops a command until a person decides how to continue.
pub(crate) fn ask_about(session: &Session, discrepancies: &[Discrepancy]) -> Error {
    let lines: String = discrepancies
        .iter()
        .map(|discrepancy| format!("\n  {}\n    {}", discrepancy.message, discrepancy.remedy))
        .collect();
    Error::NeedsAnswer {
        question: format!("session {} changed since it was left:{lines}", session.id),
        hint: Hint::new("fix this, or continue anyway: ").run(words!["resume", session.id, "--yes"]),
    }
}

/// Returns the option that names a phase, for a command about a field of that phase.
fn of(phase: Option<&Name>) -> Vec<String> {
    phase.map(|phase| words!["--phase", phase]).unwrap_or_default()
}

fn references(fields: &BTreeMap<String, Value>) -> impl Iterator<Item = (&str, &str)> {
    fields.iter().filter_map(|(name, value)| {
        let path = value.as_str().filter(|path| !path.is_empty() && Path::new(path).file_name().is_some())?;
        NAMES_OF_PATHS.iter().any(|end| name.ends_with(end)).then_some((name.as_str(), path))
    })
}

pub(crate) fn is_finished(session: &Session, phase: &Name) -> bool {
    let phases = session.run().map(|run| &*run.phases).unwrap_or_default();
    phases.iter().find(|other| other.id() == phase).is_some_and(has_ended)
}

fn has_ended(phase: &Phase) -> bool {
    match phase.state {
        PhaseState::Completed { .. } | PhaseState::NeedsReview { .. } | PhaseState::Skipped { .. } => true,
        PhaseState::NotStarted | PhaseState::InProgress { .. } => false,
    }
}
