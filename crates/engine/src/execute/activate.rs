//! Starting, resuming, switching: one session becomes the active one of its worktree, and what was active makes room.

use crate::engine::{Engine, Want};
use crate::error::{Choice, Error, Result};
use crate::execute::plan::{Change, Plan};
use crate::execute::{Answer, RevisitRequest};
use crate::listing::ListRequest;
use crate::policy::Restricted;
use crate::query::takes_the_worktree;
use crate::validation::{OnDiscrepancy, ask_about, is_finished};
use crate::view::ShortView;
use layouts::layout::{self, Layout};
use model::command::{Command, decide};
use model::event::Event;
use model::hint::CommandLine;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::revision::Impact;
use model::session::Session;
use model::words;
use store::{Binding, Filter};

/// Whether a session that somebody is working in elsewhere is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    Refused,
    /// A person asked for it.
    Asked,
}

impl Engine {
    /// Goes on with a session: the one named, else the one that was paused last.
    /// When it is not as it was left, `on` says what then.
    pub fn resume(&mut self, asked: Option<&str>, on: OnDiscrepancy, taking: Taking) -> Result<Answer> {
        let fingerprint = self.fingerprint("resume", &format!("{asked:?}"));
        let answer = self.execute(&fingerprint, |engine| {
            let subject = engine.resumable(asked, on)?;
            let mut plan = engine.activate(&subject, on, taking)?;
            engine.take_up_again(&mut plan, on)?;
            if let Some(session) = &plan.subject.before {
                plan.said.extend(engine.not_found(session));
                plan.said.extend(engine.idle_warning(session).map(|warning| {
                    format!("{}; to clean it up instead: leftoff abandon {}", warning.message, session.id)
                }));
            }
            Ok(plan)
        })?;
        self.introduce(&answer);
        Ok(answer)
    }

    /// Makes another session the active one. It must be named.
    pub fn switch(&mut self, asked: &str) -> Result<Answer> {
        let fingerprint = self.fingerprint("switch", asked);
        let answer = self.execute(&fingerprint, |engine| {
            let subject = engine.resolve(asked)?;
            engine.activate(&subject, OnDiscrepancy::GoOn, Taking::Refused)
        })?;
        self.introduce(&answer);
        Ok(answer)
    }

    pub(super) fn activate(&mut self, id: &SessionId, on: OnDiscrepancy, taking: Taking) -> Result<Plan> {
        self.activate_by(id, on, taking, |worktree, parallel| Command::Resume { worktree, parallel })
    }

    /// Makes a session the active one by a command that says where, and whether beside another.
    pub(super) fn activate_by(
        &mut self,
        id: &SessionId,
        on: OnDiscrepancy,
        taking: Taking,
        command: impl Fn(String, bool) -> Command,
    ) -> Result<Plan> {
        let subject = self.take_up_here(id)?;
        let session = &subject.session;
        self.refuse_work_elsewhere(session, taking)?;
        let worktree = self.project.worktree();
        let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
        if session.worktree != worktree && self.refuse_what_came_along(session).is_ok() {
            plan.said.push(format!(
                "it comes from another worktree; its files stay there: {}",
                self.workspace(session).display()
            ));
        }
        // Decided before anything else makes room: a refusal must change nothing.
        let mut events = decide(session, command(worktree.clone(), session.parallel))?;
        let mut back = None;
        if events.is_empty() && self.stands_beside_another(session) {
            // Several of its kind are active at once: that it is meant from now on has to be kept.
            let parallel = !self.make_room(&mut plan, id)?;
            events = vec![Event::SessionResumed { worktree, parallel, machine: None }];
        } else if !events.is_empty() {
            let mut there = session.clone();
            if self.refuse_what_came_along(session).is_err() {
                // Its files came along as well: they are looked at where they are now.
                there.worktree.clone_from(&worktree);
            }
            back = self.checked(&there, on)?;
            let parallel = !self.make_room(&mut plan, id)?;
            events = decide(session, command(worktree, parallel))?;
        }
        if events.is_empty() {
            // It is the active one already; from now on it is what this agent means.
            self.bind(&mut plan, id)?;
        }
        plan.subject = subject.change(events);
        self.go_back(&mut plan, back)?;
        Ok(plan)
    }

