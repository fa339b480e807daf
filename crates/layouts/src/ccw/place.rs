//! Where sessions are, which of their files matter, and how new sessions are named. An id is always checked
//! before it is used in a path.

use super::documents::NATIVE_PLAN;
use super::{ACTIVE, ARCHIVES, HOME, MARKER, MOST_OF_THE_REGISTRY, REGISTRY, STATE, TASKS};
use crate::layout::{
    FileRules, Fits, NewAim, NewName, NewSession, Places, Role, Rule, SessionPlace, Spot, Unplaced,
    id_of_name,
};
use crate::problem::{OfRegistry, Problem, What};
use crate::tree::Tree;
use model::id::SessionId;
use model::lifecycle::Lifecycle;

const PREFIX: &str = "WFS-";
/// Maximum length of a new session's id, including `WFS-`.
pub const MOST_IN_AN_ID: usize = 50;

/// The kind of place that a session's folder is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Directly below the home; the session's files say whether it is active.
    Home,
    Active,
    Archives,
}

impl Ground {
    pub(super) fn of(folder: &str) -> Self {
        match folder.split_once('/') {
            Some((ACTIVE, _)) => Self::Active,
            Some((ARCHIVES, _)) => Self::Archives,
            Some(_) | None => Self::Home,
        }
    }
}

pub(super) fn spot(path: &str, is_folder: bool) -> Option<Spot> {
    let name = match path.strip_prefix(HOME).and_then(|rest| rest.strip_prefix('/')) {
        Some(below) => match below.split_once('/') {
            None => below,
            Some((ACTIVE | ARCHIVES, name)) if !name.contains('/') => name,
            Some(_) => return elsewhere(path, is_folder),
        },
        None => return elsewhere(path, is_folder),
    };
    let is_other = name.is_empty() || name.contains('/') || name.starts_with('.') || name == PREFIX;
    let is_session = is_folder && !is_other && ![ACTIVE, ARCHIVES].contains(&name);
    is_session.then(|| Spot {
        id: id_of(name),
        path: path.to_owned(),
        home: HOME.to_owned(),
        workspace: path.to_owned(),
        // A folder whose name starts with the prefix is a session. A folder with another name is a session
        // only if it contains a state file.
        known_by: (!name.starts_with(PREFIX)).then(|| format!("{path}/{STATE}")),
    })
}

/// A session outside the usual places, which is known only from the registry. Its folder needs the prefix and
/// a state file.
fn elsewhere(path: &str, is_folder: bool) -> Option<Spot> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_below = !path.split('/').any(|part| part.is_empty() || part == "." || part == "..");
    let is_session = is_folder && is_below && name.starts_with(PREFIX) && name != PREFIX;
    is_session.then(|| Spot {
        id: id_of(name),
        path: path.to_owned(),
        home: HOME.to_owned(),
        workspace: path.to_owned(),
        known_by: Some(format!("{path}/{STATE}")),
    })
}

/// True for a session outside the usual places, so that only the registry leads to it.
pub(super) fn is_elsewhere(spot: &Spot) -> bool {
    !places_of(name_of(spot)).contains(&spot.path)
}

/// True if the session's folder exists and contains the file by which it is recognised, if any.
pub(super) fn is_there(spot: &Spot, is_there: &dyn Fn(&str) -> bool) -> bool {
    is_there(&spot.path) && spot.known_by.as_ref().is_none_or(|file| is_there(file))
}

/// Every usual path of a session with this name, below the project's folder.
pub(super) fn places_of(name: &str) -> [String; 3] {
    [format!("{HOME}/{name}"), format!("{HOME}/{ACTIVE}/{name}"), format!("{HOME}/{ARCHIVES}/{name}")]
}

/// The session's name, which is its folder's name.
pub(super) fn name_of(spot: &Spot) -> &str {
    spot.path.rsplit('/').next().unwrap_or_default()
}

/// The current folder of a session, relative to the home. Found even if somebody moved it to another of the
/// usual places.
pub(super) fn folder_in(spot: &Spot, tree: &Tree) -> String {
    let own = spot.folder();
    if is_elsewhere(spot) {
        return own;
    }
    let name = name_of(spot);
    let candidates = [own.clone(), name.to_owned(), format!("{ACTIVE}/{name}"), format!("{ARCHIVES}/{name}")];
    let is_there =
        |folder: &String| tree.has_folder(folder) || tree.get(&format!("{folder}/{STATE}")).is_some();
    candidates.into_iter().find(is_there).unwrap_or(own)
}

