//! Finds sessions outside projects, in temporary folders. Each of them is a small project of its own, with its log in
//! the user's store. Writes nothing.

use crate::config::Config;
use crate::engine::{Engine, Intent, Options};
use crate::error::{Error, Result};
use crate::execute::StartRequest;
use crate::project::Project;
use crate::view::{ShortView, Warning};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use layouts::layout::{self, Layout, NewSession, Occasion, Place};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::words;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use store::{Filter, Listed, SessionRow};

/// The maximum number of session folders outside the project that are listed.
const MOST: usize = 200;

/// An entry in a temporary folder that has the name of a session.
struct Candidate {
    path: PathBuf,
    refused: Option<&'static str>,
}

/// Returns the folder outside projects that the command means; `None` if it means the current project.
pub(crate) fn meant(options: &Options, project: Option<&Project>) -> Result<Option<PathBuf>> {
    let asked = options.session.as_deref().unwrap_or_default();
    let may_be = |prefix: &str| asked.starts_with(prefix) || (asked.len() > 2 && prefix.starts_with(asked));
    let is_named = prefixes().any(may_be);
    let is_number = options.anywhere && is_number(asked);
    if !(is_named || is_number || options.anywhere && asked.is_empty()) {
        return Ok(None);
    }
    if is_number {
        return numbered(options, project);
    }
    let Some(project) = project else {
        return if is_named {
            Ok(named(asked, &[])?.or_else(|| kept(asked, options)))
        } else {
            Ok(latest(options))
        };
    };
    let is_here = || {
        let engine = Engine::open_at(project.clone(), options.clone(), Intent::Query);
        engine.is_ok_and(|engine| engine.resolve(asked).is_ok())
    };
    if !is_named || is_here() {
        return Ok(None);
    }
    Ok(named(asked, &places(project))?.or_else(|| kept(asked, options)))
}

/// Returns the folder of a session whose id is not the folder's name, because another session already had that id.
fn kept(asked: &str, options: &Options) -> Option<PathBuf> {
    let options = Options { session: None, key: None, ..options.clone() };
    let engine = Engine::open_at(Project::outside(&newest()?), options, Intent::Query).ok()?;
    let row = engine.store.load(&SessionId::parse(asked).ok()?).ok()??.row;
    let folder = PathBuf::from(row.worktree);
    (is_session(&folder) && refused(&folder, rustix::process::geteuid().as_raw()).is_none()).then_some(folder)
}

/// Returns the options for the selected folder. If they name the session by a number, the number is replaced by the
/// folder's name, because it belongs to the list of the caller's project.
pub(crate) fn options_for(folder: &Path, mut options: Options) -> Options {
    if options.session.as_deref().is_some_and(is_number) {
        options.session = name_of(folder).map(ToOwned::to_owned);
    }
    options
}

/// Returns the folder of the session that the list shows with this number; `None` if that is a session of the project,
/// or if there is none.
fn numbered(options: &Options, project: Option<&Project>) -> Result<Option<PathBuf>> {
    let asked = options.session.clone().unwrap_or_default();
    let Some(at) = project.cloned().or_else(|| Some(Project::outside(&newest()?))) else { return Ok(None) };
    let places = if project.is_some() { places(&at) } else { Vec::new() };
    let options = Options { session: None, key: None, ..options.clone() };
    let engine = Engine::open_at(at, options, Intent::Query)?;
    let kept = engine.resolve(&asked).ok();
    if project.is_some() && kept.is_some() {
        return Ok(None);
    }
    let shown = || engine.outside_numbers().ok()?.into_iter().find(|(_, number)| number.to_string() == asked);
    match kept.or_else(|| shown().map(|(id, _)| id)) {
        Some(id) => named(id.as_str(), &places),
        None => Ok(None),
    }
}

