//! Checks evidence in a file against the gate of its phase: the types of values, and rules about values. Runs
//! no command and asks nobody.

use crate::cel_value::to_cel;
use cel::{Context, Program, Value as CelValue};
use model::gate::{AttemptReport, CheckOutcome, CheckResult, read_evidence};
use model::typed_value::{Given, quoted};
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition};
use serde_json::{Map, Value};

/// Adds the results of the gate's checks to a report that has none. The results are for the evidence in the
/// report.
pub(super) fn fill_in(report: &mut AttemptReport, defined: Option<&PhaseDefinition>) {
    let Some(defined) = defined.filter(|_| report.checks.is_empty() && !report.evidence.is_empty()) else {
        return;
    };
    let given =
        report.evidence.iter().map(|(name, value)| (name.clone(), Given::Json(value.clone()))).collect();
    let (evidence, mut checks) = read_evidence(&defined.evidence, &given, &|_, value| value.clone());
    let mut usable = evidence;
    for wrong in checks.iter().filter(|check| check.failed()) {
        usable.remove(&wrong.id);
    }
    checks.extend(defined.checks.iter().filter_map(|check| judged(check, &usable)));
    report.checks = checks;
}

fn judged(check: &CheckDefinition, evidence: &Map<String, Value>) -> Option<CheckResult> {
    let CheckKind::Expr { expr, written } = &check.kind else { return None };
    let outcome = if holds(expr, evidence) { CheckOutcome::Passed } else { CheckOutcome::Failed };
    Some(CheckResult {
        id: check.id.to_string(),
        kind: check.kind.name().to_owned(),
        outcome,
        found: found(expr, evidence),
        needed: Some(written.as_ref().unwrap_or(expr).clone()),
        help: check.help.clone().filter(|_| outcome == CheckOutcome::Failed),
    })
}

/// True if the rule holds for the evidence. False if it does not, or if it cannot be evaluated. Rules of this
/// format have no loops, so no time limit is needed.
fn holds(expr: &str, evidence: &Map<String, Value>) -> bool {
    let Ok(program) = Program::compile(expr) else { return false };
    let mut context = Context::default();
    context.add_variable_from_value("evidence", to_cel(&Value::Object(evidence.clone())));
    matches!(program.execute(&context), Ok(CelValue::Bool(true)))
}

/// The parts of the evidence that a rule names, with their values.
fn found(expr: &str, evidence: &Map<String, Value>) -> Option<String> {
    let is_named =
        |name: &str| expr.contains(&format!("evidence.{name}")) || expr.contains(&format!("\"{name}\""));
    let named = evidence.iter().filter(|(name, _)| is_named(name));
    let named: Vec<String> = named.map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    (!named.is_empty()).then(|| named.join(", "))
}
