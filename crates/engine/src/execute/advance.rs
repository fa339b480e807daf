//! Completing a phase: the gate runs outside the turn, the decision inside it. A command that took ten minutes is
//! not run again because somebody wrote a note meanwhile.

use crate::checks::{GateRun, Submission};
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::{Change, Plan};
use crate::execute::{Answer, bounded};
use crate::view::{CheckView, GateOutcome, GateView};
use model::command::{Command, Standing, decide, standing};
use model::gate::{Given, guess};
use model::id::{Name, SessionId};
use model::lifecycle::Lifecycle;
use model::session::Session;
use std::collections::BTreeMap;

/// What is handed in to complete a phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdvanceRequest {
    /// The phase that the caller believes is current, by id or number.
    pub phase: Option<String>,
    pub evidence: BTreeMap<String, Given>,
    pub outputs: BTreeMap<String, Given>,
    /// A person lets it pass although checks fail, and why.
    pub override_reason: Option<String>,
}

/// A gate that was tried without changing anything.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GateTried {
    pub session_id: String,
    pub phase: Name,
    #[serde(flatten)]
    pub gate: GateView,
}

/// A gate that was run for a phase.
struct Tried {
    phase: Name,
    run: GateRun,
}

impl Engine {
    pub fn advance(&mut self, request: &AdvanceRequest) -> Result<Answer> {
        let submission = read(request)?;
        let fingerprint = self.fingerprint("advance", &format!("{request:?}"));
        if let Some(answer) = self.remembered(&fingerprint)? {
            return Ok(answer);
        }
        if request.override_reason.is_some() {
            self.require_person("passing a gate by --override", self.config.policy.override_)?;
        }
        let subject = self.select(Want::Latest)?;
        let (_, session) = self.load(&subject)?;
        let mut tried = self.try_gate(&session, request.phase.as_deref(), &submission)?;
        if let (Some(tried), Some(reason)) = (&mut tried, &request.override_reason) {
            tried.run.report.overridden = Some(bounded("the reason", reason)?);
        }
        self.complete(&fingerprint, &subject, request.phase.as_deref(), tried.as_ref())
    }

    /// Tries a failed phase again with the evidence it had, and whatever is handed in now.
    pub fn retry(&mut self, evidence: BTreeMap<String, Given>) -> Result<Answer> {
        let fingerprint = self.fingerprint("retry", &format!("{evidence:?}"));
        let subject = self.select(Want::Unfinished)?;
        let (_, session) = self.load(&subject)?;
        if matches!(session.lifecycle, Lifecycle::Failed { .. }) {
            return self.resume(Some(subject.as_str()));
        }
        let phase = session.run().map(model::run::Run::current);
        let Some(phase) = phase.filter(|phase| phase.last_attempt_failed()) else {
            let phase = phase.map(|phase| phase.id().to_string()).unwrap_or_default();
            return Err(Error::NothingFailed { phase });
        };
        let mut request = AdvanceRequest { phase: Some(phase.id().to_string()), ..AdvanceRequest::default() };
        if let Some(attempt) = phase.last_attempt() {
            let as_given =
                |(name, value): (&String, &serde_json::Value)| (name.clone(), Given::Json(value.clone()));
            request.evidence = attempt.report.evidence.iter().map(as_given).collect();
            request.outputs = attempt.report.outputs.iter().map(as_given).collect();
        }
        request.evidence.extend(evidence);
        let tried = self.try_gate(&session, request.phase.as_deref(), &read(&request)?)?;
        self.complete(&fingerprint, &subject, request.phase.as_deref(), tried.as_ref())
    }

    /// Runs the current phase's checks and changes nothing.
    pub fn gate(&self, evidence: BTreeMap<String, Given>) -> Result<GateTried> {
        let subject = self.select(Want::Latest)?;
        let (_, session) = self.load(&subject)?;
        let request = AdvanceRequest { evidence, ..AdvanceRequest::default() };
        let phase = match standing(&session, None)? {
            Standing::Current(phase) | Standing::AlreadyDone(phase) => phase.id().clone(),
        };
        let report = self.run_gate(&session, &phase, &read(&request)?)?.report;
        let outcome = if report.passes() { GateOutcome::Passed } else { GateOutcome::Failed };
        let checks = report.checks.iter().map(CheckView::from).collect();
        Ok(GateTried { session_id: subject.to_string(), phase, gate: GateView { outcome, checks } })
    }

    fn complete(
        &mut self,
        fingerprint: &str,
        subject: &SessionId,
        asked: Option<&str>,
        tried: Option<&Tried>,
    ) -> Result<Answer> {
        self.execute(fingerprint, |engine| {
            let (loaded, session) = engine.load(subject)?;
            let command = Command::CompletePhase {
                // The phase whose gate was tried, whatever has become current since.
                phase: tried.map(|tried| tried.phase.to_string()).or(asked.map(ToOwned::to_owned)),
                attempt: tried.map(|tried| tried.run.report.clone()).unwrap_or_default(),
                skips: engine.skips_ahead(&session)?,
            };
            let mut events = decide(&session, command)?;
            if let Some(tried) = tried.filter(|tried| !events.is_empty() && tried.run.report.passes()) {
                let artifacts = tried.run.proven.clone();
                events.splice(0..0, decide(&session, Command::RecordArtifacts { artifacts })?);
            }
            Ok(Plan::of(Change { number: loaded.number, before: Some(session), events }))
        })
    }

    /// Runs the gate of the phase that is meant; nothing when it is done already.
    fn try_gate(
        &self,
        session: &Session,
        asked: Option<&str>,
        submission: &Submission,
    ) -> Result<Option<Tried>> {
        let phase = match standing(session, asked)? {
            Standing::AlreadyDone(_) => return Ok(None),
            Standing::Current(phase) => phase.id().clone(),
        };
        let run = self.run_gate(session, &phase, submission)?;
        Ok(Some(Tried { phase, run }))
    }

    /// The phases ahead whose `when` does not hold.
    pub(super) fn skips_ahead(&self, session: &Session) -> Result<Vec<model::run::Skip>> {
        Ok(self.skips(session, &*self.definition_of(session)?))
    }
}

fn read(request: &AdvanceRequest) -> Result<Submission> {
    for (name, value) in request.evidence.iter().chain(&request.outputs) {
        let text = match value {
            Given::Text(text) => text.clone(),
            Given::Json(value) => value.to_string(),
        };
        bounded("a piece of evidence", &text)?;
        bounded("the name of a piece of evidence", name)?;
    }
    Ok(Submission {
        evidence: request.evidence.clone(),
        outputs: request.outputs.iter().map(|(name, value)| (name.clone(), guess(value))).collect(),
    })
}
