//! Completes a phase. The gate runs before the turn to write is taken, and the decision is made within it. If somebody
//! adds a note meanwhile, a gate that took ten minutes need not run again.

mod evidence;
mod files;

use crate::artifacts::Recording;
use crate::checks::{GateRun, Submission};
use crate::discrepancies::OnDiscrepancy;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Taking;
use crate::execute::placeholder::refuse_placeholders;
use crate::execute::plan::{Order, Plan};
use crate::execute::{Answer, checked_reason};
use crate::facades::Sessions;
use crate::own_tool_messages::in_own_words;
use crate::policy::{Act, Restricted, Signature};
use crate::view::{CheckView, GateOutcome, GateView, Warning};
use evidence::{not_declared, not_recorded, read, with_recorded_evidence};
use jiff::Timestamp;
use layouts::layout;
use model::command::{Command, NamedPhase, decide, named_phase};
use model::event::Event;
use model::gate::{AttemptReport, CheckResult};
use model::hint::Hint;
use model::id::{Name, SessionId};
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::session::Session;
use model::typed_value::Given;
use model::words;
use std::collections::BTreeMap;
use std::path::PathBuf;
use store::{ActivityKind, ActivityRow};

/// Input for completing a phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdvanceRequest {
    /// The phase that the caller believes to be current, by id or number.
    pub phase: Option<String>,
    pub evidence: BTreeMap<String, Given>,
    pub outputs: BTreeMap<String, Given>,
    /// Files to record with the phase, relative to the current folder.
    pub artifacts: Vec<PathBuf>,
    /// A person's reason for overriding failed checks.
    pub override_reason: Option<String>,
}

/// The result of a gate that was tried without changing anything.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GateTried {
    pub session_id: String,
    pub phase: Name,
    #[serde(flatten)]
    pub gate: GateView,
    /// Phases that only files call completed. Their gates have not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<Name>,
    /// Warnings about changed files of finished phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The words that make a printed command refer to this session.
    #[serde(skip)]
    pub naming: Vec<String>,
}

/// The result of a gate that was run for a phase, and the state in which it ran.
struct Tried {
    phase: Name,
    run: GateRun,
    opened: Option<Opened>,
    version: u64,
}

/// The run, definition and start of a phase. They stay the same unless somebody completes or reopens the phase, or
/// updates the definition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Opened {
    run: u32,
    definition: String,
    started: Option<Timestamp>,
}

fn opened(session: &Session, phase: &Name) -> Option<Opened> {
    let run = session.run()?;
    let found = run.phases.iter().find(|found| found.id() == phase)?;
    let definition = run.workflow.hash.clone();
    Some(Opened { run: run.ordinal, definition, started: found.started_at() })
}

/// The name of the output that lists the commands executed during an attempt.
const COMMANDS: &str = "commands_executed";
const MOST_COMMANDS: usize = 100;

/// Returns a command in the form in which other tools list commands. Its duration and exit code are unknown.
fn command_run(row: &ActivityRow) -> serde_json::Value {
    serde_json::json!({
        "command": row.what,
        "output": row.detail.clone().unwrap_or_default(),
        "exit_code": null,
        "executed_at": row.at,
        "duration_ms": null,
    })
}

/// Returns messages about failed checks that a lenient gate let pass, one line each.
fn let_pass(phase: &Name, report: &AttemptReport) -> Vec<String> {
    let failed = report.checks.iter().filter(|check| check.failed() && report.overridden.is_none());
    let line = |check: &CheckResult| {
        let why = check.help.as_ref().or(check.found.as_ref()).map_or("", String::as_str);
        let why = if why.is_empty() { "it failed" } else { why };
        format!("the gate of phase {phase} is lenient; it passed without {}: {why}", check.id)
    };
    failed.map(line).collect()
}

impl Sessions<'_> {
    /// Runs the checks of a phase, by default of the current one. Changes nothing.
    pub fn try_gate(&self, phase: Option<&str>, evidence: BTreeMap<String, Given>) -> Result<GateTried> {
        let engine = self.engine;
        let subject = engine.select(Want::Latest)?;
        // A gate may be tried even if the session has expired, so its state before the expiry is used.
        let (loaded, session) = engine.load(&subject)?;
        let request = AdvanceRequest { evidence, ..AdvanceRequest::default() };
        let phase = match named_phase(&session, phase)? {
            NamedPhase::Current(phase) | NamedPhase::Claimed(phase) | NamedPhase::AlreadyDone(phase) => phase,
        };
        let submission = with_recorded_evidence(phase, &read(&request)?);
        let phase = phase.id().clone();
        let report = engine.run_gate(&session, &phase, &submission)?.report;
        let outcome = if report.passes() { GateOutcome::Passed } else { GateOutcome::Failed };
        let checks = report.checks.iter().map(CheckView::from).collect();
        let view = engine.view_of(&session, loaded.number, false)?;
        let warnings = engine.artifact_warnings(&view);
        let claimed = view.claimed().map(|phase| phase.id.clone()).collect();
        let gate = GateView { outcome, checks };
        let naming = view.naming_words();
        Ok(GateTried { session_id: subject.to_string(), phase, gate, claimed, warnings, naming })
    }
}

