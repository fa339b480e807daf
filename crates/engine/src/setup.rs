//! Sets up a project: its folder, its store, and its own workflow. Reports what was created. If it is repeated, nothing
//! changes.

use crate::config::{Config, TEMPLATE};
use crate::definitions;
use crate::error::{Error, Result};
use crate::facades::Workflows;
use crate::project::Project;
use crate::server_store::Team;
use crate::{Engine, Intent, Options};
use model::hint::Hint;
use model::id::{InvalidId, Name};
use model::words;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use store::{Access, SqliteStore, Store};

/// The effects that setting up had, or would have.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Setup {
    pub project: PathBuf,
    pub store: PathBuf,
    pub created: Vec<PathBuf>,
    pub unchanged: Vec<PathBuf>,
    pub dry_run: bool,
    pub warnings: Vec<String>,
    /// After the store was moved: what remains at its old place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<PathBuf>,
}

/// The content of `.gitignore`. It keeps sessions' workspaces, the store (if it is not in a git folder) and
/// `.gitignore` itself out of version control. The file appears when work starts, and must not make a clean worktree
/// dirty. A project can still add it with `git add -f`.
pub(crate) const IGNORED: &str = "# Kept by leftoff on this machine only.\n.gitignore\nsessions/\narchive/\naside/\nviews.lock\nleftoff.db*\n";

/// The requested place of a project's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorePlace {
    /// The place where the store is, or else the default place.
    AsItIs,
    /// A place outside the git folder, because agents' sandboxes protect that folder. An existing store is moved.
    OutsideGit,
}

/// Sets up this folder's project.
pub fn set_up(options: Options, place: StorePlace, dry_run: bool) -> Result<Setup> {
    let from = match &options.project {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?,
    };
    let project = Project::find_or_here(&from)?;
    let team = Team::of(&project, &Config::read(&project)?)?;
    let mut setup = Setup {
        store: match &team {
            Some(team) => team.local.clone(),
            None => planned_store(&project, place)?,
        },
        project: project.root.clone(),
        created: Vec::new(),
        unchanged: Vec::new(),
        dry_run,
        warnings: Vec::new(),
        moved: None,
    };
    if !dry_run {
        fs::create_dir_all(project.folder())
            .map_err(|source| Error::io(format!("creating {}", project.folder().display()), source))?;
    }
    for (path, text) in files(&project) {
        let is_new = if dry_run { !path.exists() } else { write_new(&path, text)? };
        if is_new { setup.created.push(path) } else { setup.unchanged.push(path) }
    }
    let store_existed = setup.store.exists();
    if !dry_run {
        if team.is_none() {
            setup.moved = place_store(&project, place)?;
        }
        let mut engine =
            Engine::open(Options { project: Some(project.root.clone()), ..options }, Intent::Create)?;
        engine.store.made()?;
        setup.store = match &team {
            Some(_) => engine.store.info()?.place.into(),
            None => engine.project().database()?,
        };
        setup.warnings = engine.warnings.iter().map(|warning| warning.message.clone()).collect();
    }
    let place = setup.store.clone();
    if store_existed {
        setup.unchanged.push(place);
    } else {
        setup.created.push(place);
    }
    Ok(setup)
}

