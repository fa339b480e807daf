//! Layouts that allow one active session per worktree. If files call several sessions active, the one that was changed
//! last is active. The others count as paused, and a warning says so. Sessions of other layouts are ignored.

pub(crate) mod claims;

use crate::engine::Engine;
use crate::error::Result;
use crate::execute::plan::{Change, Plan};
use crate::foreign::discover::summary::SessionSummary;
use crate::query::takes_the_worktree;
use crate::view::{ShortView, Warning};
use crate::words::one_line;
use claims::{Claim, Contender, First, before_adopting, displaced_by, holder, paused_with};
use jiff::Timestamp;
use layouts::layout;
use layouts::problem::{Problem, What};
use layouts::reader::Foreign;
use model::command::{Command, REASON_SWITCHED, decide};
use model::event::{Event, Recorded};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use std::collections::BTreeSet;
use store::{Batch, StreamAppend};

const REASON_OTHER_ACTIVE: &str = "another session is active";
const LONGEST_TITLE: usize = 60;

impl Engine {
    /// Returns the sessions that are known only from files and that these call active, in layouts that allow one active
    /// session.
    pub(crate) fn foreign_active(&self, except: &BTreeSet<SessionId>) -> Vec<Claim> {
        let summaries = self.summaries();
        let active = summaries.iter().filter(|summary| summary.is_active() && summary.says_where_it_stands);
        active
            .filter(|summary| !except.contains(&summary.id) && !self.store.base_has(&summary.id))
            .map(|summary| self.claim(summary.line.updated_at, &summary.id))
            .collect()
    }

    fn claim(&self, updated_at: Timestamp, id: &SessionId) -> Claim {
        Claim { is_listed: self.is_listed(id), updated_at, id: id.clone() }
    }

    fn claim_of(&self, line: &ShortView) -> Option<Claim> {
        Some(self.claim(line.updated_at, &SessionId::parse(&line.session_id).ok()?))
    }

    /// Like `foreign_active`, but without sessions that were created and never started: these need not be paused.
    fn foreign_started(&self, except: &BTreeSet<SessionId>) -> Vec<Claim> {
        let mut active = self.foreign_active(except);
        active.retain(|claim| !self.is_unbegun(claim.id.as_str()));
        active
    }

    fn is_unbegun(&self, id: &str) -> bool {
        self.summaries().iter().any(|summary| summary.is_unbegun && summary.id.as_str() == id)
    }

    /// Returns a foreign session as read. If another session that files call active was changed later, this one is
    /// returned as paused.
    pub(crate) fn beside_others(&self, mut found: Foreign) -> Foreign {
        if !found.located.layout.facts().exclusive || !is_active(&found.session) {
            return found;
        }
        // The session itself is excluded: its files may have a later time by now.
        let others = self.foreign_active(&BTreeSet::from([found.located.id.clone()]));
        let own = self.claim(found.session.updated_at, &found.located.id);
        let others = others.into_iter().chain(self.active_here());
        let Some(other) = displaced_by(&own, others) else { return found };
        let event =
            Event::SessionPaused { reason: REASON_OTHER_ACTIVE.to_owned(), context: None, saved: Vec::new() };
        let (version, at) = (found.session.version + 1, found.session.updated_at);
        let recorded = Recorded { version, at, actor: self.tree_reader().actor(found.located.layout), event };
        found.session = found.session.apply(&recorded);
        found.recorded.push(recorded);
        if !found.told.is_unbegun {
            found.problems.push(beside(&own, &other));
        }
        found
    }

    /// Changes lines of stored sessions to paused if files have since activated another session.
    pub(crate) fn kept_lines_beside_others(&self, lines: &mut [ShortView]) -> Vec<Warning> {
        let here = self.project.worktree();
        let contends = |line: &ShortView| {
            line.lifecycle == "active"
                && takes_the_worktree(&line.layout)
                && !line.parallel
                && line.worktree == here
        };
        let own = lines.iter().filter(|line| contends(line)).filter_map(|line| self.claim_of(line));
        let own: Vec<Claim> = own.collect();
        if own.is_empty() {
            return Vec::new();
        }
        let foreign = self.foreign_active(&BTreeSet::new());
        let Some(latest) = holder(own.into_iter().chain(foreign)) else { return Vec::new() };
        let others = lines.iter_mut().filter(|line| contends(line));
        others.filter_map(|line| self.line_paused_beside(line, &latest)).collect()
    }

