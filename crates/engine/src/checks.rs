//! Runs gates: evidence against its types, and what the engine finds out itself. Decides nothing; a check has no side effect but its command.

mod approval;
mod artifact;
mod command;
mod definition;
mod ending;
pub(crate) mod expression;
mod git;
mod items;
pub(crate) mod trust;

pub(crate) use definition::mistakes;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::Looked;
use crate::redact;
use crate::sync::NATIVE;
use jiff::Timestamp;
use layouts::capabilities::Saying;
use layouts::layout::{self, Refused};
use model::actor::Actor;
use model::artifact::ArtifactVersion;

use model::gate::{AttemptReport, CheckOutcome, CheckResult, EVIDENCE, Given, read_evidence};
use model::id::Name;
use model::phase::Phase;
use model::run::{Run, Skip};
use model::session::Session;
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition, Workflow};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use store::ItemRow;

/// What a caller hands in with an attempt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Submission {
    pub evidence: BTreeMap<String, Given>,
    pub outputs: Map<String, Value>,
}

/// A gate that was run, and the files that passed it.
#[derive(Default)]
pub(crate) struct GateRun {
    /// Without secrets: it is kept, and shown.
    pub(crate) report: AttemptReport,
    /// Which secrets were taken out.
    pub(crate) said: Vec<String>,
    pub(crate) proven: Vec<ArtifactVersion>,
}

/// What a check said.
struct Verdict {
    outcome: CheckOutcome,
    found: Option<String>,
    needed: Option<String>,
    /// How to mend it, where the definition does not say.
    help: Option<String>,
    /// It comes before whatever the definition says: what the definition has in mind has not even been looked at.
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

    fn mended_by(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn mended_first_by(mut self, help: impl Into<String>) -> Self {
        self.help_first = true;
        self.mended_by(help)
    }
}

/// All that checks of one gate look at.
struct Surroundings<'a> {
    engine: &'a Engine,
    session: &'a Session,
    phase: &'a PhaseDefinition,
    started_at: Option<Timestamp>,
    workspace: PathBuf,
    run_ordinal: u32,
    now: Timestamp,
    /// Items as they are about to be kept.
    changed: &'a [ItemRow],
}

impl Engine {
    /// Runs every check of a phase and reports what each said. Takes as long as its commands take.
    pub(crate) fn run_gate(
        &self,
        session: &Session,
        phase: &Name,
        submission: &Submission,
    ) -> Result<GateRun> {
        let definition = self.definition_of(session)?;
        let Some(defined) = definition.phase(phase.as_str()) else {
            return Ok(GateRun::default());
        };
        let (evidence, mut checks) = read_evidence(&defined.evidence, &submission.evidence, &redact::seen);
        say_as_its_tool(session, defined, &evidence, &mut checks);
        let mut proven = Vec::new();
        if !defined.checks.is_empty() {
            let surroundings = self.surroundings(session, defined);
            let scope = surroundings.scope(&evidence, &checks);
            for check in &defined.checks {
                let verdict = surroundings.run(check, &scope, &mut proven)?;
                checks.push(result(check, verdict));
            }
        }
        let mut report = AttemptReport {
            evidence,
            outputs: submission.outputs.clone(),
            checks,
            lenient: !defined.strict,
            overridden: None,
        };
        // The checks have seen what was given; nobody else does.
        let said = redact::attempt(&mut report);
        Ok(GateRun { report, said, proven })
    }

