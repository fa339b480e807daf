//! Runs gates: checks the types of evidence, and facts that the engine can find out itself. Decides nothing. Only
//! commands of checks can have side effects.

mod approval;
mod artifact;
mod command;
mod definition;
pub(crate) mod expression;
mod files_again;
mod git;
mod interrupted;
mod items;
mod signals;
pub(crate) mod trust;

pub(crate) use approval::evidence_hash;
pub(crate) use definition::mistakes;
pub(crate) use items::{
    asks_for_finished_items, is_completed_by_file, is_ticked_in_list, items_hash, was_ticked_in_list,
};

use crate::NATIVE;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::FileDigest;
use crate::redact;
use crate::view::at_work;
use jiff::Timestamp;
use layouts::capabilities::Saying;
use layouts::layout::{self, Refused};
use model::actor::Actor;
use model::gate::{Attempt, AttemptReport, CheckOutcome, CheckResult, EVIDENCE, Judged, read_evidence};
use model::id::Name;
use model::phase::Phase;
use model::run::{Run, Skip};
use model::session::Session;
use model::typed_value::Given;
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition, Workflow};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use store::ItemRow;

/// The caller's input for an attempt at a gate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Submission {
    pub evidence: BTreeMap<String, Given>,
    pub outputs: Map<String, Value>,
}

/// The result of a gate, and the files that passed a check.
#[derive(Default)]
pub(crate) struct GateRun {
    /// The report of the attempt. Secrets are removed, because the report is stored and shown.
    pub(crate) report: AttemptReport,
    /// Descriptions of the secrets that were removed from the report.
    pub(crate) said: Vec<String>,
    pub(crate) proven: Vec<Proven>,
}

/// A file that passed a check, as it was when it was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proven {
    pub(crate) check: Name,
    pub(crate) path: String,
    pub(crate) hash: String,
}

/// The result of one check.
struct Verdict {
    outcome: CheckOutcome,
    found: Option<String>,
    needed: Option<String>,
    /// How to fix a failed check if the definition gives no advice.
    help: Option<String>,
    /// True to show `help` before the definition's own help, because the check could not even be evaluated.
    help_first: bool,
}

impl Verdict {
    fn passed(found: impl Into<String>) -> Self {
        Self {
            outcome: CheckOutcome::Passed,
            found: Some(found.into()),
            needed: None,
            help: None,
            help_first: false,
        }
    }

    fn failed(found: impl Into<String>) -> Self {
        Self {
            outcome: CheckOutcome::Failed,
            found: Some(found.into()),
            needed: None,
            help: None,
            help_first: false,
        }
    }

    fn needing(mut self, needed: impl Into<String>) -> Self {
        self.needed = Some(needed.into());
        self
    }

    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn with_first_help(mut self, help: impl Into<String>) -> Self {
        self.help_first = true;
        self.with_help(help)
    }
}

/// Everything that the checks of a gate can see.
struct Surroundings<'a> {
    engine: &'a Engine,
    session: &'a Session,
    phase: &'a PhaseDefinition,
    started_at: Option<Timestamp>,
    /// The worktree of the session, wherever the command was typed.
    root: PathBuf,
    workspace: PathBuf,
    run_ordinal: u32,
    now: Timestamp,
    /// Items that the command is about to store.
    changed: &'a [ItemRow],
}

