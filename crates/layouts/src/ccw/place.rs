//! Where sessions are, what of their files is wanted, and what a new one is called. Ids never become a path unchecked.

use super::{ACTIVE, ARCHIVES, HOME, MARKER, REGISTRY, STATE, TASKS};
use crate::layout::{Beginning, Depth, Interest, Spot, id_of_name};
use crate::problem::{OfRegistry, Problem, What};
use crate::tree::Tree;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;

const PREFIX: &str = "WFS-";
/// Of a new session's id, `WFS-` counted.
pub const MOST_IN_AN_ID: usize = 50;

/// Which of the places a session's folder is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Right below the home: its state is what its files say.
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
    let below = path.strip_prefix(HOME)?.strip_prefix('/')?;
    let name = match below.split_once('/') {
        None => below,
        Some((ACTIVE | ARCHIVES, name)) => name,
        Some(_) => return None,
    };
    let is_other = name.is_empty() || name.contains('/') || name.starts_with('.') || name == PREFIX;
    let is_session = is_folder && !is_other && ![ACTIVE, ARCHIVES].contains(&name);
    is_session.then(|| Spot {
        id: id_of(name),
        path: path.to_owned(),
        home: HOME.to_owned(),
        workspace: path.to_owned(),
    })
}

/// What is called as sessions are is one; another folder is known by its state.
pub(super) fn known_by(spot: &Spot) -> Option<String> {
    (!name_of(spot).starts_with(PREFIX)).then(|| format!("{}/{STATE}", spot.path))
}

/// Whether a session is there.
pub(super) fn is_there(spot: &Spot, is_there: &dyn Fn(&str) -> bool) -> bool {
    is_there(&spot.path) && known_by(spot).is_none_or(|file| is_there(&file))
}

/// Every path that a session of this name can be at, below the project's folder.
pub(super) fn places_of(name: &str) -> [String; 3] {
    [format!("{HOME}/{name}"), format!("{HOME}/{ACTIVE}/{name}"), format!("{HOME}/{ARCHIVES}/{name}")]
}

/// The session's own name, which is that of its folder.
pub(super) fn name_of(spot: &Spot) -> &str {
    spot.path.rsplit('/').next().unwrap_or_default()
}

/// The session's folder below the home. One that was moved to another place is found there.
pub(super) fn folder_in(spot: &Spot, tree: &Tree) -> String {
    let own = below_home(spot).to_owned();
    let name = name_of(spot);
    let candidates = [own.clone(), name.to_owned(), format!("{ACTIVE}/{name}"), format!("{ARCHIVES}/{name}")];
    let is_there =
        |folder: &String| tree.has_folder(folder) || tree.get(&format!("{folder}/{STATE}")).is_some();
    candidates.into_iter().find(is_there).unwrap_or(own)
}

/// Whether a file was in the session's folder when that was in another place.
pub(super) fn has_moved(spot: &Spot, path: &str, tree: &Tree) -> bool {
    let now = folder_in(spot, tree);
    let name = name_of(spot);
    let places = [name.to_owned(), format!("{ACTIVE}/{name}"), format!("{ARCHIVES}/{name}")];
    let is_in =
        |folder: &String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
    places.iter().any(|folder| *folder != now && is_in(folder))
}

/// A home in which nothing is known: saying that there are no sessions would be saying too much.
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

/// Markers of sessions that are not there: as long as one lies there, every session counts as paused.
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

/// In later releases the place is the state: what is finished is among the archived ones, all else among the active.
pub(super) fn belongs(session: &Session, spot: &Spot) -> Option<String> {
    let is_finished = match session.lifecycle {
        Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => true,
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => false,
    };
    let place = match (Ground::of(below_home(spot)), is_finished) {
        (Ground::Active, true) => ARCHIVES,
        (Ground::Archives, false) => ACTIVE,
        (Ground::Active, false) | (Ground::Archives, true) | (Ground::Home, _) => return None,
    };
    Some(format!("{HOME}/{place}/{}", name_of(spot)))
}

/// A session that was moved from one place to another is in one of these.
pub(super) fn entrances(spot: &Spot) -> Vec<String> {
    let name = name_of(spot);
    let own = [name.to_owned(), format!("{ACTIVE}/{name}"), format!("{ARCHIVES}/{name}")];
    own.into_iter().chain([REGISTRY.to_owned(), format!("{MARKER}{name}")]).collect()
}

