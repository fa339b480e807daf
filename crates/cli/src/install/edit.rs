//! An edit of one agent's file: adds, removes or finds leftoff's entries. Works on texts, and reads or writes no file.

use crate::install::agents::{holds_ours, is_ours};
use crate::install::marked_section::{Marks, has_section, with_section, without_section};
use crate::install::{json, writable_roots};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

pub enum Edit {
    Json(JsonEdit),
    /// A section between marks.
    Section {
        path: PathBuf,
        marks: Marks,
        body: &'static str,
        only_if_there: bool,
    },
    /// A file that contains nothing but leftoff's entries.
    Own {
        path: PathBuf,
        text: &'static str,
    },
    /// The list of folders, in Codex's settings, to which its sandbox may write.
    Roots {
        path: PathBuf,
        roots: Vec<String>,
    },
}

pub struct JsonEdit {
    pub path: PathBuf,
    /// The other content that the file gets if it does not exist yet.
    pub base: Json,
    pub lists: Vec<ListEntry>,
    /// Entries that are not in lists. Each has a path, a key and a value.
    pub keys: Vec<(Vec<&'static str>, &'static str, Json)>,
}

/// An entry in a list. It is recognised by its command.
pub struct ListEntry {
    pub path: Vec<&'static str>,
    pub element: Json,
}

/// How many of leftoff's entries a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wired {
    Whole,
    /// Some entries are missing, because an older leftoff added fewer or somebody removed some.
    Partly,
    Not,
}

impl Edit {
    pub fn section(path: PathBuf, marks: Marks, body: &'static str) -> Self {
        Self::Section { path, marks, body, only_if_there: false }
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Json(edit) => &edit.path,
            Self::Section { path, .. } | Self::Own { path, .. } | Self::Roots { path, .. } => path,
        }
    }

    /// The file's text with leftoff's entries. `None` if the file must not exist.
    pub fn put_in(&self, text: Option<&str>) -> Result<Option<String>, String> {
        match self {
            Self::Json(edit) => edit.put_in(text).map(Some),
            Self::Section { only_if_there: true, .. } if text.is_none() => Ok(None),
            Self::Section { marks, body, .. } => Ok(Some(with_section(text, *marks, body))),
            Self::Own { text: ours, .. } => match text {
                Some(text) if !text.contains(OWN_MARK) => {
                    Err("the file was not written by leftoff".to_owned())
                }
                Some(_) | None => Ok(Some((*ours).to_owned())),
            },
            Self::Roots { roots, .. } if roots.is_empty() => Ok(text.map(ToOwned::to_owned)),
            Self::Roots { roots, .. } => writable_roots::with_roots(text, roots).map(Some),
        }
    }

    /// The file's text without leftoff's entries. `None` if the file must not exist.
    pub fn take_out(&self, text: Option<&str>) -> Result<Option<String>, String> {
        let Some(text) = text else { return Ok(None) };
        match self {
            Self::Json(edit) => edit.take_out(text),
            Self::Section { marks, .. } => Ok(without_section(text, *marks)),
            Self::Own { .. } => Ok((!text.contains(OWN_MARK)).then(|| text.to_owned())),
            Self::Roots { roots, .. } => writable_roots::without_roots(text, roots),
        }
    }

    pub fn wired(&self, text: Option<&str>) -> Wired {
        let Some(text) = text else { return Wired::Not };
        let whole = |is: bool| if is { Wired::Whole } else { Wired::Not };
        match self {
            Self::Json(edit) => edit.wired(text),
            Self::Section { marks, .. } => whole(has_section(text, *marks)),
            Self::Own { text: ours, .. } if text.contains(OWN_MARK) => {
                if text == *ours {
                    Wired::Whole
                } else {
                    Wired::Partly
                }
            }
            Self::Own { .. } => Wired::Not,
            Self::Roots { roots, .. } => whole(writable_roots::has_roots(text, roots)),
        }
    }
}