impl Engine {
    /// Runs all checks of a phase and returns a report. This takes as long as the checks' commands take.
    pub(crate) fn run_gate(
        &self,
        session: &Session,
        phase: &Name,
        submission: &Submission,
    ) -> Result<GateRun> {
        let (definition, digest) = self.definition_as_named(session)?;
        let mut judged = Judged { definition: digest, ..Judged::default() };
        let Some(defined) = definition.phase(phase.as_str()) else {
            let report = AttemptReport { judged: Some(judged), ..AttemptReport::default() };
            return Ok(GateRun { report, ..GateRun::default() });
        };
        let (evidence, mut checks) = read_evidence(&defined.evidence, &submission.evidence, &redact::seen);
        say_as_its_tool(session, defined, &evidence, &mut checks);
        let mut proven = Vec::new();
        let mut claimed_items = false;
        if !defined.checks.is_empty() {
            let surroundings = self.surroundings(session, defined);
            let scope = surroundings.scope(&evidence, &checks);
            for check in &defined.checks {
                let verdict = surroundings.run(check, &scope, &mut proven)?;
                checks.push(result(check, verdict));
            }
            judged.items = surroundings.items_judged()?;
            claimed_items = surroundings.rests_on_claimed_items(&checks)?;
        }
        let mut report = AttemptReport {
            evidence,
            outputs: submission.outputs.clone(),
            checks,
            lenient: !defined.strict,
            overridden: None,
            claimed_items,
            origin: None,
            judged: Some(judged),
        };
        // Only the checks see unredacted values; the report must not contain secrets.
        let said = redact::attempt(&mut report);
        Ok(GateRun { report, said, proven })
    }

    /// Returns the report, updated for the current state of the session: cheap checks are evaluated again.
    pub(crate) fn recheck(
        &self,
        session: &Session,
        phase: &Name,
        mut report: AttemptReport,
        changed: &[ItemRow],
    ) -> Result<AttemptReport> {
        let definition = self.definition_of(session)?;
        let Some(defined) = definition.phase(phase.as_str()) else { return Ok(report) };
        let surroundings = Surroundings { changed, ..self.surroundings(session, defined) };
        let scope = surroundings.scope(&report.evidence, &report.checks);
        for check in &defined.checks {
            let is_quick = match &check.kind {
                CheckKind::Expr { .. } | CheckKind::Items | CheckKind::Approval { .. } => true,
                CheckKind::Artifact { .. } | CheckKind::Command { .. } | CheckKind::Git { .. } => false,
            };
            let known = report.checks.iter_mut().find(|known| is_result_of(known, check));
            if let Some(known) = known.filter(|_| is_quick) {
                *known = result(check, surroundings.run(check, &scope, &mut Vec::new())?);
            }
        }
        report.claimed_items = surroundings.rests_on_claimed_items(&report.checks)?;
        Ok(report)
    }

    /// Returns the ids of checks that failed in the current phase's last attempt but pass now, because a field was set,
    /// a person approved, or a file was written.
    pub(crate) fn settled_since(
        &self,
        session: &Session,
        run: &Run,
        changed: &[ItemRow],
    ) -> BTreeSet<String> {
        let phase = at_work(session, run);
        let Some(attempt) = phase.last_attempt().filter(|_| phase.last_attempt_failed()) else {
            return BTreeSet::new();
        };
        let failed = |report: &AttemptReport| -> BTreeSet<String> {
            let can_settle = |check: &&CheckResult| matches!(check.kind.as_str(), "expr" | "approval");
            let failed = report.checks.iter().filter(|check| check.failed());
            failed.filter(can_settle).map(|check| check.id.clone()).collect()
        };
        let then = failed(&attempt.report);
        let mut settled = self.trusted_since(session, attempt);
        settled.extend(self.written_since(session, phase.id(), attempt));
        if then.is_empty() {
            return settled;
        }
        let now = self.recheck(session, phase.id(), attempt.report.clone(), changed);
        if let Ok(now) = now {
            settled.extend(then.difference(&failed(&now)).cloned());
        }
        settled
    }

    /// Returns the checks of files that failed in an attempt but pass now.
    fn written_since(&self, session: &Session, phase: &Name, attempt: &Attempt) -> BTreeSet<String> {
        let failed = |id: &Name| {
            let checks = attempt.report.checks.iter();
            checks.filter(|check| check.failed()).any(|check| check.id == id.as_str())
        };
        let Ok(definition) = self.definition_of(session) else { return BTreeSet::new() };
        let Some(defined) = definition.phase(phase.as_str()) else { return BTreeSet::new() };
        let surroundings = self.surroundings(session, defined);
        let scope = surroundings.scope(&attempt.report.evidence, &attempt.report.checks);
        let passes = |check: &&CheckDefinition| {
            matches!(check.kind, CheckKind::Artifact { .. })
                && failed(&check.id)
                && surroundings
                    .run(check, &scope, &mut Vec::new())
                    .is_ok_and(|verdict| verdict.outcome != CheckOutcome::Failed)
        };
        defined.checks.iter().filter(passes).map(|check| check.id.to_string()).collect()
    }