impl Engine {
    pub(crate) fn advance(&mut self, request: &AdvanceRequest) -> Result<Answer> {
        let submission = read(request)?;
        let fingerprint = self.fingerprint("advance", &format!("{request:?}"));
        if let Some(answer) = self.remembered(&fingerprint)? {
            return Ok(answer);
        }
        if request.override_reason.is_some() {
            self.require_person(Restricted::Override)?;
        }
        let subject = self.select(Want::Latest)?;
        let session = self.with_expiry(self.load(&subject)?.1);
        // A wrong path is reported before the gate runs, because the gate may take long.
        self.record_named(&session, &request.artifacts, None)?;
        let mut tried = self.try_gate(&session, request.phase.as_deref(), &submission)?;
        if let Some(tried) = &mut tried {
            self.add_commands(&session, tried);
        }
        let held = tried.as_mut().filter(|tried| !tried.run.report.passes());
        if let (Some(tried), Some(reason)) = (held, &request.override_reason) {
            self.refuse_override(&session, &tried.phase)?;
            tried.run.report.overridden = Some(checked_reason(reason)?);
        }
        self.complete(&fingerprint, &subject, request, tried)
    }

    /// Adds the commands executed since the phase started to the attempt, for layouts that record them.
    fn add_commands(&self, session: &Session, tried: &mut Tried) {
        let keeps = layout::by_name(&session.layout).is_some_and(|layout| layout.facts().keeps_commands);
        let outputs = &mut tried.run.report.outputs;
        let started = tried.opened.as_ref().and_then(|opened| opened.started);
        if !keeps || outputs.contains_key(COMMANDS) {
            return;
        }
        let mut rows = self.store.activity(&session.id, MOST_COMMANDS).unwrap_or_default();
        rows.retain(|row| row.kind == ActivityKind::Command && started.is_none_or(|began| row.at >= began));
        rows.sort_by_key(|row| row.at);
        let commands: Vec<serde_json::Value> = rows.iter().map(command_run).collect();
        if !commands.is_empty() {
            outputs.insert(COMMANDS.to_owned(), serde_json::Value::Array(commands));
        }
    }

    /// Tries the gate of a failed phase again, with the recorded evidence and the given evidence.
    pub(crate) fn retry(&mut self, evidence: BTreeMap<String, Given>) -> Result<Answer> {
        refuse_placeholders(&evidence)?;
        let fingerprint = self.fingerprint("retry", &format!("{evidence:?}"));
        if let Some(answer) = self.remembered(&fingerprint)? {
            return Ok(answer);
        }
        let subject = self.select(Want::Unfinished)?;
        let session = self.with_expiry(self.load(&subject)?.1);
        if matches!(session.lifecycle, Lifecycle::Failed { .. }) {
            return self.retry_failed_session(&fingerprint, &subject, &evidence);
        }
        let is_left_failed = |phase: &&Phase| session.is_contested(phase) && phase.last_attempt_failed();
        let phase = session.run().map(|run| run.phases.iter().find(is_left_failed).unwrap_or(run.current()));
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
        self.complete(&fingerprint, &subject, &request, tried)
    }

    /// Resumes a session that is marked as failed. Its gate runs when the phase is completed.
    fn retry_failed_session(
        &mut self,
        order: &Order,
        subject: &SessionId,
        evidence: &BTreeMap<String, Given>,
    ) -> Result<Answer> {
        if !evidence.is_empty() {
            return Err(Error::WrongUsage {
                message: format!(
                    "session {subject} is marked as failed; its gates run again after it is resumed"
                ),
                hint: Hint::new("resume the session first: ")
                    .run_here(words!["retry"])
                    .then("; then submit the evidence: ")
                    .run_here(words!["advance"]),
            });
        }
        self.in_turn(order, |engine| engine.activate(subject, OnDiscrepancy::Continue, Taking::Refused))
    }

    fn complete(
        &mut self,
        order: &Order,
        subject: &SessionId,
        request: &AdvanceRequest,
        mut tried: Option<Tried>,
    ) -> Result<Answer> {
        let recording = match &mut tried {
            Some(tried) => self.settled_files(subject, request, tried)?,
            None => Recording::default(),
        };
        let tried = tried.as_ref();
        let answer = self.with_signature(|engine, signature| {
            engine.in_turn(order, |engine| engine.completion(subject, request, tried, &recording, signature))
        })?;
        self.record_touched(subject, &recording);
        Ok(answer)
    }