/// The mark in the first line of every file that contains nothing but leftoff's entries.
const OWN_MARK: &str = "Written by leftoff init";

impl JsonEdit {
    fn put_in(&self, text: Option<&str>) -> Result<String, String> {
        let mut text = text.map_or_else(|| self.fresh(), ToOwned::to_owned);
        for list in &self.lists {
            text = json::with_element(&text, &list.path, &holds_ours, &list.element)?;
        }
        for (path, key, value) in &self.keys {
            text = json::with_key(&text, path, key, value)?;
        }
        Ok(text)
    }

    /// The text of a new file. leftoff's entry starts on a line of its own, which shows that leftoff created the file.
    fn fresh(&self) -> String {
        let mut whole = self.base.clone();
        for list in &self.lists {
            put(&mut whole, &list.path, Json::Array(vec![list.element.clone()]));
        }
        for (path, key, value) in &self.keys {
            let path: Vec<&str> = path.iter().copied().chain([*key]).collect();
            put(&mut whole, &path, value.clone());
        }
        json::fresh(&whole)
    }

    fn take_out(&self, text: &str) -> Result<Option<String>, String> {
        let mut text = text.to_owned();
        for (path, key, value) in self.keys.iter().rev() {
            let is_same = |found: &Json| {
                found.get("command") == value.get("command") && found.get("args") == value.get("args")
            };
            match json::without_key(&text, path, key, &is_same)? {
                Some(shorter) => text = shorter,
                None => return Ok(None),
            }
        }
        for list in self.lists.iter().rev() {
            match without_ours(&text, &list.path)? {
                Some(shorter) => text = shorter,
                None => return Ok(None),
            }
        }
        Ok((text != json::fresh(&self.base)).then_some(text))
    }

    fn wired(&self, text: &str) -> Wired {
        let Ok(value) = json::read(text) else { return Wired::Not };
        let at = |path: &[&str]| path.iter().try_fold(&value, |value, key| value.get(key));
        let lists = self.lists.iter().map(|list| {
            at(&list.path).and_then(Json::as_array).is_some_and(|elements| elements.iter().any(holds_ours))
        });
        let keys =
            self.keys.iter().map(|(path, key, _)| at(path).is_some_and(|value| value.get(key).is_some()));
        let found: Vec<bool> = lists.chain(keys).collect();
        match found.iter().filter(|found| **found).count() {
            0 => Wired::Not,
            count if count == found.len() => Wired::Whole,
            _ => Wired::Partly,
        }
    }
}

/// Removes all of leftoff's entries from a list, also from groups that contain other entries.
fn without_ours(text: &str, path: &[&str]) -> Result<Option<String>, String> {
    let mut text = text.to_owned();
    loop {
        let value = json::read(&text)?;
        let list = path.iter().try_fold(&value, |value, key| value.get(key)).and_then(Json::as_array);
        let Some(list) = list else { return Ok(Some(text)) };
        let Some(place) = list.iter().rposition(holds_ours) else { return Ok(Some(text)) };
        let hooks = list[place].get("hooks").and_then(Json::as_array);
        let shorter = if hooks.is_some_and(|hooks| !hooks.iter().all(is_ours)) {
            let place = place.to_string();
            let inner: Vec<&str> = path.iter().copied().chain([place.as_str(), "hooks"]).collect();
            json::without_element(&text, &inner, &is_ours)?
        } else {
            json::without_element(&text, path, &holds_ours)?
        };
        match shorter {
            Some(shorter) => text = shorter,
            None => return Ok(None),
        }
    }
}

fn put(whole: &mut Json, path: &[&str], value: Json) {
    let Some((last, above)) = path.split_last() else { return };
    let mut at = whole;
    for key in above {
        let Json::Object(members) = at else { return };
        at = members.entry(*key).or_insert_with(|| Json::Object(serde_json::Map::new()));
    }
    if let Json::Object(members) = at {
        members.insert((*last).to_owned(), value);
    }
}