    /// Where its tool takes a session up again that goes on already: with its checks, and that it was is kept.
    fn take_up_again(&self, plan: &mut Plan, on: OnDiscrepancy) -> Result<()> {
        let Some(session) = plan.subject.before.clone().filter(is_taken_up_again) else { return Ok(()) };
        if session.worktree != self.project.worktree() {
            // It was checked when it was taken over.
            return Ok(());
        }
        let back = self.checked(&session, on)?;
        if plan.subject.events.is_empty() {
            let parallel = !self.make_room(plan, &session.id)?;
            plan.subject.events.push(Event::SessionResumed {
                worktree: self.project.worktree(),
                parallel,
                machine: None,
            });
        }
        self.go_back(plan, back)
    }

    /// Adds what going back to a phase does to a plan by which its session goes on.
    fn go_back(&self, plan: &mut Plan, request: Option<RevisitRequest>) -> Result<()> {
        let (Some(request), Some(mut resumed)) = (request, plan.subject.before.clone()) else {
            return Ok(());
        };
        resumed.lifecycle = Lifecycle::Active;
        let worked_out = self.work_out(&resumed, &request)?;
        plan.subject.events.extend(worked_out.events);
        plan.items = Some(worked_out.items);
        plan.operation = worked_out.operation;
        plan.said.extend(worked_out.preview.warnings);
        Ok(())
    }

    /// Whether a session is active and another one is meant all the same where none is named.
    fn stands_beside_another(&self, session: &Session) -> bool {
        !takes_the_worktree(&session.layout)
            && matches!(session.lifecycle, Lifecycle::Active)
            && self.asking_agent().is_ok_and(|agent| agent.is_none())
            && self.unnamed(Want::Latest).ok().as_ref() != Some(&session.id)
    }

    /// Whether a session is as it was left; if it is to go back to a phase for that, how.
    fn checked(&self, session: &Session, on: OnDiscrepancy) -> Result<Option<RevisitRequest>> {
        if on == OnDiscrepancy::GoOn {
            return Ok(None);
        }
        let found = self.discrepancies(session)?;
        if on == OnDiscrepancy::Ask && !found.is_empty() {
            return Err(ask_about(session, &found));
        }
        // What concerns no finished phase is mended where the work goes on anyway.
        let concerned = found.iter().find_map(|found| {
            let phase = found.phase.as_ref().filter(|phase| is_finished(session, phase))?;
            Some((phase, &found.message))
        });
        Ok(concerned.map(|(phase, message)| RevisitRequest {
            phase: phase.to_string(),
            impact: Some(Impact::Minor),
            reason: message.clone(),
            affects: Vec::new(),
        }))
    }

    /// A finished session that begins another run is active again, here, and takes the place of what was.
    pub(super) fn active_again(&self, plan: &mut Plan, subject: &SessionId) -> Result<()> {
        let Some(session) = plan.subject.before.clone() else { return Ok(()) };
        let here = self.project.worktree();
        if session.worktree != here && self.has_files_elsewhere(&session) {
            return Ok(());
        }
        let parallel = !self.make_room(plan, subject)?;
        let worktree = here;
        let stays = session.worktree == worktree && session.parallel == parallel;
        let resumed = |event: &Event| matches!(event, Event::SessionResumed { .. });
        if !stays || plan.subject.events.iter().any(resumed) {
            plan.subject.events.retain(|event| !resumed(event));
            plan.subject.events.insert(0, Event::SessionResumed { worktree, parallel, machine: None });
        }
        Ok(())
    }

