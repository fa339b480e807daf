//! A state whose folder is another one: the paths in it that begin with the old folder begin with the new one.

use super::STAGES;
use super::state::FILE_KEYS;
use crate::yaml::Document;
use crate::yaml::Step::{self, At, Key};
use serde_json::{Value, json};

/// The state as it is in that folder; none when it names it already, or names none that can be told from another.
pub(super) fn named(content: &[u8], place: &str) -> Option<Vec<u8>> {
    let mut document = Document::parse(content).ok()?;
    let said = document.get(&[Key("session_dir")])?;
    // One that is relative to the folder itself is right wherever that is.
    let old = said.as_str().map(|path| path.trim_end_matches('/')).filter(|path| path.starts_with('/'))?;
    if old == place {
        return None;
    }
    let old = format!("{old}/");
    document.set(&[Key("session_dir")], &json!(place)).ok()?;
    for path in paths(&document) {
        let there = document.get(&path);
        let rest = there.as_ref().and_then(Value::as_str).and_then(|path| path.strip_prefix(&old));
        if let Some(rest) = rest {
            let new = json!(format!("{place}/{rest}"));
            // What cannot be set without harm stays: whoever reads it finds the file by its name.
            drop(document.set(&path, &new));
        }
    }
    Some(document.into_bytes())
}

/// Where a file of the session is named.
fn paths(document: &Document) -> Vec<Vec<Step<'static>>> {
    let stage = |position: usize| [Key("stages"), Key(STAGES[position].key)];
    let mut paths: Vec<Vec<Step<'static>>> = FILE_KEYS
        .iter()
        .map(|(position, key, _)| stage(*position).into_iter().chain([Key(key)]).collect())
        .collect();
    let sections = document.get(&[Key("stages"), Key(STAGES[2].key), Key("sections")]);
    let count = sections.and_then(|sections| Some(sections.as_array()?.len())).unwrap_or(0);
    let of_section = |place| [Key("sections"), At(place), Key("argument_map_file")];
    paths.extend((0..count).map(|place| stage(2).into_iter().chain(of_section(place)).collect()));
    paths.push(vec![Key("output"), Key("final_essay_file")]);
    paths
}
