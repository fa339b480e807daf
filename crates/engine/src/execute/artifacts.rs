//! Records files and restores recorded versions. Files are read before the turn to write; the model numbers their
//! versions within it.

use crate::artifacts::{LARGEST_KEPT, Recording, look};
use crate::disk::below;
use crate::engine::{Engine, Want};
use crate::error::{Error, NotRestored, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, may_be_put, refused};
use crate::files::PathEntry;
use crate::project::workspace_of;
use crate::workspace::ensure_ignored;
use model::artifact::ArtifactVersion;
use model::command::{Command, decide, resolve_phase};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::{Name, SessionId};
use model::nearest_name::nearest;
use model::session::Session;
use model::words;
use std::fs;
use std::path::{Path, PathBuf};
use store::ActivityKind;

impl Engine {
    /// Records files as they are now, for the named phase or, without a name, for the current one.
    pub(crate) fn add_artifacts(&mut self, paths: &[PathBuf], phase: Option<&str>) -> Result<Answer> {
        if paths.is_empty() {
            return Err(Error::WrongUsage {
                message: "no file was named".to_owned(),
                hint: Hint::default().run_here(words!["artifact", "add", "PATH"]),
            });
        }
        let fingerprint = self.fingerprint("artifact add", &format!("{paths:?} {phase:?}"));
        let id = self.select(Want::Latest)?;
        let (_, session) = self.load(&id)?;
        let phase = phase_of(&session, phase)?;
        let recording = self.record_named(&session, paths, phase.as_ref())?;
        let workspace = workspace_of(&session.id);
        if recording.artifacts.iter().any(|artifact| artifact.path.starts_with(&workspace)) {
            ensure_ignored(&self.root_of(&session))?;
        }
        let answer = self.in_turn(&fingerprint, |engine| {
            let subject = engine.load_subject(&id)?;
            let command = Command::RecordArtifacts { artifacts: recording.artifacts.clone() };
            let events = decide(&subject.session, command)?;
            let mut plan = Plan::of(subject.change(events));
            plan.contents.clone_from(&recording.contents);
            Ok(plan)
        })?;
        self.record_touched(&id, &recording);
        Ok(answer)
    }