    /// Pauses what is active here, unless another live agent works on it: then the newcomer stands beside it.
    /// Tells whether there is room for a session that is not parallel.
    pub(super) fn make_room(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<bool> {
        self.bind(plan, newcomer)?;
        let agent = self.asking_agent()?;
        // An id in other case is the same one to the store, which refuses it.
        let is_newcomer = |id: &SessionId| id.as_str().eq_ignore_ascii_case(newcomer.as_str());
        let Some(active) = self.store.active(&self.project.worktree())?.filter(|id| !is_newcomer(id)) else {
            self.pause_foreign(plan, newcomer)?;
            return Ok(true);
        };
        let others = self.other_live_agents(agent.as_ref())?;
        if let Some(worker) = others.iter().find(|row| row.session.as_ref() == Some(&active)) {
            plan.said.push(format!(
                "{active} goes on beside it: {} {} works on it",
                worker.agent,
                worker.agent_session.chars().take(8).collect::<String>()
            ));
            return Ok(false);
        }
        let change = self.paused(plan, &active)?;
        plan.others.push(change);
        self.seen.set_making_room();
        self.pause_foreign(plan, newcomer)?;
        Ok(true)
    }

    /// An agent that came before there was a store could not be noted then, and its binding knows no process;
    /// others must see that it works here.
    pub(super) fn introduce(&mut self, answer: &Answer) {
        // One from afar has no process here.
        let asking = self.asking_agent().ok().flatten().filter(|_| !self.options.from_afar);
        let Some(identity) = asking else { return };
        let row = self.store.agent(&identity.agent, &identity.id);
        let has_a_process = row.is_ok_and(|row| row.is_some_and(|row| row.pid != 0));
        if !has_a_process && let Ok(session) = SessionId::parse(&answer.view.session_id) {
            // The command is done, whatever becomes of this.
            let _ = self.greet(&identity, Some(session), None, self.patience);
        }
    }

    /// The asking agent works on this session from now on.
    pub(super) fn bind(&self, plan: &mut Plan, session: &SessionId) -> Result<()> {
        let Some(identity) = self.asking_agent()? else { return Ok(()) };
        let known = self.store.agent(&identity.agent, &identity.id)?.and_then(|row| row.session);
        if known.as_ref() != Some(session) {
            plan.bindings.push(Binding {
                agent: identity.agent,
                agent_session: identity.id,
                session: session.clone(),
            });
        }
        Ok(())
    }

    fn resumable(&self, asked: Option<&str>, on: OnDiscrepancy) -> Result<SessionId> {
        if let Some(asked) = asked.or(self.options.session.as_deref()) {
            return self.resolve(asked);
        }
        if let Some(bound) = self.open_bound_session()? {
            return Ok(bound);
        }
        let worktree = self.project.worktree();
        if let Some(active) = self.store.active(&worktree)? {
            return Ok(active);
        }
        if let Some(active) = self.active_foreign() {
            return Ok(active);
        }
        let waiting =
            self.waiting()?.or_else(|| self.waiting_by_files()).or_else(|| self.current_foreign(false));
        match waiting {
            Some(waiting) => {
                if on == OnDiscrepancy::Ask {
                    self.refuse_to_choose(&waiting)?;
                }
                Ok(waiting)
            }
            None => self.resumable_though_nothing_waits(on),
        }
    }

    /// What goes on here and is taken up again all the same; else what a person selects of those that belong to no
    /// project.
    fn resumable_though_nothing_waits(&self, on: OnDiscrepancy) -> Result<SessionId> {
        let worktree = self.project.worktree();
        let filter = Filter {
            lifecycles: vec!["active".to_owned()],
            worktree: Some(worktree.clone()),
            ..Filter::default()
        };
        let active = self.store.list(&filter)?.into_iter().map(|listed| listed.row);
        let is_again =
            |layout: &str| layout::by_name(layout).is_some_and(|layout| layout.facts().taken_up_again);
        if let Some(row) = active.into_iter().find(|row| is_again(&row.layout)) {
            if on == OnDiscrepancy::Ask {
                self.refuse_to_choose(&row.id)?;
            }
            return Ok(row.id);
        }
        self.have_one_outside_selected()?;
        Err(Error::NothingPaused { worktree, there_are: self.some_here()? })
    }

    /// Where a session's own tool lists those that could be gone on with and has its user select one, so do we.
    fn refuse_to_choose(&self, waiting: &SessionId) -> Result<()> {
        let known = self.store.load(waiting)?.map(|found| found.row.layout);
        // One that nobody has taken in is in no index: all layouts are asked.
        let is_meant =
            |layout: &&&dyn Layout| known.as_ref().is_none_or(|known| known == layout.facts().name);
        let mut layouts = layout::all().iter().filter(is_meant);
        layouts.try_for_each(|layout| self.have_selected(*layout, waiting))
    }

    /// Stops until a person has selected one of several paused sessions of this layout, of which this is one; or one of
    /// those that go on, where it is one of them.
    fn have_selected(&self, layout: &dyn Layout, waiting: &SessionId) -> Result<()> {
        let Some(heading) = layout.facts().list_heading else { return Ok(()) };
        let lifecycles = vec!["paused".to_owned(), "active".to_owned()];
        let layout = Some(layout.facts().name.to_owned());
        let mut found = self.lines(&ListRequest { lifecycles, layout, search: None })?.sessions;
        let Some(lifecycle) =
            found.iter().find(|line| line.session_id == waiting.as_str()).map(|line| line.lifecycle.clone())
        else {
            return Ok(());
        };
        found.retain(|line| line.lifecycle == lifecycle);
        if found.len() < 2 {
            return Ok(());
        }
        Err(to_be_chosen(heading, &found))
    }

    /// Nothing waits here: what belongs to no project can be gone on with from any folder, once a person has selected it.
    fn have_one_outside_selected(&self) -> Result<()> {
        for layout in layout::all() {
            let Some(heading) = layout.facts().list_heading else { continue };
            let request = ListRequest {
                lifecycles: Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec(),
                layout: Some(layout.facts().name.to_owned()),
                search: None,
            };
            let elsewhere = self.outside_numbers()?;
            let is_elsewhere = |line: &ShortView| {
                self.project.is_outside || elsewhere.keys().any(|id| *id.as_str() == *line.session_id)
            };
            let mut found = self.lines(&request)?.sessions;
            found.retain(is_elsewhere);
            if !found.is_empty() {
                return Err(to_be_chosen(heading, &found));
            }
        }
        Ok(())
    }

    /// The sessions of this worktree with how each stands, those that changed last.
    fn some_here(&self) -> Result<Vec<String>> {
        const MOST_TOLD: usize = 5;
        let mut lines: Vec<ShortView> = self.own_lines()?.into_iter().map(|(line, _)| line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.updated_at));
        let told = lines.iter().map(|line| format!("{} ({})", line.session_id, line.lifecycle));
        Ok(told.take(MOST_TOLD).collect())
    }

