//! Commands that leave the usual order of phases: skip, roll back, fail. Also approvals.

use crate::checks::trust;
use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::{self, Plan};
use crate::execute::{Answer, bounded, checked_reason};
use crate::facades::Workflows;
use crate::policy::{Act, Restricted, Signature};
use crate::view::View;
use model::approval::Approval;
use model::command::{Command, decide, resolve_phase};
use model::event::Event;
use model::id::{Name, SessionId};
use model::phase::Phase;
use model::run::{Run, RunPlan};
use model::session::Session;
use model::workflow::{CheckKind, PhaseDefinition, Workflow};
use std::path::PathBuf;
use std::rc::Rc;

/// An approval to record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApproveRequest {
    pub check: String,
    /// The phase by id or number; by default the current one, or else a claimed one.
    pub phase: Option<String>,
    pub ttl_seconds: Option<u64>,
    /// A remark that says on whose behalf the caller approves. The recorded actor is the caller.
    pub by: Option<String>,
    /// True to sign even if the policy does not require it.
    pub sign: bool,
    /// The hash of the files that the approver was shown; the approval is refused if they have changed.
    pub files: Option<String>,
}

/// A command in a definition's checks, and whether it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TrustedCommand {
    /// The session whose own definition has the command, if the workflow's current definition lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub phase: Name,
    pub check: Name,
    pub command: String,
    pub trusted: bool,
    /// The entry for `LEFTOFF_TRUST` that lets automation run the command.
    pub hash: String,
}

impl Workflows<'_> {
    /// The changes that moving the current run to its workflow's current definition would make.
    pub fn definition_changes(&self) -> Result<Vec<String>> {
        let engine = self.engine;
        let (_, session) = engine.load(&engine.select(Want::Unfinished)?)?;
        let before = engine.definition_of(&session)?;
        let now = definitions::load(&engine.project, before.name.as_str())?;
        Ok(definitions::differences(&before, &now))
    }

    /// The commands in a workflow's checks: those of its current definition, and those of the definition with
    /// which the selected session started, which may differ or not be in this project.
    pub fn commands(&self, workflow: &str) -> Result<Vec<TrustedCommand>> {
        let engine = self.engine;
        let of_session = engine.definition_in_use(workflow)?;
        let mut found = match definitions::load(&engine.project, workflow) {
            Ok(current) => engine.commands_in(&current, None),
            Err(_) if of_session.is_some() => Vec::new(),
            Err(error) => return Err(error),
        };
        if let Some((session, definition)) = of_session {
            for entry in engine.commands_in(&definition, Some(&session)) {
                if !found.iter().any(|known| known.command == entry.command) {
                    found.push(entry);
                }
            }
        }
        Ok(found)
    }
}