    /// Returns the phases whose `when` is false now.
    pub(crate) fn skips(&self, session: &Session, workflow: &Workflow) -> Vec<Skip> {
        let mut skips = Vec::new();
        for phase in &workflow.phases {
            let Some(when) = &phase.when else { continue };
            let scope = self.surroundings(session, phase).scope(&Map::new(), &[]);
            // A phase is skipped only if its `when` is false. If `when` cannot be evaluated, the phase is not skipped.
            let reason = match scope.why_not(when) {
                Ok(None) | Err(_) => continue,
                Ok(Some(words)) if !words.is_empty() => words,
                Ok(Some(_)) => {
                    let why = scope.found(when).map(|found| format!(" ({found})")).unwrap_or_default();
                    format!("it applies only when {when}{why}")
                }
            };
            skips.push(Skip { phase: phase.id.clone(), reason });
        }
        skips
    }

    /// Returns the definition with which the current run started.
    pub(crate) fn definition_of(&self, session: &Session) -> Result<Rc<Workflow>> {
        let hash = session.run().map(|run| run.workflow.hash.clone()).unwrap_or_default();
        self.definition(&hash)?.ok_or_else(|| Error::BrokenLog {
            session: session.id.to_string(),
            why: format!("its workflow definition ({hash}) is missing"),
        })
    }

    /// Returns the time from which on a phase's files count as written for it: the start of the phase. Other tools
    /// write files in an order of their own. So if such a tool moved the session, or if the previous phase writes other
    /// files, the start of the previous phase is used. After the session went back, older files do not count.
    pub(crate) fn files_count_since(&self, session: &Session, run: &Run, phase: &Name) -> Option<Timestamp> {
        let at = run.position(phase.as_str())?;
        let began = run.phases.get(at)?.started_at()?;
        if session.layout == NATIVE {
            return Some(began);
        }
        let definition = self.definition_of(session).ok();
        let written_in = |phase: &Name| {
            let defined = definition.as_ref().and_then(|workflow| workflow.phase(phase.as_str()));
            defined.map(|defined| defined.produces.clone())
        };
        let own = written_in(phase);
        let writes_others = |before: &Phase| match (&own, written_in(before.id())) {
            (Some(own), Some(theirs)) => theirs.iter().all(|path| !own.contains(path)),
            (None, _) | (_, None) => false,
        };
        let counts = |before: &&Phase| {
            before.started_at().is_none() || is_told_by_files(session, before) || writes_others(before)
        };
        let before = run.phases.iter().take(at).rev().take_while(counts);
        let since = before.filter_map(Phase::started_at).min().unwrap_or(began);
        Some(since.max(session.went_back_at.unwrap_or(since)).min(began))
    }

    fn surroundings<'a>(&'a self, session: &'a Session, phase: &'a PhaseDefinition) -> Surroundings<'a> {
        let run = session.run();
        Surroundings {
            engine: self,
            session,
            phase,
            started_at: run.and_then(|run| self.files_count_since(session, run, &phase.id)),
            root: self.root_of(session),
            workspace: self.workspace(session),
            run_ordinal: run.map_or(1, |run| run.ordinal),
            now: self.clock.now(),
            changed: &[],
        }
    }
}

