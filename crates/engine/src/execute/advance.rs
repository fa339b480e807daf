//! Completing a phase: the gate runs outside the turn, the decision inside it.

use crate::artifacts::Recording;
use crate::checks::{self, Submission};
use crate::engine::{Engine, Want};
use crate::error::Result;
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use model::command::{Command, Standing, decide, standing};
use model::gate::{AttemptReport, Given, guess};
use model::id::{Name, SessionId};
use model::session::Session;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is handed in to complete a phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdvanceRequest {
    /// The phase that the caller believes is current, by id or number.
    pub phase: Option<String>,
    pub evidence: BTreeMap<String, Given>,
    pub outputs: BTreeMap<String, Given>,
    /// Files that are recorded with the phase, relative to the current folder.
    pub artifacts: Vec<PathBuf>,
}

impl Engine {
    pub fn advance(&mut self, request: &AdvanceRequest) -> Result<Answer> {
        let submission = read(request)?;
        let fingerprint = self.fingerprint("advance", &format!("{request:?}"));
        if let Some(answer) = self.remembered(&fingerprint)? {
            return Ok(answer);
        }
        let subject = self.select(Want::Latest)?;
        // A path that is no good is told before a gate is tried, which may take its time.
        if !request.artifacts.is_empty() {
            self.record_named(&self.load(&subject)?.1, &request.artifacts, None)?;
        }
        let tried = self.try_gate(&subject, request.phase.as_deref(), &submission)?;
        let recording = self.recording(&subject, tried.as_ref(), &request.artifacts)?;
        self.execute(&fingerprint, |engine| {
            let subject = engine.take_up(&subject)?;
            let session = &subject.session;
            let command = Command::CompletePhase {
                // The phase whose gate was tried, whatever has become current since.
                phase: tried.as_ref().map(|(phase, _)| phase.to_string()).or(request.phase.clone()),
                attempt: tried.as_ref().map(|(_, report)| report.clone()).unwrap_or_default(),
                skips: Vec::new(),
            };
            let mut events = decide(session, command)?;
            let mut contents = Vec::new();
            if !events.is_empty() {
                let files = Command::RecordArtifacts { artifacts: recording.artifacts.clone() };
                events.splice(..0, decide(session, files)?);
                contents.clone_from(&recording.contents);
            }
            let mut plan = Plan::of(subject.change(events));
            plan.contents = contents;
            Ok(plan)
        })
    }

    /// The files that are recorded with a phase that passes: those named, those it declares, those it had.
    fn recording(
        &self,
        subject: &SessionId,
        tried: Option<&(Name, AttemptReport)>,
        named: &[PathBuf],
    ) -> Result<Recording> {
        let Some((phase, report)) = tried else { return Ok(Recording::default()) };
        let (_, session) = self.load(subject)?;
        if !report.passes() {
            return Ok(Recording::default());
        }
        let mut recording = self.record_named(&session, named, Some(phase))?;
        recording.merge(self.record_of_phase(&session, phase)?);
        Ok(recording)
    }

    /// Runs the gate of the phase that is meant; nothing when it is done already.
    fn try_gate(
        &self,
        subject: &SessionId,
        asked: Option<&str>,
        submission: &Submission,
    ) -> Result<Option<(Name, AttemptReport)>> {
        let (_, session) = self.load(subject)?;
        let session = self.laid_over(session);
        let phase = match standing(&session, asked)? {
            Standing::AlreadyDone(_) => return Ok(None),
            Standing::Current(phase) => phase.id().clone(),
        };
        let report = self.run_gate(&session, &phase, submission)?;
        Ok(Some((phase, report)))
    }

    fn run_gate(&self, session: &Session, phase: &Name, submission: &Submission) -> Result<AttemptReport> {
        let hash = session.run().map(|run| run.workflow.hash.clone()).unwrap_or_default();
        let definition = self.definition(&hash)?.ok_or_else(|| crate::Error::BrokenLog {
            session: session.id.to_string(),
            why: format!("its workflow definition {hash} is missing"),
        })?;
        match definition.phase(phase.as_str()) {
            Some(defined) => Ok(checks::run(defined, session, submission)),
            None => Ok(AttemptReport::default()),
        }
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
