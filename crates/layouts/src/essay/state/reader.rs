//! Reads values from a mapping by key and type. A value of the wrong type is reported with its key and
//! skipped.

use crate::essay::STATE;
use crate::problem::{Problem, Taken, Type, What};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

pub(in crate::essay) struct Reader<'a> {
    pub now: Timestamp,
    pub problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    /// Runs `read`. Problems that it reports have `place` before their keys.
    pub fn below<T>(&mut self, place: &str, read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
        let mut own = Vec::new();
        let value = read(&mut Reader { now: self.now, problems: &mut own });
        self.problems.extend(own.into_iter().map(|problem| problem.below(place)));
        value
    }

    pub fn mapping<'v>(
        &mut self,
        fields: &'v Map<String, Value>,
        key: &str,
    ) -> Option<&'v Map<String, Value>> {
        match fields.get(key)? {
            Value::Object(inner) => Some(inner),
            Value::Null => None,
            other => self.no(key, other, Type::Mapping),
        }
    }

    pub fn mapping_at<'v>(
        &mut self,
        place: &str,
        fields: &'v Map<String, Value>,
        key: &str,
    ) -> Option<&'v Map<String, Value>> {
        self.below(place, |reader| reader.mapping(fields, key))
    }

    /// The entries of a list that are mappings. Other entries are reported.
    pub fn list<'v>(&mut self, fields: &'v Map<String, Value>, key: &str) -> Vec<&'v Map<String, Value>> {
        self.each(fields, key, Value::as_object, Type::Mapping)
    }

    /// The entries of a list that have the expected type. Other entries are reported with their index.
    fn each<'v, T>(
        &mut self,
        fields: &'v Map<String, Value>,
        key: &str,
        read: impl Fn(&'v Value) -> Option<T>,
        wanted: Type,
    ) -> Vec<T> {
        let values = match fields.get(key) {
            Some(Value::Array(values)) => values,
            Some(Value::Null) | None => return Vec::new(),
            Some(other) => return self.no(key, other, Type::List).unwrap_or_default(),
        };
        let mut found = Vec::new();
        for (place, value) in values.iter().enumerate() {
            match read(value) {
                Some(value) => found.push(value),
                None => drop(self.no::<()>(&format!("{key}.{}", place + 1), value, wanted)),
            }
        }
        found
    }

    pub fn text(&mut self, fields: &Map<String, Value>, key: &str) -> Option<String> {
        match fields.get(key)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::String(_) | Value::Null => None,
            other => self.no(key, other, Type::Text),
        }
    }

    /// The entries of a list that are strings. Other entries are reported.
    pub fn texts(&mut self, fields: &Map<String, Value>, key: &str) -> Vec<String> {
        self.each(fields, key, |value| value.as_str().map(ToOwned::to_owned), Type::Text)
    }

    pub fn required(&mut self, fields: &Map<String, Value>, key: &str) -> Option<String> {
        let text = self.text(fields, key);
        if text.is_none() && !fields.get(key).is_some_and(|value| !value.is_null() && !value.is_string()) {
            self.odd(key, What::Absent(Taken::Nothing));
        }
        text
    }

    pub fn word<T: Copy>(
        &mut self,
        fields: &Map<String, Value>,
        key: &str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.text(fields, key)?;
        let found = all.iter().copied().find(|one| name(*one) == text);
        if found.is_none() {
            let known = all.iter().map(|one| name(*one).to_owned()).collect();
            self.odd(key, What::NotOneOf { found: format!("'{text}'"), known, taken: Taken::Nothing });
        }
        found
    }

    pub fn number(&mut self, fields: &Map<String, Value>, key: &str) -> Option<u32> {
        let value = fields.get(key)?;
        if value.is_null() {
            return None;
        }
        match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => Some(number),
            None => self.no(key, value, Type::WholeNumber),
        }
    }

    /// An integer. It may be negative: the caller decides whether it is valid.
    pub fn integer(&mut self, fields: &Map<String, Value>, key: &str) -> Option<i64> {
        let value = fields.get(key)?;
        if value.is_null() {
            return None;
        }
        value.as_i64().or_else(|| self.no(key, value, Type::WholeNumber))
    }

    /// A boolean, also one in a YAML 1.1 spelling such as `yes`.
    pub fn flag(&mut self, fields: &Map<String, Value>, key: &str) -> Option<bool> {
        match fields.get(key)? {
            Value::Bool(flag) => Some(*flag),
            Value::Null => None,
            Value::String(text) if ["yes", "on"].contains(&text.to_ascii_lowercase().as_str()) => Some(true),
            Value::String(text) if ["no", "off"].contains(&text.to_ascii_lowercase().as_str()) => Some(false),
            other => self.no(key, other, Type::Flag),
        }
    }

    /// A time in a file of another author. A time in the future is accepted and reported. A time without an
    /// offset is in UTC.
    pub fn time(&mut self, fields: &Map<String, Value>, key: &str) -> Option<Timestamp> {
        let text = self.text(fields, key)?;
        let parsed = text
            .parse::<Timestamp>()
            .ok()
            .or_else(|| Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp()));
        match parsed {
            None => self.odd(key, What::NotATime { found: text }),
            Some(at) if at > self.now => self.odd(key, What::InFuture { found: text }),
            Some(_) => {}
        }
        parsed
    }

    pub fn odd(&mut self, key: &str, what: What) {
        self.problems.push(Problem::of_field(STATE, key, what));
    }

    fn no<T>(&mut self, key: &str, found: &Value, wanted: Type) -> Option<T> {
        self.odd(key, What::WrongType { found: model::typed_value::shown(found), wanted });
        None
    }
}
