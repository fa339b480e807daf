//! session_status.jsonl has a line per session. This module finds a session's line and changes only that
//! line. A line that is not JSON is not leftoff's, and stays.

mod whole;

pub(super) use whole::{active_in, by_session, can_be_read, check, elsewhere_in, named_in, unlisted};

use super::REGISTRY;
use super::fields::Fields;
use super::phase_and_size_names::Size;
use super::place::places_of;
use super::state::no_size;
use crate::json;
use crate::problem::{OfRegistry, Problem, Then, What, Why};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A session's registry entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub status: Option<String>,
    pub description: Option<String>,
    pub created: Option<Timestamp>,
    pub size: Option<Size>,
    /// How many lines the session has. Duplicates are merged when the registry is written.
    pub count: usize,
}

/// A session's registry entry. If the session has several lines, the last line is read.
pub(super) fn line_of(tree: &Tree, name: &str, now: Timestamp, warnings: &mut Vec<Problem>) -> Option<Line> {
    let bytes = match tree.get(REGISTRY) {
        Some(Entry::File(bytes)) => bytes,
        Some(Entry::Unusable(why)) => {
            warnings.push(unreadable(Why::Unusable(why.clone())));
            return None;
        }
        Some(Entry::Folder) => {
            warnings.push(unreadable(Why::IsFolder));
            return None;
        }
        Some(Entry::Unread { .. }) | None => return None,
    };
    let mut own: Vec<(Map<String, Value>, Vec<String>)> = Vec::new();
    for (line, number) in mentioning(bytes, name) {
        match json::object_with_doubled(line) {
            Ok(found) if name_in(&found.0) == Some(name) => own.push(found),
            Ok(_) => {}
            Err(_) => warnings.push(odd(OfRegistry::BrokenLines(vec![number]))),
        }
    }
    if own.len() > 1 {
        warnings.push(odd(OfRegistry::Repeated { name: name.to_owned(), lines: own.len() }));
    }
    let count = own.len();
    own.pop().map(|(map, doubled)| {
        let mut fields = Fields { map: &map, file: REGISTRY, now, warnings };
        fields.doubled(&doubled);
        for key in ["id", "directory"] {
            let _ = fields.text(&[key]);
        }
        Line {
            status: fields.text(&["status"]),
            description: fields.text(&["description"]),
            created: fields.first_time(&[&["created"], &["created_at"]]),
            size: size(&mut fields),
            count,
        }
    })
}

fn size(fields: &mut Fields<'_>) -> Option<Size> {
    let text = fields.text(&["complexity"])?;
    let size = Size::parse(&text);
    if size.is_none() {
        let _: Option<()> = fields.odd(&["complexity"], no_size(&text));
    }
    size
}

fn odd(how: OfRegistry) -> Problem {
    Problem::of_file(REGISTRY, What::Registry(how))
}

fn unreadable(why: Why) -> Problem {
    Problem::of_file(REGISTRY, What::Unreadable { why, then: Then::Nothing })
}

/// The content of a session's line.
pub(super) struct Entered<'a> {
    pub name: &'a str,
    /// The session's folder, below the project's folder.
    pub directory: &'a str,
    /// Written even if the line has a status. The fields after it are written only if the line lacks them.
    pub status: &'a str,
    pub is_status_kept: bool,
    pub description: &'a str,
    pub created: Value,
    pub size: Option<Size>,
}

/// The registry with this session's line updated. `None` if the registry needs no change.
pub(super) fn with_line(bytes: &[u8], entered: &Entered<'_>) -> Option<Vec<u8>> {
    let all: Vec<&[u8]> = lines(bytes).collect();
    let own: Vec<usize> = (0..all.len()).filter(|at| is_about(all[*at], entered.name)).collect();
    let Some((last, earlier)) = own.split_last() else {
        return Some(appended(bytes, &[new_line(entered).as_bytes()]));
    };
    let before: Vec<&[u8]> = earlier.iter().map(|at| all[*at]).collect();
    let mut line = with_what_was_before(all[*last], &before);
    if !entered.is_status_kept {
        line = with_value(&line, "status", &Value::from(entered.status));
    }
    if names_another_place(&line, entered) {
        line = with_value(&line, "directory", &Value::from(entered.directory));
    }
    line = with_missing(&line, &new_fields(entered));
    if earlier.is_empty() && line == all[*last] {
        return None;
    }
    let mut written = Vec::with_capacity(bytes.len() + line.len());
    for (at, old) in all.iter().enumerate() {
        if at == *last {
            written.extend_from_slice(&line);
        } else if !earlier.contains(&at) {
            written.extend_from_slice(old);
        }
    }
    Some(written)
}

/// True if a line names a usual place that is not the session's folder. Any other path in a line is left as
/// its author wrote it.
fn names_another_place(line: &[u8], entered: &Entered<'_>) -> bool {
    let fields = object(line).unwrap_or_default();
    let said = fields.get("directory").and_then(Value::as_str).map(|path| path.trim_end_matches('/'));
    said.is_some_and(|said| {
        said != entered.directory && places_of(entered.name).iter().any(|place| place == said)
    })
}

