//! Recorded files: the maximum size of a content that is stored, and the differences between a recorded file and the
//! current one. Writes nothing.

mod differences;

pub use differences::FileDifference;

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::facades::Sessions;
use crate::files::{self, FileDigest, PathEntry};
use crate::view::{View, Warning};
use jiff::Timestamp;
use model::actor::Actor;
use model::artifact::{Artifact, ArtifactVersion, moved_path};
use model::event::Event;
use model::hint::Hint;
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::words;
use serde::Serialize;
use std::path::{Path, PathBuf};
use store::ContentRow;

/// The maximum size of a file whose content is stored. Of a larger file, only the hash is stored.
pub(crate) const LARGEST_KEPT: usize = 256 * 1024;
/// The maximum size of a file that is always read to warn about changes. A larger file is read only if its size or
/// modification time has changed.
const LARGEST_READ_FOR_A_WARNING: u64 = 1024 * 1024;

/// How a recorded file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    Missing,
    Changed,
    /// The file is no longer a regular file, or it is a link out of the project.
    Unusable,
    /// The file is declared by a phase and exists, but is not recorded.
    New,
}

impl Difference {
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Unusable => "unusable",
            Self::New => "new",
        }
    }
}

/// A recorded file that has changed since, or a declared file that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactFinding {
    pub path: String,
    pub difference: Difference,
    pub phase: Option<Name>,
    pub message: String,
    pub hint: Hint,
}

/// The result of checking every recorded file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub session_id: String,
    /// The number of checked files.
    pub checked: usize,
    pub findings: Vec<ArtifactFinding>,
}

/// One version of a file, from the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionMade {
    #[serde(flatten)]
    pub version: ArtifactVersion,
    pub at: Timestamp,
    pub actor: Actor,
    /// The name under which this version was archived; `None` if it was not archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_as: Option<String>,
}

/// Files as found on the disk, ready to be recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Recording {
    pub(crate) artifacts: Vec<ArtifactVersion>,
    pub(crate) contents: Vec<ContentRow>,
}

impl Sessions<'_> {
    /// Checks every recorded file, and looks for declared files that nobody recorded.
    pub fn verify_artifacts(&self) -> Result<Verification> {
        let engine = self.engine;
        let (_, session) = engine.load(&engine.select(Want::Latest)?)?;
        let root = engine.root_of(&session);
        let mut findings = Vec::new();
        for known in session.artifacts.values() {
            if let Some(difference) = difference(&root, known, Reading::Everything) {
                findings.push(engine.artifact_finding(known, difference));
            }
        }
        findings.extend(engine.unrecorded(&session)?);
        Ok(Verification { session_id: session.id.to_string(), checked: session.artifacts.len(), findings })
    }

    /// Returns every version of a file, or of all files, oldest first.
    pub fn artifact_history(&self, path: Option<&Path>) -> Result<(String, Vec<VersionMade>)> {
        let engine = self.engine;
        let id = engine.select(Want::Latest)?;
        let session = engine.replay(&id)?;
        let path = path.map(|path| engine.kept_path(&session, path)).transpose()?;
        let mut versions: Vec<VersionMade> = Vec::new();
        let mut place: Option<String> = None;
        for recorded in engine.history(&id)? {
            match recorded.event {
                Event::SessionStarted { path, .. } => place = path,
                Event::Adopted { path, .. } => place = Some(path),
                // When the session's folder moved, its files moved with it, so their older versions get the new path
                // too.
                Event::SessionMoved { path } => {
                    let from = place.replace(path.clone()).unwrap_or_default();
                    for made in &mut versions {
                        made.version.path = moved_path(&made.version.path, &from, &path);
                    }
                }
                Event::ArtifactRecorded { artifact: version } => versions.push(VersionMade {
                    version,
                    at: recorded.at,
                    actor: recorded.actor,
                    archived_as: None,
                }),
                Event::PhaseRevised { revision } => {
                    for archived in revision.archived {
                        let last = versions.iter_mut().rfind(|made| made.version.path == archived.from);
                        if let Some(made) = last {
                            made.archived_as = Some(archived.to);
                        }
                    }
                }
                _ => {}
            }
        }
        versions.retain(|made| path.as_ref().is_none_or(|path| made.version.path == *path));
        Ok((id.to_string(), versions))
    }
}

