//! Starts, resumes and switches sessions: one session becomes active in its worktree, and the one that was active
//! before is paused.

use crate::discrepancies::{OnDiscrepancy, ask_about, is_finished};
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::{Change, Plan};
use crate::execute::{Answer, RevisitRequest};
use crate::execute::{PackedFile, put_back};
use crate::policy::{Act, Restricted};
use crate::presence::SEEN_LATELY_SECONDS;
use crate::query::takes_the_worktree;
use crate::words::ago;
use layouts::layout::{self};
use model::command::{Command, decide};
use model::event::Event;
use model::hint::Hint;
use model::id::{Name, SessionId};
use model::lifecycle::Lifecycle;
use model::revision::Impact;
use model::session::Session;
use model::time::seconds_between;
use model::words;
use std::collections::BTreeSet;
use store::{AgentRow, Binding, Store};

/// Says if a session that somebody is using elsewhere may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    Refused,
    /// A person asked to take over the session.
    Asked,
}

/// How a resumed session goes back to an earlier state, because something changed while it was paused.
enum Back {
    /// A finished phase is revised.
    Earlier(RevisitRequest),
    /// The current phase starts again.
    Current { phase: String, reason: String },
}

impl Back {
    fn to(session: &Session, phase: &Name, reason: String) -> Self {
        let phase_name = phase.to_string();
        if !is_finished(session, phase) {
            return Self::Current { phase: phase_name, reason };
        }
        let impact = Some(Impact::Minor);
        Self::Earlier(RevisitRequest { phase: phase_name, impact, reason, affects: Vec::new() })
    }
}

