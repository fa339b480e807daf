//! Approves a check: finds the phase to which the check belongs, and records the files that were shown to the approver.

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use crate::policy::{Act, Restricted};
use crate::view::View;
use model::approval::Approval;
use model::command::{Command, decide, resolve_phase};
use model::id::{Name, SessionId};
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::workflow::{CheckKind, PhaseDefinition};

/// An approval to record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApproveRequest {
    pub check: String,
    /// Id or number of the phase. If missing: the current phase, or else a claimed one.
    pub phase: Option<String>,
    pub ttl_seconds: Option<u64>,
    /// A remark, for example on whose behalf the caller approves. The caller is recorded as the actor.
    pub by: Option<String>,
    /// True to sign even if the policy does not require it.
    pub sign: bool,
    /// The hash of the files that the approver saw. If the files have changed since, the approval is refused.
    pub files: Option<String>,
}

impl Engine {
    /// Approves a check of the current phase, or of a claimed one.
    pub(super) fn approve(&mut self, request: &ApproveRequest) -> Result<Answer> {
        self.require_person(Restricted::Approve)?;
        let remark = request.by.as_deref().map(|text| bounded("the remark", text)).transpose()?;
        let by = self.actor(self.asking_agent()?.as_ref()).to_string();
        let fingerprint = self.fingerprint("approve", &format!("{request:?} {by}"));
        // If only a file calls the session finished, its gates can still be passed, so a named phase may belong to a
        // finished session.
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

    /// True if the check has an approval, but for files that have changed since. Repeating the approval with the same
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

/// Returns the phases that can be approved: the named one, or else the current one followed by claimed and contested
/// ones. Proven phases need no approval, and future phases do not need one yet.
fn waiting<'a>(session: &'a Session, asked: Option<&str>) -> Result<Vec<&'a Phase>> {
    let Some(run) = session.run() else { return Ok(Vec::new()) };
    let is_current = |phase: &&Phase| phase.id() == run.current().id();
    // A file may have moved the session past a failed gate, without calling the phase done.
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

impl View {
    /// Returns the hash of the files that an approval of the current phase covers.
    pub fn files_to_approve(&self, engine: &Engine) -> Option<String> {
        let (_, session) = engine.load(&SessionId::parse(&self.session_id).ok()?).ok()?;
        let phase = session.run()?.current().id().clone();
        let definition = engine.definition_of(&session).ok()?;
        Some(engine.evidence_of(&session, definition.phase(phase.as_str())?))
    }
}
