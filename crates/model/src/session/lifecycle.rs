//! Applies events that change a session's lifecycle and worktree, and computes the time that does not count as work.

use super::{REASON_TAKEN, Session};
use crate::lifecycle::{Interruption, Lifecycle};
use crate::phase::PhaseState;
use crate::run::Run;
use crate::time::seconds_between;
use jiff::Timestamp;

impl Session {
    pub(super) fn enter(&mut self, lifecycle: Lifecycle, at: Timestamp) {
        self.settle_pause(at);
        self.lifecycle = lifecycle;
        self.ended_by_file = false;
    }

    /// Pauses the session. If it is already paused, only the reason changes; the pause keeps its start.
    pub(super) fn pause(
        &mut self,
        reason: String,
        context: Option<String>,
        saved: Vec<String>,
        now: Timestamp,
    ) {
        let at = match &self.lifecycle {
            Lifecycle::Paused { at, .. } => *at,
            Lifecycle::Active
            | Lifecycle::Completed { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => {
                self.settle_pause(now);
                now
            }
        };
        self.lifecycle = Lifecycle::Paused { at, reason, context, saved };
        self.ended_by_file = false;
    }

    /// Records what a pause or a failure interrupted, before the session is resumed. A pause without a context keeps
    /// the context of the previous pause. Does nothing for an active session: resuming it only moves it to another
    /// worktree.
    pub(super) fn remember_pause(&mut self, resumed_at: Timestamp) {
        let (paused_at, reason, context) = match &self.lifecycle {
            Lifecycle::Paused { at, reason, context, .. } => (*at, reason.clone(), context.clone()),
            Lifecycle::Failed { at, error } => (*at, format!("failed: {error}"), None),
            Lifecycle::Active | Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => return,
        };
        self.resume_count = self.resume_count.saturating_add(1);
        let before = self.interrupted.take().and_then(|before| before.context);
        let context = context.or(before);
        self.interrupted = Some(Interruption { paused_at, resumed_at, reason, context });
    }

    pub(super) fn activate(
        &mut self,
        worktree: &str,
        machine: Option<&String>,
        parallel: bool,
        at: Timestamp,
    ) {
        self.enter(Lifecycle::Active, at);
        self.go_to_worktree(worktree, machine);
        self.parallel = parallel;
    }

    fn go_to_worktree(&mut self, worktree: &str, machine: Option<&String>) {
        worktree.clone_into(&mut self.worktree);
        self.machine = machine.cloned();
    }

    /// Pauses an active session that arrived from another machine. A session that is already paused keeps the start of
    /// its pause, and a finished session stays finished.
    pub(super) fn take(&mut self, worktree: &str, machine: Option<&String>, at: Timestamp) {
        self.go_to_worktree(worktree, machine);
        self.parallel = false;
        let reason = REASON_TAKEN.to_owned();
        let paused = Lifecycle::Paused { at, reason, context: None, saved: Vec::new() };
        match &self.lifecycle {
            Lifecycle::Active => self.enter(paused, at),
            Lifecycle::Paused { .. }
            | Lifecycle::Completed { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => {}
        }
    }

    /// Adds the duration of a pause that ends now to the paused time of the phase in progress.
    pub(super) fn settle_pause(&mut self, until: Timestamp) {
        let stopped = self.working_until(until);
        let Some(phase) = self.run_mut().and_then(Run::current_mut) else { return };
        if matches!(phase.state, PhaseState::InProgress { .. }) {
            phase.paused_seconds = phase.paused_seconds.saturating_add(seconds_between(stopped, until));
        }
    }
}