impl Engine {
    pub(super) fn skip(&mut self, reason: &str) -> Result<Answer> {
        let reason = checked_reason(reason)?;
        let fingerprint = self.fingerprint("skip", &reason);
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = engine.select(Want::Unfinished)?;
                let subject = engine.load_subject(&id)?;
                let session = &subject.session;
                let signed = engine.authorise_skip(session, signature)?;
                let skips = engine.skips_ahead(session)?;
                let events = decide(session, Command::SkipPhase { reason: reason.clone(), skips })?;
                engine.refuse_to_end_over_items(session, &events)?;
                Ok(Plan::of(subject.change(signed.into_iter().chain(events).collect())))
            })
        })
    }

    /// Lets only a person skip a phase that has a gate: otherwise the gate would be optional.
    fn authorise_skip(&self, session: &Session, signature: Option<&Signature>) -> Result<Option<Event>> {
        let Some(run) = session.run().filter(|run| run.is_open()) else { return Ok(None) };
        let phase = run.current().id();
        let definition = self.definition_of(session)?;
        if !definition.phase(phase.as_str()).is_some_and(PhaseDefinition::has_gate) {
            return Ok(None);
        }
        self.authorise(&Act { phase: Some(phase), ..Act::new(Restricted::Skip, &session.id) }, signature)
    }

    /// Moves the current run to its workflow's current definition.
    pub(super) fn update_definition(&mut self, seen: &[String]) -> Result<Answer> {
        self.require_person(Restricted::Update)?;
        let fingerprint = self.fingerprint("workflow update", "");
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = engine.select(Want::Unfinished)?;
                let subject = engine.load_subject(&id)?;
                let session = &subject.session;
                let before = engine.definition_of(session)?;
                let workflow = definitions::load(&engine.project, before.name.as_str())?;
                // Nobody agrees to what was written while they read.
                if definitions::differences(&before, &workflow) != seen {
                    return Err(Error::Contended);
                }
                let run = RunPlan::new(&workflow, Vec::new());
                let events = decide(session, Command::UpdateDefinition { run })?;
                let act = Act { evidence: Some(&workflow.hash), ..Act::new(Restricted::Update, &id) };
                let signed = if events.is_empty() { None } else { engine.authorise(&act, signature)? };
                let mut plan = Plan::of(subject.change(signed.into_iter().chain(events).collect()));
                plan.definitions.push(plan::definition_row(&workflow)?);
                engine.know_definition(&workflow);
                Ok(plan)
            })
        })
    }

    pub(crate) fn roll_back(&mut self, phase: &str, reason: Option<&str>) -> Result<Answer> {
        let reason = reason.map(checked_reason).transpose()?;
        self.change("rollback", Want::Unfinished, &Command::RollBack { phase: phase.to_owned(), reason })
    }

    pub(super) fn fail(&mut self, error: &str) -> Result<Answer> {
        let error = bounded("the error", error)?;
        self.change("fail", Want::Unfinished, &Command::Fail { error })
    }

    /// Approves a check of the current phase, or of a claimed one.
    pub(super) fn approve(&mut self, request: &ApproveRequest) -> Result<Answer> {
        self.require_person(Restricted::Approve)?;
        let remark = request.by.as_deref().map(|text| bounded("the remark", text)).transpose()?;
        let by = self.actor(self.asking_agent()?.as_ref()).to_string();
        let fingerprint = self.fingerprint("approve", &format!("{request:?} {by}"));
        // A session may be finished only according to its file, so that its gates can still be passed.
        let want = if request.phase.is_some() { Want::Latest } else { Want::Unfinished };
        if let Some(key) = self.options.key.clone()
            && self.remembered(&fingerprint)?.is_some()
            && self.was_for_other_files(want, request, &by)
        {
            return Err(Error::KeyUsed { key });
        }
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = engine.select(want)?;
                let subject = engine.load_subject(&id)?;
                let session = &subject.session;
                let approval = Approval { remark: remark.clone(), ..engine.approval(session, request, &by)? };
                if request.files.is_some() && request.files != approval.evidence {
                    return Err(Error::FilesChanged { phase: approval.phase.to_string() });
                }
                let act = Act {
                    phase: Some(&approval.phase),
                    check: Some(&approval.check),
                    evidence: approval.evidence.as_deref(),
                    sign: request.sign,
                    ..Act::new(Restricted::Approve, &id)
                };
                let signed = engine.authorise(&act, signature)?;
                let events = decide(session, Command::Approve { approval })?;
                Ok(Plan::of(subject.change(signed.into_iter().chain(events).collect())))
            })
        })
    }

    /// The definition of this name with which the selected session started.
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
        let roots = self.roots_to_trust();
        commands(workflow)
            .map(|(phase, check, command)| TrustedCommand {
                session: session.cloned(),
                phase: phase.clone(),
                check: check.clone(),
                command: command.to_owned(),
                trusted: roots.iter().all(|root| trust::is_trusted(root, command)),
                hash: trust::hash_of(command),
            })
            .collect()
    }

    /// The worktrees where a command must be trusted: this one, and the selected session's, where its gate
    /// runs.
    pub(crate) fn roots_to_trust(&self) -> Vec<PathBuf> {
        let session = self.select(Want::Latest).and_then(|id| Ok(self.load(&id)?.1)).ok();
        let there = session.filter(|session| session.machine.is_none()).map(|session| self.root_of(&session));
        let mut roots = vec![self.project.root.clone()];
        roots.extend(there.filter(|there| *there != self.project.root));
        roots
    }

    /// True if the check has an approval of files that have changed since. Repeating the approval under its
    /// key would only return the old answer.
    fn was_for_other_files(&self, want: Want, request: &ApproveRequest, by: &str) -> bool {
        let session = self.select(want).and_then(|id| Ok(self.load(&id)?.1));
        let Ok(session) = session else { return false };
        let Ok(now) = self.approval(&session, request, by) else { return false };
        session.approval(&now.phase, &now.check).is_some_and(|known| known.evidence != now.evidence)
    }

    fn approval(&self, session: &Session, request: &ApproveRequest, by: &str) -> Result<Approval> {
        let definition = self.definition_of(session)?;
        let phases = waiting(session, request.phase.as_deref())?;
        let defined = |phase: &&Phase| definition.phase(phase.id().as_str());
        let found = phases.iter().filter_map(defined).find_map(|defined| {
            let mut all = approvals(defined);
            all.find(|(check, _)| check.as_str() == request.check).map(|(check, ttl)| (defined, check, ttl))
        });
        let Some((defined, check, declared)) = found else {
            let named = request.phase.as_deref().and_then(|phase| session.run()?.resolve(phase));
            let phase = named.or_else(|| session.run().map(Run::current));
            return Err(Error::UnknownCheck {
                asked: request.check.clone(),
                phase: phase.map(|phase| phase.id().to_string()).unwrap_or_default(),
                known: phases
                    .iter()
                    .filter_map(defined)
                    .flat_map(approvals)
                    .map(|(check, _)| check.to_string())
                    .collect(),
            });
        };
        let now = self.clock.now();
        let seconds = request.ttl_seconds.or(declared).and_then(|seconds| i64::try_from(seconds).ok());
        let expires_at =
            seconds.and_then(|seconds| now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
        Ok(Approval {
            phase: defined.id.clone(),
            check: check.clone(),
            by: by.to_owned(),
            remark: None,
            at: now,
            expires_at,
            evidence: Some(self.evidence_of(session, defined)),
        })
    }
}

