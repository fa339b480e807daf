//! The arguments of a model's call. Read leniently: an object or a list may be a string of JSON, and a number may be a
//! string. Makes no decisions about sessions.

use crate::error::Mishap;
use engine::words::one_line;
use model::nearest_name::nearest;
use model::typed_value::Given;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The maximum length of a name. A name is compared with all known names, which would take long for a long name.
const LONGEST_NAME: usize = 300;

#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks the names of the arguments. Their values are read when they are needed.
    pub(crate) fn read(given: Map<String, Value>, known: &[&str]) -> Result<Self, Mishap> {
        for name in given.keys() {
            if name.len() <= LONGEST_NAME && known.contains(&name.as_str()) {
                continue;
            }
            if name.starts_with("override") || name.starts_with("approve") {
                return Err(Mishap::needs_a_person(
                    "passing a gate without proof",
                    "leftoff advance --override REASON, or leftoff approve CHECK",
                ));
            }
            let short = one_line(name, 60);
            let hint = match nearest(&short, known.iter().copied()) {
                Some(name) => format!("did you mean '{name}'?"),
                None => format!("use one of {}", known.join(", ")),
            };
            let mishap = Mishap::wrong_usage(format!("unknown argument '{short}'"), hint);
            return Err(mishap.with_valid(known.iter().copied()));
        }
        Ok(Self(given))
    }

    /// The argument as a string. A number or boolean becomes the string that it is written as.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Mishap> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// The argument as a short name: of a phase, a session or an item.
    pub(crate) fn name(&self, name: &str) -> Result<Option<String>, Mishap> {
        let text = self.text(name)?.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        match text {
            Some(text) if text.len() > LONGEST_NAME => Err(Mishap {
                kind: "too_long".to_owned(),
                message: format!("'{name}' is too long: {} bytes; the maximum is {LONGEST_NAME}", text.len()),
                hint: Some(format!("give the {name} as `status` shows it").into()),
                valid: Vec::new(),
            }),
            other => Ok(other),
        }
    }

    pub(crate) fn required_text(&self, name: &str, example: &str) -> Result<String, Mishap> {
        let text = self.text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| missing(name, example))
    }

    pub(crate) fn required_name(&self, name: &str, example: &str) -> Result<String, Mishap> {
        self.name(name)?.ok_or_else(|| missing(name, example))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Mishap> {
        match self.given(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Mishap> {
        let number = |value: &Value| match value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match self.given(name) {
            None => Ok(None),
            Some(value) => number(value).map(Some).ok_or_else(|| wrong(name, "a whole number", value)),
        }
    }

    /// The argument as named values. It is an object, or a string: an object as JSON, or a single `name=value`.
    pub(crate) fn values(&self, name: &str) -> Result<BTreeMap<String, Given>, Mishap> {
        let Some(value) = self.given(name) else { return Ok(BTreeMap::new()) };
        let parsed = parsed(value);
        if let Some((name, value)) =
            value.as_str().filter(|_| parsed.is_none()).and_then(|text| text.split_once('='))
        {
            return Ok(BTreeMap::from([(name.trim().to_owned(), Given::Text(value.trim().to_owned()))]));
        }
        let Value::Object(fields) = parsed.as_ref().unwrap_or(value) else {
            return Err(wrong(name, "an object such as {\"tests_passed\": 42}", value));
        };
        Ok(fields.iter().map(|(name, value)| (name.clone(), given(value))).collect())
    }

    /// The argument as a list of strings. It is a list, a string that contains a list as JSON, or a single string.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<String>, Mishap> {
        let Some(value) = self.given(name) else { return Ok(Vec::new()) };
        match parsed(value).as_ref().unwrap_or(value) {
            Value::Array(values) => values
                .iter()
                .map(|value| match value {
                    Value::String(text) => Ok(text.clone()),
                    Value::Number(number) => Ok(number.to_string()),
                    other => Err(wrong(name, "a list of strings", other)),
                })
                .collect(),
            Value::String(text) => Ok(vec![text.clone()]),
            other => Err(wrong(name, "a list of strings", other)),
        }
    }

    /// The argument as one of a few allowed words.
    pub(crate) fn choice(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>, Mishap> {
        let Some(text) = self.name(name)? else { return Ok(None) };
        let found = words.iter().find(|word| word.eq_ignore_ascii_case(&text));
        found.copied().map(Some).ok_or_else(|| {
            let hint = match nearest(&text, words.iter().copied()) {
                Some(word) => format!("did you mean '{word}'?"),
                None => format!("use one of {}", words.join(", ")),
            };
            let message = format!("'{name}' cannot be '{}'", one_line(&text, 60));
            Mishap::wrong_usage(message, hint).with_valid(words.iter().copied())
        })
    }

    pub(crate) fn required_choice(&self, name: &str, words: &[&'static str]) -> Result<&'static str, Mishap> {
        let missing = || {
            Mishap::wrong_usage(format!("'{name}' is missing"), format!("use one of {}", words.join(", ")))
        };
        self.choice(name, words)?.ok_or_else(|| missing().with_valid(words.iter().copied()))
    }

    /// The value of an argument. An argument that is null counts as missing.
    fn given(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

/// The value in the form that the engine takes. A string may stand for a number: the declared type decides.
fn given(value: &Value) -> Given {
    match value {
        Value::String(text) => Given::Text(text.clone()),
        other => Given::Json(other.clone()),
    }
}

/// The object or list that a string contains as JSON; `None` if the value is anything else.
fn parsed(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    let parsed: Value = serde_json::from_str(text).ok()?;
    (parsed.is_object() || parsed.is_array()).then_some(parsed)
}

fn wrong(name: &str, expected: &str, got: &Value) -> Mishap {
    let kind = match got {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let message = format!("'{name}' must be {expected}, got {kind}: {}", one_line(&got.to_string(), 80));
    Mishap { kind: "wrong_type".to_owned(), ..Mishap::wrong_usage(message, format!("give {expected}")) }
}

fn missing(name: &str, example: &str) -> Mishap {
    Mishap::wrong_usage(format!("'{name}' is missing"), format!("give '{name}', for example {example}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KNOWN: [&str; 4] = ["phase", "evidence", "artifacts", "dry_run"];

    fn read(value: Value) -> Result<Arguments, Mishap> {
        let Value::Object(fields) = value else { panic!("an object") };
        Arguments::read(fields, &KNOWN)
    }

    #[test]
    fn objects_and_lists_are_also_taken_as_text() {
        let plain = read(json!({"evidence": {"n": 4}, "artifacts": ["a"]})).expect("known");
        let text = read(json!({"evidence": "{\"n\": 4}", "artifacts": "[\"a\"]"})).expect("known");
        assert_eq!(plain.values("evidence"), text.values("evidence"));
        assert_eq!(plain.list("artifacts"), text.list("artifacts"));
        assert_eq!(
            read(json!({"artifacts": "a.md"})).expect("known").list("artifacts"),
            Ok(vec!["a.md".into()])
        );
    }

    #[test]
    fn a_phase_is_a_number_or_a_text() {
        for (given, expected) in [(json!(2), "2"), (json!("2"), "2"), (json!(" build "), "build")] {
            let arguments = read(json!({ "phase": given })).expect("known");
            assert_eq!(arguments.name("phase"), Ok(Some(expected.to_owned())));
        }
        assert_eq!(read(json!({"phase": null})).expect("known").name("phase"), Ok(None));
    }

    #[test]
    fn what_is_of_a_wrong_type_says_what_is_right() {
        let arguments = read(json!({"phase": ["a"], "evidence": [1], "dry_run": "maybe"})).expect("known");
        assert_eq!(arguments.name("phase").expect_err("wrong").kind, "wrong_type");
        assert!(arguments.values("evidence").expect_err("wrong").message.contains("must be an object"));
        assert!(arguments.flag("dry_run").expect_err("wrong").message.contains("true or false"));
    }

    #[test]
    fn names_are_checked_and_overrides_are_a_persons() {
        let unknown = read(json!({"evidences": {}})).expect_err("unknown");
        assert_eq!(unknown.hint, Some("did you mean 'evidence'?".into()));
        assert_eq!(unknown.valid, KNOWN);
        assert_eq!(read(json!({"override": "because"})).expect_err("refused").kind, "needs_a_person");
        assert_eq!(read(json!({"x".repeat(1 << 20): 1})).expect_err("unknown").kind, "wrong_usage");
    }

    #[test]
    fn a_huge_name_is_refused_before_it_is_compared() {
        let arguments = read(json!({"phase": "p".repeat(1 << 20)})).expect("known");
        assert_eq!(arguments.name("phase").expect_err("too long").kind, "too_long");
    }
}