impl Engine {
    /// Resumes the named session. Without a name, resumes the session that was paused last. `on` says what to do if
    /// something changed meanwhile.
    pub(crate) fn resume(
        &mut self,
        asked: Option<&str>,
        on: OnDiscrepancy,
        taking: Taking,
    ) -> Result<Answer> {
        let fingerprint = self.fingerprint("resume", &format!("{asked:?}"));
        let answer = self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let subject = engine.resumable(asked, on)?;
                let mut plan = engine.activate(&subject, on, taking)?;
                engine.resume_again(&mut plan, on)?;
                if let Some(session) = &plan.subject.before {
                    plan.said.extend(engine.not_found(session));
                    plan.said.extend(engine.idle_warning(session).map(|warning| {
                        format!(
                            "{}; to abandon the session instead: leftoff abandon {}",
                            warning.message, session.id
                        )
                    }));
                    if engine.worker_elsewhere(session)?.is_some() {
                        let signed = engine.authorise(&Act::new(Restricted::Take, &subject), signature)?;
                        plan.subject.events.splice(0..0, signed);
                    }
                }
                Ok(plan)
            })
        })?;
        self.introduce(&answer);
        self.make_workspace_if_possible(&answer);
        Ok(answer)
    }

    /// Creates the session's workspace. An error is ignored, because the session is already active.
    pub(super) fn make_workspace_if_possible(&self, answer: &Answer) {
        if answer.view.layout == crate::NATIVE
            && let Ok((_, session)) = self.resolve(&answer.view.session_id).and_then(|id| self.load(&id))
        {
            let _ = self.make_workspace(&session);
        }
    }

    /// Restores missing files of a session that came from another machine. Adds messages about files that cannot be
    /// restored, and returns their paths.
    fn put_files_back(&self, session: &Session, said: &mut Vec<String>) -> Result<BTreeSet<String>> {
        let (mut files, mut missing) = (Vec::new(), Vec::new());
        for (path, artifact) in &session.artifacts {
            match self.store.content(&artifact.newest.hash)? {
                Some(content) => files.push(PackedFile { path: path.clone(), content }),
                None if !self.project.root.join(path).exists() => missing.push(path.as_str()),
                None => {}
            }
        }
        said.extend(put_back(&self.project.root, &session.id, &self.own_folder(session), &files)?);
        if !missing.is_empty() {
            said.push(format!("these files did not come with the session: {}", missing.join(", ")));
        }
        let paths = session.artifacts.keys();
        Ok(paths.filter(|path| !self.project.root.join(path).exists()).cloned().collect())
    }

    /// Makes the named session active.
    pub(crate) fn switch(&mut self, asked: &str) -> Result<Answer> {
        let fingerprint = self.fingerprint("switch", asked);
        let answer = self.in_turn(&fingerprint, |engine| {
            let subject = engine.resolve(asked)?;
            engine.activate(&subject, OnDiscrepancy::Continue, Taking::Refused)
        })?;
        self.introduce(&answer);
        Ok(answer)
    }

    pub(super) fn activate(&mut self, id: &SessionId, on: OnDiscrepancy, taking: Taking) -> Result<Plan> {
        self.activate_by(id, on, taking, |worktree, parallel| Command::Resume { worktree, parallel })
    }

    /// Makes a session active. `command` returns the model's command for a worktree; its second argument is true if the
    /// session runs in parallel.
    pub(super) fn activate_by(
        &mut self,
        id: &SessionId,
        on: OnDiscrepancy,
        taking: Taking,
        command: impl Fn(String, bool) -> Command,
    ) -> Result<Plan> {
        let subject = self.load_subject_here(id)?;
        let session = &subject.session;
        self.refuse_work_elsewhere(session, taking)?;
        let worktree = self.project.worktree();
        let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
        let mut left_behind = BTreeSet::new();
        if let Some(machine) = &session.machine {
            plan.said.push(format!("the session came from {}", self.name_of_replica(machine)));
            left_behind = self.put_files_back(session, &mut plan.said)?;
        } else if session.worktree != worktree && self.refuse_what_came_along(session).is_ok() {
            if on == OnDiscrepancy::Ask && taking == Taking::Refused {
                ask_before_moving(session)?;
            }
            plan.said.push(format!(
                "the session came from another worktree; its files stay there: {}",
                self.workspace(session).display()
            ));
        }
        // The model decides before another session is paused, because a refused command must change nothing.
        let mut events = decide(session, command(worktree.clone(), session.parallel))?;
        let mut back = None;
        if events.is_empty() && self.stands_beside_another(session) {
            // This layout can have several active sessions. With this event, commands use this session by default from
            // now on.
            let parallel = !self.make_room(&mut plan, id)?;
            events = vec![Event::SessionResumed { worktree, parallel, machine: None }];
        } else if !events.is_empty() {
            let mut there = session.clone();
            if session.machine.is_some() {
                there.worktree.clone_from(&worktree);
                there.machine = None;
            } else if self.refuse_what_came_along(session).is_err() {
                // The session's files came along with the project, so they are observed at their new place.
                there.worktree.clone_from(&worktree);
            }
            back = self.checked(&there, on, &left_behind)?;
            let parallel = !self.make_room(&mut plan, id)?;
            events = decide(session, command(worktree, parallel))?;
        }
        if events.is_empty() {
            // The session is already active. From now on, the asking agent works on it.
            self.bind(&mut plan, id)?;
        }
        plan.subject = subject.change(events);
        self.go_back(&mut plan, back)?;
        Ok(plan)
    }

    /// Some tools resume sessions that are already active. For such a tool, runs the checks and records that the
    /// session was resumed.
    fn resume_again(&self, plan: &mut Plan, on: OnDiscrepancy) -> Result<()> {
        let Some(session) = plan.subject.before.clone().filter(is_resumed_again) else { return Ok(()) };
        if session.worktree != self.project.worktree() {
            // The session has just come from another worktree, and was checked when it was moved.
            return Ok(());
        }
        let back = self.checked(&session, on, &BTreeSet::new())?;
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

    /// Adds a return to an earlier phase, with all its effects, to a plan that resumes the session.
    fn go_back(&self, plan: &mut Plan, back: Option<Back>) -> Result<()> {
        let (Some(back), Some(mut resumed)) = (back, plan.subject.before.clone()) else {
            return Ok(());
        };
        resumed.lifecycle = Lifecycle::Active;
        let request = match back {
            Back::Earlier(request) => request,
            Back::Current { phase, reason } => {
                let restart = Command::RollBack { phase, reason: Some(reason) };
                plan.subject.events.extend(decide(&resumed, restart)?);
                return Ok(());
            }
        };
        let worked_out = self.work_out(&resumed, &request)?;
        plan.subject.events.extend(worked_out.events);
        plan.items = Some(worked_out.items);
        plan.operation = worked_out.operation;
        plan.said.extend(worked_out.preview.warnings);
        Ok(())
    }

    /// True if the session is active, but a command that names no session uses another one.
    fn stands_beside_another(&self, session: &Session) -> bool {
        !takes_the_worktree(&session.layout)
            && matches!(session.lifecycle, Lifecycle::Active)
            && self.asking_agent().is_ok_and(|agent| agent.is_none())
            && self
                .selected(Want::Latest, None)
                .is_ok_and(|found| found.is_none_or(|(id, _)| id != session.id))
    }

    /// Checks if a session changed while it was paused. If so, returns how to go back.
    fn checked(
        &self,
        session: &Session,
        on: OnDiscrepancy,
        left_behind: &BTreeSet<String>,
    ) -> Result<Option<Back>> {
        if on == OnDiscrepancy::Continue {
            return Ok(None);
        }
        let mut found = self.discrepancies(session)?;
        found.retain(|found| found.path.as_ref().is_none_or(|path| !left_behind.contains(path)));
        if on == OnDiscrepancy::Ask && !found.is_empty() {
            return Err(ask_about(session, &found));
        }
        let current = session.run().map(|run| run.current().id());
        let has_started = |phase: &Name| is_finished(session, phase) || current == Some(phase);
        let concerned =
            found.into_iter().find_map(|found| Some((found.phase.filter(has_started)?, found.message)));
        Ok(concerned.map(|(phase, message)| Back::to(session, &phase, message)))
    }

    /// Makes a finished session active here because it starts another run. The session that was active here is paused.
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

    /// Pauses the session that is active here. If another live agent works on that session, it stays active and false
    /// is returned: the new session then runs in parallel.
    pub(super) fn make_room(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<bool> {
        self.bind(plan, newcomer)?;
        let agent = self.asking_agent()?;
        // Ids that differ only in case are the same id in the store.
        let is_newcomer = |id: &SessionId| id.as_str().eq_ignore_ascii_case(newcomer.as_str());
        let Some(active) = self.store.active(&self.project.worktree())?.filter(|id| !is_newcomer(id)) else {
            self.pause_foreign(plan, newcomer)?;
            return Ok(true);
        };
        let others = self.other_live_agents(agent.as_ref())?;
        if let Some(worker) = others.iter().find(|row| row.session.as_ref() == Some(&active)) {
            plan.said.push(format!(
                "{active} stays active too: {} {} is working on that session",
                worker.agent,
                worker.agent_session.chars().take(8).collect::<String>()
            ));
            return Ok(false);
        }
        let change = self.paused(plan, &active)?;
        plan.others.push(change);
        plan.makes_room = true;
        self.pause_foreign(plan, newcomer)?;
        Ok(true)
    }

    /// Records the process of an agent that started before the store existed, so that other agents see that it is
    /// active.
    pub(super) fn introduce(&mut self, answer: &Answer) {
        // If the caller is remote, it has no process on this machine.
        let asking = self.asking_agent().ok().flatten().filter(|_| !self.options.from_afar);
        let Some(identity) = asking else { return };
        let row = self.store.agent(&identity.agent, &identity.id);
        let has_a_process = row.is_ok_and(|row| row.is_some_and(|row| row.pid != 0));
        if !has_a_process && let Ok(session) = SessionId::parse(&answer.view.session_id) {
            // An error is ignored, because the command is already done.
            let _ = self.greet(&identity, Some(session), None, self.patience.left());
        }
    }

    /// Binds the asking agent to this session.
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

    /// Returns the live agent that works on this session in another worktree, if any.
    fn worker_elsewhere(&self, session: &Session) -> Result<Option<AgentRow>> {
        if session.worktree == self.project.worktree() || session.lifecycle.name() != "active" {
            return Ok(None);
        }
        let rows = self.store.agents(Some(&session.worktree))?;
        Ok(rows.into_iter().find(|row| row.session.as_ref() == Some(&session.id) && self.lives(row)))
    }

    /// Refuses to take over a session that was active on another machine a moment ago, unless a person asks for it.
    fn refuse_work_on(&self, machine: &str, session: &Session, taking: Taking) -> Result<()> {
        let seconds = seconds_between(session.updated_at, self.clock.now());
        if session.lifecycle.name() != "active" || seconds >= SEEN_LATELY_SECONDS {
            return Ok(());
        }
        if taking == Taking::Asked {
            return self.require_person(Restricted::Take);
        }
        Err(Error::ActiveOnAnotherMachine {
            session: session.id.to_string(),
            place: self.name_of_replica(machine),
            when: ago(session.updated_at, self.clock.now()),
        })
    }

    fn refuse_work_elsewhere(&self, session: &Session, taking: Taking) -> Result<()> {
        if let Some(machine) = &session.machine {
            return self.refuse_work_on(machine, session, taking);
        }
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
        match self.worker_elsewhere(session)? {
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

/// True if the session is active and its tool resumes even active sessions.
fn is_resumed_again(session: &Session) -> bool {
    let layout = layout::by_name(&session.layout);
    matches!(session.lifecycle, Lifecycle::Active)
        && layout.is_some_and(|layout| layout.facts().taken_up_again)
}

/// Asks before a session is moved out of a worktree that still exists, because somebody may expect the session there.
fn ask_before_moving(session: &Session) -> Result<()> {
    if !std::path::Path::new(&session.worktree).is_dir() {
        return Ok(());
    }
    Err(Error::NeedsAnswer {
        question: format!(
            "session {} belongs to another worktree, {}; resuming the session here removes the session from that \
             worktree, but not the session's files",
            session.id, session.worktree
        ),
        hint: Hint::new("resume the session there: ")
            .run(words!["resume", session.id, "--project", session.worktree])
            .then("; or resume the session here anyway: ")
            .run(words!["resume", session.id, "--yes"]),
    })
}