/// The phases that can be approved: the named one, or else the current one and then claimed or contested ones. Proven
/// phases need no approval, and future phases do not need one yet.
fn waiting<'a>(session: &'a Session, asked: Option<&str>) -> Result<Vec<&'a Phase>> {
    let Some(run) = session.run() else { return Ok(Vec::new()) };
    let is_current = |phase: &&Phase| phase.id() == run.current().id();
    // A file may have moved the session past a failed gate without calling the phase done.
    let is_unproven = |phase: &&Phase| phase.claimed || session.is_contested(phase);
    if let Some(asked) = asked {
        let phase = resolve_phase(run, asked)?;
        return Ok(Some(phase).filter(|phase| is_unproven(phase) || is_current(phase)).into_iter().collect());
    }
    let unproven = run.phases.iter().filter(|phase| is_unproven(phase) && !is_current(phase));
    Ok(std::iter::once(run.current()).chain(unproven).collect())
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

impl View {
    /// The hash of the files that an approval of the current phase covers.
    pub fn files_to_approve(&self, engine: &Engine) -> Option<String> {
        let (_, session) = engine.load(&SessionId::parse(&self.session_id).ok()?).ok()?;
        let phase = session.run()?.current().id().clone();
        let definition = engine.definition_of(&session).ok()?;
        Some(engine.evidence_of(&session, definition.phase(phase.as_str())?))
    }
}
