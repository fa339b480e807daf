//! Reads values from a foreign JSON object. A value of the wrong type is reported once and left alone.

use crate::problem::{Problem, Type, What};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

pub(super) struct Fields<'a> {
    pub map: &'a Map<String, Value>,
    /// The file name used in warnings.
    pub file: &'a str,
    pub now: Timestamp,
    pub warnings: &'a mut Vec<Problem>,
}

impl Fields<'_> {
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        at(self.map, path)
    }

    pub fn text(&mut self, path: &[&str]) -> Option<String> {
        match self.get(path)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            Value::Null => None,
            other => {
                let what = wrong(other, Type::Text);
                self.odd(path, what)
            }
        }
    }

    /// The first string found at one of these paths.
    pub fn first_text(&mut self, paths: &[&[&str]]) -> Option<String> {
        paths.iter().find_map(|path| self.text(path))
    }

    pub fn texts(&mut self, path: &[&str]) -> Option<Vec<String>> {
        let list = match self.get(path)? {
            Value::Array(list) => list.clone(),
            Value::Null => return None,
            other => {
                let what = wrong(other, Type::List);
                return self.odd(path, what);
            }
        };
        let mut texts = Vec::new();
        for entry in list {
            match entry {
                Value::String(text) => texts.push(text),
                other => {
                    let what = What::WrongEntry { found: shown(&other), wanted: Type::Text };
                    let _: Option<()> = self.odd(path, what);
                }
            }
        }
        Some(texts)
    }

    /// A time in a file of another tool. A time in the future is accepted and reported.
    pub fn time(&mut self, path: &[&str]) -> Option<Timestamp> {
        let text = self.text(path)?;
        let Some(time) = time_of(&text) else {
            return self.odd(path, What::NotATime { found: cut(&text) });
        };
        if time > self.now {
            let _: Option<()> = self.odd(path, What::InFuture { found: text });
        }
        Some(time)
    }

    pub fn first_time(&mut self, paths: &[&[&str]]) -> Option<Timestamp> {
        paths.iter().find_map(|path| self.time(path))
    }

    /// Reports a value that is not an object. Without this report, the keys below the value would only seem
    /// to be missing.
    pub fn is_object(&mut self, path: &[&str]) {
        if let Some(other) = self.get(path).filter(|value| !value.is_null() && !value.is_object()) {
            let what = wrong(other, Type::Object);
            let _: Option<()> = self.odd(path, what);
        }
    }

    pub fn whole(&mut self, path: &[&str]) -> Option<i64> {
        let value = self.get(path).filter(|value| !value.is_null())?;
        let number = value.as_i64();
        if number.is_none() {
            let what = wrong(value, Type::WholeNumber);
            let _: Option<()> = self.odd(path, what);
        }
        number
    }

    /// Reports duplicate keys.
    pub fn doubled(&mut self, keys: &[String]) {
        for key in keys {
            let _: Option<()> = self.odd(&[&cut(key)], What::Doubled);
        }
    }

    pub fn odd<T>(&mut self, path: &[&str], what: What) -> Option<T> {
        self.warnings.push(Problem::of_field(self.file, path.join("."), what));
        None
    }
}

pub(super) fn at<'a>(map: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (last, above) = path.split_last()?;
    let mut object = map;
    for key in above {
        object = object.get(*key)?.as_object()?;
    }
    object.get(*last)
}

/// Parses a time as people and models write it. A time without a zone is read as UTC.
pub(super) fn time_of(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let zoned = |local: DateTime| local.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    text.parse::<Timestamp>().ok().or_else(|| text.parse::<DateTime>().ok().and_then(zoned)).or_else(|| {
        text.parse::<Date>().ok().and_then(|date| zoned(date.to_datetime(jiff::civil::Time::midnight())))
    })
}

/// Formats a time to the second, in UTC.
pub(super) fn written(at: Timestamp) -> Value {
    let seconds = Timestamp::from_second(at.as_second()).unwrap_or(at);
    Value::String(seconds.to_string())
}

fn wrong(found: &Value, wanted: Type) -> What {
    What::WrongType { found: shown(found), wanted }
}

fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

/// Shortens foreign text, which may be of any length, for a message.
pub(super) fn cut(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(LONGEST).collect();
    short.push('…');
    short
}