    /// The path of a recorded file: as given, or the only recorded file of this name.
    fn recorded_path(&self, session: &Session, path: &Path) -> Result<String> {
        let kept = self.kept_path(session, path);
        if kept.as_ref().is_ok_and(|kept| session.artifacts.contains_key(kept))
            || path.components().count() > 1
        {
            return kept;
        }
        let mut named =
            session.artifacts.keys().filter(|known| Path::new(known).file_name() == path.file_name());
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only.clone()),
            _ => kept,
        }
    }

    /// Restores a recorded version of a file: the given version or, without a number, the newest that differs from the
    /// file. The current content is recorded first, so that it can be restored too.
    pub(crate) fn restore_artifact(&mut self, path: &Path, version: Option<u32>) -> Result<Answer> {
        let (_, session) = self.load(&self.select(Want::Latest)?)?;
        let kept_path = self.recorded_path(&session, path)?;
        let root = self.root_of(&session);
        let (_, made) = self.sessions().artifact_history(Some(&root.join(&kept_path)))?;
        let versions: Vec<ArtifactVersion> = made.into_iter().map(|made| made.version).collect();
        let place = below(&root, &kept_path)?;
        let present = match look(&root, &kept_path) {
            PathEntry::File(looked) => Some(looked),
            PathEntry::Missing => None,
            PathEntry::Unusable(why) => return Err(Error::BrokenFile { path: place, why }),
        };
        let is_present =
            |version: &ArtifactVersion| present.as_ref().is_some_and(|looked| looked.hash == version.hash);
        let wanted = wanted_version(&session, &kept_path, &versions, version, is_present)?;
        let Some(content) = self.store.content(&wanted.hash)? else {
            return Err(NotRestored::ContentNotKept { path: kept_path, version: wanted.version }.into());
        };
        self.refuse_instructions_from_elsewhere(&session, wanted)?;
        let mut kept_edit = None;
        if let Some(looked) = present.filter(|looked| versions.iter().all(|known| known.hash != looked.hash))
        {
            if looked.size > LARGEST_KEPT as u64 {
                return Err(NotRestored::WouldBeLost { path: kept_path }.into());
            }
            let key = self.options.key.take();
            let recorded = self.add_artifacts(std::slice::from_ref(&place), None);
            self.options.key = key;
            let newest = recorded?.view.artifacts.into_iter().find(|known| known.newest.path == kept_path);
            kept_edit = newest.map(|known| known.newest.version);
        }
        put_file(&place, &content)?;
        let mut answer = self.add_artifacts(&[place], wanted.phase.as_ref().map(Name::as_str))?;
        // The file was restored, even if nothing new had to be recorded.
        answer.view.already = false;
        answer.said.extend(kept_edit.map(|version| {
            format!(
                "its content until now is kept as version {version}: leftoff artifact restore {kept_path} --version {version}"
            )
        }));
        answer.said.push(format!("{kept_path} was restored to version {}", wanted.version));
        Ok(answer)
    }

    /// Refuses to write a hidden file that was recorded only on another machine. A hidden file can configure a program,
    /// such as an agent's hooks.
    fn refuse_instructions_from_elsewhere(&self, session: &Session, wanted: &ArtifactVersion) -> Result<()> {
        let path = &wanted.path;
        if let Some(why) = refused(path) {
            return Err(NotRestored::Forbidden { path: path.clone(), why }.into());
        }
        if may_be_put(path, &self.own_folder(session)) {
            return Ok(());
        }
        let from_elsewhere = self.arrived_up_to(&session.id)?;
        let is_here = |recorded: &Recorded| {
            let is_it = matches!(&recorded.event, Event::ArtifactRecorded { artifact }
                if artifact.path == *path && artifact.hash == wanted.hash);
            is_it && recorded.version > from_elsewhere
        };
        if from_elsewhere == 0 || self.history(&session.id)?.iter().any(is_here) {
            return Ok(());
        }
        let why = "it was recorded on another machine, and a hidden file can configure a program";
        Err(NotRestored::Forbidden { path: path.clone(), why }.into())
    }

    /// Records activity on the named files. An error is ignored, because the command is already done.
    pub(super) fn record_touched(&mut self, id: &SessionId, recording: &Recording) {
        let paths: Vec<&str> = recording.artifacts.iter().map(|artifact| artifact.path.as_str()).collect();
        if !paths.is_empty() {
            let _ = self.record_activity_of(id, ActivityKind::File, &paths, None);
        }
    }
}

fn wanted_version<'a>(
    session: &Session,
    path: &str,
    versions: &'a [ArtifactVersion],
    asked: Option<u32>,
    is_present: impl Fn(&ArtifactVersion) -> bool,
) -> Result<&'a ArtifactVersion> {
    let Some(newest) = versions.last() else {
        let known = session.artifacts.keys().map(String::as_str);
        let nearest = nearest(path, known).map(ToOwned::to_owned);
        return Err(NotRestored::UnknownFile { path: path.to_owned(), nearest }.into());
    };
    match asked {
        Some(asked) => versions.iter().rfind(|known| known.version == asked).ok_or_else(|| {
            NotRestored::UnknownVersion { path: path.to_owned(), asked, newest: newest.version }.into()
        }),
        None => Ok(versions.iter().rfind(|known| !is_present(known)).unwrap_or(newest)),
    }
}

/// Replaces a file atomically: a reader sees either the old content or the new one.
fn put_file(place: &Path, content: &[u8]) -> Result<()> {
    let failed = |source| Error::io(format!("writing {}", place.display()), source);
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.leftoff-{}", std::process::id()));
    let written = fs::write(&draft, content).and_then(|()| {
        if let Ok(before) = fs::metadata(place) {
            fs::set_permissions(&draft, before.permissions())?;
        }
        fs::File::open(&draft)?.sync_all()?;
        fs::rename(&draft, place)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map_err(failed)
}

/// Returns the phase for which files are recorded: the named one, or else the current one of a run in progress.
fn phase_of(session: &Session, asked: Option<&str>) -> Result<Option<Name>> {
    let Some(run) = session.run() else { return Ok(None) };
    match asked {
        Some(text) => Ok(Some(resolve_phase(run, text)?.id().clone())),
        None => Ok(run.is_open().then(|| run.current().id().clone())),
    }
}
