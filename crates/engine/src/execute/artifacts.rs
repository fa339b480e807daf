//! Recording files. They are read outside the turn; the model counts their versions inside it.

use crate::artifacts::Recording;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::Plan;
use crate::place::workspace_of;
use crate::workspace::ensure_ignored;
use model::command::{Command, decide, resolve_phase};
use model::hint::Hint;
use model::id::{Name, SessionId};
use model::session::Session;
use model::words;
use std::path::PathBuf;
use store::ActivityKind;

impl Engine {
    /// Records files as they are now, for the phase named, else for the current one.
    pub fn add_artifacts(&mut self, paths: &[PathBuf], phase: Option<&str>) -> Result<Answer> {
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
        let answer = self.execute(&fingerprint, |engine| {
            let subject = engine.take_up(&id)?;
            let command = Command::RecordArtifacts { artifacts: recording.artifacts.clone() };
            let events = decide(&subject.session, command)?;
            let mut plan = Plan::of(subject.change(events));
            plan.contents.clone_from(&recording.contents);
            Ok(plan)
        })?;
        self.tell_touched(&id, &recording);
        Ok(answer)
    }

    /// Files that somebody named were worked on. The command is done: not being able to tell this fails nothing.
    pub(super) fn tell_touched(&mut self, id: &SessionId, recording: &Recording) {
        let paths: Vec<&str> = recording.artifacts.iter().map(|artifact| artifact.path.as_str()).collect();
        if !paths.is_empty() {
            let _ = self.record_activity_of(id, ActivityKind::File, &paths, None);
        }
    }
}

/// The phase that files are recorded for: the one named; else the current one while it is at work.
fn phase_of(session: &Session, asked: Option<&str>) -> Result<Option<Name>> {
    let Some(run) = session.run() else { return Ok(None) };
    match asked {
        Some(text) => Ok(Some(resolve_phase(run, text)?.id().clone())),
        None => Ok(run.is_open().then(|| run.current().id().clone())),
    }
}
