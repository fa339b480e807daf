//! Checks custom fields in a command against the workflow's declarations.

use crate::error::{Error, Result};
use crate::execute::placeholder::refuse_placeholders;
use crate::redact::seen;
use model::hint::Hint;
use model::typed_value::{Given, coerce, describe, guess, shown};
use model::words;
use model::workflow::Workflow;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the given custom fields, checked against the workflow's declarations, and the defaults of the other declared
/// fields.
pub(super) fn read_fields(
    workflow: &Workflow,
    given: &BTreeMap<String, Given>,
) -> Result<BTreeMap<String, Value>> {
    let mut fields: BTreeMap<String, Value> = workflow
        .fields
        .iter()
        .filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)))
        .collect();
    fields.extend(check_fields(workflow, given)?);
    Ok(fields)
}

/// Returns the given custom fields, checked against the workflow's declarations.
pub(super) fn check_fields(
    workflow: &Workflow,
    given: &BTreeMap<String, Given>,
) -> Result<BTreeMap<String, Value>> {
    refuse_placeholders(given)?;
    let checked = |(name, value)| Ok((String::clone(name), check_field(workflow, name, value)?));
    given.iter().map(checked).collect()
}

fn check_field(workflow: &Workflow, name: &str, value: &Given) -> Result<Value> {
    // A null value clears a field of any type.
    if guess(value).is_null() {
        return Ok(Value::Null);
    }
    let Some(field) = workflow.fields.get(name) else { return Ok(guess(value)) };
    let typed = coerce(field.value_type, value).map_err(|value| {
        let instead = describe(&value, &seen(name, &value));
        wrong_field(name, &format!("must be {}, got: {instead}", field.value_type.name()))
    })?;
    if !field.one_of.is_empty() && !field.one_of.contains(&typed) {
        let allowed: Vec<String> = field.one_of.iter().map(shown).collect();
        return Err(wrong_field(name, &format!("must be one of {}", allowed.join(", "))));
    }
    Ok(typed)
}

fn wrong_field(name: &str, message: &str) -> Error {
    Error::WrongUsage {
        message: format!("field '{name}' {message}"),
        hint: Hint::new("see what the workflow declares: ").run(words!["workflow", "show"]),
    }
}
