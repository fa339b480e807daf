//! Reads state.json of every release, and reports odd values. Ignores unknown keys.

use super::STATE;
use super::session::OcrWorkflow;
use crate::json;
use crate::problem::{Disagreement, Problem, Range, Taken, Then, Type, Unknown, What, Why};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// The values of state.json. All are empty if the file is unreadable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// True if the file exists and is readable.
    pub is_readable: bool,
    pub status: Option<String>,
    pub kind: Option<OcrWorkflow>,
    pub phase_name: Option<String>,
    pub phase_number: Option<u32>,
    pub current_round: Option<u32>,
    pub current_map_run: Option<u32>,
    pub started_at: Option<Timestamp>,
    pub round_started_at: Option<Timestamp>,
    pub map_started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// The branch. Only early releases wrote it.
    pub branch: Option<String>,
}

impl State {
    /// The index of the phase. If the name and the number of the phase disagree, the name is used.
    pub(super) fn phase(&self, kind: OcrWorkflow, warnings: &mut Vec<Problem>) -> Option<usize> {
        let phases = kind.phases();
        let (by_name, by_number) = (self.named_phase(kind), self.numbered_phase(kind));
        if let (None, Some(number)) = (by_number, self.phase_number) {
            let range = Range::To(phases.len());
            warnings.push(odd("phase_number", What::OutOfRange { found: number.into(), range }));
        }
        match (by_name, by_number) {
            (Some(named), Some(numbered)) if named != numbered => {
                let how = Disagreement::PhaseAndNumber { name: phases[named], number: numbered + 1 };
                warnings.push(odd("current_phase", What::Disagrees(how)));
                Some(named)
            }
            (None, numbered) => {
                if let Some(name) = &self.phase_name {
                    let unknown = Unknown::PhaseOf { name: name.clone(), workflow: kind.workflow() };
                    warnings.push(odd("current_phase", What::NoSuch(unknown)));
                }
                numbered
            }
            (named, _) => named,
        }
    }

    pub(super) fn named_phase(&self, kind: OcrWorkflow) -> Option<usize> {
        self.phase_name.as_deref().and_then(|name| position(kind, name))
    }

