//! Adapts the state of a session whose folder moved: paths that begin with the old folder get the new one.

use super::STAGES;
use super::state::{FILE_KEYS, State};
use crate::yaml::Document;
use crate::yaml::Step::{self, At, Key};
use serde_json::{Value, json};

/// The content of a state file, with paths in the folder `place`. `None` if nothing needs to change.
pub(super) fn named(content: &[u8], place: &str) -> Option<Vec<u8>> {
    let mut document = Document::parse(content).ok()?;
    let said = document.get(&[Key("session_dir")])?;
    let old = moved_from(said.as_str(), place)?;
    document.set(&[Key("session_dir")], &json!(place)).ok()?;
    for path in paths(&document) {
        let Some(mut value) = document.get(&path) else { continue };
        move_path(&mut value, &old, place);
        // A path that cannot be changed safely stays. Readers find the file by its name anyway.
        drop(document.set(&path, &value));
    }
    Some(document.into_bytes())
}

/// A state in which all paths are in the folder `place`, even if the file names another folder.
pub(super) fn here(state: &State, place: &str) -> State {
    let mut here = state.clone();
    let Some(old) = moved_from(state.session_dir.as_deref(), place) else { return here };
    let stages = FILE_KEYS.iter().map(|(position, key, _)| (*position, *key));
    for (position, key) in stages {
        here.stages[position].fields.entry(key.to_owned()).and_modify(|value| move_path(value, &old, place));
    }
    for section in &mut here.sections {
        let map = section.fields.entry("argument_map_file".to_owned());
        map.and_modify(|value| move_path(value, &old, place));
    }
    here.fields.entry("final_essay_file".to_owned()).and_modify(|value| move_path(value, &old, place));
    here
}

/// The old folder that the state names, if the session has moved. `None` for a relative path, which stays
/// valid anywhere.
fn moved_from(said: Option<&str>, place: &str) -> Option<String> {
    let old = said?.trim_end_matches('/');
    (old.starts_with('/') && old != place).then(|| format!("{old}/"))
}

fn move_path(value: &mut Value, old: &str, place: &str) {
    if let Some(rest) = value.as_str().and_then(|path| path.strip_prefix(old)) {
        *value = json!(format!("{place}/{rest}"));
    }
}

/// The paths of all keys in a state that name a file of the session.
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
