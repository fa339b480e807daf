//! Reads declarations of values: the evidence of a phase, and the custom fields of a session.

use super::mistake::{Found, Report, Reported};
use super::section::Section;
use super::value;
use model::workflow::{EvidenceDefinition, FieldDefinition, ValueType};
use serde_json::Value;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::DeValue;

pub(super) const EVIDENCE_KEYS: &[&str] = &["type", "required", "describe"];
pub(super) const FIELD_KEYS: &[&str] = &["type", "one_of", "default", "describe"];

pub(super) fn evidence(report: &mut Report, phase: &Section) -> Found<Vec<EvidenceDefinition>> {
    let what = "an entry of evidence";
    let entries = phase.named_tables(report, "evidence", what, evidence_entry)?;
    let named = entries.into_iter().map(|(name, (value_type, required, describe))| EvidenceDefinition {
        name: name.into(),
        value_type,
        required,
        describe,
        as_written: false,
    });
    Ok(named.collect())
}

pub(super) fn fields(report: &mut Report, root: &Section) -> Found<BTreeMap<String, FieldDefinition>> {
    let fields = root.named_tables(report, "fields", "a field", field)?;
    Ok(fields.into_iter().map(|(name, field)| (name.into(), field)).collect())
}

/// The type of a piece of evidence, true if the evidence is required, and its description.
fn evidence_entry(report: &mut Report, section: &Section) -> Found<(ValueType, bool, Option<String>)> {
    section.refuse_unknown_keys(report, EVIDENCE_KEYS);
    let value_type = value_type(report, section);
    let required = section.boolean(report, "required");
    let describe = section.owned_prose(report, "describe");
    Ok((value_type?, required?.unwrap_or(false), describe?))
}

fn field(report: &mut Report, section: &Section) -> Found<FieldDefinition> {
    section.refuse_unknown_keys(report, FIELD_KEYS);
    let value_type = value_type(report, section);
    let describe = section.owned_prose(report, "describe");
    // Values cannot be checked if their type is unknown.
    let value_type = value_type?;
    let one_of = one_of(report, section, value_type);
    let default = default(report, section, value_type, one_of.as_deref().unwrap_or(&[]));
    Ok(FieldDefinition { value_type, one_of: one_of?, default: default?, describe: describe? })
}

fn value_type(report: &mut Report, section: &Section) -> Found<ValueType> {
    let choices = ValueType::ALL.map(|value_type| (value_type.name(), value_type));
    let found = section.choice(report, "type", &choices)?;
    found.ok_or_else(|| section.missing(report, "type"))
}

fn one_of(report: &mut Report, section: &Section, value_type: ValueType) -> Found<Vec<Value>> {
    let Some(array) = section.array(report, "one_of")? else {
        return Ok(Vec::new());
    };
    if array.is_empty() {
        let offset = section.value("one_of").map_or(section.offset, |value| value.span().start);
        return Err(report.add(offset, "'one_of' is empty, so no value could be set"));
    }
    let mut allowed: Vec<Value> = Vec::new();
    let mut reported: Option<Reported> = None;
    for value in array {
        match typed(report, "a value of 'one_of'", value, value_type) {
            Ok(json) if allowed.iter().any(|earlier| value::same(earlier, &json)) => {
                let message = format!("{json} is listed twice in 'one_of'");
                reported = Some(report.add(value.span().start, message));
            }
            Ok(json) => allowed.push(json),
            Err(already_reported) => reported = Some(already_reported),
        }
    }
    reported.map_or(Ok(allowed), Err)
}

fn default(
    report: &mut Report,
    section: &Section,
    value_type: ValueType,
    one_of: &[Value],
) -> Found<Option<Value>> {
    let Some(value) = section.value("default") else {
        return Ok(None);
    };
    let json = typed(report, "'default'", value, value_type)?;
    if !one_of.is_empty() && !one_of.iter().any(|allowed| value::same(allowed, &json)) {
        let listed: Vec<String> = one_of.iter().map(Value::to_string).collect();
        let message = format!("'default' is {json}, which 'one_of' does not list");
        let hint = format!("'one_of' allows: {}", listed.join(", "));
        return Err(report.add_with_hint(value.span().start, message, hint));
    }
    Ok(Some(json))
}

fn typed(report: &mut Report, what: &str, value: &Spanned<DeValue>, value_type: ValueType) -> Found<Value> {
    let json = value::json(report, value)?;
    if value::fits(value_type, &json) {
        return Ok(json);
    }
    let message =
        format!("{what} must be of type '{}', not {}", value_type.name(), value::kind(value.get_ref()));
    Err(report.add(value.span().start, message))
}
