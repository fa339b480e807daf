//! One active session in a worktree, for layouts that know only one: of several that files call active the one that
//! changed last stays, the others count as paused, and it is said. Decides nothing about sessions of other layouts.

use super::find::Foreign;
use super::shorts::Short;
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan::{Change, Plan};
use crate::view::{ShortView, Warning};
use crate::words::one_line;
use jiff::Timestamp;
use layouts::layout;
use layouts::problem::{Problem, What};
use model::command::{Command, REASON_SWITCHED, decide};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::words;
use std::collections::BTreeSet;
use store::{Batch, StreamAppend};

const REASON_OTHER_ACTIVE: &str = "another session is active";
const LONGEST_TITLE: usize = 60;
/// The kind of warning about one that counts as paused.
const SEVERAL_ACTIVE: &str = "several_active";

impl Engine {
    /// Sessions that only files tell of and call active, of layouts that have one active session at most.
    pub(super) fn foreign_active(&self, except: &BTreeSet<SessionId>) -> Vec<(Timestamp, SessionId)> {
        let shorts = self.shorts();
        let active = shorts.iter().filter(|short| short.is_active() && short.says_where_it_stands);
        active
            .filter(|short| !except.contains(&short.id) && !self.store.base_has(&short.id))
            .map(|short| (short.line.updated_at, short.id.clone()))
            .collect()
    }