pub(super) fn interest(spot: &Spot, path: &str, is_folder: bool, depth: Depth) -> Interest {
    let name = name_of(spot);
    if path == REGISTRY {
        return Interest::Content;
    }
    if path.strip_prefix(MARKER) == Some(name) {
        return if is_folder { Interest::Skip } else { Interest::Content };
    }
    // The home itself, which holds all of them.
    if path.is_empty() || (is_folder && (path == ACTIVE || path == ARCHIVES)) {
        return Interest::Name;
    }
    let below = path.strip_prefix(ACTIVE).or_else(|| path.strip_prefix(ARCHIVES));
    let below = below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    match below.strip_prefix(name) {
        Some("") if is_folder => Interest::Name,
        Some(rest) => rest.strip_prefix('/').map_or(Interest::Skip, |own| own_file(own, is_folder, depth)),
        None => Interest::Skip,
    }
}

fn own_file(path: &str, is_folder: bool, depth: Depth) -> Interest {
    let whole = depth == Depth::Whole;
    match path {
        // What was said is nobody's state, and there may be much of it.
        ".chat" => Interest::Skip,
        STATE => Interest::Content,
        super::PLAN => Interest::Evidence,
        _ if !is_folder && is_task(path) => Interest::Content,
        _ if path.contains('/') && !whole => Interest::Skip,
        _ => Interest::Name,
    }
}

fn is_task(path: &str) -> bool {
    path.strip_prefix(TASKS)
        .and_then(|rest| rest.strip_prefix('/'))
        .is_some_and(|name| name.strip_suffix(".json").is_some() && !name.contains('/'))
}

/// Where a new session goes. In a project that has a folder for active ones it goes there: its tools look there.
pub(super) fn begin(beginning: &Beginning<'_>) -> Result<Spot, String> {
    let is_taken = |name: &str| places_of(name).iter().any(|path| (beginning.is_taken)(path));
    let name = match beginning.id {
        Some(id) => asked_for(id).and_then(|name| {
            if is_taken(&name) { Err(format!("there is a session '{name}' already")) } else { Ok(name) }
        })?,
        None => free_name(&slug(beginning.title), is_taken),
    };
    let has_active = (beginning.is_taken)(&format!("{HOME}/{ACTIVE}"));
    let place = if has_active { format!("{HOME}/{ACTIVE}") } else { HOME.to_owned() };
    spot(&format!("{place}/{name}"), true)
        .ok_or_else(|| format!("'{name}' is no name for a session's folder"))
}

fn asked_for(id: &str) -> Result<String, String> {
    let slug = id.strip_prefix(PREFIX).unwrap_or(id);
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_slug =
        !slug.is_empty() && slug.chars().all(is_plain) && !slug.starts_with('-') && !slug.ends_with('-');
    if !is_slug {
        return Err(format!(
            "'{id}' is no id of this layout: lowercase letters, digits and hyphens, after WFS-"
        ));
    }
    if slug.len() + PREFIX.len() > MOST_IN_AN_ID {
        return Err(format!("'{id}' is too long: {MOST_IN_AN_ID} characters at most, with WFS-"));
    }
    Ok(format!("{PREFIX}{slug}"))
}

/// Lowercase, with a hyphen for whatever is no letter or digit.
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

/// A letter of a European word as it is written where there is no other: the word can still be read then.
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

/// At a hyphen where there is one not far back, so that no word is cut.
fn shortened(slug: &str, most: usize) -> String {
    let mut short: String = slug.chars().take(most).collect();
    let is_cut = slug.len() > most && !slug[most..].starts_with('-');
    if let Some(end) = short.rfind('-').filter(|end| is_cut && *end > most / 2) {
        short.truncate(end);
    }
    short.trim_end_matches('-').to_owned()
}

/// A number follows on a conflict only.
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

/// Beside one of the same name, in the same of the places.
pub(super) fn numbered(beside: &Spot, number: u32) -> Option<Spot> {
    let (place, name) = beside.path.rsplit_once('/')?;
    let slug = name.strip_prefix(PREFIX).unwrap_or(name);
    spot(&format!("{place}/{}", with_number(slug, number)), true)
}

pub(super) fn below_home(spot: &Spot) -> &str {
    spot.path.strip_prefix(HOME).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&spot.path)
}

pub(super) fn id_of(folder: &str) -> SessionId {
    id_of_name("ccw", folder)
}
