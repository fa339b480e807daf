//! Compares the results of a gate with its definition: results may be missing, not declared, or failed without stopping
//! the gate.

use super::problem::Problem;
use super::replay::End;
use model::gate::{AttemptReport, EVIDENCE};
use model::workflow::{CheckDefinition, CheckKind, EvidenceDefinition, PhaseDefinition};

/// Returns problems with results for checks that are not in the definition, and with checks that have no result.
pub(super) fn result_problems(report: &AttemptReport, defined: &PhaseDefinition) -> Vec<Problem> {
    let checks = defined.checks.iter().map(|check| (check.id.as_str(), check.kind.name()));
    let of_field = |field: &EvidenceDefinition| field.required;
    let required = defined.evidence.iter().filter(|field| of_field(field));
    let required = required.map(|field| (field.name.as_str(), EVIDENCE));
    let optional = defined.evidence.iter().filter(|field| !of_field(field));
    let optional = optional.map(|field| (field.name.as_str(), EVIDENCE));
    let asked: Vec<(&str, &str)> = checks.chain(required).collect();
    let declared: Vec<(&str, &str)> = asked.iter().copied().chain(optional).collect();
    let found: Vec<(&str, &str)> =
        report.checks.iter().map(|check| (check.id.as_str(), check.kind.as_str())).collect();
    let unchecked = asked.iter().filter(|wanted| !found.contains(wanted));
    let unchecked = unchecked.map(|(id, _)| Problem::Unchecked { check: (*id).to_owned() });
    let undeclared = found.iter().filter(|known| !declared.contains(known));
    let undeclared = undeclared.map(|(id, _)| Problem::Undeclared { check: (*id).to_owned() });
    let let_pass = report.checks.iter().filter(|check| check.failed());
    let let_pass = let_pass.filter(|_| defined.strict && report.overridden.is_none());
    let let_pass = let_pass.map(|check| Problem::LetPass { check: check.id.clone() });
    let overridden = (defined.no_override && report.overridden.is_some()).then_some(Problem::NoOverride);
    unchecked.chain(undeclared).chain(let_pass).chain(overridden).collect()
}

/// Returns a problem if the check for finished items passed while items were open.
pub(super) fn open_items(report: &AttemptReport, end: &End) -> Option<Problem> {
    let passed = report.checks.iter().find(|check| check.kind == CheckKind::Items.name() && !check.failed());
    let check = passed.filter(|_| end.open_items > 0)?.id.clone();
    Some(Problem::OpenItems { check })
}

/// True if two definitions of a phase have the same gate.
pub(super) fn has_same_gate(one: &PhaseDefinition, other: &PhaseDefinition) -> bool {
    let gate = |phase: &PhaseDefinition| {
        let asked = phase.evidence.iter().map(|field| EvidenceDefinition { describe: None, ..field.clone() });
        let checks = phase.checks.iter().map(|check| CheckDefinition { help: None, ..check.clone() });
        let (asked, checks): (Vec<_>, Vec<_>) = (asked.collect(), checks.collect());
        (asked, checks, phase.strict, phase.no_override, phase.when.clone())
    };
    gate(one) == gate(other)
}