    /// A foreign session as it counts beside the others that are called active.
    pub(super) fn beside_others(&self, mut found: Foreign) -> Foreign {
        if !found.layout.facts().exclusive || !is_active(&found.session) {
            return found;
        }
        let own = (found.session.updated_at, found.id.clone());
        let ours = self.active_here();
        // Its own files may tell another time by now.
        let others = self.foreign_active(&BTreeSet::from([found.id.clone()]));
        let later = others.into_iter().chain(ours).filter(|other| *other > own).max();
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

    /// The same for sessions of ours on the lines of a list: files may have made another one active since.
    pub(crate) fn kept_lines_beside_others(&self, lines: &mut [ShortView]) -> Vec<Warning> {
        let here = self.project.worktree();
        let takes = |line: &ShortView| {
            let takes_it = takes_it(line) || (line.layout == super::NATIVE && line.lifecycle == "active");
            takes_it && !line.parallel && line.worktree == here
        };
        let mut active: Vec<(Timestamp, String)> = lines
            .iter()
            .filter(|line| takes(line))
            .map(|line| (line.updated_at, line.session_id.clone()))
            .collect();
        if active.is_empty() {
            return Vec::new();
        }
        let foreign = self.foreign_active(&BTreeSet::new()).into_iter();
        active.extend(foreign.map(|(at, id)| (at, id.to_string())));
        let Some((_, latest)) = active.into_iter().max() else { return Vec::new() };
        let mut warnings = Vec::new();
        for line in lines.iter_mut().filter(|line| takes(line) && line.session_id != latest) {
            "paused".clone_into(&mut line.lifecycle);
            warnings.push(counts_as_paused(&line.session_id, &latest));
        }
        warnings
    }

    /// The same for the lines of a list, which are all there.
    pub(super) fn lines_beside_others(&self, lines: &mut [(ShortView, Vec<Warning>)]) {
        let active = lines.iter().map(|(line, _)| line).filter(|line| takes_it(line));
        let known: Vec<(Timestamp, String)> =
            active.map(|line| (line.updated_at, line.session_id.clone())).collect();
        let ours = self.active_here().map(|(at, id)| (at, id.to_string()));
        let Some((_, latest)) = known.iter().cloned().chain(ours).max() else { return };
        for (line, warnings) in lines.iter_mut().filter(|(line, _)| takes_it(line)) {
            if line.session_id != latest {
                "paused".clone_into(&mut line.lifecycle);
                warnings.push(counts_as_paused(&line.session_id, &latest));
            }
        }
    }

    fn active_here(&self) -> Option<(Timestamp, SessionId)> {
        let id = self.store.active(&self.project.worktree()).ok().flatten()?;
        // Its files may say by now that it is not.
        let (_, session) = self.load(&id).ok()?;
        is_active(&session).then_some((session.updated_at, id))
    }

    /// Pauses what only files call active, to make room for a newcomer.
    pub(crate) fn pause_foreign(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<()> {
        let foreign = self.foreign_active(&BTreeSet::new()).into_iter().map(|(_, id)| id);
        for id in foreign.chain(self.activated_by_files()) {
            if !id.as_str().eq_ignore_ascii_case(newcomer.as_str()) && !plan.changes(&id) {
                let change = self.paused(plan, &id)?;
                plan.others.push(change);
            }
        }
        Ok(())
    }

    /// Sessions of ours that their own tool has made active.
    fn activated_by_files(&self) -> Vec<SessionId> {
        let is_it = |id: &SessionId| {
            let found = self.load(id).ok().map(|(_, session)| session);
            found.is_some_and(|session| {
                is_active(&session) && !session.parallel && session.worktree == self.project.worktree()
            })
        };
        self.called_active().into_iter().filter(is_it).collect()
    }

    /// What files say is active takes the place of what was: the edit is the newer of the two.
    pub(crate) fn make_room_for_found(&self, plan: &mut Plan) -> Result<()> {
        let Some(before) = &plan.subject.before else { return Ok(()) };
        let takes_it = layout::by_name(&before.layout).is_some_and(|layout| layout.facts().exclusive);
        let stays = !plan.subject.events.iter().any(ends_activity);
        if !takes_it || !is_active(before) || before.parallel || !stays || plan.subject.events.is_empty() {
            return Ok(());
        }
        let id = before.id.clone();
        let rival = self.store.active(&before.worktree)?.filter(|rival| *rival != id);
        if let Some(rival) = rival.filter(|rival| !plan.changes(rival)) {
            let change = self.paused(plan, &rival)?;
            plan.others.push(change);
        }
        Ok(())
    }

    /// Of several that are called active the others count as paused only as long as this one goes on: before it stops,
    /// or is taken in, that is written down. No other takes its place unasked.
    pub(crate) fn pause_those_that_count_as_paused(&self, plan: &mut Plan) -> Result<()> {
        let Some(before) = &plan.subject.before else { return Ok(()) };
        let is_of_here = before.worktree == self.project.worktree() && !before.parallel;
        let takes_it = before.layout == super::NATIVE
            || layout::by_name(&before.layout).is_some_and(|layout| layout.facts().exclusive);
        let is_moment = |event: &Event| ends_activity(event) || matches!(event, Event::Adopted { .. });
        // What comes from another project was never the active one here.
        let comes_here = |event: &Event| matches!(event, Event::Imported { from: Some(_), .. });
        let events = &plan.subject.events;
        let pending = self.store.pending(&before.id);
        let was_resumed =
            pending.is_some_and(|found| found.events.iter().any(|row| row.kind == "session_resumed"));
        let is_it = (was_resumed || events.iter().any(is_moment)) && !events.iter().any(comes_here);
        if !takes_it || !is_of_here || !is_active(before) || !is_it {
            return Ok(());
        }
        let own = (before.updated_at, before.id.clone());
        let foreign = self.foreign_active(&BTreeSet::from([own.1.clone()])).into_iter().map(|(_, id)| id);
        let kept = self.store.active(&self.project.worktree())?;
        for id in foreign.chain(self.activated_by_files()).chain(kept) {
            if id == own.1 || plan.changes(&id) {
                continue;
            }
            let (_, other) = self.load(&id)?;
            let is_earlier = is_active(&other) && (other.updated_at, id.clone()) < own;
            if is_earlier || self.counts_as_paused(&id) {
                let change = self.paused(plan, &id)?;
                plan.others.push(change);
            }
        }
        Ok(())
    }

    /// The store has one active session of a worktree. One that its files have ended since, and that is in the way of
    /// another by what is kept of it, goes along as its files have it.
    pub(crate) fn bring_along_rival(&self, batch: &mut Batch) -> Result<()> {
        let newcomers = batch.streams.iter().filter(|stream| stream.row.lifecycle == "active");
        let worktrees: BTreeSet<String> = newcomers
            .filter(|stream| !stream.row.parallel)
            .map(|stream| stream.row.worktree.clone())
            .collect();
        for worktree in worktrees {
            let Some(rival) = self.store.active_kept(&worktree)? else { continue };
            if batch.streams.iter().any(|stream| stream.row.id == rival) {
                continue;
            }
            self.attend(&rival)?;
            let ended = self.store.pending(&rival).filter(|stream| stream.row.lifecycle != "active");
            batch.streams.extend(ended.map(|stream| StreamAppend { events: Vec::new(), ..stream }));
        }
        Ok(())
    }

    /// The same for what is taken in without a command: a turn of its own, before that.
    pub(super) fn make_way(&mut self, id: &SessionId) -> Result<()> {
        let (_, session) = self.load(id)?;
        let takes_it = layout::by_name(&session.layout).is_some_and(|layout| layout.facts().exclusive);
        let rival = self.store.active_kept(&session.worktree)?.filter(|rival| rival != id);
        let Some(rival) = rival.filter(|_| takes_it && is_active(&session) && !session.parallel) else {
            return Ok(());
        };
        let (_, other) = self.load(&rival)?;
        if !is_active(&other) {
            return self.take_in(&rival);
        }
        // Of two that are called active the one that changed last stays.
        let is_later = (session.updated_at, id) > (other.updated_at, &rival);
        let rival = if is_later { rival } else { id.clone() };
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
    pub(crate) fn paused(&self, plan: &mut Plan, id: &SessionId) -> Result<Change> {
        let other = self.look_up(id)?;
        let mut events = Vec::new();
        if is_active(&other.session) {
            let pause =
                Command::Pause { reason: REASON_SWITCHED.to_owned(), context: None, saved: Vec::new() };
            events = decide(&other.session, pause)?;
        }
        let title = one_line(&other.session.title, LONGEST_TITLE);
        let change = other.change_and_found(events);
        // One that its files ended is not ended by this; one that only counts as paused is.
        if change.before.as_ref().is_some_and(is_active) || self.counts_as_paused(id) {
            plan.said.push(format!("paused {id} ({title})"));
        }
        Ok(change)
    }

    /// Whether files call a session active, and another one that changed later took its place.
    pub(super) fn counts_as_paused(&self, id: &SessionId) -> bool {
        self.file_warnings(id).iter().any(|warning| warning.kind == SEVERAL_ACTIVE)
    }

    /// The foreign session that was paused, or failed, last.
    pub(crate) fn waiting_foreign(&self) -> Option<(Timestamp, SessionId)> {
        let shorts = self.shorts();
        let waits = |short: &&Short| matches!(short.line.lifecycle.as_str(), "paused" | "failed");
        let mut waiting: Vec<&Short> = shorts.iter().filter(waits).collect();
        waiting.sort_by_key(|short| (short.line.updated_at, &short.id));
        let found = waiting.into_iter().rev().find(|short| !self.store.base_has(&short.id))?;
        Some((found.line.updated_at, found.id.clone()))
    }

    /// The foreign session that is active, as it counts beside others.
    pub(crate) fn active_foreign(&self) -> Option<SessionId> {
        self.foreign_active(&BTreeSet::new()).into_iter().max().map(|(_, id)| id)
    }
}

fn takes_it(line: &ShortView) -> bool {
    let takes_it = layout::by_name(&line.layout).is_some_and(|layout| layout.facts().exclusive);
    takes_it && line.lifecycle == "active"
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
    let what = What::CountsAsPaused { session: id.to_string(), other: other.to_string() };
    let problem = Problem::of_file("", what);
    Warning {
        kind: SEVERAL_ACTIVE.to_owned(),
        message: problem.to_string(),
        hint: Some(
            Hint::new("go on with it: ")
                .run(words!["switch", id])
                .then("; or write that down: ")
                .run(words!["repair"]),
        ),
        path: None,
        problem: Some(Box::new(problem)),
    }
}
