//! state.json of every era: what it says, and what is odd about it. Unknown keys are left alone.

use super::{Kind, STATE};
use crate::json;
use crate::reading::Oddity;
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// What state.json says; nothing where it says nothing that can be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// The file is there and can be read.
    pub is_readable: bool,
    pub status: Option<String>,
    pub kind: Option<Kind>,
    pub phase_name: Option<String>,
    pub phase_number: Option<u32>,
    pub current_round: Option<u32>,
    pub current_map_run: Option<u32>,
    pub started_at: Option<Timestamp>,
    pub round_started_at: Option<Timestamp>,
    pub map_started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
}

impl State {
    /// The phase as a position; its name counts before its number.
    pub(super) fn phase(&self, kind: Kind, warnings: &mut Vec<Oddity>) -> Option<usize> {
        let phases = kind.phases();
        let by_name = self.phase_name.as_deref().and_then(|name| position(kind, name));
        let by_number = self
            .phase_number
            .and_then(|number| usize::try_from(number).ok()?.checked_sub(1))
            .filter(|at| *at < phases.len());
        match (by_name, by_number) {
            (Some(named), Some(numbered)) if named != numbered => {
                warnings.push(oddity(format!(
                    "current_phase is '{}' and phase_number is {}; the name counts",
                    phases[named],
                    numbered + 1
                )));
                Some(named)
            }
            (None, numbered) => {
                if let Some(name) = &self.phase_name {
                    warnings.push(oddity(format!("there is no phase '{name}' in a {}", kind.workflow())));
                } else if self.is_readable {
                    warnings.push(oddity("current_phase is missing".to_owned()));
                }
                if let (None, Some(number)) = (numbered, self.phase_number) {
                    warnings.push(oddity(format!("phase_number {number} is none of 1 to {}", phases.len())));
                }
                numbered
            }
            (named, _) => named,
        }
    }
}

pub(super) fn read(tree: &Tree, now: Timestamp, warnings: &mut Vec<Oddity>) -> State {
    let content = match tree.get(STATE) {
        Some(Entry::File(content)) => content,
        None => {
            warnings.push(oddity(
                "it is missing; where things stand was worked out from the other files".to_owned(),
            ));
            return State::default();
        }
        Some(Entry::Folder) => return unusable("it is a folder", warnings),
        Some(Entry::Unread { .. }) => return unusable("it was not read", warnings),
        Some(Entry::Unusable(why)) => return unusable(why, warnings),
    };
    match json::object(content) {
        Ok(fields) => from_fields(&fields, now, warnings),
        Err(why) => unusable(&why, warnings),
    }
}

fn unusable(why: &str, warnings: &mut Vec<Oddity>) -> State {
    warnings.push(oddity(format!("{why}; where things stand was worked out from the other files")));
    State::default()
}

fn from_fields(fields: &Map<String, Value>, now: Timestamp, warnings: &mut Vec<Oddity>) -> State {
    let mut reader = Reader { fields, now, warnings };
    State {
        is_readable: true,
        status: reader.word("status", &["active", "closed"]),
        kind: reader.word("workflow_type", &["review", "map"]).map(|word| match word.as_str() {
            "map" => Kind::Map,
            _ => Kind::Review,
        }),
        phase_name: reader.text("current_phase"),
        phase_number: reader.number("phase_number"),
        current_round: reader.number("current_round").filter(|number| *number > 0),
        current_map_run: reader.number("current_map_run").filter(|number| *number > 0),
        started_at: reader.time("started_at"),
        round_started_at: reader.time("round_started_at"),
        map_started_at: reader.time("map_started_at"),
        updated_at: reader.time("updated_at"),
    }
}

struct Reader<'a> {
    fields: &'a Map<String, Value>,
    now: Timestamp,
    warnings: &'a mut Vec<Oddity>,
}

impl Reader<'_> {
    fn text(&mut self, key: &str) -> Option<String> {
        match self.fields.get(key)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Null => None,
            other => self.odd(format!("{key} is {other}, not a text")),
        }
    }

    fn word(&mut self, key: &str, known: &[&str]) -> Option<String> {
        let text = self.text(key)?;
        if known.contains(&text.as_str()) {
            return Some(text);
        }
        self.odd(format!("{key} is '{text}', which is none of {}", known.join(", ")))
    }

    fn number(&mut self, key: &str) -> Option<u32> {
        match self.fields.get(key)? {
            Value::Null => None,
            value => match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
                Some(number) => Some(number),
                None => self.odd(format!("{key} is {value}, not a whole number")),
            },
        }
    }

    /// Times are written by hand, so they are taken as they are, and said to be odd when they cannot be true.
    fn time(&mut self, key: &str) -> Option<Timestamp> {
        let text = self.text(key)?;
        let Ok(time) = text.parse::<Timestamp>() else {
            return self.odd(format!("{key} is '{text}', which is no time"));
        };
        if time > self.now {
            let _: Option<()> = self.odd(format!("{key} is in the future: {text}"));
        }
        Some(time)
    }

    fn odd<T>(&mut self, message: String) -> Option<T> {
        self.warnings.push(oddity(message));
        None
    }
}

/// Names that earlier releases and other writers used.
fn position(kind: Kind, name: &str) -> Option<usize> {
    let name = match (kind, name) {
        (_, "map-complete") => "complete",
        (Kind::Review, "requirements") => "change-context",
        (_, other) => other,
    };
    kind.phases().iter().position(|phase| *phase == name)
}

fn oddity(message: String) -> Oddity {
    Oddity { path: STATE.to_owned(), message }
}
