//! One active session in a worktree, for layouts that know only one: of several that files call active the one that
//! changed last stays, the others count as paused, and it is said. Decides nothing about sessions of other layouts.

use super::find::Foreign;
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan::{Change, Plan};
use crate::view::{ShortView, Warning};
use crate::words::one_line;
use jiff::Timestamp;
use layouts::layout::{self, Depth, Layout};
use model::command::{Command, REASON_SWITCHED, decide};
use model::event::{Event, Recorded};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;

const REASON_OTHER_ACTIVE: &str = "another session is active";
const LONGEST_TITLE: usize = 60;

impl Engine {
    /// Sessions that only files tell of and call active, of layouts that have one active session at most.
    fn foreign_active(&self) -> Vec<(Timestamp, SessionId)> {
        let candidates = self.unadopted().into_iter().filter(|located| located.layout.takes_the_worktree());
        candidates
            .filter_map(|located| self.foreign_at(&located, Depth::Short))
            .filter(|found| is_active(&found.session))
            .map(|found| (found.session.updated_at, found.id))
            .collect()
    }

    /// A foreign session as it counts beside the others that are called active.
    pub(super) fn beside_others(&self, mut found: Foreign) -> Foreign {
        if !found.layout.takes_the_worktree() || !is_active(&found.session) {
            return found;
        }
        let own = (found.session.updated_at, found.id.clone());
        let ours = self.active_here();
        let later = self.foreign_active().into_iter().chain(ours).filter(|other| *other > own).max();
        let Some((_, other)) = later else { return found };
        let event =
            Event::SessionPaused { reason: REASON_OTHER_ACTIVE.to_owned(), context: None, saved: Vec::new() };
        let (version, at) = (found.session.version + 1, found.session.updated_at);
        let recorded = Recorded { version, at, actor: self.actor_of(found.layout), event };
        found.session = found.session.apply(&recorded);
        found.recorded.push(recorded);
        found.warnings.push(counts_as_paused(&found.id, &other));
        found
    }

    /// The same for the lines of a list, which are all there.
    pub(super) fn lines_beside_others(&self, lines: &mut [(ShortView, Vec<Warning>)]) {
        let takes = |line: &ShortView| {
            let takes_it = layout::by_name(&line.layout).is_some_and(Layout::takes_the_worktree);
            takes_it && line.lifecycle == "active"
        };
        let active = lines.iter().map(|(line, _)| line).filter(|line| takes(line));
        let known: Vec<(Timestamp, String)> =
            active.map(|line| (line.updated_at, line.session_id.clone())).collect();
        let ours = self.active_here().map(|(at, id)| (at, id.to_string()));
        let Some((_, latest)) = known.iter().cloned().chain(ours).max() else { return };
        for (line, warnings) in lines.iter_mut().filter(|(line, _)| takes(line)) {
            if line.session_id != latest {
                "paused".clone_into(&mut line.lifecycle);
                warnings.push(counts_as_paused(&line.session_id, &latest));
            }
        }
    }

    fn active_here(&self) -> Option<(Timestamp, SessionId)> {
        let id = self.store.active(&self.project.worktree()).ok().flatten()?;
        let row = self.store.load(&id).ok().flatten()?.row;
        Some((row.updated_at, id))
    }

    /// Pauses what only files call active, to make room for a newcomer.
    pub(crate) fn pause_foreign(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<()> {
        for (_, id) in self.foreign_active() {
            if !id.as_str().eq_ignore_ascii_case(newcomer.as_str()) {
                let change = self.paused(plan, &id)?;
                plan.others.push(change);
            }
        }
        Ok(())
    }

    /// What files say is active takes the place of what was: the edit is the newer of the two.
    pub(crate) fn make_room_for_found(&self, plan: &mut Plan) -> Result<()> {
        let Some(before) = &plan.subject.before else { return Ok(()) };
        let takes_it = layout::by_name(&before.layout).is_some_and(Layout::takes_the_worktree);
        let stays = !plan.subject.events.iter().any(ends_activity);
        if !takes_it || !is_active(before) || before.parallel || !stays || plan.subject.events.is_empty() {
            return Ok(());
        }
        let id = before.id.clone();
        let rival = self.store.active(&before.worktree)?.filter(|rival| *rival != id);
        let is_known = |rival: &SessionId| {
            let others = plan.others.iter().filter_map(|change| change.before.as_ref());
            others.into_iter().any(|session| session.id == *rival)
        };
        if let Some(rival) = rival.filter(|rival| !is_known(rival)) {
            let change = self.paused(plan, &rival)?;
            plan.others.push(change);
        }
        Ok(())
    }

    /// The same for what is taken in without a command: a turn of its own, before that.
    pub(super) fn make_way(&mut self, id: &SessionId) -> Result<()> {
        let (_, session) = self.load(id)?;
        let takes_it = layout::by_name(&session.layout).is_some_and(Layout::takes_the_worktree);
        let rival = self.store.active(&session.worktree)?.filter(|rival| rival != id);
        let Some(rival) = rival.filter(|_| takes_it && is_active(&session) && !session.parallel) else {
            return Ok(());
        };
        let fingerprint = self.fingerprint("pause", rival.as_str());
        // The key is the command's that this is done for.
        let key = self.options.key.take();
        let done = self.execute(&fingerprint, |engine| {
            let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
            plan.subject = engine.paused(&mut plan, &rival)?;
            Ok(plan)
        });
        self.options.key = key;
        done.map(drop)
    }

    /// A session that stops because another one is active. What its files say about it already is kept with that.
    fn paused(&self, plan: &mut Plan, id: &SessionId) -> Result<Change> {
        let other = self.look_up(id)?;
        let mut events = Vec::new();
        if is_active(&other.session) {
            let pause =
                Command::Pause { reason: REASON_SWITCHED.to_owned(), context: None, saved: Vec::new() };
            events = decide(&other.session, pause)?;
        }
        plan.said.push(format!("paused {id} ({})", one_line(&other.session.title, LONGEST_TITLE)));
        Ok(other.change_and_found(events))
    }

    /// The foreign session that was paused, or failed, last.
    pub(crate) fn waiting_foreign(&self) -> Option<(Timestamp, SessionId)> {
        let candidates = self.unadopted().into_iter().filter(|located| located.layout.takes_the_worktree());
        candidates
            .filter_map(|located| self.foreign_at(&located, Depth::Short))
            .filter(|found| matches!(found.session.lifecycle.name(), "paused" | "failed"))
            .map(|found| (found.session.updated_at, found.id))
            .max()
    }

    /// The foreign session that is active, as it counts beside others.
    pub(crate) fn active_foreign(&self) -> Option<SessionId> {
        self.foreign_active().into_iter().max().map(|(_, id)| id)
    }
}

fn is_active(session: &Session) -> bool {
    matches!(session.lifecycle, Lifecycle::Active)
}

fn ends_activity(event: &Event) -> bool {
    matches!(
        event,
        Event::SessionPaused { .. }
            | Event::SessionCompleted { .. }
            | Event::SessionAbandoned { .. }
            | Event::SessionFailed { .. }
            | Event::SessionExpired { .. }
    )
}

fn counts_as_paused(id: &impl std::fmt::Display, other: &impl std::fmt::Display) -> Warning {
    Warning {
        kind: "several_active".to_owned(),
        message: format!(
            "several sessions are called active; {other} changed last, so {id} counts as paused"
        ),
        hint: Some(format!("go on with it: leftoff switch {id}")),
        path: None,
    }
}