/// Reports a home in which no name is recognised: it may contain sessions of an unknown format.
pub(super) fn strangers(index: &Tree, is_there: &dyn Fn(&str) -> bool) -> Option<Problem> {
    let is_known = |name: &str| {
        name.starts_with(PREFIX)
            || name.starts_with(MARKER)
            || [ACTIVE, ARCHIVES, REGISTRY].contains(&name)
            || is_there(&format!("{HOME}/{name}/{STATE}"))
    };
    let names: Vec<String> = index.names_in("").map(ToOwned::to_owned).collect();
    if names.is_empty() || names.iter().any(|name| is_known(name)) {
        return None;
    }
    Some(Problem::of_file("", What::Registry(OfRegistry::Strangers { prefix: PREFIX, names })))
}

/// Reports marker files of missing sessions. While such a file exists, every session is considered paused.
pub(super) fn stray_markers(index: &Tree, is_there: &dyn Fn(&str) -> bool) -> Vec<Problem> {
    let is_stray = |name: &&str| !places_of(name).iter().any(|path| is_there(path));
    let marked = index.names_in("").filter_map(|name| name.strip_prefix(MARKER)).filter(is_stray);
    marked
        .map(|name| {
            let stray = OfRegistry::StrayMarker { name: super::fields::cut(name) };
            Problem::of_file(format!("{MARKER}{name}"), What::Registry(stray))
        })
        .collect()
}

/// The rules for a session's files: only the registry, the session's marker file and its folder matter.
pub(super) fn files(spot: &Spot) -> FileRules {
    let name = name_of(spot);
    let marker = format!("{MARKER}{name}");
    let mut rules = vec![
        Rule { most: MOST_OF_THE_REGISTRY, ..Rule::both(Fits::Is(REGISTRY.to_owned()), Role::Shared) },
        Rule::files(Fits::Is(marker.clone()), Role::Marker),
        Rule::folders(Fits::Is(marker.clone()), Role::Skip),
        // The home itself, which contains the folders of all sessions.
        Rule::both(Fits::Is(String::new()), Role::Listed),
        Rule::folders(Fits::Is(ACTIVE.to_owned()), Role::Listed),
        Rule::folders(Fits::Is(ARCHIVES.to_owned()), Role::Listed),
    ];
    let own = spot.folder();
    let folders = if is_elsewhere(spot) {
        vec![own.clone()]
    } else {
        vec![name.to_owned(), format!("{ACTIVE}/{name}"), format!("{ARCHIVES}/{name}")]
    };
    rules.extend(folders.iter().flat_map(|folder| own_files(folder)));
    let others = folders.iter().filter(|folder| **folder != own).cloned();
    let place = |path: String| SessionPlace {
        known_by: format!("{path}/{STATE}"),
        lifecycles: lifecycles(Ground::of(&path)),
        path,
    };
    FileRules {
        // Somebody may have moved the session to another of its possible folders.
        roots: folders.iter().cloned().chain([REGISTRY.to_owned(), marker]).collect(),
        // The tool archives a session by moving its folder.
        places: Places {
            all: [own.clone()].into_iter().chain(others).map(place).collect(),
            when_gone: Some(own),
        },
        rules,
    }
}

/// The lifecycles of sessions in a place. In later releases, archives contain finished sessions, and the
/// active folder contains all others.
fn lifecycles(ground: Ground) -> &'static [&'static str] {
    match ground {
        Ground::Home => &[],
        Ground::Active => &Lifecycle::UNFINISHED,
        Ground::Archives => &["completed", "abandoned"],
    }
}

fn own_files(folder: &str) -> Vec<Rule> {
    let own = |name: &str| Fits::Is(format!("{folder}/{name}"));
    vec![
        Rule::folders(Fits::Is(folder.to_owned()), Role::Listed),
        // A chat log is not state, and may be long.
        Rule::both(own(".chat"), Role::Skip),
        Rule::both(own(STATE), Role::State),
        Rule::both(own(super::PLAN), Role::Evidence),
        Rule::both(own(NATIVE_PLAN), Role::ReadIfWhole),
        Rule::files(Fits::In(format!("{folder}/{TASKS}"), ".json"), Role::State),
        Rule::both(Fits::In(folder.to_owned(), ""), Role::Listed),
        Rule::both(Fits::Below(folder.to_owned()), Role::ListedIfWhole),
    ]
}