impl Surroundings<'_> {
    fn run(
        &self,
        check: &CheckDefinition,
        scope: &expression::Scope,
        proven: &mut Vec<Proven>,
    ) -> Result<Verdict> {
        match &check.kind {
            CheckKind::Expr { expr, written } => {
                let came_to = scope.evaluate(expr);
                let needed =
                    (!came_to.names_what_is_missing).then(|| written.as_ref().unwrap_or(expr).clone());
                let (outcome, found) = (came_to.outcome, came_to.found);
                // If the check could not be evaluated, its own help does not apply.
                let help = came_to.absent.map(|name| scope.about_absent(&name, check.help.as_deref()));
                Ok(Verdict { outcome, found, needed, help_first: help.is_some(), help })
            }
            CheckKind::Artifact { path, matches, stale_ok, is_shared } => {
                let stale_ok = *stale_ok || (*is_shared && self.run_ordinal > 1);
                let (verdict, files) = artifact::run(self, path, matches.as_deref(), stale_ok);
                let file = |(path, looked): (String, FileDigest)| Proven {
                    check: check.id.clone(),
                    path,
                    hash: looked.hash,
                };
                proven.extend(files.into_iter().map(file));
                Ok(verdict)
            }
            CheckKind::Command { run, timeout_seconds } => command::run(self, check, run, *timeout_seconds),
            CheckKind::Git { clean } => git::run(self, *clean),
            CheckKind::Items => items::run(self),
            CheckKind::Approval { .. } => Ok(approval::run(self, &check.id)),
        }
    }

    /// Expressions do not see missing or mistyped evidence, because it was already reported.
    fn scope(&self, evidence: &Map<String, Value>, checks: &[CheckResult]) -> expression::Scope {
        let failed = checks.iter().filter(|check| check.kind == EVIDENCE && check.failed());
        let told = failed.map(|check| (check.id.clone(), check.help.clone().unwrap_or_default())).collect();
        expression::Scope::new(evidence, told, self.session, items::seen(self), &self.workspace)
    }
}

/// If the session's own tool has words of its own for evidence of the wrong type, they replace the check's help.
fn say_as_its_tool(
    session: &Session,
    phase: &PhaseDefinition,
    evidence: &Map<String, Value>,
    checks: &mut [CheckResult],
) {
    let voice = layout::by_name(&session.layout).and_then(|layout| layout.capabilities().tool_voice);
    let Some(voice) = voice else { return };
    for check in checks.iter_mut().filter(|check| check.failed()) {
        let field = phase.evidence.iter().find(|field| field.name == check.id);
        let (Some(field), Some(given)) = (field, evidence.get(&check.id)) else { continue };
        let why = Refused::Mistyped { field: &field.name, needed: field.value_type, given };
        if let Some(words) = voice.say(&Saying::Refused(&why)) {
            check.help = Some(words);
        }
    }
}

fn is_result_of(known: &CheckResult, check: &CheckDefinition) -> bool {
    known.id == check.id.as_str() && known.kind == check.kind.name()
}

fn result(check: &CheckDefinition, verdict: Verdict) -> CheckResult {
    let failed = verdict.outcome == CheckOutcome::Failed;
    CheckResult {
        id: check.id.to_string(),
        kind: check.kind.name().to_owned(),
        outcome: verdict.outcome,
        found: verdict.found,
        needed: verdict.needed,
        help: help_of(check, verdict.help.filter(|_| failed), verdict.help_first),
    }
}

fn help_of(check: &CheckDefinition, found: Option<String>, found_first: bool) -> Option<String> {
    if found_first { found.or_else(|| check.help.clone()) } else { check.help.clone().or(found) }
}

/// True if the phase is done because another tool's files call it done.
fn is_told_by_files(session: &Session, phase: &Phase) -> bool {
    // Version 0.1 recorded the tool of a layout as a person with the tool's name.
    let by_layout = |actor: &Actor| match actor {
        Actor::Tool { .. } => true,
        Actor::Person { name, .. } => *name == session.layout,
        Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
    };
    let shown = phase.last_attempt().is_some_and(|attempt| by_layout(&attempt.actor));
    phase.is_done() && session.layout != NATIVE && (phase.claimed || shown)
}
