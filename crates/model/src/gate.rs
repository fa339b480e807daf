//! Parses evidence and computes the verdict of a gate. Pure: the engine runs the checks that need the disk or a
//! process.

use crate::actor::{Actor, Origin};
use crate::nearest_name::nearest;
use crate::typed_value::{Given, coerce, describe, guess, shown};
use crate::workflow::{EvidenceDefinition, ValueType};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// The kind of check that requires a declared evidence field to be present and to have its type.
pub const EVIDENCE: &str = "evidence";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Passed,
    Failed,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    pub id: String,
    pub kind: String,
    pub outcome: CheckOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl CheckResult {
    pub fn failed(&self) -> bool {
        self.outcome == CheckOutcome::Failed
    }
}

/// An attempt at a phase's gate, as the engine reports it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AttemptReport {
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub evidence: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
    /// True if failed checks only warn and do not block the phase.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lenient: bool,
    /// A person's reason for overriding failed checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
    /// True if a passed check requires finished items, but only a file says that one of the items is finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claimed_items: bool,
    /// Present if the phase was claimed because a fork that was merged calls it done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
    /// The input of the gate, stored in events only: a session does not contain it. Missing in older events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

impl AttemptReport {
    /// True if only approvals are missing and everything else passed.
    pub fn lacks_only_approval(&self) -> bool {
        let mut failed = self.checks.iter().filter(|check| check.failed()).peekable();
        failed.peek().is_some() && failed.all(|check| check.kind == "approval")
    }
}

/// Hashes of the input of a gate: SHA-256 in hexadecimal. `verify` compares them with the history, and so detects a
/// definition, a snapshot or an item that was changed only while the gate ran.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Judged {
    /// Hash of the stored definition.
    pub definition: String,
    /// Hash of the session's `basis` before this event.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Hash of the recorded files that an approval of the phase covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    /// Hash of the phase's items; missing if no check evaluates each item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
}

impl AttemptReport {
    pub fn passes(&self) -> bool {
        self.lenient || self.overridden.is_some() || !self.checks.iter().any(CheckResult::failed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    Passed,
    Failed,
}

/// An attempt at a phase's gate, as stored in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    pub at: Timestamp,
    pub actor: Actor,
    pub outcome: AttemptOutcome,
    #[serde(flatten)]
    pub report: AttemptReport,
}

/// Returns the given values as typed evidence, and a check result for every declared field. `seen` returns the
/// printable form of a value, because check results are stored and printed and must not contain secrets.
pub fn read_evidence(
    declared: &[EvidenceDefinition],
    given: &BTreeMap<String, Given>,
    seen: &dyn Fn(&str, &Value) -> Value,
) -> (Map<String, Value>, Vec<CheckResult>) {
    let mut evidence = Map::new();
    let mut checks = Vec::new();
    for field in declared {
        match given.get(&field.name) {
            Some(value) => {
                let (kept, check) = read_declared(field, value, seen);
                evidence.insert(field.name.clone(), kept);
                checks.push(check);
            }
            None if field.required => checks.push(missing(field, mistyped(field, declared, given))),
            None => {}
        }
    }
    for (name, value) in given {
        if !declared.iter().any(|field| field.name == *name) {
            evidence.insert(name.clone(), guess(value));
        }
    }
    (evidence, checks)
}

fn read_declared(
    field: &EvidenceDefinition,
    given: &Given,
    seen: &dyn Fn(&str, &Value) -> Value,
) -> (Value, CheckResult) {
    let base = CheckResult {
        id: field.name.clone(),
        kind: EVIDENCE.to_owned(),
        outcome: CheckOutcome::Passed,
        found: None,
        needed: Some(field.value_type.name().to_owned()),
        help: None,
    };
    match typed(field, given) {
        Ok(value) => {
            let found = Some(shown(&seen(&field.name, &value)));
            (value, CheckResult { found, ..base })
        }
        Err(value) => {
            let instead = describe(&value, &seen(&field.name, &value));
            let help = format!("Field '{}' must be {}, got: {instead}", field.name, field.value_type.name());
            let check =
                CheckResult { outcome: CheckOutcome::Failed, found: Some(instead), help: Some(help), ..base };
            (value, check)
        }
    }
}

fn typed(field: &EvidenceDefinition, given: &Given) -> Result<Value, Value> {
    let is_fraction = |value: &Value| value.as_number().is_some_and(Number::is_f64);
    match guess(given) {
        value if field.as_written && field.value_type == ValueType::Integer && is_fraction(&value) => {
            Err(value)
        }
        _ => coerce(field.value_type, given),
    }
}

/// Returns the name that the caller probably mistyped for this field: an undeclared name that is similar.
fn mistyped<'a>(
    field: &EvidenceDefinition,
    declared: &[EvidenceDefinition],
    given: &'a BTreeMap<String, Given>,
) -> Option<&'a str> {
    let unknown = given.keys().filter(|name| declared.iter().all(|field| field.name != **name));
    nearest(&field.name, unknown.map(String::as_str))
}