    /// Returns the plan that completes a phase or, if its gate failed, records the attempt.
    fn completion(
        &mut self,
        subject: &SessionId,
        request: &AdvanceRequest,
        tried: Option<&Tried>,
        recording: &Recording,
        signature: Option<&Signature>,
    ) -> Result<Plan> {
        let subject = self.load_subject(subject)?;
        let session = &subject.session;
        let attempt = match tried {
            Some(tried) => self.brought_up_to_date(session, tried)?,
            None => AttemptReport::default(),
        };
        let passed_without = tried.map(|tried| let_pass(&tried.phase, &attempt)).unwrap_or_default();
        let command = Command::CompletePhase {
            // The phase whose gate was tried is meant, even if another phase has become current since.
            phase: tried.map(|tried| tried.phase.to_string()).or(request.phase.clone()),
            attempt,
            skips: self.skips_ahead(session)?,
        };
        let mut events = decide(session, command).map_err(|refusal| in_own_words(session, refusal))?;
        self.refuse_to_end_over_items(session, &events)?;
        let signed = self.authorise_override(session, &events, signature)?;
        let (mut contents, mut said) = (Vec::new(), Vec::new());
        let completes = events.iter().any(|event| matches!(event, Event::PhaseCompleted { .. }));
        if completes {
            let artifacts = recording.artifacts.clone();
            events.splice(0..0, decide(session, Command::RecordArtifacts { artifacts })?);
            contents.clone_from(&recording.contents);
        }
        if completes && let Some(open) = open_items(session, tried) {
            said.push(open);
        }
        if completes {
            said.extend(passed_without);
        }
        if !events.is_empty() {
            let definition = self.definition_of(session)?;
            let defined = tried.and_then(|tried| definition.phase(tried.phase.as_str()));
            said.extend(defined.into_iter().flat_map(|defined| not_declared(defined, request)));
            said.extend(tried.iter().flat_map(|tried| tried.run.said.clone()));
        }
        if tried.is_none() {
            said.extend(not_recorded(session, request));
        }
        events.splice(0..0, signed);
        let mut plan = Plan::of(subject.change(events));
        plan.said = said;
        plan.contents = contents;
        Ok(plan)
    }

    /// Runs the gate of the selected phase. Returns `None` if the phase is already done.
    fn try_gate(
        &self,
        session: &Session,
        asked: Option<&str>,
        submission: &Submission,
    ) -> Result<Option<Tried>> {
        let phase = match named_phase(session, asked).map_err(|refusal| in_own_words(session, refusal))? {
            NamedPhase::AlreadyDone(_) => return Ok(None),
            NamedPhase::Claimed(phase) => phase,
            NamedPhase::Current(phase) => {
                self.refuse_to_pass_over(session, phase)?;
                phase
            }
        };
        let submission = with_recorded_evidence(phase, submission);
        let phase = phase.id().clone();
        let run = self.run_gate(session, &phase, &submission)?;
        let opened = opened(session, &phase);
        Ok(Some(Tried { phase, run, opened, version: session.version }))
    }

    fn authorise_override(
        &self,
        session: &Session,
        events: &[Event],
        signature: Option<&Signature>,
    ) -> Result<Option<Event>> {
        let overridden = events.iter().find_map(|event| match event {
            Event::PhaseCompleted { phase, attempt, .. } => attempt.overridden.as_ref().map(|_| phase),
            _ => None,
        });
        let Some(phase) = overridden else { return Ok(None) };
        self.authorise(&Act { phase: Some(phase), ..Act::new(Restricted::Override, &session.id) }, signature)
    }

    fn refuse_override(&self, session: &Session, phase: &Name) -> Result<()> {
        let workflow = self.definition_of(session)?;
        match workflow.phase(phase.as_str()) {
            Some(defined) if defined.no_override => {
                Err(Error::NoOverride { phase: phase.to_string(), workflow: workflow.name.to_string() })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns a gate's report for the current state of the session. If the session has changed since the gate ran,
    /// cheap checks run again, but commands do not. Refused if the phase was reopened meanwhile.
    fn brought_up_to_date(&self, session: &Session, tried: &Tried) -> Result<AttemptReport> {
        let report = tried.run.report.clone();
        if session.version == tried.version {
            return Ok(report);
        }
        if opened(session, &tried.phase) != tried.opened {
            return Err(Error::MovedMeanwhile { phase: tried.phase.to_string() });
        }
        self.recheck(session, &tried.phase, report, &[])
    }

    /// Returns the later phases to skip because their `when` is false.
    pub(super) fn skips_ahead(&self, session: &Session) -> Result<Vec<model::run::Skip>> {
        Ok(self.skips(session, &*self.definition_of(session)?))
    }
}

/// Returns a message if a phase without a check of items was completed although it has open items.
fn open_items(session: &Session, tried: Option<&Tried>) -> Option<String> {
    let phase =
        session.run()?.phases.iter().find(|phase| Some(phase.id()) == tried.map(|tried| &tried.phase))?;
    let open = phase.items.open();
    (open > 0).then(|| {
        let items = if open == 1 { "1 item" } else { &format!("{open} items") };
        let were = if open == 1 { "was" } else { "were" };
        format!("{items} of phase '{}' {were} left open: leftoff item list --all", phase.id())
    })
}