/// Another writer's registry, in which changed lines get back the fields that the writer dropped. A deleted
/// line stays deleted: the next write of its session decides whether to add it again.
pub(super) fn with_missing_of(base: &[u8], theirs: &[u8]) -> Vec<u8> {
    let before: BTreeSet<&[u8]> = lines(base).collect();
    let mut known: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    let after: BTreeSet<&[u8]> = lines(theirs).collect();
    for fields in before.difference(&after).filter_map(|line| object(line)) {
        if let Some(name) = name_in(&fields) {
            known.insert(name.to_owned(), fields);
        }
    }
    let mut merged = Vec::with_capacity(theirs.len());
    for line in lines(theirs) {
        let ours = if before.contains(line) { None } else { object(line) };
        let ours = ours.as_ref().and_then(name_in).and_then(|name| known.get(name));
        match ours {
            Some(fields) => merged.extend(with_missing(line, fields)),
            None => merged.extend_from_slice(line),
        }
    }
    merged
}

/// The lines of one session, without line endings.
pub(super) fn share(bytes: &[u8], name: &str) -> Vec<u8> {
    let own = lines(bytes).filter(|line| is_about(line, name)).map(<[u8]>::trim_ascii);
    own.collect::<Vec<_>>().join(&b'\n')
}

/// The lines of one session under another name and folder.
pub(super) fn renamed(bytes: &[u8], name: &str, (new, directory): (&str, &str)) -> Vec<u8> {
    let own = lines(bytes).filter(|line| is_about(line, name)).map(<[u8]>::trim_ascii);
    let own = own.map(|line| {
        let named = with_value(line, "id", &Value::from(new));
        with_value(&named, "directory", &Value::from(directory))
    });
    own.collect::<Vec<_>>().join(&b'\n')
}

/// `onto`, with the new lines of every session whose lines differ between `base` and `theirs`. Each of these
/// sessions gets a single line, because the last of several lines is read, even if it is older.
pub(super) fn with_changes(base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
    let names = changed_between(base, theirs);
    let present = by_name(onto, &names);
    // All lines are compared in one pass, because somebody may have added thousands of sessions.
    let mut changed: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (name, own) in by_name(theirs, &names) {
        if present.get(&name) != Some(&own)
            && let Some((last, earlier)) = own.split_last()
        {
            changed.insert(name, with_what_was_before(last, earlier));
        }
    }
    let added = new_and_broken(base, theirs, onto);
    if changed.is_empty() && added.is_empty() {
        return onto.to_vec();
    }
    let last_at = last_places(onto);
    let mut merged = Vec::with_capacity(onto.len() + theirs.len());
    for (at, line) in lines(onto).enumerate() {
        let name = object(line)
            .as_ref()
            .and_then(name_in)
            .filter(|name| changed.contains_key(*name))
            .map(ToOwned::to_owned);
        match name {
            None => merged.extend_from_slice(line),
            Some(name) if last_at.get(&name) == Some(&at) => {
                merged.extend_from_slice(&changed.remove(&name).unwrap_or_default());
                merged.extend_from_slice(&line[line.trim_ascii_end().len()..]);
            }
            Some(_) => {}
        }
    }
    // Sessions without a line in `onto` come last, in their original order.
    let places = last_places(theirs);
    let mut left: Vec<(&String, &Vec<u8>)> = changed.iter().collect();
    left.sort_by_key(|(name, _)| places.get(*name));
    let left = left.into_iter().map(|(_, line)| line.as_slice());
    appended(&merged, &left.chain(added).collect::<Vec<_>>())
}

/// The names of sessions whose lines, or number of lines, differ between the two registries.
fn changed_between(base: &[u8], theirs: &[u8]) -> BTreeSet<String> {
    let (before, after) = (counted(base), counted(theirs));
    let all: BTreeSet<&[u8]> = before.keys().chain(after.keys()).copied().collect();
    let differs = |line: &&[u8]| before.get(line) != after.get(line);
    let objects = all.into_iter().filter(differs).filter_map(object);
    objects.filter_map(|fields| name_in(&fields).map(ToOwned::to_owned)).collect()
}

fn counted(bytes: &[u8]) -> BTreeMap<&[u8], usize> {
    let mut counts = BTreeMap::new();
    for line in lines(bytes) {
        *counts.entry(line.trim_ascii()).or_default() += 1;
    }
    counts
}

/// The lines of each named session, without line endings.
fn by_name<'a>(bytes: &'a [u8], names: &BTreeSet<String>) -> BTreeMap<String, Vec<&'a [u8]>> {
    let mut found: BTreeMap<String, Vec<&[u8]>> = BTreeMap::new();
    for line in lines(bytes).map(<[u8]>::trim_ascii) {
        if let Some(name) = object(line).as_ref().and_then(name_in).filter(|name| names.contains(*name)) {
            found.entry(name.to_owned()).or_default().push(line);
        }
    }
    found
}

