//! Going another way than forward: skipping, rolling back, failing; and a person's yes.

use crate::checks::trust;
use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use model::approval::Approval;
use model::command::{Command, decide};
use model::id::Name;
use model::session::Session;
use model::workflow::{CheckKind, PhaseDefinition, Workflow};

/// The commands of a definition, and which of them are trusted already.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TrustedCommand {
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

    /// The commands that a workflow's checks would run.
    pub fn commands_of(&self, workflow: &str) -> Result<Vec<TrustedCommand>> {
        let workflow = definitions::load(&self.project, workflow)?;
        Ok(commands(&workflow)
            .map(|(phase, check, command)| TrustedCommand {
                phase: phase.clone(),
                check: check.clone(),
                command: command.to_owned(),
                trusted: trust::is_trusted(&self.project.root, command),
            })
            .collect())
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