impl Engine {
    /// Returns warnings about the files of finished phases. Reads these files, so it is too slow for commands that must
    /// be fast.
    pub(crate) fn artifact_warnings(&self, view: &View) -> Vec<Warning> {
        // The files of an abandoned session were archived, so none of them is missing.
        if matches!(view.lifecycle, Lifecycle::Abandoned { .. }) {
            return Vec::new();
        }
        let is_over = matches!(view.lifecycle, Lifecycle::Completed { .. });
        let root = PathBuf::from(&view.worktree);
        let is_finished = |phase: &Name| {
            let status =
                view.phases.iter().find(|other| other.id == *phase).map(|found| found.status.as_str());
            matches!(status, Some("completed" | "needs_review"))
        };
        view.artifacts
            .iter()
            .filter(|known| known.newest.phase.as_ref().is_some_and(is_finished))
            .filter_map(|known| {
                let difference = difference(&root, known, Reading::WhatMayHaveChanged)?;
                let found = self.artifact_finding(known, difference);
                Some(Warning {
                    kind: format!("artifact_{}", difference.name()),
                    message: found.message,
                    // A finished session needs no further command.
                    hint: Some(found.hint).filter(|_| !is_over),
                    path: Some(found.path),
                    problem: None,
                })
            })
            .collect()
    }

    /// Describes how a file differs from its record, with a hint.
    pub(crate) fn artifact_finding(&self, known: &Artifact, difference: Difference) -> ArtifactFinding {
        let path = &known.newest.path;
        let whose = known.newest.phase.as_ref().map(|phase| format!(" of phase {phase}")).unwrap_or_default();
        let is_kept = || self.store.content(&known.newest.hash).is_ok_and(|content| content.is_some());
        let (what, hint) = match difference {
            Difference::Missing if is_kept() => {
                ("is missing", Hint::new("restore the file: ").run_here(words!["artifact", "restore", path]))
            }
            Difference::Missing => (
                "is missing, and the store does not have its content",
                "copy the file from git or from where it was recorded".into(),
            ),
            Difference::Changed => ("changed since it was recorded", accept(known)),
            Difference::Unusable => {
                ("is no longer a regular file of the project", "bring the file back".into())
            }
            Difference::New => ("is not recorded", accept(known)),
        };
        ArtifactFinding {
            path: path.clone(),
            difference,
            phase: known.newest.phase.clone(),
            message: format!("{path}{whose} {what}"),
            hint,
        }
    }

    /// Returns a path in its stored form: the given path is relative to the current folder, the stored one to the
    /// session's root.
    pub(crate) fn kept_path(&self, session: &Session, path: &Path) -> Result<String> {
        let here = std::env::current_dir()
            .and_then(|folder| folder.canonicalize())
            .map_err(|source| Error::io("finding the current folder", source))?;
        let root = self.root_of(session);
        let lexical = files::relative(&root, &here, path);
        lexical
            .or_else(|why| {
                // The path may go through a symbolic link into the project, as /tmp does on some systems.
                let whole = here.join(path);
                let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
                match (parent, whole.file_name()) {
                    (Some(parent), Some(name)) => files::relative(&root, &parent, Path::new(name)),
                    _ => Err(why),
                }
            })
            .map_err(|why| unusable(why, &root))
    }

    /// Reads files that must exist, to record them.
    pub(crate) fn record_named(
        &self,
        session: &Session,
        paths: &[PathBuf],
        phase: Option<&Name>,
    ) -> Result<Recording> {
        let root = self.root_of(session);
        let mut recording = Recording::default();
        for path in paths {
            let kept = self.kept_path(session, path)?;
            match look(&root, &kept) {
                PathEntry::File(looked) => recording.add(kept, looked, phase),
                PathEntry::Missing => {
                    return Err(unusable(format!("there is no file {}", path.display()), &root));
                }
                PathEntry::Unusable(why) => {
                    return Err(unusable(format!("{} cannot be recorded: {why}", path.display()), &root));
                }
            }
        }
        Ok(recording)
    }

