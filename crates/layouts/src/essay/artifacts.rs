//! The files that prove a section or a stage, and the resolution of paths in the state.

use super::recover;
use super::state::{Section, State};
use crate::layout::Folder;

pub(super) fn argument_map(section: u32) -> String {
    format!("stage-3-section-{section}-arguments.md")
}

/// The number of the section whose current argument map this file is; `None` for any other file.
pub(super) fn section_of_map(path: &str) -> Option<u32> {
    let number = path.strip_prefix("stage-3-section-")?.strip_suffix("-arguments.md")?;
    number.parse().ok().filter(|section| *section > 0 && argument_map(*section) == path)
}

/// The name that an archived file had before it was archived. For any other file, its own name.
pub(super) fn current_name(path: &str) -> String {
    let archived = path.strip_suffix(".md").and_then(|stem| {
        let (stem, version) = stem.rsplit_once(".v")?;
        (!version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())).then_some(stem)
    });
    archived.map_or_else(|| path.to_owned(), |stem| format!("{stem}.md"))
}

/// The file or place that a path in the state file refers to.
pub(super) enum Referred {
    /// In the session's folder. The path is relative to that folder.
    Inside(String),
    Outside,
}

/// Resolves a path in the state file. The session's folder may have moved since the path was written.
pub(super) fn refer(path: &str, state: &State, folder: &Folder<'_>) -> Referred {
    let inside = |rest: &str| Referred::Inside(rest.trim_start_matches("./").to_owned());
    let said = state.session_dir.as_deref().map(|said| said.trim_end_matches('/'));
    let (place, name) = (folder.spot.path.as_str(), folder.spot.path.rsplit('/').next().unwrap_or_default());
    for known in said.into_iter().chain([place]) {
        if let Some(rest) = path.strip_prefix(known).and_then(|rest| rest.strip_prefix('/')) {
            return if rest.contains("..") { Referred::Outside } else { inside(rest) };
        }
    }
    if let Some((_, rest)) = path.split_once(&format!("/{name}/")) {
        return if rest.contains("..") { Referred::Outside } else { inside(rest) };
    }
    if path.starts_with('/') || path.contains("..") { Referred::Outside } else { inside(path) }
}

/// The path of the file that proves a stage, if that file exists.
pub(super) fn artifact_of(state: &State, position: usize, folder: &Folder<'_>) -> Option<String> {
    let named = |key: &str, usual: &str| {
        let said = state.stages[position].fields.get(key).and_then(|value| value.as_str());
        let path = match said.map(|path| refer(path, state, folder)) {
            Some(Referred::Inside(path)) => path,
            Some(Referred::Outside) => return None,
            None => usual.to_owned(),
        };
        folder.tree.has_file(&path).then_some(path)
    };
    match position {
        0 => named("thesis_file", "stage-1-thesis.md"),
        1 => named("outline_file", "stage-2-outline.md"),
        2 => {
            let maps: Option<Vec<String>> =
                state.sections.iter().map(|section| map_of(section, state, folder)).collect();
            maps?.into_iter().next()
        }
        _ => named("draft_file", recover::DRAFT)
            .or_else(|| Some(recover::FINAL.to_owned()).filter(|path| folder.tree.has_file(path))),
    }
}

/// The path of a section's argument map, if that file exists.
pub(super) fn map_of(section: &Section, state: &State, folder: &Folder<'_>) -> Option<String> {
    let said = section.fields.get("argument_map_file").and_then(|value| value.as_str());
    let path = match said.map(|path| refer(path, state, folder)) {
        Some(Referred::Inside(path)) => path,
        Some(Referred::Outside) => return None,
        None => argument_map(section.index),
    };
    folder.tree.has_file(&path).then_some(path)
}
