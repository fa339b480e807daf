//! Reads one JSON object by its keys. A wrong value is reported and treated as missing.

use super::Say;
use crate::praxis::{MOST_PHASES, time_format};
use crate::problem::{Type, Unknown, What};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(super) struct Fields<'a> {
    pub(super) of: &'a Map<String, Value>,
    pub(super) zone: TimeZone,
    pub(super) now: Timestamp,
    pub(super) say: &'a mut Say<'a>,
}

impl Fields<'_> {
    fn odd<T>(&mut self, field: &str, what: What) -> Option<T> {
        (self.say)(field, what);
        None
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.of.get(key)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Null | Value::String(_) => None,
            other => self.odd(key, wrong(other, Type::Text)),
        }
    }

    pub(super) fn section(&mut self, key: &str) -> Map<String, Value> {
        match self.of.get(key) {
            Some(Value::Object(section)) => section.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(other) => self.odd(key, wrong(other, Type::Object)).unwrap_or_default(),
        }
    }

    pub(super) fn integer(&mut self, key: &str) -> Option<i64> {
        match self.of.get(key)? {
            Value::Null => None,
            value => match whole(value) {
                Some(number) => Some(number),
                None => self.odd(key, wrong(value, Type::WholeNumber)),
            },
        }
    }

    /// The phase numbers in a list.
    pub(super) fn phases(&mut self, key: &str) -> BTreeSet<u32> {
        let values = match self.of.get(key) {
            Some(Value::Array(values)) => values.as_slice(),
            None | Some(Value::Null) => &[],
            Some(other) => {
                let _: Option<()> = self.odd(key, wrong(other, Type::List));
                &[]
            }
        };
        let mut found = BTreeSet::new();
        for value in values {
            let number = whole(value).and_then(|number| u32::try_from(number).ok());
            match number.filter(|number| *number < MOST_PHASES) {
                Some(number) if found.insert(number) => {}
                Some(number) => (self.say)(key, What::Twice { number }),
                None => (self.say)(key, no_phase(short(value))),
            }
        }
        found
    }

    /// The values of an object with phase numbers as keys; each value is returned with its number.
    pub(super) fn by_phase(&mut self, key: &str) -> Vec<(u32, Value)> {
        let mut found = Vec::new();
        for (name, value) in self.section(key) {
            match name.parse::<u32>().ok().filter(|number| *number < MOST_PHASES) {
                Some(number) => found.push((number, value)),
                None => (self.say)(key, no_phase(format!("'{name}'"))),
            }
        }
        found
    }

    pub(super) fn time(&mut self, key: &str) -> Option<Timestamp> {
        self.time_in(self.of, key)
    }

    pub(super) fn time_in(&mut self, of: &Map<String, Value>, key: &str) -> Option<Timestamp> {
        self.time_below("", of, key)
    }

    /// A time in an object of the file; `name` is used in reports. An odd time is accepted and reported.
    pub(super) fn time_below(&mut self, name: &str, of: &Map<String, Value>, key: &str) -> Option<Timestamp> {
        let value = of.get(key)?;
        let name = if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
        let text = match value {
            Value::String(text) => text,
            Value::Null => return None,
            other => return self.odd(&name, wrong(other, Type::Time)),
        };
        let Some(at) = time_format::read(text, &self.zone) else {
            return self.odd(&name, What::NotATime { found: text.clone() });
        };
        if at > self.now {
            (self.say)(&name, What::InFuture { found: text.clone() });
        }
        Some(at)
    }
}

/// A whole number. It may be written as a string, as in keys of an object, or with a zero fraction.
pub(super) fn whole(value: &Value) -> Option<i64> {
    const MOST: f64 = 1e15;
    let rounded = || value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < MOST);
    #[allow(clippy::cast_possible_truncation, reason = "whole, and within the range")]
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).or_else(|| rounded().map(|number| number as i64))
}

pub(super) fn wrong(found: &Value, wanted: Type) -> What {
    What::WrongType { found: short(found), wanted }
}

fn no_phase(found: String) -> What {
    What::NoSuch(Unknown::PhaseNumber { found })
}

/// A value shortened for a message. A string is quoted, so that "false" differs from false.
pub(super) fn short(value: &Value) -> String {
    let is_ambiguous = value.as_str().is_some_and(|text| serde_json::from_str::<Value>(text).is_ok());
    if is_ambiguous { value.to_string() } else { model::typed_value::shown(value) }
}