/// The location of a new session: the folder of active sessions if the project has this folder, because the
/// tool looks there. The same folder is used for an export to an empty project, because the release used
/// there is unknown. Otherwise the location is the home.
pub(super) fn of_new(new: &NewSession<'_>) -> Result<Spot, Unplaced> {
    let is_taken = |name: &str| places_of(name).iter().any(|path| (new.is_taken)(path));
    let name = match new.name {
        NewName::Beside(beside, number) => return numbered(beside, number),
        NewName::Asked(id) => asked_for(id)
            .and_then(|name| if is_taken(&name) { Err(Unplaced::Exists { name }) } else { Ok(name) })?,
        NewName::Made(occasion) => free_name(&slug(occasion.title), is_taken),
    };
    let has_active = (new.is_taken)(&format!("{HOME}/{ACTIVE}"));
    let is_for_later = new.aim == NewAim::Export && !(new.is_taken)(HOME);
    let place = if has_active || is_for_later { format!("{HOME}/{ACTIVE}") } else { HOME.to_owned() };
    spot(&format!("{place}/{name}"), true).ok_or(Unplaced::NoFolderName { name })
}

fn asked_for(id: &str) -> Result<String, Unplaced> {
    let slug = id.strip_prefix(PREFIX).unwrap_or(id);
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_slug =
        !slug.is_empty() && slug.chars().all(is_plain) && !slug.starts_with('-') && !slug.ends_with('-');
    if !is_slug {
        let rule = "lowercase letters, digits and hyphens, after WFS-";
        return Err(Unplaced::NoId { id: id.to_owned(), rule });
    }
    if slug.len() + PREFIX.len() > MOST_IN_AN_ID {
        return Err(Unplaced::TooLong { id: id.to_owned(), most: MOST_IN_AN_ID, with: PREFIX });
    }
    Ok(format!("{PREFIX}{slug}"))
}

/// A title in lower case, with hyphens in place of everything except letters and digits.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.chars().flat_map(char::to_lowercase) {
        match without_mark(letter) {
            Some(plain) => slug.push_str(plain),
            None if letter.is_ascii_alphanumeric() => slug.push(letter),
            None if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            None => {}
        }
    }
    let slug = shortened(&slug, MOST_IN_AN_ID - PREFIX.len());
    if slug.is_empty() { "session".to_owned() } else { slug }
}

/// A European letter without its diacritic, so that the word stays readable.
fn without_mark(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à'..='å' => "a",
        'æ' => "ae",
        'ç' => "c",
        'è'..='ë' => "e",
        'ì'..='ï' => "i",
        'ñ' => "n",
        'ò'..='ö' | 'ø' => "o",
        'œ' => "oe",
        'ß' => "ss",
        'ù'..='ü' => "u",
        'ý' | 'ÿ' => "y",
        _ => return None,
    })
}

/// Shortens a name, at a hyphen if one is near, so that words stay whole.
fn shortened(slug: &str, most: usize) -> String {
    let mut short: String = slug.chars().take(most).collect();
    let is_cut = slug.len() > most && !slug[most..].starts_with('-');
    if let Some(end) = short.rfind('-').filter(|end| is_cut && *end > most / 2) {
        short.truncate(end);
    }
    short.trim_end_matches('-').to_owned()
}

/// A name that no session has. A number is added only if the plain name is taken.
fn free_name(slug: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let first = format!("{PREFIX}{slug}");
    if !is_taken(&first) {
        return first;
    }
    let numbered = |number: u32| with_number(slug, number);
    (2..u32::MAX).map(numbered).find(|name| !is_taken(name)).unwrap_or(first)
}

fn with_number(slug: &str, number: u32) -> String {
    let suffix = format!("-{number:03}");
    let short = shortened(slug, MOST_IN_AN_ID - PREFIX.len() - suffix.len());
    format!("{PREFIX}{short}{suffix}")
}

/// The location of a session whose name is taken: next to the session of that name, with a number added.
fn numbered(beside: &Spot, number: u32) -> Result<Spot, Unplaced> {
    let (place, name) = beside.path.rsplit_once('/').unwrap_or(("", &beside.path));
    let name = with_number(name.strip_prefix(PREFIX).unwrap_or(name), number);
    spot(&format!("{place}/{name}"), true).ok_or(Unplaced::NoFolderName { name })
}

pub(super) fn id_of(folder: &str) -> SessionId {
    id_of_name("ccw", folder)
}
