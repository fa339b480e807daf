//! The registry as a whole: which sessions are active, and which lines do not match the files.

use super::super::fields::cut;
use super::super::place::{self, id_of, name_of, places_of, spot};
use super::super::session_status::Word;
use super::super::{ACTIVE, ARCHIVES, HOME, REGISTRY, STATE};
use super::{is_blank, lines, mentioning, mentions, name_in, object, odd};
use crate::capabilities::Survey;
use crate::layout::Spot;
use crate::problem::{Elsewhere, OfRegistry, Problem};
use crate::tree::{Entry, Tree};
use model::id::SessionId;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Names of sessions that are active according to the registry. Every command needs these names, so only
/// lines that may say so are parsed.
pub(in crate::ccw) fn active_in(bytes: &[u8]) -> Vec<String> {
    let may_say_so =
        |line: &&[u8]| Word::ACTIVE.iter().any(|word| mentions(&line.to_ascii_lowercase(), word));
    let called = lines(bytes).filter(may_say_so).filter_map(object).filter(is_active);
    let names: BTreeSet<String> =
        called.filter_map(|fields| name_in(&fields).map(ToOwned::to_owned)).collect();
    // If a session has several lines, the last one decides.
    let is_still = |name: &String| {
        let own = mentioning(bytes, name).into_iter().rev().filter_map(|(line, _)| object(line));
        own.into_iter().find(|fields| name_in(fields) == Some(name)).is_some_and(|last| is_active(&last))
    };
    names.into_iter().filter(is_still).collect()
}

/// Names of all sessions with a line.
pub(in crate::ccw) fn named_in(bytes: &[u8]) -> BTreeSet<String> {
    let known = lines(bytes).filter_map(object);
    known.filter_map(|fields| name_in(&fields).map(ToOwned::to_owned)).collect()
}

/// The lines of each session, including line endings. Broken lines are left out.
pub(in crate::ccw) fn by_session(bytes: &[u8]) -> BTreeMap<SessionId, Vec<u8>> {
    let mut found: BTreeMap<SessionId, Vec<u8>> = BTreeMap::new();
    for line in lines(bytes) {
        if let Some(name) = object(line).as_ref().and_then(name_in) {
            found.entry(id_of(name)).or_default().extend_from_slice(line);
        }
    }
    found
}

/// Compares every line with the files. `is_there` returns true for an existing path below the project's
/// folder.
pub(in crate::ccw) fn check(bytes: &[u8], is_there: &dyn Fn(&str) -> bool) -> Survey {
    let mut survey = Survey::default();
    let mut broken: Vec<usize> = Vec::new();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (line, number) in lines(bytes).zip(1..) {
        match object(line) {
            Some(fields) => {
                if let Some(name) = name_in(&fields).map(ToOwned::to_owned) {
                    let count = known.get(&name).map_or(0, |known| known.count) + 1;
                    known.insert(name, Known { fields, number, count });
                }
            }
            None if is_blank(line) => {}
            None => broken.push(number),
        }
    }
    if !broken.is_empty() {
        survey.problems.push(odd(OfRegistry::BrokenLines(broken)));
    }
    let mut unclear: Vec<String> = Vec::new();
    for (name, known) in &known {
        let places = places_of(name).into_iter().filter_map(|path| spot(&path, true));
        let places = places.chain(said_elsewhere(name, &known.fields));
        if let Some(spot) = places.into_iter().find(|spot| place::is_there(spot, is_there)) {
            if known.count > 1 {
                survey.repeated.push(spot);
            }
            continue;
        }
        if let Some(path) = elsewhere(name, &known.fields, is_there) {
            survey.problems.extend(explain_elsewhere(name, known, &path, is_there));
            continue;
        }
        match (Word::parse(&status(&known.fields)), spot_of(name, &known.fields)) {
            // The folder of a finished session may be missing, because people delete old folders.
            (Some(Word::Completed), _) => {}
            (Some(Word::Active | Word::Paused), Some(spot)) => survey.lost.push(spot),
            (None, _) | (_, None) => unclear.push(format!("'{}'", cut(name))),
        }
    }
    if !unclear.is_empty() {
        survey.problems.push(odd(OfRegistry::NamesNothing(unclear)));
    }
    survey
}

/// A session's last line.
struct Known {
    fields: Map<String, Value>,
    number: usize,
    /// The number of the session's lines.
    count: usize,
}

