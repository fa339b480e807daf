//! The brief: the state of the work for a reader who knows nothing else. Facts only; empty parts are omitted.

mod bookkeeping;
mod gathered;
mod markdown;
mod moved;
mod paths;
mod repository;

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::facades::Sessions;
use crate::git::Asked;
use crate::items::ItemView;
use crate::presence::{AgentIdentity, SEEN_LATELY_SECONDS};
use crate::query::Current;
use crate::view::{PhaseView, View};
use jiff::Timestamp;
use model::actor::Actor;
use model::approval::Approval;
use model::artifact::Artifact;
use model::id::{Name, SessionId};
use model::item::{ItemCounts, ItemStatus};
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::outcome::Outcomes;
use model::session::Session;
use model::time::seconds_between;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use store::{ActivityKind, ActivityRow, AgentRow, KEPT_ACTIVITIES};

pub use markdown::{USUAL_BUDGET, fitting, markdown, tokens};
pub use moved::{Moved, PhaseName, WentBack};
pub use repository::Repository;

/// A session's view, with details that only a brief shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Brief {
    pub session: View,
    /// The session's own folder, relative to the project's folder.
    pub folder: String,
    pub branch: Option<String>,
    #[serde(rename = "git", skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// The last edit of the session's files that moved the session to another phase; `None` if a later command
    /// confirmed the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// The last rollback by a command; `None` as soon as its phase is completed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub went_back: Option<WentBack>,
    /// Declared fields that have a value other than their default.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub set_fields: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_runs: Vec<EarlierRun>,
    /// The ids and titles of the finished items of the current phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub done_items: Vec<(String, String)>,
    /// Items that only a task list calls done: their ids by the path of the list.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub claimed_items: BTreeMap<String, Vec<String>>,
    /// The open items of earlier phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<OpenItem>,
    /// Items of later phases, if a revision or an edit took the session back to an earlier phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items_ahead: Vec<ItemsAhead>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// Who skipped each skipped phase, by phase id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_by: BTreeMap<String, String>,
    /// Paused sessions of this worktree; empty unless this session is over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paused_here: Vec<String>,
    /// How long the session was paused in total, including pauses in earlier runs and before phases were reopened.
    pub paused_seconds: u64,
    /// Files that were worked on and that still exist.
    pub touched: Vec<String>,
    /// Touched files and executed commands, newest first.
    pub activity: Vec<ActivityRow>,
    /// Other agent sessions in this project that are alive.
    pub here_now: Vec<Neighbour>,
    pub now: Timestamp,
}

/// An earlier run, and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EarlierRun {
    pub workflow: String,
    pub number: u32,
    pub completed_at: Option<Timestamp>,
    pub outcomes: Outcomes,
    /// The phase in which the run was left; `None` if the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The evidence of the run's last phase.
    pub values: Map<String, Value>,
}

/// An unfinished item of an earlier phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpenItem {
    pub phase: String,
    #[serde(flatten)]
    pub item: ItemView,
}

/// The items of a phase that is still to come.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemsAhead {
    pub phase: Name,
    pub counts: ItemCounts,
    /// The ids of the first finished items.
    pub done: Vec<String>,
    /// The first items that somebody has begun or blocked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<ItemView>,
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
    /// The session on which the agent works.
    pub session_id: Option<String>,
    pub branch: Option<String>,
    /// The agent's worktree; `None` if it is the reader's own worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    pub last_seen: Timestamp,
}

impl Neighbour {
    /// True if the neighbour holds this item.
    pub(crate) fn holds(&self, item: &ItemView) -> bool {
        let lease = item.item.lease.as_ref().filter(|_| item.held);
        lease.is_some_and(|lease| match &lease.actor {
            Actor::Agent { agent, id, .. } => *agent == self.agent && *id == self.agent_session,
            Actor::Person { .. } | Actor::Tool { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
        })
    }
}

impl Brief {
    /// Updates when the agent that made the last change was last seen. Without hooks, an agent's presence is recorded
    /// only when it starts a session.
    fn see_last_actor(&mut self) {
        let Actor::Agent { agent, id, .. } = &self.session.last_actor else { return };
        let is_it = |other: &&mut Neighbour| other.agent == *agent && other.agent_session == *id;
        if let Some(other) = self.here_now.iter_mut().find(is_it) {
            other.last_seen = other.last_seen.max(self.session.updated_at);
        }
    }