    /// Changes lines of sessions that are known only from files to paused, except the line of the active one.
    pub(crate) fn lines_beside_others(&self, lines: &mut [(ShortView, Vec<Warning>)]) {
        let contends = |line: &ShortView| line.lifecycle == "active" && is_exclusive(&line.layout);
        let found = lines.iter().map(|(line, _)| line).filter(|line| contends(line));
        let found: Vec<Claim> = found.filter_map(|line| self.claim_of(line)).collect();
        let Some(latest) = holder(found.into_iter().chain(self.active_here())) else { return };
        for (line, warnings) in lines.iter_mut().filter(|(line, _)| contends(line)) {
            let said = self.line_paused_beside(line, &latest);
            warnings.extend(said.filter(|_| !self.is_unbegun(&line.session_id)));
        }
    }

    /// Marks a line of a list as paused because another session is active. Returns the warning.
    fn line_paused_beside(&self, line: &mut ShortView, active: &Claim) -> Option<Warning> {
        let own = self.claim_of(line).filter(|own| own.id != active.id)?;
        "paused".clone_into(&mut line.lifecycle);
        Some(Warning::of_session(&active.id, &beside(&own, active)))
    }

    fn active_here(&self) -> Option<Claim> {
        let id = self.store.active(&self.project.worktree()).ok().flatten()?;
        // Meanwhile the session's files may say that the session is not active.
        let (_, session) = self.load(&id).ok()?;
        is_active(&session).then(|| self.claim(session.updated_at, &id))
    }

    pub(crate) fn contender(&self, id: &SessionId) -> Result<Contender> {
        let (_, session) = self.load(id)?;
        Ok(Contender {
            claim: self.claim(session.updated_at, id),
            is_active: is_active(&session),
            counts_as_paused: self.counts_as_paused(id),
        })
    }