    /// The workflow to which the phase belongs. `None` if its name and number fit both workflows or neither.
    pub(super) fn kind_of_phase(&self) -> Option<OcrWorkflow> {
        let both = [OcrWorkflow::Review, OcrWorkflow::Map];
        let only = |fits: &dyn Fn(OcrWorkflow) -> bool| {
            let mut fitting = both.into_iter().filter(|kind| fits(*kind));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        if self.phase_name.as_deref() == Some("map-complete") {
            return Some(OcrWorkflow::Map);
        }
        only(&|kind| self.named_phase(kind).is_some())
            .or_else(|| {
                only(&|kind| {
                    self.named_phase(kind).is_some() && self.named_phase(kind) == self.numbered_phase(kind)
                })
            })
            .or_else(|| only(&|kind| self.numbered_phase(kind).is_some()))
    }

    /// The workflow of the counter in the state: `current_round` or `current_map_run`. `None` if the state
    /// has both or neither.
    pub(super) fn kind_counted(&self) -> Option<OcrWorkflow> {
        match (self.current_round, self.current_map_run) {
            (Some(_), None) => Some(OcrWorkflow::Review),
            (None, Some(_)) => Some(OcrWorkflow::Map),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    /// When the current round or run of a workflow started.
    pub(super) fn clock(&self, kind: OcrWorkflow) -> Option<Timestamp> {
        match kind {
            OcrWorkflow::Review => self.round_started_at,
            OcrWorkflow::Map => self.map_started_at,
        }
    }

    pub(super) fn numbered_phase(&self, kind: OcrWorkflow) -> Option<usize> {
        let at = usize::try_from(self.phase_number?).ok()?.checked_sub(1)?;
        (at < kind.phases().len()).then_some(at)
    }
}

pub(super) fn read(tree: &Tree, now: Timestamp, warnings: &mut Vec<Problem>) -> State {
    let content = match tree.get(STATE) {
        Some(Entry::File(content)) => content,
        None if tree.is_unusable("") => {
            return unusable(Why::FolderUnreadable(None), warnings);
        }
        None => return unusable(Why::Missing, warnings),
        Some(Entry::Folder) => return unusable(Why::IsFolder, warnings),
        Some(Entry::Unread { .. }) => return unusable(Why::NotRead, warnings),
        Some(Entry::Unusable(why)) => return unusable(Why::Unusable(why.clone()), warnings),
    };
    match json::object_with_doubled(content) {
        Ok((fields, doubled)) => {
            if json::has_mark(content) {
                warnings.push(Problem::of_file(STATE, What::ByteOrderMark { tool: "Open Code Review" }));
            }
            for key in doubled {
                warnings.push(odd(&key, What::Doubled));
            }
            from_fields(&fields, now, warnings)
        }
        Err(why) => unusable(Why::Syntax(why), warnings),
    }
}

/// Parses the state without reporting odd values.
pub(super) fn of_tree(tree: &Tree) -> State {
    read(tree, Timestamp::MAX, &mut Vec::new())
}

pub(super) fn of_bytes(bytes: &[u8]) -> State {
    let mut tree = Tree::default();
    tree.insert(STATE, Entry::File(bytes.to_vec()));
    of_tree(&tree)
}

fn unusable(why: Why, warnings: &mut Vec<Problem>) -> State {
    warnings.push(Problem::of_file(STATE, What::Unreadable { why, then: Then::WorkedOut }));
    State::default()
}

fn from_fields(fields: &Map<String, Value>, now: Timestamp, warnings: &mut Vec<Problem>) -> State {
    let mut reader = Reader { fields, now, warnings };
    for key in ["session_id", "current_phase", "phase_number"] {
        if fields.get(key).is_none_or(Value::is_null) {
            let _: Option<()> = reader.odd(key, What::Absent(Taken::Nothing));
        }
    }
    let _ = reader.text("session_id");
    reader.is_a("completed_phases", Type::List, Value::is_array);
    reader.is_a("reviewers", Type::Object, Value::is_object);
    let state = State {
        is_readable: true,
        status: reader.word("status", &["active", "closed"]),
        kind: reader.word("workflow_type", &["review", "map"]).map(|word| match word.as_str() {
            "map" => OcrWorkflow::Map,
            _ => OcrWorkflow::Review,
        }),
        phase_name: reader.text("current_phase"),
        phase_number: reader.number("phase_number"),
        current_round: reader.ordinal("current_round"),
        current_map_run: reader.ordinal("current_map_run"),
        started_at: reader.time("started_at"),
        round_started_at: reader.time("round_started_at"),
        map_started_at: reader.time("map_started_at"),
        updated_at: reader.time("updated_at"),
        branch: reader.text("branch"),
    };
    out_of_order(&state, warnings);
    state
}

/// Reports times that are out of order.
fn out_of_order(state: &State, warnings: &mut Vec<Problem>) {
    let begun = ("started_at", state.started_at);
    let round = ("round_started_at", state.round_started_at);
    let map = ("map_started_at", state.map_started_at);
    let updated = ("updated_at", state.updated_at);
    for ((first, earlier), (then, later)) in
        [(begun, round), (begun, map), (begun, updated), (round, updated), (map, updated)]
    {
        if let (Some(earlier), Some(later)) = (earlier, later)
            && later < earlier
        {
            let (later, earlier) = (later.to_string(), earlier.to_string());
            warnings.push(odd(then, What::OutOfOrder { before: first, later, earlier }));
        }
    }
}

struct Reader<'a> {
    fields: &'a Map<String, Value>,
    now: Timestamp,
    warnings: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn text(&mut self, key: &str) -> Option<String> {
        match self.fields.get(key)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Null => None,
            other => self.odd(key, wrong(other, Type::Text)),
        }
    }

    fn word(&mut self, key: &str, known: &[&str]) -> Option<String> {
        let text = self.text(key)?;
        if known.contains(&text.as_str()) {
            return Some(text);
        }
        let known = known.iter().map(|word| (*word).to_owned()).collect();
        self.odd(key, What::NotOneOf { found: format!("'{text}'"), known, taken: Taken::Nothing })
    }

    fn number(&mut self, key: &str) -> Option<u32> {
        match self.fields.get(key)? {
            Value::Null => None,
            value => match (value.as_u64().and_then(|number| u32::try_from(number).ok()), meant(value)) {
                (Some(number), _) => Some(number),
                (None, Some(number)) => {
                    let _: Option<()> = self.odd(key, What::ReadAs { found: value.to_string(), number });
                    Some(number)
                }
                (None, None) => self.odd(key, wrong(value, Type::WholeNumber)),
            },
        }
    }

    /// Reports a wrong type of a key that only early releases use. The key is not used otherwise.
    fn is_a(&mut self, key: &str, wanted: Type, fits: impl Fn(&Value) -> bool) {
        let odd = self.fields.get(key).filter(|value| !value.is_null() && !fits(value));
        if let Some(value) = odd {
            let _: Option<()> = self.odd(key, wrong(value, wanted));
        }
    }

    /// The number of a round or a run. The first has the number 1.
    fn ordinal(&mut self, key: &str) -> Option<u32> {
        match self.number(key)? {
            0 => self.odd(key, What::OutOfRange { found: 0, range: Range::FromOne }),
            number => Some(number),
        }
    }

    /// A time in a file of another tool. A time in the future is accepted and reported.
    fn time(&mut self, key: &str) -> Option<Timestamp> {
        let text = self.text(key)?;
        let Ok(time) = text.parse::<Timestamp>() else {
            return self.odd(key, What::NotATime { found: text });
        };
        if time > self.now {
            let _: Option<()> = self.odd(key, What::InFuture { found: text });
        }
        Some(time)
    }

    fn odd<T>(&mut self, key: &str, what: What) -> Option<T> {
        self.warnings.push(odd(key, what));
        None
    }
}

/// The number that was meant by a string, or by a number with a decimal point.
fn meant(value: &Value) -> Option<u32> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_f64()?.to_string().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The index of a phase by its name, including names used by earlier releases and other writers.
fn position(kind: OcrWorkflow, name: &str) -> Option<usize> {
    let name = match (kind, name) {
        (_, "map-complete") => "complete",
        (OcrWorkflow::Review, "requirements") => "change-context",
        (_, other) => other,
    };
    kind.phases().iter().position(|phase| *phase == name)
}

fn odd(key: &str, what: What) -> Problem {
    Problem::of_field(STATE, key, what)
}

fn wrong(found: &Value, wanted: Type) -> What {
    What::WrongType { found: found.to_string(), wanted }
}