    /// Returns the first open items of the phase, in this order: the reader's own, held or started by others, blocked,
    /// ready, waiting.
    pub fn items(&self, most: usize) -> Vec<&ItemView> {
        let mut items: Vec<&ItemView> = self.session.items.iter().collect();
        items.sort_by_key(|item| {
            let is_blocked = matches!(item.item.status, ItemStatus::Blocked { .. });
            let waits = item.container || !item.item.waits_for.is_empty();
            (!item.mine, !item.held && !item.is_started(), !is_blocked, waits)
        });
        items.truncate(most);
        items
    }

    pub fn notes(&self, kind: NoteKind) -> impl Iterator<Item = &Note> {
        self.session.notes.iter().filter(move |note| note.kind == kind)
    }
}

impl Brief {
    /// Returns the paths of the files that were recorded for a phase of this run.
    pub fn files_of<'a>(&'a self, phase: &'a PhaseView) -> impl Iterator<Item = &'a str> {
        let since = self.session.run.started_at;
        let is_own = move |file: &&Artifact| {
            file.newest.phase.as_ref() == Some(&phase.id) && file.recorded_at >= since
        };
        self.session.artifacts.iter().filter(is_own).map(|file| file.newest.path.as_str())
    }

    /// Returns the names of those who approved a phase.
    pub fn approvers_of<'a>(&'a self, phase: &'a PhaseView) -> impl Iterator<Item = &'a str> {
        let own = self.approvals.iter().filter(|approval| approval.phase == phase.id);
        own.map(|approval| approval.by.as_str())
    }

    /// Returns the last message of each agent that stopped, newest first.
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

impl Sessions<'_> {
    /// Returns the brief of the selected session; `None` if there is no such session.
    pub fn brief(&self) -> Result<Option<Brief>> {
        match self.status()? {
            Current::Nothing(_) => Ok(None),
            Current::Session(view) => Ok(Some(self.engine.brief_of(*view, self.engine.ask_status())?)),
        }
    }
}

impl Engine {
    /// Returns the session to show to a new agent: the active one, or else one that waits to be resumed.
    pub(crate) fn unfinished(&self) -> Result<Option<SessionId>> {
        match self.select(Want::Unfinished) {
            Ok(id) => Ok(Some(id)),
            Err(Error::NoSession { .. }) => match self.waiting()? {
                Some(id) => Ok(Some(id)),
                None => self.closed_in_doubt(),
            },
            Err(error) => Err(error),
        }
    }

    /// Returns the session that was worked on last, if its files call it finished although its log does not prove all
    /// phases. Otherwise `None`.
    fn closed_in_doubt(&self) -> Result<Option<SessionId>> {
        let id = match self.select(Want::Latest) {
            Err(Error::NoSession { .. }) => return Ok(None),
            other => other?,
        };
        let (_, session) = self.load(&id)?;
        Ok(self.closed_over(&session).map(|_| id))
    }

    pub(crate) fn view_by_id(&self, id: &SessionId) -> Result<View> {
        let (loaded, session) = self.load(id)?;
        self.view_of(&session, loaded.number, false)
    }