/// Removes leftoff's files, if nothing was ever stored. The project is then as it was before the setup.
pub fn take_down(options: &Options, dry_run: bool) -> Result<Vec<PathBuf>> {
    let from = match &options.project {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?,
    };
    let project = match Project::find(&from) {
        Ok(project) => project,
        Err(Error::NoProject { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let database = project.database()?;
    if database.exists() && SqliteStore::open(&database, Access::Read)?.cursor()? > 0 {
        return Ok(Vec::new());
    }
    let mut gone: Vec<PathBuf> = Vec::new();
    for (path, text) in files(&project) {
        if fs::read_to_string(&path).is_ok_and(|found| found == text) {
            gone.push(path);
        }
    }
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let mut path = database.clone().into_os_string();
        path.push(suffix);
        gone.push(PathBuf::from(path));
    }
    gone.retain(|path| path.exists());
    if !dry_run {
        for path in &gone {
            fs::remove_file(path)
                .map_err(|source| Error::io(format!("removing {}", path.display()), source))?;
        }
        // `remove_dir` removes only an empty folder.
        for folder in [project.folder(), database.parent().map(Path::to_owned).unwrap_or_default()] {
            let _ = fs::remove_dir(folder);
        }
        project.forget_database()?;
    }
    Ok(gone)
}

/// The folders of a project that `take_down` leaves, because sessions are stored there.
pub fn left_standing(options: &Options) -> Result<Vec<PathBuf>> {
    let from = match &options.project {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?,
    };
    let project = match Project::find(&from) {
        Ok(project) => project,
        Err(Error::NoProject { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    if project.is_outside {
        return Ok(Vec::new());
    }
    let store = project.database()?.parent().map(Path::to_owned);
    let mut folders: Vec<PathBuf> = std::iter::once(project.folder()).chain(store).collect();
    folders.retain(|folder| folder.exists());
    folders.dedup();
    Ok(folders)
}

fn planned_store(project: &Project, place: StorePlace) -> Result<PathBuf> {
    let now = project.database()?;
    match place {
        StorePlace::OutsideGit if project.is_in_git_folder(&now) => project.database_outside_git(),
        StorePlace::OutsideGit | StorePlace::AsItIs => Ok(now),
    }
}

/// Moves the store if another place is requested. Returns what remains at the old place.
fn place_store(project: &Project, place: StorePlace) -> Result<Option<PathBuf>> {
    let now = project.database()?;
    let planned = planned_store(project, place)?;
    if now == planned {
        return Ok(None);
    }
    if !now.exists() {
        project.move_database_to_state_folder()?;
        return Ok(None);
    }
    let record = || {
        let recorded = project.move_database_to_state_folder();
        recorded.map(drop).map_err(|error| store::Error::Engine {
            doing: "recording where the store is".to_owned(),
            why: error.to_string(),
        })
    };
    let moved = SqliteStore::open(&now, Access::Write)?.move_to(&planned, record)?;
    crate::sharing::move_along(&now, &planned)?;
    Ok(Some(moved))
}

fn files(project: &Project) -> [(PathBuf, &'static str); 2] {
    [(Config::path(project), TEMPLATE), (project.folder().join(".gitignore"), IGNORED)]
}

fn invalid_name(asked: &str, why: &InvalidId) -> Error {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let words: Vec<&str> = asked.split(|letter| !plain(letter)).filter(|word| !word.is_empty()).collect();
    let fitting = if words.is_empty() { "NAME".to_owned() } else { words.join("-").to_lowercase() };
    Error::WrongUsage {
        message: format!("{asked:?} cannot be a workflow's name: {why}"),
        hint: Hint::new("use letters, digits, '-' and '_': ").run(words!["workflow", "new", fitting]),
    }
}

impl Workflows<'_> {
    /// Writes a starter definition with comments; never over an existing one.
    pub fn create(&self, name: &str) -> Result<PathBuf> {
        let name = Name::parse(name).map_err(|why| invalid_name(name, &why))?;
        let folder = definitions::folder(&self.engine.project);
        let path = folder.join(format!("{name}.toml"));
        fs::create_dir_all(&folder)
            .map_err(|source| Error::io(format!("creating {}", folder.display()), source))?;
        if write_new(&path, &layouts::definition::template(&name))? {
            Ok(path)
        } else {
            Err(Error::AlreadyThere { path })
        }
    }
}

/// Writes a new file. Returns false if the file already exists.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<bool> {
    let written = fs::OpenOptions::new().write(true).create_new(true).open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(Error::io(format!("writing {}", path.display()), source)),
    }
}
