//! Sessions in which nothing happens: laid over in memory when they are looked at, told when it has been long.

use crate::engine::{Engine, is_unfinished};
use crate::view::{ShortView, Warning};
use crate::words::duration;
use jiff::Timestamp;
use model::expiry::{expired_at, expires};
use model::session::Session;
use model::time::seconds_between;

/// What is looked at to tell whether a session was left lying.
struct Idle<'a> {
    id: &'a str,
    layout: &'a str,
    lifecycle: &'a str,
    updated_at: Timestamp,
}

impl Engine {
    pub(crate) fn expired_since(&self, session: &Session) -> Option<Timestamp> {
        session.expired_since(self.config.expiry.pause_after.seconds(), self.clock.now())
    }

    /// A session as it counts now.
    pub(crate) fn laid_over(&self, session: Session) -> Session {
        match self.expired_since(&session) {
            Some(since) => session.laid_over_with_expiry(since),
            None => session,
        }
    }

    /// A line of a list as it counts now.
    pub(crate) fn laid_over_line(&self, line: &mut ShortView) {
        let limit = self.config.expiry.pause_after.seconds();
        let is_active = line.lifecycle == "active" && expires(&line.layout);
        if is_active && expired_at(line.updated_at, limit, self.clock.now()).is_some() {
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
        let now = self.clock.now();
        let limits = &self.config.expiry;
        let is_over = |seconds| expired_at(idle.updated_at, seconds, now).is_some();
        // What cannot be paused by inactivity is told about as soon as it would have been.
        let only_told = idle.lifecycle == "active" && !expires(idle.layout);
        let limit = if only_told { limits.pause_after } else { limits.warn_after };
        if !is_over(limit.seconds()) && !is_over(limits.warn_after.seconds()) {
            return None;
        }
        let id = idle.id;
        let quiet = duration(seconds_between(idle.updated_at, now));
        Some(Warning {
            kind: "inactive".to_owned(),
            message: format!("nothing has happened in session {id} for {quiet}"),
            hint: Some(format!("go on with it: leftoff resume {id}, or clean it up: leftoff abandon {id}")),
            path: None,
        })
    }
}
