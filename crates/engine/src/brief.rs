//! The brief: where the work was left off, for a reader who knows nothing else. Facts only; what is empty is left out.

mod markdown;

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::items::ItemView;
use crate::presence::AgentIdentity;
use crate::query::Current;
use crate::view::View;
use jiff::Timestamp;
use model::id::SessionId;
use model::note::{Note, NoteKind};
use serde::Serialize;
use std::time::Duration;
use store::{ActivityKind, ActivityRow, KEPT_ACTIVITIES};

pub use markdown::markdown;

/// A session's view with what only a brief tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Brief {
    pub session: View,
    pub branch: Option<String>,
    /// Files touched and commands run, the newest first.
    pub activity: Vec<ActivityRow>,
    /// Other agent sessions that are alive in this worktree.
    pub here_now: Vec<Neighbour>,
    pub now: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    pub agent: String,
    pub agent_session: String,
    /// What it works on.
    pub session_id: Option<String>,
    pub branch: Option<String>,
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

    /// An agent session began, or came back after a compaction: it is known here from now on, bound to what is
    /// going on, and told about it.
    pub fn agent_arrived(&mut self, identity: &AgentIdentity, patience: Duration) -> Result<Option<Brief>> {
        self.caller.agent = Some(identity.clone());
        failpoint::reached("agent-arrived");
        let session = self.unfinished()?;
        // Not being able to say that somebody is here is no reason to leave them without the brief.
        let greeted = self.greet(identity, session.clone(), patience);
        match session {
            Some(id) => self.brief_of(self.view_by_id(&id)?).map(Some),
            None => greeted.map(|()| None),
        }
    }

    /// The same where nothing can be written: the agent is told, and not made known.
    pub fn brief_for_agent(&mut self, identity: &AgentIdentity) -> Result<Option<Brief>> {
        self.caller.agent = Some(identity.clone());
        match self.unfinished()? {
            Some(id) => self.brief_of(self.view_by_id(&id)?).map(Some),
            None => Ok(None),
        }
    }

    /// What a newcomer is told about: what is going on here, else what waits to be gone on with.
    fn unfinished(&self) -> Result<Option<SessionId>> {
        match self.select(Want::Unfinished) {
            Ok(id) => Ok(Some(id)),
            Err(Error::NoSession { .. }) => self.waiting(),
            Err(error) => Err(error),
        }
    }

    fn view_by_id(&self, id: &SessionId) -> Result<View> {
        let (loaded, session) = self.load(id)?;
        self.view_of(&session, loaded.number, false)
    }

    fn brief_of(&self, mut session: View) -> Result<Brief> {
        session.warnings.extend(self.artifact_warnings(&session));
        let asking = self.asking_agent()?;
        let here_now = self
            .other_live_agents(asking.as_ref())?
            .into_iter()
            .map(|row| Neighbour {
                agent: row.agent,
                agent_session: row.agent_session,
                session_id: row.session.map(String::from),
                branch: row.branch,
                last_seen: row.last_seen,
            })
            .collect();
        // What was touched is worth telling, and no reason to tell nothing.
        let activity = SessionId::parse(&session.session_id)
            .ok()
            .and_then(|id| self.store.activity(&id, KEPT_ACTIVITIES).ok());
        Ok(Brief {
            session,
            activity: activity.unwrap_or_default(),
            branch: self.project.branch(),
            here_now,
            now: self.clock.now(),
        })
    }
}
