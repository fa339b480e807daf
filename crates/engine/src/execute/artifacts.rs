//! Recording files. They are read outside the turn; the model counts their versions inside it.

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::Plan;
use crate::place::workspace_of;
use crate::workspace::ensure_ignored;
use model::command::{Command, decide, resolve_phase};
use model::id::Name;
use model::session::Session;
use std::path::PathBuf;

impl Engine {
    /// Records files as they are now, for the phase named, else for the current one.
    pub fn add_artifacts(&mut self, paths: &[PathBuf], phase: Option<&str>) -> Result<Answer> {
        if paths.is_empty() {
            return Err(Error::WrongUsage {
                message: "no file was named".to_owned(),
                hint: "leftoff artifact add PATH".to_owned(),
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
        self.execute(&fingerprint, |engine| {
            let subject = engine.take_up(&id)?;
            let command = Command::RecordArtifacts { artifacts: recording.artifacts.clone() };
            let events = decide(&subject.session, command)?;
            let mut plan = Plan::of(subject.change(events));
            plan.contents.clone_from(&recording.contents);
            Ok(plan)
        })
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
