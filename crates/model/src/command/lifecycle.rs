//! Decides commands about the lifecycle of a session: pausing, resuming, ending.

use super::{REASON_SWITCHED, REASON_USER_REQUEST, not_active};
use crate::event::Event;
use crate::lifecycle::Lifecycle;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::workflow::OnComplete;

pub(super) fn pause(
    session: &Session,
    reason: String,
    context: Option<String>,
    saved: Vec<String>,
) -> Result<Vec<Event>, Refusal> {
    match &session.lifecycle {
        Lifecycle::Active => Ok(vec![Event::SessionPaused { reason, context, saved }]),
        Lifecycle::Paused { reason: known, context: known_context, saved: known_saved, .. } => {
            // When a paused session is paused again, an automatic reason does not replace the recorded reason.
            let is_ours = [REASON_USER_REQUEST, REASON_SWITCHED].contains(&reason.as_str());
            let reason = if is_ours { known.clone() } else { reason };
            let context = context.or_else(|| known_context.clone());
            let mut all = known_saved.clone();
            all.extend(saved.into_iter().filter(|path| !known_saved.contains(path)));
            let is_new = reason != *known || context != *known_context || all != *known_saved;
            let events = is_new.then_some(Event::SessionPaused { reason, context, saved: all });
            Ok(events.into_iter().collect())
        }
        Lifecycle::Completed { .. } | Lifecycle::Failed { .. } | Lifecycle::Abandoned { .. } => {
            Err(not_active(session, "pause"))
        }
    }
}

pub(super) fn resume(session: &Session, worktree: String, parallel: bool) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {
            Ok(vec![Event::SessionResumed { worktree, parallel, machine: None }])
        }
        Lifecycle::Active if session.worktree == worktree && session.machine.is_none() => Ok(Vec::new()),
        Lifecycle::Active => Ok(vec![Event::SessionResumed { worktree, parallel, machine: None }]),
        Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => Err(not_active(session, "resume")),
    }
}

pub(super) fn close(session: &Session, force: bool) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Completed { .. } => return Ok(Vec::new()),
        Lifecycle::Abandoned { .. } => return Err(not_active(session, "close")),
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {}
    }
    let unfinished = session.runs.iter().rev().find(|run| run.is_open());
    match unfinished {
        Some(run) if !force && !run.may_be_whole() => Err(Refusal::Unfinished {
            session: session.id.clone(),
            workflow: run.workflow.name.clone(),
            done: run.completed(),
            total: (run.workflow.on_complete != OnComplete::Grow).then(|| run.applicable()),
            current: run.current().id().clone(),
        }),
        // A claimed phase counts as open if the log contradicts it.
        Some(run) => {
            let forced = !run.may_be_whole() || session.has_contested();
            Ok(vec![Event::SessionCompleted { forced }])
        }
        None => Ok(vec![Event::SessionCompleted { forced: session.has_contested() }]),
    }
}

pub(super) fn abandon(
    session: &Session,
    reason: Option<String>,
    operation: Option<String>,
) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Abandoned { .. } => Ok(Vec::new()),
        Lifecycle::Completed { .. } => Err(not_active(session, "abandon")),
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {
            Ok(vec![Event::SessionAbandoned { reason, operation }])
        }
    }
}

pub(super) fn fail(session: &Session, error: String) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Failed { error: ref known, .. } if *known == error => Ok(Vec::new()),
        Lifecycle::Active | Lifecycle::Failed { .. } => Ok(vec![Event::SessionFailed { error }]),
        Lifecycle::Paused { .. } | Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {
            Err(not_active(session, "fail"))
        }
    }
}

/// Reopens a finished session at the same phase. Completed phases stay completed. If a file ended the session against
/// the log, the claims behind that end no longer count.
pub(super) fn reopen(session: &Session, worktree: String, parallel: bool) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {
            Ok(vec![Event::SessionReopened { worktree, parallel, machine: None }])
        }
        Lifecycle::Active => Ok(Vec::new()),
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Err(not_active(session, "reopen")),
    }
}
