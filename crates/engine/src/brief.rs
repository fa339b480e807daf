//! The brief: where the work was left off, for a reader who knows nothing else. Facts only; what is empty is left out.

mod markdown;
mod moved;

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::items::ItemView;
use crate::presence::AgentIdentity;
use crate::query::Current;
use crate::view::View;
use jiff::Timestamp;
use model::id::SessionId;
use model::note::{Note, NoteKind};
use serde::Serialize;
use store::{ActivityKind, ActivityRow, KEPT_ACTIVITIES};

pub use markdown::markdown;
pub use moved::{Moved, PhaseName};

/// A session's view with what only a brief tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Brief {
    pub session: View,
    pub branch: Option<String>,
    /// An edit of its files that nothing here has confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// Files touched and commands run, the newest first.
    pub activity: Vec<ActivityRow>,
    /// Other agent sessions that are alive in this worktree.
    pub here_now: Vec<Neighbour>,
    pub now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWords<'a> {
    pub who: String,
    pub at: Timestamp,
    pub words: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    pub agent: String,
    pub agent_session: String,
    /// What it works on.
    pub session_id: Option<String>,
    pub branch: Option<String>,
    /// Where it is, if not in this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    pub last_seen: Timestamp,
}

impl Brief {
    /// The first open items of the phase, those of whoever reads this before all others.
    pub fn items(&self, most: usize) -> Vec<&ItemView> {
        let (mine, others): (Vec<_>, Vec<_>) = self.session.items.iter().partition(|item| item.mine);
        mine.into_iter().chain(others).take(most).collect()
    }

    pub fn notes(&self, kind: NoteKind) -> impl Iterator<Item = &Note> {
        self.session.notes.iter().filter(move |note| note.kind == kind)
    }
}

impl Brief {
    /// What agents said when they stopped, the newest first.
    pub fn last_words(&self) -> impl Iterator<Item = LastWords<'_>> {
        self.activity(ActivityKind::Words).filter_map(|row| {
            let (agent, id) = row.what.split_once(':')?;
            let short: String = id.chars().take(8).collect();
            Some(LastWords { who: format!("{agent} {short}"), at: row.at, words: row.detail.as_deref()? })
        })
    }

    pub fn activity(&self, kind: ActivityKind) -> impl Iterator<Item = &ActivityRow> {
        self.activity.iter().filter(move |row| row.kind == kind)
    }
}

impl Engine {
    /// The brief of the session that is meant; none where nothing is going on.
    pub fn brief(&self) -> Result<Option<Brief>> {
        match self.status()? {
            Current::Nothing(_) => Ok(None),
            Current::Session(view) => Ok(Some(self.brief_of(*view)?)),
        }
    }

    /// What a newcomer is told about: what is going on here, else what waits to be gone on with.
    pub(crate) fn unfinished(&self) -> Result<Option<SessionId>> {
        match self.select(Want::Unfinished) {
            Ok(id) => Ok(Some(id)),
            Err(Error::NoSession { .. }) => self.waiting(),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn view_by_id(&self, id: &SessionId) -> Result<View> {
        let (loaded, session) = self.load(id)?;
        self.view_of(&session, loaded.number, false)
    }

    pub(crate) fn brief_of(&self, mut session: View) -> Result<Brief> {
        session.warnings.extend(self.artifact_warnings(&session));
        let asking = self.asking_agent()?;
        let here_now = self.neighbours(asking.as_ref())?;
        // What was touched is worth telling, and no reason to tell nothing.
        let activity = SessionId::parse(&session.session_id)
            .ok()
            .and_then(|id| self.store.activity(&id, KEPT_ACTIVITIES).ok());
        let moved = match session.claimed().next() {
            Some(_) => moved::last_move(&self.log(Some(&session.session_id), 0)?.1),
            None => None,
        };
        Ok(Brief {
            activity: activity.unwrap_or_default(),
            // Another tool's session may be about a branch that is not checked out here.
            branch: told_branch(&session).or_else(|| self.project.branch()),
            session,
            moved,
            here_now,
            now: self.clock.now(),
        })
    }

    /// Other agent sessions of this project that are alive, in whichever worktree: those that leftoff saw, and those
    /// that only the list of another tool has.
    fn neighbours(&self, asking: Option<&AgentIdentity>) -> Result<Vec<Neighbour>> {
        let here = self.project.worktree();
        let mut neighbours: Vec<Neighbour> = Vec::new();
        for row in self.store.agents(None)? {
            if asking.is_some_and(|identity| identity.is(&row)) || !self.lives(&row) {
                continue;
            }
            neighbours.push(Neighbour {
                agent: row.agent,
                agent_session: row.agent_session,
                session_id: row.session.map(String::from),
                branch: row.branch,
                worktree: Some(row.worktree).filter(|worktree| *worktree != here),
                last_seen: row.last_seen,
            });
        }
        for other in self.listed_elsewhere(asking) {
            let known = |neighbour: &Neighbour| neighbour.agent_session.starts_with(&other.agent_session);
            if !neighbours.iter().any(known) {
                neighbours.push(Neighbour {
                    agent: other.agent,
                    agent_session: other.agent_session,
                    session_id: None,
                    branch: other.branch,
                    worktree: None,
                    last_seen: other.last_seen,
                });
            }
        }
        Ok(neighbours)
    }
}

/// The branch that a session says it is about.
fn told_branch(session: &View) -> Option<String> {
    session.fields.get("branch").and_then(|branch| branch.as_str()).map(ToOwned::to_owned)
}