    pub(crate) fn brief_of(&self, mut view: View, status: Option<Asked>) -> Result<Brief> {
        view.warnings.extend(self.artifact_warnings(&view));
        let id = self.resolve(&view.session_id)?;
        let (_, session) = self.load(&id)?;
        let may_be_moved = view.claimed().next().is_some() || session.went_back_at.is_some();
        let (moved, went_back) = if may_be_moved {
            let events = self.sessions().log(Some(&view.session_id), 0)?.events;
            (moved::last_move(&events), moved::last_rollback(&events))
        } else {
            (None, None)
        };
        let paused_seconds = match session.resume_count {
            0 => 0,
            _ => self.sessions().log(Some(&view.session_id), 0)?.paused_seconds(self.clock.now())?,
        };
        let bookkeeping = self.bookkeeping(&session);
        let has_earlier_runs = session.runs.len() > 1;
        let arrival = has_earlier_runs.then(|| self.arrival_of(&session, false)).flatten();
        let marked =
            has_earlier_runs.then(|| self.with_unsigned_marked(&session, arrival.as_ref())).flatten();
        let definition = session.run().map(|run| self.definition(&run.workflow.hash)).transpose()?.flatten();
        let mut brief = Brief {
            folder: crate::project::workspace_path(&session),
            // Another tool's session may name a branch that is not checked out here.
            branch: told_branch(&view).or_else(|| self.project.branch()),
            repository: None,
            moved,
            went_back,
            set_fields: gathered::set_fields(&session, definition.as_deref()),
            earlier_runs: gathered::earlier_runs(marked.as_ref().unwrap_or(&session)),
            done_items: self.done_items(&session)?,
            claimed_items: self.claimed_items(&session)?,
            left_open: self.left_open(&session)?,
            items_ahead: self.items_ahead(&session)?,
            approvals: session.approvals.clone(),
            skipped_by: gathered::skipped_by(&session),
            paused_here: self.paused_beside(&session),
            paused_seconds,
            touched: Vec::new(),
            // A brief is useful even without the recorded activity. So an error in reading the activity is ignored.
            activity: self.store.activity(&id, KEPT_ACTIVITIES).unwrap_or_default(),
            here_now: self.neighbours(&session, self.asking_agent()?.as_ref())?,
            now: self.clock.now(),
            session: view,
        };
        // The answer of `git status` is collected last, because git runs in the background meanwhile.
        brief.repository = self.repository(&id, session.created_at, &bookkeeping, status);
        brief.touched = gathered::touched(&brief, &self.root_of(&session), &bookkeeping);
        brief.see_last_actor();
        Ok(brief)
    }

    /// Returns the ids of other sessions that wait to be resumed, if this session is over.
    fn paused_beside(&self, session: &Session) -> Vec<String> {
        match session.lifecycle {
            Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => self.candidates(&session.id),
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => Vec::new(),
        }
    }

    /// Returns the agent that changed the session last, if it may still be working but is otherwise unknown, as an
    /// agent without hooks is.
    fn last_at_work(
        &self,
        session: &Session,
        rows: &[AgentRow],
        asking: Option<&AgentIdentity>,
    ) -> Option<Neighbour> {
        let Actor::Agent { agent, id, .. } = &session.last_actor else { return None };
        let is_known = rows.iter().any(|row| row.agent == *agent && row.agent_session == *id);
        let is_asking = asking.is_some_and(|asking| asking.agent == *agent && asking.id == *id);
        let is_late = seconds_between(session.updated_at, self.clock.now()) >= SEEN_LATELY_SECONDS;
        if is_known || is_asking || is_late || session.lifecycle.name() != "active" {
            return None;
        }
        Some(Neighbour {
            agent: agent.clone(),
            agent_session: id.clone(),
            session_id: Some(session.id.to_string()),
            branch: None,
            worktree: None,
            last_seen: session.updated_at,
        })
    }

    /// Returns other live agent sessions of this project, in any worktree: those that leftoff saw, and those that only
    /// another tool's registry lists.
    fn neighbours(&self, session: &Session, asking: Option<&AgentIdentity>) -> Result<Vec<Neighbour>> {
        let here = self.project.worktree();
        let rows = self.store.agents(None)?;
        let mut neighbours: Vec<Neighbour> = self.last_at_work(session, &rows, asking).into_iter().collect();
        for row in rows {
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

/// Returns the branch that a session names.
fn told_branch(session: &View) -> Option<String> {
    session.fields.get("branch").and_then(|branch| branch.as_str()).map(ToOwned::to_owned)
}