    /// Reads the files of a phase that is about to be completed: files named by the caller, files declared by the
    /// phase, and files already recorded for it.
    pub(crate) fn record_of_phase(
        &self,
        session: &Session,
        phase: &Name,
        mut paths: Vec<String>,
    ) -> Result<Recording> {
        let root = self.root_of(session);
        let known = session.artifacts.values().filter(|known| known.newest.phase.as_ref() == Some(phase));
        paths.extend(known.map(|known| known.newest.path.clone()));
        let hash = session.run().map(|run| run.workflow.hash.clone()).unwrap_or_default();
        if let Some(definition) = self.definition(&hash)? {
            paths.extend(self.produced(session, &definition, phase));
        }
        paths.sort();
        paths.dedup();
        let mut recording = Recording::default();
        for path in paths {
            if let PathEntry::File(looked) = look(&root, &path) {
                recording.add(path, looked, Some(phase));
            }
        }
        Ok(recording)
    }

    /// Returns the declared files that exist but were not recorded.
    fn unrecorded(&self, session: &Session) -> Result<Vec<ArtifactFinding>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let Some(definition) = self.definition(&run.workflow.hash)? else { return Ok(Vec::new()) };
        let mut findings: Vec<ArtifactFinding> = Vec::new();
        for phase in &run.phases {
            for path in self.produced(session, &definition, phase.id()) {
                let is_known = session.artifacts.contains_key(&path)
                    || findings.iter().any(|finding| finding.path == path);
                if !is_known {
                    findings.push(ArtifactFinding {
                        message: format!(
                            "{path}, which phase {} should produce, is not recorded",
                            phase.id()
                        ),
                        hint: Hint::default().run_here(words![
                            "artifact",
                            "add",
                            path,
                            "--phase",
                            phase.id()
                        ]),
                        path,
                        difference: Difference::New,
                        phase: Some(phase.id().clone()),
                    });
                }
            }
        }
        Ok(findings)
    }
}

impl Recording {
    pub(crate) fn add(&mut self, path: String, looked: FileDigest, phase: Option<&Name>) {
        if self.artifacts.iter().any(|known| known.path == path) {
            return;
        }
        if looked.size <= LARGEST_KEPT as u64 {
            self.contents.push(ContentRow { hash: looked.hash.clone(), body: looked.beginning });
        }
        self.artifacts.push(ArtifactVersion {
            path,
            hash: looked.hash,
            size: looked.size,
            // A placeholder: the model assigns version numbers.
            version: 0,
            phase: phase.cloned(),
        });
    }

    pub(crate) fn hash_of(&self, path: &str) -> Option<&str> {
        self.artifacts.iter().find(|known| known.path == path).map(|known| known.hash.as_str())
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for artifact in other.artifacts {
            if !self.artifacts.iter().any(|known| known.path == artifact.path) {
                self.artifacts.push(artifact);
            }
        }
        self.contents.extend(other.contents);
    }
}

/// How thoroughly a file is checked for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Everything,
    /// A large file counts as unchanged if its size and modification time are unchanged.
    WhatMayHaveChanged,
}

/// Returns how a file differs from its record; `None` if it does not.
pub(crate) fn difference(root: &Path, known: &Artifact, reading: Reading) -> Option<Difference> {
    let path = root.join(&known.newest.path);
    if reading == Reading::WhatMayHaveChanged
        && let Ok(found) = std::fs::metadata(&path)
        && found.is_file()
        && found.len() == known.newest.size
        && found.len() > LARGEST_READ_FOR_A_WARNING
        && found
            .modified()
            .ok()
            .and_then(|at| Timestamp::try_from(at).ok())
            .is_some_and(|at| at < known.recorded_at)
    {
        return None;
    }
    match look(root, &known.newest.path) {
        PathEntry::Missing => Some(Difference::Missing),
        PathEntry::Unusable(_) => Some(Difference::Unusable),
        PathEntry::File(looked) => (looked.hash != known.newest.hash).then_some(Difference::Changed),
    }
}

pub(crate) fn look(root: &Path, path: &str) -> PathEntry {
    files::look(root, path, LARGEST_KEPT)
}

fn accept(known: &Artifact) -> Hint {
    let path = &known.newest.path;
    match &known.newest.phase {
        Some(phase) => Hint::new("record the file as it is: ")
            .run_here(words!["artifact", "add", path, "--phase", phase])
            .then("; or see the consequences: ")
            .run_here(words!["revisit", phase, "--reason", "changed", "--dry-run"]),
        None => Hint::new("record the file as it is: ").run_here(words!["artifact", "add", path]),
    }
}

fn unusable(message: String, root: &Path) -> Error {
    Error::WrongUsage { message, hint: format!("name a regular file below {}", root.display()).into() }
}