/// A session's last line. Fields that only the session's earlier lines have are added to it.
fn with_what_was_before(last: &[u8], earlier: &[&[u8]]) -> Vec<u8> {
    let missing = |line: Vec<u8>, older: &&[u8]| with_missing(&line, &object(older).unwrap_or_default());
    earlier.iter().rev().fold(last.to_vec(), missing)
}

fn new_and_broken<'a>(base: &[u8], theirs: &'a [u8], onto: &[u8]) -> Vec<&'a [u8]> {
    let known: BTreeSet<&[u8]> = lines(base).chain(lines(onto)).map(<[u8]>::trim_ascii).collect();
    let new = lines(theirs).map(<[u8]>::trim_ascii).filter(|line| !known.contains(line) && !is_blank(line));
    new.filter(|line| object(line).as_ref().and_then(name_in).is_none()).collect()
}

/// The position of each session's last line in the registry.
fn last_places(bytes: &[u8]) -> BTreeMap<String, usize> {
    let named =
        lines(bytes).enumerate().filter_map(|(at, line)| Some((name_in(&object(line)?)?.to_owned(), at)));
    named.collect()
}

fn is_about(line: &[u8], name: &str) -> bool {
    mentions(line, name) && object(line).is_some_and(|fields| name_in(&fields) == Some(name))
}

/// The registry's lines, including their line endings.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

fn object(line: &[u8]) -> Option<Map<String, Value>> {
    json::object(line).ok()
}

fn is_blank(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|text| text.trim().trim_start_matches('\u{feff}').is_empty())
}

/// Lines that contain this word, with their line numbers. Searches the whole text at once, because a list of
/// a thousand sessions searches it a thousand times.
fn mentioning<'a>(bytes: &'a [u8], word: &str) -> Vec<(&'a [u8], usize)> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return lines(bytes).zip(1..).filter(|(line, _)| mentions(line, word)).collect();
    };
    let mut found = Vec::new();
    let (mut from, mut number) = (0, 1);
    while let Some(at) = text[from..].find(word).map(|at| from + at) {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        number += text[from..start].matches('\n').count();
        found.push((&bytes[start..end], number));
        number += usize::from(bytes[start..end].ends_with(b"\n"));
        from = end;
    }
    found
}

/// True if a line may belong to a session. This test is cheap, so that few lines need to be parsed.
fn mentions(line: &[u8], name: &str) -> bool {
    String::from_utf8_lossy(line).contains(name)
}

/// The name of a line's session: from the id in the line, or else from the folder in the line.
fn name_in(fields: &Map<String, Value>) -> Option<&str> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("id").or_else(|| text("directory")?.trim_end_matches('/').rsplit('/').next())
}

fn new_fields(entered: &Entered<'_>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), Value::from(entered.name));
    fields.insert("status".to_owned(), Value::from(entered.status));
    fields.insert("description".to_owned(), Value::from(entered.description));
    fields.insert("created".to_owned(), entered.created.clone());
    fields.insert("directory".to_owned(), Value::from(entered.directory));
    if let Some(size) = entered.size {
        fields.insert("complexity".to_owned(), Value::from(size.word()));
    }
    fields
}

fn new_line(entered: &Entered<'_>) -> String {
    Value::Object(new_fields(entered)).to_string()
}

/// Appends lines with the registry's kind of line ending.
fn appended(bytes: &[u8], added: &[&[u8]]) -> Vec<u8> {
    let end = if bytes.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    let mut written = bytes.to_vec();
    if !written.is_empty() && !written.ends_with(b"\n") && !added.is_empty() {
        written.extend_from_slice(end.as_bytes());
    }
    for line in added {
        written.extend_from_slice(line);
        written.extend_from_slice(end.as_bytes());
    }
    written
}

/// Adds missing fields to a line, before its closing brace, so that it stays a single line.
fn with_missing(line: &[u8], fields: &Map<String, Value>) -> Vec<u8> {
    let Some(present) = object(line) else { return line.to_vec() };
    let Some(end) = line.iter().rposition(|byte| *byte == b'}') else { return line.to_vec() };
    let mut more = String::new();
    for (key, value) in fields.iter().filter(|(key, _)| !present.contains_key(*key)) {
        let comma = if present.is_empty() && more.is_empty() { "" } else { "," };
        more.push_str(&format!("{comma}{}:{value}", Value::from(key.as_str())));
    }
    [&line[..end], more.as_bytes(), &line[end..]].concat()
}

fn with_value(line: &[u8], key: &str, value: &Value) -> Vec<u8> {
    let Ok(mut document) = json::Document::parse(line) else { return line.to_vec() };
    if document.get(&[key]).is_none() {
        return with_missing(line, &Map::from_iter([(key.to_owned(), value.clone())]));
    }
    document.set(&[key], value);
    document.into_bytes()
}
