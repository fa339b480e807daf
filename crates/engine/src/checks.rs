//! Runs a gate: evidence against its types, expressions over it. Compiles expressions only here and in `workflow check`.

mod expression;

use crate::error::FileMistake;
use layouts::definition::Lines;
use model::gate::{AttemptReport, CheckOutcome, CheckResult, Given, read_evidence};
use model::session::Session;
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition, Workflow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a caller hands in with an attempt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Submission {
    pub evidence: BTreeMap<String, Given>,
    pub outputs: Map<String, Value>,
}

/// Runs every check of a phase and reports what each said.
pub(crate) fn run(phase: &PhaseDefinition, session: &Session, submission: &Submission) -> AttemptReport {
    let (evidence, mut checks) = read_evidence(&phase.evidence, &submission.evidence);
    if !phase.checks.is_empty() {
        let scope = expression::Scope::new(&evidence, session);
        checks.extend(phase.checks.iter().map(|check| run_one(check, &scope)));
    }
    AttemptReport {
        evidence,
        outputs: submission.outputs.clone(),
        checks,
        lenient: !phase.strict,
        overridden: None,
    }
}

/// What is wrong with a definition's expressions, and what it uses that this version cannot run.
pub(crate) fn mistakes(workflow: &Workflow, lines: &Lines, origin: &str) -> Vec<FileMistake> {
    let mut mistakes = Vec::new();
    for phase in &workflow.phases {
        if let Some(when) = &phase.when {
            let line = lines.of_when(&phase.id).map_or(1, |place| place.line);
            mistakes.push(unsupported(origin, line, "`when`"));
            let _ = when;
        }
        for check in &phase.checks {
            let line = lines.of_check(&phase.id, &check.id).map_or(1, |place| place.line);
            match &check.kind {
                CheckKind::Expr { expr } => {
                    if let Err(message) = expression::compile(expr) {
                        let message = format!("check '{}' does not compile: {message}", check.id);
                        mistakes.push(FileMistake { path: origin.to_owned(), line, message, hint: None });
                    }
                }
                CheckKind::Artifact { .. }
                | CheckKind::Command { .. }
                | CheckKind::Git { .. }
                | CheckKind::Items
                | CheckKind::Approval { .. } => {
                    let what = format!("check '{}' of kind `{}`", check.id, check.kind.name());
                    mistakes.push(unsupported(origin, line, &what));
                }
            }
        }
    }
    mistakes
}

fn run_one(check: &CheckDefinition, scope: &expression::Scope) -> CheckResult {
    let (outcome, found, needed) = match &check.kind {
        CheckKind::Expr { expr } => {
            let (outcome, found) = scope.evaluate(expr);
            (outcome, found, Some(expr.clone()))
        }
        CheckKind::Artifact { .. }
        | CheckKind::Command { .. }
        | CheckKind::Git { .. }
        | CheckKind::Items
        | CheckKind::Approval { .. } => {
            let found = format!("checks of kind `{}` are not supported by this version", check.kind.name());
            (CheckOutcome::Failed, Some(found), None)
        }
    };
    CheckResult {
        id: check.id.to_string(),
        kind: check.kind.name().to_owned(),
        outcome,
        found,
        needed,
        help: check.help.clone(),
    }
}

fn unsupported(origin: &str, line: usize, what: &str) -> FileMistake {
    FileMistake {
        path: origin.to_owned(),
        line,
        message: format!("{what} is not supported by this version"),
        hint: Some("use evidence with types and `expr` checks".to_owned()),
    }
}