fn is_number(asked: &str) -> bool {
    !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the folder outside projects that a session's folder of the project was moved to.
pub(crate) fn moved_to(id: &SessionId, project: &Project) -> Option<String> {
    let is_named = prefixes().any(|prefix| id.as_str().starts_with(prefix));
    let found = if is_named { named(id.as_str(), &places(project)).ok().flatten() } else { None };
    found.filter(|folder| name_of(folder) == Some(id.as_str())).map(|folder| folder.display().to_string())
}

/// Returns the folder of the only session with this name; `None` if there is none.
fn named(asked: &str, places: &[PathBuf]) -> Result<Option<PathBuf>> {
    let is_meant = |name: &str| name.to_lowercase().starts_with(&asked.to_lowercase());
    let mut found: Vec<Candidate> =
        candidates(places).into_iter().filter(|found| name_of(&found.path).is_some_and(is_meant)).collect();
    if let Some(whole) = found.iter().position(|found| name_of(&found.path) == Some(asked)) {
        found = vec![found.swap_remove(whole)];
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => match one.refused {
            None => Ok(Some(one.path.clone())),
            Some(why) => Err(Error::NotSupported {
                what: format!("a session in {} ({why})", one.path.display()),
                hint: "use a folder of your own".into(),
            }),
        },
        many => Err(Error::AmbiguousSession {
            asked: asked.to_owned(),
            candidates: many.iter().filter_map(|found| name_of(&found.path)).map(ToOwned::to_owned).collect(),
        }),
    }
}

/// Returns the session outside projects that was started last, according to the names of folders.
fn newest() -> Option<PathBuf> {
    folders(&[]).into_iter().max_by(|one, other| name_of(one).cmp(&name_of(other)))
}

/// Returns the session outside projects that is used by default: the one that was resumed last, unless the newest was
/// started after that.
fn latest(options: &Options) -> Option<PathBuf> {
    let newest = newest()?;
    let options = Options { session: None, key: None, ..options.clone() };
    let Ok(engine) = Engine::open_at(Project::outside(&newest), options, Intent::Query) else {
        return Some(newest);
    };
    match engine.last_resumed() {
        Some((folder, at)) if !engine.began_after(at) => Some(folder),
        Some(_) | None => Some(newest),
    }
}

/// True if the folder has the name of a session that may be outside projects.
pub(crate) fn is_session(folder: &Path) -> bool {
    let path = folder.to_string_lossy();
    with_places().any(|(layout, _)| layout.identify(&path, true).is_some())
}

/// Returns the user's own session folders, by name.
fn folders(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = candidates(places)
        .into_iter()
        .filter(|found| found.refused.is_none())
        .map(|found| found.path)
        .take(MOST)
        .collect();
    found.sort();
    found
}

/// Returns the configured folders that are outside the project.
fn places(project: &Project) -> Vec<PathBuf> {
    let named = Config::read(project).map(|config| config.places).unwrap_or_default();
    named.into_iter().map(PathBuf::from).filter(|place| place.is_absolute()).collect()
}

fn candidates(places: &[PathBuf]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let places = places.iter().filter_map(|place| place.canonicalize().ok());
    for place in temporary_folders().into_iter().chain(places) {
        let Ok(entries) = fs::read_dir(&place) else { continue };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = place.join(&name);
            if prefixes().any(|prefix| name.starts_with(prefix)) && is_session(&path) {
                let refused = refused(&path, rustix::process::geteuid().as_raw());
                found.push(Candidate { path, refused });
            }
        }
    }
    found
}

/// Returns the reason why nothing may be written into a folder, such as another owner or a symbolic link; `None` if
/// there is no reason.
fn refused(path: &Path, user: u32) -> Option<&'static str> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Some("it is a symbolic link"),
        Ok(found) if !found.is_dir() => Some("it is not a folder"),
        Ok(found) if found.uid() != user => Some("it belongs to another user"),
        Ok(_) => None,
        Err(_) => Some("it cannot be inspected"),
    }
}

