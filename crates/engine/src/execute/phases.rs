//! Going another way than forward: skipping, rolling back, failing; and a person's yes.

use crate::checks::trust;
use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use model::approval::Approval;
use model::command::{Command, decide};
use model::id::{Name, SessionId};
use model::session::Session;
use model::workflow::{CheckKind, PhaseDefinition, Workflow};
use std::rc::Rc;

/// A command of a definition, and whether it is trusted already.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TrustedCommand {
    /// The session whose own definition has it, where the workflow as it is now does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub phase: Name,
    pub check: Name,
    pub command: String,
    pub trusted: bool,
}

impl Engine {
    pub fn skip(&mut self, reason: &str) -> Result<Answer> {
        let reason = bounded("the reason", reason)?;
        let fingerprint = self.fingerprint("skip", &reason);
        self.execute(&fingerprint, |engine| {
            let id = engine.select(Want::Unfinished)?;
            let subject = engine.take_up(&id)?;
            let session = &subject.session;
            let skips = engine.skips_ahead(session)?;
            let events = decide(session, Command::SkipPhase { reason: reason.clone(), skips })?;
            Ok(Plan::of(subject.change(events)))
        })
    }

    pub fn roll_back(&mut self, phase: &str, reason: Option<&str>) -> Result<Answer> {
        let reason = reason.map(|text| bounded("the reason", text)).transpose()?;
        self.change("rollback", Want::Unfinished, &Command::RollBack { phase: phase.to_owned(), reason })
    }

    pub fn fail(&mut self, error: &str) -> Result<Answer> {
        let error = bounded("the error", error)?;
        self.change("fail", Want::Unfinished, &Command::Fail { error })
    }

    /// A person's yes to a check of the current phase.
    pub fn approve(&mut self, check: &str, ttl_seconds: Option<u64>, by: Option<&str>) -> Result<Answer> {
        self.require_person("approving", Some(self.config.policy.approve))?;
        let by = bounded("the name", by.unwrap_or(&self.caller.user))?;
        let fingerprint = self.fingerprint("approve", &format!("{check} {ttl_seconds:?} {by}"));
        self.execute(&fingerprint, |engine| {
            let id = engine.select(Want::Unfinished)?;
            let subject = engine.take_up(&id)?;
            let session = &subject.session;
            let approval = engine.approval(session, check, ttl_seconds, &by)?;
            let events = decide(session, Command::Approve { approval })?;
            Ok(Plan::of(subject.change(events)))
        })
    }

    /// The commands that a workflow's checks would run: those of the workflow as it is now, and those of the
    /// definition that the session which is meant began with. The file may have been changed since, or never have
    /// been here.
    pub fn commands_of(&self, workflow: &str) -> Result<Vec<TrustedCommand>> {
        let of_session = self.definition_in_use(workflow)?;
        let mut found = match definitions::load(&self.project, workflow) {
            Ok(current) => self.commands_in(&current, None),
            Err(_) if of_session.is_some() => Vec::new(),
            Err(error) => return Err(error),
        };
        if let Some((session, definition)) = of_session {
            for entry in self.commands_in(&definition, Some(&session)) {
                if !found.iter().any(|known| known.command == entry.command) {
                    found.push(entry);
                }
            }
        }
        Ok(found)
    }

    /// The definition of this name that the session which is meant was started with.
    fn definition_in_use(&self, workflow: &str) -> Result<Option<(SessionId, Rc<Workflow>)>> {
        let id = match self.select(Want::Latest) {
            Ok(id) => id,
            Err(Error::NoSession { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (_, session) = self.load(&id)?;
        let current = session.run().filter(|run| run.workflow.name.as_str() == workflow);
        let earlier = || session.runs.iter().rev().find(|run| run.workflow.name.as_str() == workflow);
        let Some(run) = current.or_else(earlier) else { return Ok(None) };
        Ok(self.definition(&run.workflow.hash)?.map(|definition| (id, definition)))
    }

    fn commands_in(&self, workflow: &Workflow, session: Option<&SessionId>) -> Vec<TrustedCommand> {
        commands(workflow)
            .map(|(phase, check, command)| TrustedCommand {
                session: session.cloned(),
                phase: phase.clone(),
                check: check.clone(),
                command: command.to_owned(),
                trusted: trust::is_trusted(&self.project.root, command),
            })
            .collect()
    }

    /// Lets exactly these commands run for this user on this machine.
    pub fn trust(&self, commands: &[TrustedCommand]) -> Result<()> {
        self.require_person("trusting commands", None)?;
        commands.iter().try_for_each(|entry| trust::trust(&self.project.root, &entry.command))
    }

    fn approval(
        &self,
        session: &Session,
        asked: &str,
        ttl_seconds: Option<u64>,
        by: &str,
    ) -> Result<Approval> {
        let definition = self.definition_of(session)?;
        let phase = session.run().map(|run| run.current().id().clone());
        let defined = phase.as_ref().and_then(|phase| definition.phase(phase.as_str()));
        let found = defined.and_then(|defined| {
            approvals(defined)
                .find(|(check, _)| check.as_str() == asked)
                .map(|(check, ttl)| (defined, check, ttl))
        });
        let Some((defined, check, declared)) = found else {
            return Err(Error::UnknownCheck {
                asked: asked.to_owned(),
                phase: phase.map(String::from).unwrap_or_default(),
                known: defined.into_iter().flat_map(approvals).map(|(check, _)| check.to_string()).collect(),
            });
        };
        let now = self.clock.now();
        let seconds = ttl_seconds.or(declared).and_then(|seconds| i64::try_from(seconds).ok());
        let expires_at =
            seconds.and_then(|seconds| now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
        Ok(Approval {
            phase: defined.id.clone(),
            check: check.clone(),
            by: by.to_owned(),
            at: now,
            expires_at,
        })
    }
}

fn approvals(phase: &PhaseDefinition) -> impl Iterator<Item = (&Name, Option<u64>)> {
    phase.checks.iter().filter_map(|check| match check.kind {
        CheckKind::Approval { expires_seconds } => Some((&check.id, expires_seconds)),
        CheckKind::Artifact { .. }
        | CheckKind::Expr { .. }
        | CheckKind::Command { .. }
        | CheckKind::Git { .. }
        | CheckKind::Items => None,
    })
}

fn commands(workflow: &Workflow) -> impl Iterator<Item = (&Name, &Name, &str)> {
    workflow.phases.iter().flat_map(|phase| {
        phase.checks.iter().filter_map(|check| match &check.kind {
            CheckKind::Command { run, .. } => Some((&phase.id, &check.id, run.as_str())),
            CheckKind::Artifact { .. }
            | CheckKind::Expr { .. }
            | CheckKind::Git { .. }
            | CheckKind::Items
            | CheckKind::Approval { .. } => None,
        })
    })
}