    /// A report for the session as it is now: what can be looked at at once is looked at again.
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
            let known = report
                .checks
                .iter_mut()
                .find(|known| known.id == check.id.as_str() && known.kind == check.kind.name());
            if let Some(known) = known.filter(|_| is_quick) {
                *known = result(check, surroundings.run(check, &scope, &mut Vec::new())?);
            }
        }
        Ok(report)
    }

    /// Expressions that failed at the current phase's last attempt, and hold by now: a field was set since.
    pub(crate) fn settled_since(
        &self,
        session: &Session,
        run: &Run,
        changed: &[ItemRow],
    ) -> BTreeSet<String> {
        let phase = run.current();
        let Some(attempt) = phase.last_attempt().filter(|_| phase.last_attempt_failed()) else {
            return BTreeSet::new();
        };
        let failed = |report: &AttemptReport| -> BTreeSet<String> {
            let expressions = report.checks.iter().filter(|check| check.kind == "expr" && check.failed());
            expressions.map(|check| check.id.clone()).collect()
        };
        let then = failed(&attempt.report);
        if then.is_empty() {
            return then;
        }
        let now = self.recheck(session, phase.id(), attempt.report.clone(), changed);
        now.map(|now| then.difference(&failed(&now)).cloned().collect()).unwrap_or_default()
    }

    /// The phases of a workflow whose `when` does not hold now.
    pub(crate) fn skips(&self, session: &Session, workflow: &Workflow) -> Vec<Skip> {
        let mut skips = Vec::new();
        for phase in &workflow.phases {
            let Some(when) = &phase.when else { continue };
            let scope = self.surroundings(session, phase).scope(&Map::new(), &[]);
            // Only a clear no skips a phase: what cannot be told is worked through.
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

    /// The definition that the current run was started with.
    pub(crate) fn definition_of(&self, session: &Session) -> Result<Rc<Workflow>> {
        let hash = session.run().map(|run| run.workflow.hash.clone()).unwrap_or_default();
        self.definition(&hash)?.ok_or_else(|| Error::BrokenLog {
            session: session.id.to_string(),
            why: format!("its workflow definition {hash} is missing"),
        })
    }

    /// Since when a file counts for a phase: since it began. Another tool writes its files in its own order, so where
    /// it moved the session on, or where the phase before writes other files, since that one began. Whoever went back
    /// wants what was written before done again.
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
        proven: &mut Vec<ArtifactVersion>,
    ) -> Result<Verdict> {
        match &check.kind {
            CheckKind::Expr { expr, written } => {
                let came_to = scope.evaluate(expr);
                let needed =
                    (!came_to.names_what_is_missing).then(|| written.as_ref().unwrap_or(expr).clone());
                let (outcome, found) = (came_to.outcome, came_to.found);
                // What it says when it does not hold is of no use where it could not be looked at.
                let help = came_to.absent.map(|name| scope.about_absent(&name, check.help.as_deref()));
                Ok(Verdict { outcome, found, needed, help_first: help.is_some(), help })
            }
            CheckKind::Artifact { path, matches, stale_ok, is_shared } => {
                let is_explained = check.help.is_some();
                let pattern = matches.as_deref().map(|text| artifact::Pattern { text, is_explained });
                let stale_ok = *stale_ok || (*is_shared && self.run_ordinal > 1);
                let (verdict, files) = artifact::run(self, path, pattern, stale_ok);
                proven.extend(files.into_iter().map(|(path, looked)| self.version(path, looked)));
                Ok(verdict)
            }
            CheckKind::Command { run, timeout_seconds } => command::run(self, check, run, *timeout_seconds),
            CheckKind::Git { clean } => git::run(self, *clean),
            CheckKind::Items => items::run(self),
            CheckKind::Approval { .. } => Ok(approval::run(self, &check.id)),
        }
    }

    /// What is missing, or of another type than declared, was told already; no expression can do anything with it.
    fn scope(&self, evidence: &Map<String, Value>, checks: &[CheckResult]) -> expression::Scope {
        let failed = checks.iter().filter(|check| check.kind == EVIDENCE && check.failed());
        let told = failed.map(|check| (check.id.clone(), check.help.clone().unwrap_or_default())).collect();
        expression::Scope::new(evidence, told, self.session, items::seen(self), &self.workspace)
    }

    /// Numbered when it is recorded.
    fn version(&self, path: String, looked: Looked) -> ArtifactVersion {
        ArtifactVersion {
            path,
            hash: looked.hash,
            size: looked.size,
            version: 0,
            phase: Some(self.phase.id.clone()),
        }
    }
}

/// What a field's type is refused with, where the session's own tool has words for it.
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

/// It is over because another tool's files say so.
fn is_told_by_files(session: &Session, phase: &Phase) -> bool {
    // Version 0.1 wrote a layout's tool down as a person of its name.
    let by_layout = |actor: &Actor| match actor {
        Actor::Tool { .. } => true,
        Actor::Person { name, .. } => *name == session.layout,
        Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
    };
    let shown = phase.last_attempt().is_some_and(|attempt| by_layout(&attempt.actor));
    phase.is_done() && session.layout != NATIVE && (phase.claimed || shown)
}