/// Returns `$TMPDIR` and the shared temporary folder.
fn temporary_folders() -> Vec<PathBuf> {
    let set = std::env::var_os("TMPDIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in set.into_iter().chain([usual_folder()]) {
        if let Ok(folder) = folder.canonicalize()
            && !folders.contains(&folder)
        {
            folders.push(folder);
        }
    }
    folders
}

/// Tests set a folder of their own, so that they never see the machine's files.
fn usual_folder() -> PathBuf {
    let own = std::env::var_os("LEFTOFF_TEST_TMP").filter(|_| cfg!(debug_assertions));
    own.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

fn with_places() -> impl Iterator<Item = (&'static dyn Layout, &'static str)> {
    layout::all().iter().flat_map(|layout| {
        layout.facts().places.iter().filter_map(|place| match place {
            Place::Temporary(prefix) => Some((*layout, *prefix)),
            Place::Project(_) => None,
        })
    })
}

fn prefixes() -> impl Iterator<Item = &'static str> {
    with_places().map(|(_, prefix)| prefix)
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

impl StartRequest {
    /// Returns the engine in which to start a session: that of the project here or, for a layout that needs no project,
    /// that of a new temporary folder. Creates nothing yet.
    pub fn open(&self, options: Options) -> Result<Engine> {
        let layout = self.layout.as_deref().and_then(layout::by_name);
        let layout =
            layout.filter(|layout| with_places().any(|(known, _)| known.facts().name == layout.facts().name));
        let has_project = options.project.is_some()
            || std::env::current_dir().is_ok_and(|here| Project::find(&here).is_ok());
        let (Some(layout), false) = (layout, has_project) else {
            return Engine::open(options, Intent::Create);
        };
        let folder = new_folder(layout, self)?;
        Engine::open_at(Project::outside(&folder), options, Intent::Create)
    }
}

impl Engine {
    /// Returns the folder of the unfinished session outside projects that was resumed last, and when.
    fn last_resumed(&self) -> Option<(PathBuf, Timestamp)> {
        let folders = folders(&[]);
        let lifecycles = Lifecycle::UNFINISHED.iter().map(|&name| name.to_owned()).collect();
        let kept = self.store.list(&Filter { lifecycles, ..Filter::default() }).ok()?;
        let resumed = kept.into_iter().filter_map(|Listed { row, .. }| {
            let folder = PathBuf::from(&row.worktree);
            let events = folders.contains(&folder).then(|| self.store.events(&row.id, 0, None).ok())??;
            let last = events.iter().rev().find(|event| event.kind == "session_resumed")?;
            Some((folder, last.at))
        });
        resumed.max_by_key(|(_, at)| *at)
    }

    /// True if the session of this folder was started after this moment.
    fn began_after(&self, at: Timestamp) -> bool {
        let lines = self.own_lines().unwrap_or_default();
        lines.iter().any(|(line, _)| line.created_at > at)
    }

    /// Returns the sessions outside this project, one line each.
    pub(crate) fn outside_lines(&self, in_their_words: bool) -> Vec<(ShortView, Vec<Warning>)> {
        let here = &self.project.root;
        let options = Options { session: None, key: None, ..self.options.clone() };
        let mut lines = Vec::new();
        for folder in folders(&places(&self.project)).into_iter().filter(|folder| !folder.starts_with(here)) {
            let engine = Self::open_at(Project::outside(&folder), options.clone(), Intent::Query);
            let Ok(engine) = engine else { continue };
            for (mut line, warnings) in engine.own_lines().unwrap_or_default() {
                engine.apply_expiry(&mut line);
                line.own_words = in_their_words.then(|| engine.own_line(&line.session_id)).flatten();
                // Here the line has the session's number in the store for sessions outside projects. The list of a
                // project shows the session under another number.
                if !self.project.is_outside {
                    line.number = 0;
                }
                lines.push((line, warnings));
            }
        }
        lines
    }

    /// Returns the numbers of sessions outside this project that its store does not have, by the folder's name. They
    /// follow all numbers of the project. Outside projects, all such sessions share a store, and get numbers that it
    /// has not assigned.
    pub(crate) fn outside_numbers(&self) -> Result<BTreeMap<SessionId, u64>> {
        let is_outside = self.project.is_outside;
        let is_elsewhere = |folder: &PathBuf| is_outside || !folder.starts_with(&self.project.root);
        let listed = self.store.list(&Filter::default())?;
        let in_files: BTreeSet<SessionId> = self.in_files_alone().into_iter().map(|found| found.id).collect();
        // A session that is known only from files is not stored. If a session of this name is stored, it may be in
        // another folder.
        let kept = listed.iter().map(|kept| &kept.row).filter(|row| !in_files.contains(&row.id));
        let known = |row: &SessionRow| if is_outside { row.worktree.clone() } else { row.id.to_string() };
        let kept: BTreeSet<String> = kept.map(known).collect();
        let is_kept = |folder: &Path, id: &SessionId| {
            kept.contains(&if is_outside { folder.to_string_lossy().into_owned() } else { id.to_string() })
        };
        let mut given: BTreeSet<u64> = listed.iter().map(|listed| listed.number).collect();
        let mut own = BTreeSet::new();
        if !is_outside {
            let shown = self.foreign_numbers()?;
            given.extend(shown.values());
            own.extend(shown.into_keys());
        }
        let folders = folders(&places(&self.project)).into_iter().filter(is_elsewhere);
        let ids: BTreeSet<SessionId> = folders
            .filter_map(|folder| {
                let id = SessionId::parse(name_of(&folder)?).ok()?;
                (!is_kept(&folder, &id) && !own.contains(&id)).then_some(id)
            })
            .collect();
        let first = if is_outside { 1 } else { given.last().copied().unwrap_or(0) + 1 };
        // The tool's own list begins with the newest session, so the newest gets the first number.
        Ok(ids.into_iter().rev().zip((first..).filter(|number| !given.contains(number))).collect())
    }
}

fn new_folder(layout: &dyn Layout, request: &StartRequest) -> Result<PathBuf> {
    let place = temporary_folders().into_iter().next().unwrap_or_else(usual_folder);
    let now = crate::clock::now();
    let occasion = Occasion {
        title: request.title.as_deref().unwrap_or_default(),
        today: now.to_zoned(TimeZone::UTC).date(),
        now,
        branch: None,
        random: [0; 16],
    };
    let is_taken = |path: &str| place.join(path).symlink_metadata().is_ok();
    let spot = layout.place(&NewSession::new(request.id.as_deref(), occasion, &is_taken)).map_err(|why| {
        Error::WrongUsage {
            message: why.to_string(),
            hint: Hint::new("see: ").run(words!["start", "--help"]),
        }
    })?;
    let folder = place.join(&spot.path);
    if folder.symlink_metadata().is_ok() {
        return Err(Error::IdTaken {
            existing: spot.id.to_string(),
            way_on: model::refusal::WayOn::Resume,
            run: None,
        });
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the check for another owner. A test may not be allowed to change the owner of a folder, so it uses another
    /// user's number.
    #[test]
    fn a_folder_that_belongs_to_somebody_else_or_leads_elsewhere_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let user = rustix::process::geteuid().as_raw();
        assert_eq!(refused(place.path(), user), None);
        assert_eq!(refused(place.path(), user + 1), Some("it belongs to another user"));
        let link = place.path().join("link");
        std::os::unix::fs::symlink(place.path(), &link).expect("a link");
        assert_eq!(refused(&link, user), Some("it is a symbolic link"));
        let file = place.path().join("file");
        fs::write(&file, "").expect("a file");
        assert_eq!(refused(&file, user), Some("it is not a folder"));
    }
}
