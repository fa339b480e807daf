//! Handles inactive sessions: treats them as paused when they are loaded, and reports them after a long time.

use crate::NATIVE;
use crate::engine::{Engine, is_unfinished};
use crate::view::{ShortView, Warning};
use crate::words::duration;
use jiff::Timestamp;
use layouts::layout;
use model::expiry::expired_at;
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::time::seconds_between;
use model::words;

/// The data that decides whether a session is inactive.
struct Idle<'a> {
    id: &'a str,
    layout: &'a str,
    lifecycle: &'a str,
    updated_at: Timestamp,
}

impl Engine {
    pub(crate) fn expired_since(&self, session: &Session) -> Option<Timestamp> {
        if !expires(&session.layout) {
            return None;
        }
        let (limit, now) = (self.config.expiry.pause_after.seconds(), self.clock.now());
        session.expired_since(None, limit, now)?;
        // Other activity is looked up only if the log shows no recent activity. So usually nothing more is read.
        session.expired_since(self.last_activity(&session.id), limit, now)
    }

    /// Returns the last activity of a session that was recorded outside the log.
    fn last_activity(&self, session: &SessionId) -> Option<Timestamp> {
        self.store.activity(session, 1).ok()?.first().map(|row| row.at)
    }

    /// Returns a session as paused if it has expired.
    pub(crate) fn with_expiry(&self, session: Session) -> Session {
        match self.expired_since(&session) {
            Some(since) => session.paused_by_expiry(since),
            None => session,
        }
    }

    /// Shows a line of a list as paused if its session has expired.
    pub(crate) fn apply_expiry(&self, line: &mut ShortView) {
        let limit = self.config.expiry.pause_after.seconds();
        if line.lifecycle != "active" || !expires(&line.layout) {
            return;
        }
        if self.quiet_since(&line.session_id, line.updated_at, limit).is_some() {
            "paused".clone_into(&mut line.lifecycle);
        }
    }

    pub(crate) fn idle_warning(&self, session: &Session) -> Option<Warning> {
        self.warn_about(&Idle {
            id: session.id.as_str(),
            layout: &session.layout,
            lifecycle: session.lifecycle.name(),
            updated_at: session.updated_at,
        })
    }

    pub(crate) fn idle_line_warning(&self, line: &ShortView) -> Option<Warning> {
        self.warn_about(&Idle {
            id: &line.session_id,
            layout: &line.layout,
            lifecycle: &line.lifecycle,
            updated_at: line.updated_at,
        })
    }

    fn warn_about(&self, idle: &Idle<'_>) -> Option<Warning> {
        if !is_unfinished(idle.lifecycle) {
            return None;
        }
        let limits = &self.config.expiry;
        // If sessions of this layout do not expire, such a session is reported when it would have expired.
        let only_told = idle.lifecycle == "active" && !expires(idle.layout);
        let first = if only_told { limits.pause_after } else { limits.warn_after };
        let last = self
            .quiet_since(idle.id, idle.updated_at, first.seconds())
            .or_else(|| self.quiet_since(idle.id, idle.updated_at, limits.warn_after.seconds()))?;
        let id = idle.id;
        let quiet = duration(seconds_between(last, self.clock.now()));
        Some(Warning {
            kind: "inactive".to_owned(),
            message: format!("session {id} has had no activity for {quiet}"),
            hint: Some(
                Hint::new("continue the session: ")
                    .run(words!["resume", id])
                    .then(", or abandon the session: ")
                    .run(words!["abandon", id]),
            ),
            path: None,
            problem: None,
        })
    }

    /// Returns the time of a session's last activity if it was longer ago than the limit; otherwise `None`.
    fn quiet_since(&self, id: &str, updated_at: Timestamp, limit: Option<u64>) -> Option<Timestamp> {
        let now = self.clock.now();
        expired_at(updated_at, limit, now)?;
        let activity = SessionId::parse(id).ok().and_then(|id| self.last_activity(&id));
        let last = activity.map_or(updated_at, |at| at.max(updated_at));
        expired_at(last, limit, now).map(|_| last)
    }
}

/// True if sessions of this layout expire. In other layouts, inactivity is only reported.
fn expires(layout: &str) -> bool {
    layout == NATIVE || layout::by_name(layout).is_some_and(|layout| layout.facts().expires)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_sessions_and_those_whose_files_have_a_word_for_it_expire_and_no_others() {
        assert!(["native", "praxis", "essay"].into_iter().all(expires));
        assert!(!["ocr", "ccw", "requirements"].into_iter().any(expires));
    }
}