/// Given names that the phase does not declare, each with the declared name that may be meant. Empty if the phase
/// declares no evidence at all, because then any may be given.
pub fn undeclared<'a>(
    declared: &'a [EvidenceDefinition],
    given: &'a BTreeMap<String, Given>,
) -> Vec<(&'a str, Option<&'a str>)> {
    if declared.is_empty() {
        return Vec::new();
    }
    let names = || declared.iter().map(|field| field.name.as_str());
    let unknown = given.keys().filter(|name| names().all(|known| known != name.as_str()));
    unknown
        .map(|name| (name.as_str(), nearest(name, names().filter(|known| !given.contains_key(*known)))))
        .collect()
}

fn missing(field: &EvidenceDefinition, mistyped: Option<&str>) -> CheckResult {
    let described = field.describe.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
    let instead = mistyped.map(|name| format!("; you gave '{name}': did you mean '{}'?", field.name));
    CheckResult {
        id: field.name.clone(),
        kind: EVIDENCE.to_owned(),
        outcome: CheckOutcome::Failed,
        found: None,
        needed: Some(field.value_type.name().to_owned()),
        help: Some(format!(
            "Field '{}' is required but missing{described}{}",
            field.name,
            instead.unwrap_or_default()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(name: &str, value_type: ValueType, required: bool) -> EvidenceDefinition {
        EvidenceDefinition { name: name.to_owned(), value_type, required, describe: None, as_written: false }
    }

    #[test]
    fn an_integer_that_must_be_written_as_one_is_none_with_a_fraction() {
        let passes = |as_written: bool, text: &str| {
            let declared = [EvidenceDefinition { as_written, ..field("n", ValueType::Integer, true) }];
            [Given::Text(text.to_owned()), Given::Json(serde_json::from_str(text).expect("JSON"))].map(
                |given| {
                    let given = BTreeMap::from([("n".to_owned(), given)]);
                    !read_evidence(&declared, &given, &|_, value| value.clone()).1[0].failed()
                },
            )
        };
        for (text, written, meant) in [
            ("90", true, true),
            ("-1", true, true),
            ("90.0", false, true),
            ("9e1", false, true),
            ("90.5", false, false),
        ] {
            assert_eq!((passes(true, text), passes(false, text)), ([written; 2], [meant; 2]), "{text}");
        }
    }

    #[test]
    fn missing_and_mistyped_fields_are_failed_checks_that_name_them() {
        let declared = [field("passed", ValueType::Integer, true), field("total", ValueType::Integer, true)];
        let given = BTreeMap::from([("passed".to_owned(), Given::Text("many".into()))]);
        let (evidence, checks) = read_evidence(&declared, &given, &|_, value| value.clone());
        assert_eq!(evidence["passed"], json!("many"));
        let help: Vec<_> = checks.iter().filter_map(|check| check.help.as_deref()).collect();
        assert_eq!(
            help,
            ["Field 'passed' must be integer, got: string many", "Field 'total' is required but missing"]
        );
        assert!(checks.iter().all(CheckResult::failed));
    }

    #[test]
    fn undeclared_evidence_is_told_with_the_name_that_is_meant() {
        let declared =
            [field("clean", ValueType::Boolean, false), field("coverage", ValueType::Number, true)];
        let given = ["claen", "coverage", "foo"].map(|name| (name.to_owned(), Given::Text("1".into())));
        let given = BTreeMap::from(given);
        assert_eq!(undeclared(&declared, &given), [("claen", Some("clean")), ("foo", None)]);
        assert!(undeclared(&[], &given).is_empty(), "a phase without declarations takes any evidence");
    }

    #[test]
    fn evidence_that_nobody_declared_is_kept() {
        let given = BTreeMap::from([("commit".to_owned(), Given::Text("4e1f0aa".into()))]);
        let (evidence, checks) = read_evidence(&[], &given, &|_, value| value.clone());
        assert_eq!(evidence["commit"], json!("4e1f0aa"));
        assert!(checks.is_empty());
    }
}
