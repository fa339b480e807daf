//! Merges two versions of a document: restores keys that were dropped, and applies changes.

use super::{Document, Step, object};
use serde_json::{Map, Value};

/// `theirs`, with the keys of `base` restored that it lacks, at every level of nested mappings, also in
/// lists. If `theirs` is not a mapping, it is returned unchanged.
pub fn with_missing_of(base: &[u8], theirs: &[u8]) -> Vec<u8> {
    let (Ok((base, _)), Ok(mut document)) = (object(base), Document::parse(theirs)) else {
        return theirs.to_vec();
    };
    let fields = document.fields();
    put_back(&mut document, &base, &fields, &mut Vec::new());
    document.into_bytes()
}

fn put_back<'a>(
    document: &mut Document,
    base: &'a Map<String, Value>,
    theirs: &Map<String, Value>,
    above: &mut Vec<Step<'a>>,
) {
    for (key, value) in base {
        above.push(Step::Key(key));
        match (value, theirs.get(key)) {
            // A key that cannot be restored safely stays missing in the file. The log has its value.
            (_, None) => drop(document.set(above, value)),
            (Value::Object(inner), Some(Value::Object(present))) => put_back(document, inner, present, above),
            (Value::Array(inner), Some(Value::Array(present))) => {
                put_back_in_entries(document, inner, present, above);
            }
            (_, Some(_)) => {}
        }
        above.pop();
    }
}

/// Restores missing keys in the entries of a list. Removed entries are not restored.
fn put_back_in_entries<'a>(
    document: &mut Document,
    base: &'a [Value],
    theirs: &[Value],
    above: &mut Vec<Step<'a>>,
) {
    for (place, now) in theirs.iter().enumerate() {
        let Value::Object(present) = now else { continue };
        if let Some(before) = same_entry(base, present, place, base.len() == theirs.len()) {
            above.push(Step::At(place));
            put_back(document, before, present, above);
            above.pop();
        }
    }
}

/// Keys that identify an entry of a list. An entry with none of these keys is identified by its first key,
/// although another writer may sort the keys.
const IDENTITIES: [&str; 5] = ["section_index", "index", "id", "claim_text", "timestamp"];

fn identity(entry: &Map<String, Value>) -> Option<&str> {
    let known = IDENTITIES.into_iter().find(|key| entry.contains_key(*key));
    known.or_else(|| entry.keys().next().map(String::as_str))
}

/// The entry of `base` with the same identity, preferably at the same index. An entry without an identity
/// corresponds to the entry at the same index, if the list has the same length.
fn same_entry<'a>(
    base: &'a [Value],
    entry: &Map<String, Value>,
    place: usize,
    is_as_long: bool,
) -> Option<&'a Map<String, Value>> {
    let is_same =
        |known: &&Map<String, Value>| identity(known).is_some_and(|key| known.get(key) == entry.get(key));
    let there = base.get(place).and_then(Value::as_object);
    let mut known = there.into_iter().chain(base.iter().filter_map(Value::as_object));
    known.find(is_same).or_else(|| {
        let there = there.filter(|_| is_as_long)?;
        (!entry.contains_key(identity(there)?)).then_some(there)
    })
}

/// `onto`, with the value of `theirs` for every key whose value differs between `base` and `theirs`, at every
/// level of nested mappings.
pub fn with_changes(base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
    let (Ok((base, _)), Ok((theirs, _)), Ok(mut document)) =
        (object(base), object(theirs), Document::parse(onto))
    else {
        return onto.to_vec();
    };
    set_changed(&mut document, &base, &theirs, &mut Vec::new());
    document.into_bytes()
}

fn set_changed<'a>(
    document: &mut Document,
    base: &Map<String, Value>,
    theirs: &'a Map<String, Value>,
    above: &mut Vec<Step<'a>>,
) {
    for (key, value) in theirs {
        above.push(Step::Key(key));
        match (base.get(key), value) {
            (Some(before), now) if before == now => {}
            (Some(Value::Object(before)), Value::Object(now)) => set_changed(document, before, now, above),
            (Some(Value::Array(before)), Value::Array(now)) => list_changed(document, before, now, above),
            (_, now) => drop(document.set(above, now)),
        }
        above.pop();
    }
}

/// Applies entries of a list that were changed or appended. Removes nothing.
fn list_changed<'a>(document: &mut Document, base: &[Value], theirs: &'a [Value], above: &mut Vec<Step<'a>>) {
    for (place, now) in theirs.iter().enumerate() {
        above.push(Step::At(place));
        match (base.get(place), now) {
            (Some(before), now) if before == now => {}
            (Some(Value::Object(before)), Value::Object(now)) => set_changed(document, before, now, above),
            (Some(_), now) => drop(document.set(above, now)),
            (None, now) => drop(document.push(&above[..above.len() - 1], now)),
        }
        above.pop();
    }
}