    /// A session that an agent works on in another worktree is not pulled away from it.
    fn refuse_work_elsewhere(&self, session: &Session, taking: Taking) -> Result<()> {
        if session.worktree == self.project.worktree() {
            return Ok(());
        }
        if self.has_files_elsewhere(session) {
            return Err(Error::FilesElsewhere {
                session: session.id.to_string(),
                worktree: session.worktree.clone(),
            });
        }
        if self.refuse_what_came_along(session).is_err() {
            return self.refuse_what_is_not_here(session);
        }
        if session.lifecycle.name() != "active" {
            return Ok(());
        }
        let rows = self.store.agents(Some(&session.worktree))?;
        let worker = rows.iter().find(|row| row.session.as_ref() == Some(&session.id) && self.lives(row));
        match worker {
            None => Ok(()),
            Some(_) if taking == Taking::Asked => self.require_person(Restricted::Take),
            Some(row) => Err(Error::ActiveElsewhere {
                session: session.id.to_string(),
                worktree: session.worktree.clone(),
                agent: row.agent.clone(),
            }),
        }
    }
}

/// Whether a session that goes on is taken up again all the same, with all that its tool does then.
fn is_taken_up_again(session: &Session) -> bool {
    let layout = layout::by_name(&session.layout);
    matches!(session.lifecycle, Lifecycle::Active)
        && layout.is_some_and(|layout| layout.facts().taken_up_again)
}

/// Sessions of a tool by the numbers that they have in lists, for its user to select one.
fn to_be_chosen(heading: &str, found: &[ShortView]) -> Error {
    let choice = |line: &ShortView| Choice {
        key: line.number.to_string(),
        words: line.own_words.clone().unwrap_or_else(|| line.session_id.clone()),
        command: CommandLine::new(words!["resume", line.session_id]),
        session: line.session_id.clone(),
        phase: None,
    };
    Error::NeedsChoice { question: heading.to_owned(), choices: found.iter().map(choice).collect() }
}