    /// Pauses sessions that only files call active, because a new session becomes active.
    pub(crate) fn pause_foreign(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<()> {
        let foreign = self.foreign_started(&BTreeSet::new()).into_iter().map(|claim| claim.id);
        for id in foreign.chain(self.activated_by_files()) {
            if !id.as_str().eq_ignore_ascii_case(newcomer.as_str()) {
                self.pause_too(plan, &id)?;
            }
        }
        Ok(())
    }

    /// Returns the stored sessions that their own tool has activated.
    fn activated_by_files(&self) -> Vec<SessionId> {
        let is_it = |id: &SessionId| {
            let found = self.load(id).ok().map(|(_, session)| session);
            found.is_some_and(|session| {
                is_active(&session) && !session.parallel && session.worktree == self.project.worktree()
            })
        };
        self.called_active().into_iter().filter(is_it).collect()
    }

    /// If files have activated this session, pauses the session that was active before, because the edit of the files
    /// is newer.
    pub(crate) fn make_room_for_found(&self, plan: &mut Plan) -> Result<()> {
        let stays = !plan.subject.events.iter().any(ends_activity);
        if !stays || plan.subject.events.is_empty() {
            return Ok(());
        }
        self.pause_rival_of_found(plan, &[])
    }

    /// Like `make_room_for_found`, for a command that changes nothing although it stores an external edit. `changed`
    /// has the sessions that the command changes anyway.
    pub(crate) fn pause_rival_of_found(&self, plan: &mut Plan, changed: &[SessionId]) -> Result<()> {
        let Some(before) = &plan.subject.before else { return Ok(()) };
        if !is_exclusive(&before.layout) || !is_active(before) || before.parallel {
            return Ok(());
        }
        let id = before.id.clone();
        let rival = self.store.active(&before.worktree)?.filter(|rival| *rival != id);
        match rival.filter(|rival| !changed.contains(rival)) {
            Some(rival) => self.pause_too(plan, &rival),
            None => Ok(()),
        }
    }

    /// Pauses sessions that count as paused only because this session is active. Called before this session is paused,
    /// ended or adopted, so that no other session becomes active without a command.
    pub(crate) fn pause_those_that_count_as_paused(&self, plan: &mut Plan) -> Result<()> {
        let Some(before) = &plan.subject.before else { return Ok(()) };
        let is_of_here = before.worktree == self.project.worktree() && !before.parallel;
        let is_moment = |event: &Event| ends_activity(event) || matches!(event, Event::Adopted { .. });
        // If the session comes from another project, it was never active here.
        let comes_here = |event: &Event| matches!(event, Event::Imported { from: Some(_), .. });
        let events = &plan.subject.events;
        let pending = self.store.pending(&before.id);
        let was_resumed =
            pending.is_some_and(|found| found.events.iter().any(|row| row.kind == "session_resumed"));
        let is_it = (was_resumed || events.iter().any(is_moment)) && !events.iter().any(comes_here);
        if !takes_the_worktree(&before.layout) || !is_of_here || !is_active(before) || !is_it {
            return Ok(());
        }
        let own = self.claim(before.updated_at, &before.id);
        let foreign =
            self.foreign_started(&BTreeSet::from([own.id.clone()])).into_iter().map(|claim| claim.id);
        let kept = self.store.active(&self.project.worktree())?;
        let others = foreign.chain(self.activated_by_files()).chain(kept);
        let others = others.filter(|id| !plan.changes(id)).map(|id| self.contender(&id));
        let others = others.collect::<Result<Vec<_>>>()?;
        paused_with(&own, others).iter().try_for_each(|id| self.pause_too(plan, id))
    }

    /// If the batch makes a session active, adds to the batch the end of the session that was active in this worktree.
    /// The files have ended that session, but in the store it is still active, and the store allows only one active
    /// session per worktree.
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
            self.observe(&rival)?;
            let ended = self.store.pending(&rival).filter(|stream| stream.row.lifecycle != "active");
            batch.streams.extend(ended.map(|stream| StreamAppend { events: Vec::new(), ..stream }));
        }
        Ok(())
    }

    /// Like `bring_along_rival`, for an adoption without a command: the other session is changed before that, in a turn
    /// of its own.
    pub(crate) fn pause_rival_first(&mut self, id: &SessionId) -> Result<()> {
        let (_, session) = self.load(id)?;
        let contends = is_exclusive(&session.layout) && !session.parallel;
        let rival = self.store.active_kept(&session.worktree)?.filter(|rival| contends && rival != id);
        let Some(rival) = rival else { return Ok(()) };
        match before_adopting(&self.contender(id)?, &self.contender(&rival)?) {
            First::Nothing => Ok(()),
            First::Adopt(rival) => self.adopt_edits(&rival),
            First::Pause(earlier) => self.pause_in_its_own_turn(&earlier),
        }
    }

    fn pause_in_its_own_turn(&mut self, id: &SessionId) -> Result<()> {
        let fingerprint = self.fingerprint("pause", id.as_str());
        // The caller's key belongs to the command that needs this pause, so it is not used here.
        let key = self.options.key.take();
        let done = self.in_turn(&fingerprint, |engine| {
            let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
            plan.subject = engine.paused(&mut plan, id)?;
            Ok(plan)
        });
        self.options.key = key;
        done.map(drop)
    }

    /// Adds the pause of another session to a plan, unless the plan changes that session anyway.
    fn pause_too(&self, plan: &mut Plan, id: &SessionId) -> Result<()> {
        if !plan.changes(id) {
            let change = self.paused(plan, id)?;
            plan.others.push(change);
        }
        Ok(())
    }

    /// Returns the change that pauses a session because another one becomes active. Edits in the session's files are
    /// adopted with it.
    pub(crate) fn paused(&self, plan: &mut Plan, id: &SessionId) -> Result<Change> {
        let other = self.look_up_to_pause(id)?;
        let mut events = Vec::new();
        if is_active(&other.session) {
            let pause =
                Command::Pause { reason: REASON_SWITCHED.to_owned(), context: None, saved: Vec::new() };
            events = decide(&other.session, pause)?;
        }
        let title = one_line(&other.session.title, LONGEST_TITLE);
        let change = other.change_and_found(events);
        // A session that its files have ended is not paused. A session that only counts as paused is paused in the log.
        if change.before.as_ref().is_some_and(is_active) || self.counts_as_paused(id) {
            plan.said.push(format!("paused {id} ({title})"));
        }
        Ok(change)
    }

    /// True if files call a session active, but another active session was changed later.
    pub(crate) fn counts_as_paused(&self, id: &SessionId) -> bool {
        let is_it = |problem: &Problem| matches!(problem.what, What::CountsAsPaused { .. });
        self.observed(id).is_some_and(|observation| observation.problems.iter().any(is_it))
    }

    /// Returns the foreign session that was paused or failed last, and when.
    pub(crate) fn waiting_foreign(&self) -> Option<(Timestamp, SessionId)> {
        let summaries = self.summaries();
        let waits =
            |summary: &&SessionSummary| matches!(summary.line.lifecycle.as_str(), "paused" | "failed");
        let mut waiting: Vec<&SessionSummary> = summaries.iter().filter(waits).collect();
        waiting.sort_by_key(|summary| (summary.line.updated_at, &summary.id));
        let found = waiting.into_iter().rev().find(|summary| !self.store.base_has(&summary.id))?;
        Some((found.line.updated_at, found.id.clone()))
    }

    /// Returns the foreign session that is active among all sessions that files call active.
    pub(crate) fn active_foreign(&self) -> Option<SessionId> {
        holder(self.foreign_active(&BTreeSet::new())).map(|claim| claim.id)
    }
}

fn is_exclusive(layout: &str) -> bool {
    layout::by_name(layout).is_some_and(|layout| layout.facts().exclusive)
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

/// The problem of a session that counts as paused because another one is active.
fn beside(own: &Claim, other: &Claim) -> Problem {
    let is_unlisted = other.is_listed && !own.is_listed;
    let (session, other) = (own.id.to_string(), other.id.to_string());
    Problem::of_file("", What::CountsAsPaused { session, other, is_unlisted })
}
