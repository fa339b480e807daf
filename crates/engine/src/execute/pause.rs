//! Pauses a session, and records its current drafts.

use crate::artifacts::{LARGEST_KEPT, Recording};
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded, checked_reason};
use layouts::layout;
use model::command::{Command, REASON_USER_REQUEST, decide};
use model::lifecycle::Lifecycle;
use model::session::Session;
use std::path::PathBuf;

/// The input for a pause.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PauseRequest {
    pub reason: Option<String>,
    /// A description of the work in progress.
    pub context: Option<String>,
    /// Paths of files to record as they are now.
    pub drafts: Vec<PathBuf>,
}

impl Engine {
    /// Pauses the session, and records the requested files as they are now.
    pub(super) fn pause(&mut self, request: &PauseRequest) -> Result<Answer> {
        let drafts = &request.drafts;
        let reason = checked_reason(request.reason.as_deref().unwrap_or(REASON_USER_REQUEST))?;
        let context = request.context.as_deref().map(|text| bounded("the context", text)).transpose()?;
        let fingerprint = self.fingerprint("pause", &format!("{reason:?} {context:?} {drafts:?}"));
        let id = self.select(Want::Unfinished)?;
        // Drafts are read before the turn to write.
        let recording = self.drafts(&id, drafts)?;
        let saved: Vec<String> = recording.artifacts.iter().map(|draft| draft.path.clone()).collect();
        let mut answer = self.in_turn(&fingerprint, |engine| {
            let subject = engine.load_subject(&id)?;
            let session = &subject.session;
            engine.refuse_nothing_active(session)?;
            let (reason, context, saved) = (reason.clone(), context.clone(), saved.clone());
            let mut events =
                decide(session, Command::RecordArtifacts { artifacts: recording.artifacts.clone() })?;
            events.extend(decide(session, Command::Pause { reason, context, saved })?);
            let mut plan = Plan::of(subject.change(events));
            plan.contents.clone_from(&recording.contents);
            engine.free_leases(&mut plan, &engine.asking_actor()?)?;
            Ok(plan)
        })?;
        answer.said.extend(recording.artifacts.iter().map(|draft| {
            let is_kept = draft.size <= LARGEST_KEPT as u64;
            let how = if is_kept { "" } else { " (too large: only its hash is kept)" };
            format!("saved: {}{how}", draft.path)
        }));
        Ok(answer)
    }

    /// Refuses to pause if no session is active and none was named, in layouts whose tool pauses only the active
    /// session. In other layouts, pausing a session that is already paused is harmless.
    fn refuse_nothing_active(&self, session: &Session) -> Result<()> {
        let is_meant = layout::by_name(&session.layout)
            .is_some_and(|layout| layout.facts().pauses_active_only)
            && matches!(session.lifecycle, Lifecycle::Paused { .. })
            && self.options.session.is_none();
        let worktree = self.project.worktree();
        if !is_meant || self.store.active(&worktree)?.is_some() {
            return Ok(());
        }
        let others = self.candidates(&session.id);
        let paused = std::iter::once(session.id.to_string()).chain(others).collect();
        Err(Error::NothingActive { worktree, paused })
    }

    fn drafts(&self, id: &model::id::SessionId, paths: &[PathBuf]) -> Result<Recording> {
        if paths.is_empty() {
            return Ok(Recording::default());
        }
        let (_, session) = self.load(id)?;
        let phase = session.run().filter(|run| run.is_open()).map(|run| run.current().id().clone());
        self.record_named(&session, paths, phase.as_ref())
    }
}
