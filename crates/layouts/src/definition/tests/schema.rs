//! Compares the schema with the reader: both know the same keys and words, and accept the same definitions.

use super::super::{INDEXINGS, KEYS, ON_COMPLETES, check, declared, phase, requirement, schema, template};
use super::readings::WHOLE;
use crate::builtin;
use model::id::Name;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn document(text: &str) -> Value {
    toml::from_str(text).unwrap()
}

#[test]
fn whatever_reads_without_mistakes_fits_the_schema() {
    let template = template(&Name::parse("w").unwrap());
    let texts = builtin::all().iter().map(|builtin| builtin.text);
    for text in texts.chain([WHOLE, template.as_str()]) {
        assert_eq!(misfit(&schema(), &schema(), &document(text)), None, "{text}");
    }
}

#[test]
fn what_is_wrong_in_shape_does_not_fit() {
    let right = json!({ "name": "w", "phase": [{ "id": "a", "check": [{ "id": "c", "kind": "expr", "expr": "true" }] }] });
    assert_eq!(misfit(&schema(), &schema(), &right), None);
    let wrongs = [
        ("/name", json!(1)),
        ("/phase", json!([])),
        ("/phase/0/id", json!(true)),
        ("/phase/0", json!({ "id": "a", "titel": "A" })),
        ("/phase/0", json!({ "title": "A" })),
        ("/phase/0/check/0", json!({ "id": "c", "kind": "exprr", "expr": "true" })),
        ("/phase/0/check/0", json!({ "id": "c", "kind": "expr", "expr": "true", "path": "x" })),
        ("/phase/0/check/0", json!({ "id": "c", "kind": "expr" })),
        ("", json!({ "name": "w", "phase": [{ "id": "a" }], "indexing": "two" })),
        ("", json!({ "name": "w", "phase": [{ "id": "a" }], "fields": { "x": { "type": "text" } } })),
        (
            "",
            json!({ "name": "w", "phase": [{ "id": "a" }], "requirement": { "x": { "scope": "session" } } }),
        ),
    ];
    for (place, wrong) in wrongs {
        let mut document = right.clone();
        *document.pointer_mut(place).unwrap() = wrong;
        assert_ne!(misfit(&schema(), &schema(), &document), None, "{document}");
    }
}

#[test]
fn the_schema_has_the_keys_and_words_of_the_reader() {
    let schema = schema();
    let keys = |place: &str| -> BTreeSet<String> {
        let properties = schema.pointer(&format!("{place}/properties")).unwrap();
        properties.as_object().unwrap().keys().cloned().collect()
    };
    let of = |keys: &[&str]| -> BTreeSet<String> { keys.iter().map(|key| (*key).to_owned()).collect() };
    assert_eq!(keys(""), of(KEYS));
    assert_eq!(keys("/$defs/phase"), of(phase::KEYS));
    assert_eq!(keys("/$defs/evidence"), of(declared::EVIDENCE_KEYS));
    assert_eq!(keys("/$defs/field"), of(declared::FIELD_KEYS));
    assert_eq!(keys("/$defs/requirement"), of(requirement::KEYS));
    for (position, kind) in check::KINDS.iter().enumerate() {
        let place = format!("/$defs/check/oneOf/{position}");
        let expected: Vec<&str> = check::COMMON_KEYS.iter().chain(kind.keys).copied().collect();
        assert_eq!(keys(&place), of(&expected));
        assert_eq!(schema.pointer(&format!("{place}/properties/kind/const")), Some(&json!(kind.name)));
    }
    let words = |place: &str| schema.pointer(place).unwrap().clone();
    assert_eq!(words("/properties/indexing/enum"), json!(names(INDEXINGS)));
    assert_eq!(words("/properties/on_complete/enum"), json!(names(ON_COMPLETES)));
    assert_eq!(words("/$defs/requirement/properties/scope/enum"), json!(names(requirement::SCOPES)));
    let kinds: Vec<&str> = check::KINDS.iter().map(|kind| kind.name).collect();
    assert_eq!(kinds, model::workflow::CheckKind::NAMES);
}

fn names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

/// The reason why a value does not match a schema. Implements only the part of JSON Schema that the schema of
/// definitions uses. Patterns are not checked here, because the tests of the reader check them.
fn misfit(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    schema
        .as_object()
        .unwrap()
        .iter()
        .find_map(|(keyword, rule)| misfit_of(root, schema, keyword, rule, value))
}

fn misfit_of(root: &Value, schema: &Value, keyword: &str, rule: &Value, value: &Value) -> Option<String> {
    let fits = |fits: bool| (!fits).then(|| format!("{value} against {keyword} {rule}"));
    match keyword {
        "$ref" => {
            let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
            misfit(root, root.pointer(pointer).unwrap(), value)
        }
        "type" => fits(match rule {
            Value::Array(types) => types.iter().any(|name| is_of_type(name, value)),
            name => is_of_type(name, value),
        }),
        "const" => fits(rule == value),
        "enum" => fits(rule.as_array().unwrap().contains(value)),
        "oneOf" => {
            let branches = rule.as_array().unwrap().iter();
            fits(branches.filter(|branch| misfit(root, branch, value).is_none()).count() == 1)
        }
        "required" => {
            fits(rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()))
        }
        "properties" => {
            rule.as_object().unwrap().iter().find_map(|(key, schema)| misfit(root, schema, value.get(key)?))
        }
        "additionalProperties" => value.as_object()?.iter().find_map(|(key, value)| {
            let is_named = schema.get("properties").is_some_and(|properties| properties.get(key).is_some());
            match rule {
                _ if is_named => None,
                Value::Bool(false) => Some(format!("unknown key {key}")),
                schema => misfit(root, schema, value),
            }
        }),
        "items" => value.as_array()?.iter().find_map(|value| misfit(root, rule, value)),
        "minItems" => fits(value.as_array()?.len() as u64 >= rule.as_u64().unwrap()),
        "minLength" => fits(value.as_str()?.len() as u64 >= rule.as_u64().unwrap()),
        "$schema" | "$defs" | "title" | "description" | "default" | "examples" | "pattern"
        | "propertyNames" | "uniqueItems" => None,
        unknown => panic!("the test does not know the keyword {unknown}"),
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("the test does not know the type {unknown}"),
    }
}