/// The existing path to which a line refers, although no session can be there.
fn elsewhere(name: &str, fields: &Map<String, Value>, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
    let said = directory(fields).filter(|path| !path.is_empty()).map(ToOwned::to_owned);
    let is_plain = !name.contains('/') && name != "." && name != "..";
    let own = is_plain.then(|| format!("{HOME}/{name}"));
    said.into_iter().chain(own).find(|path| is_there(path))
}

/// Explains why a line's session is not shown: its path cannot contain a session. `None` for a finished
/// session without a state file, which nobody misses.
fn explain_elsewhere(
    name: &str,
    known: &Known,
    path: &str,
    is_there: &dyn Fn(&str) -> bool,
) -> Option<Problem> {
    let is_finished = Word::parse(&status(&known.fields)) == Some(Word::Completed);
    if is_finished && !is_there(&format!("{path}/{STATE}")) {
        return None;
    }
    let place = match spot(path, true).filter(|found| place::is_there(found, is_there)) {
        Some(found) => Elsewhere::Session { name: cut(name_of(&found)) },
        None => Elsewhere::NoPlace {
            places: format!(
                "a folder WFS-… of the project with a {STATE}, or any folder with one directly below {HOME}, {HOME}/{ACTIVE} or {HOME}/{ARCHIVES}"
            ),
        },
    };
    Some(odd(OfRegistry::LineElsewhere { line: known.number, name: cut(name), path: cut(path), place }))
}

/// True if the registry is a readable file or is missing.
pub(in crate::ccw) fn can_be_read(index: &Tree) -> bool {
    matches!(index.get(REGISTRY), Some(Entry::File(_)) | None)
}

/// Sessions of the first format version that have no line in the registry.
pub(in crate::ccw) fn unlisted(index: &Tree, is_there: &dyn Fn(&str) -> bool) -> Vec<Spot> {
    let known = named_in(index.content(REGISTRY).unwrap_or_default());
    let unknown = index.names_in("").filter(|name| !known.contains(*name));
    let mut found: Vec<Spot> = unknown
        .filter(|name| is_there(&format!("{HOME}/{name}/{STATE}")))
        .filter_map(|name| spot(&format!("{HOME}/{name}"), true))
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// The folder of a line's session: the path in the line if that is valid, or else the name below the home.
fn spot_of(name: &str, fields: &Map<String, Value>) -> Option<Spot> {
    let said = directory(fields).map(|path| path.trim_start_matches("./")).and_then(|path| spot(path, true));
    let said = said.filter(|spot| name_of(spot) == name);
    // No location is inferred for names without the prefix of sessions.
    let is_plain = |spot: &Spot| spot.known_by.is_none() || place::is_elsewhere(spot);
    said.filter(is_plain).or_else(|| spot(&format!("{HOME}/{name}"), true).filter(is_plain))
}

/// The folder in a line, if it is outside the usual places.
fn said_elsewhere(name: &str, fields: &Map<String, Value>) -> Option<Spot> {
    let path = directory(fields).filter(|path| !places_of(name).iter().any(|place| place == path))?;
    spot(path.trim_start_matches("./"), true).filter(|spot| name_of(spot) == name)
}

/// Sessions in folders that are known only from the registry. Every command needs these sessions, so few
/// lines are parsed completely.
pub(in crate::ccw) fn elsewhere_in(bytes: &[u8]) -> Vec<Spot> {
    let usual =
        [format!("\"{HOME}/WFS-"), format!("\"{HOME}/{ACTIVE}/WFS-"), format!("\"{HOME}/{ARCHIVES}/WFS-")];
    let is_usual = |line: &[u8]| usual.iter().any(|place| mentions(line, place));
    let unusual = lines(bytes).filter(|line| !is_usual(line)).filter_map(object);
    let mut found: Vec<Spot> =
        unusual.filter_map(|fields| said_elsewhere(name_in(&fields)?, &fields)).collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.dedup_by(|one, other| one.path == other.path);
    found
}

fn directory(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("directory").and_then(Value::as_str).map(|path| path.trim_end_matches('/'))
}

fn status(fields: &Map<String, Value>) -> String {
    fields.get("status").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn is_active(fields: &Map<String, Value>) -> bool {
    Word::parse(&status(fields)) == Some(Word::Active)
}
