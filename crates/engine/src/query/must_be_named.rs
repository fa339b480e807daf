//! Decides if a printed command must name its session, and with which words.

use super::{Follows, takes_the_worktree};
use crate::engine::Engine;
use crate::error::Result;
use model::id::SessionId;
use model::session::Session;
use model::words;
use store::SessionRow;

impl Engine {
    /// True if a command that names no session would mean another session.
    pub(crate) fn must_be_named(&self, session: &Session, follows: Follows) -> Result<bool> {
        let is_here = || std::env::current_dir().is_ok_and(|here| here.starts_with(&self.project.root));
        if self.project.is_outside && !is_here() {
            return Ok(true);
        }
        let is_the_active_one = takes_the_worktree(&session.layout)
            && session.lifecycle.name() == "active"
            && !session.parallel
            && session.worktree == self.project.worktree();
        if let Some(bound) = self.open_bound_session()? {
            return Ok(bound != session.id);
        }
        if is_the_active_one {
            return Ok(false);
        }
        let latest = self.latest_of_worktree()?;
        let is_active = |row: &SessionRow| row.lifecycle == "active" && takes_the_worktree(&row.layout);
        // A session that was just changed becomes the latest, unless another one is active here.
        match follows {
            Follows::ChangeThatMadeRoom => return Ok(false),
            Follows::Change if !latest.as_ref().is_some_and(is_active) => return Ok(false),
            Follows::Change | Follows::Question => {}
        }
        let going_on = latest.as_ref().filter(|row| self.is_still_open(row));
        let is_another = |id: &SessionId| latest.as_ref().is_none_or(|row| row.id != *id);
        let elsewhere = if self.looks_around {
            self.active_by_registry(latest.as_ref())
                .filter(is_another)
                .or_else(|| going_on.and_then(|row| self.moved_on_to(row)))
        } else {
            None
        };
        let meant = elsewhere.or(latest.as_ref().map(|row| row.id.clone()));
        Ok(meant.as_ref() != Some(&session.id))
    }

    /// Returns the words with which a printed command means this session.
    pub(crate) fn naming(&self, session: &Session) -> Result<Vec<String>> {
        self.naming_after(session, Follows::Question)
    }

    pub(crate) fn naming_after(&self, session: &Session, follows: Follows) -> Result<Vec<String>> {
        let must_be_named = self.must_be_named(session, follows)?;
        Ok(if must_be_named { words!["--session", session.id] } else { Vec::new() })
    }
}
