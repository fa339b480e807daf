//! Setting a project up: its folder, its store, a workflow of its own. Says what it touched; doing it again changes nothing.

use crate::config::{Config, TEMPLATE};
use crate::definitions;
use crate::error::{Error, Result};
use crate::place::Project;
use crate::{Engine, Intent, Options};
use model::id::Name;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What setting up did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Setup {
    pub project: PathBuf,
    pub store: PathBuf,
    pub created: Vec<PathBuf>,
    pub unchanged: Vec<PathBuf>,
    pub dry_run: bool,
    pub warnings: Vec<String>,
}

/// What is kept out of version control: sessions' workspaces, the store itself where there is no git folder for it,
/// and this very file. It appears by itself when work begins, so a worktree that was clean stays clean; a project
/// that wants it in its history can still add it with `git add -f`.
pub(crate) const IGNORED: &str = "# Kept by leftoff on this machine only.\n.gitignore\nsessions/\narchive/\naside/\nviews.lock\nleftoff.db*\n";

/// Sets the project of this folder up.
pub fn set_up(options: Options, dry_run: bool) -> Result<Setup> {
    let from = match &options.project {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?,
    };
    let project = Project::find_or_here(&from)?;
    let files = [(Config::path(&project), TEMPLATE), (project.folder().join(".gitignore"), IGNORED)];
    let mut setup = Setup {
        store: project.database()?,
        project: project.root.clone(),
        created: Vec::new(),
        unchanged: Vec::new(),
        dry_run,
        warnings: Vec::new(),
    };
    if !dry_run {
        fs::create_dir_all(project.folder())
            .map_err(|source| Error::io(format!("making {}", project.folder().display()), source))?;
    }
    for (path, text) in files {
        let is_new = if dry_run { !path.exists() } else { write_new(&path, text)? };
        if is_new { setup.created.push(path) } else { setup.unchanged.push(path) }
    }
    let store_existed = setup.store.exists();
    if !dry_run {
        let engine =
            Engine::open(Options { project: Some(project.root.clone()), ..options }, Intent::Create)?;
        setup.store = engine.project().database()?;
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

impl Engine {
    /// Writes a commented definition to begin with; never over an existing one.
    pub fn new_workflow(&self, name: &str) -> Result<PathBuf> {
        let name =
            Name::parse(name).map_err(|why| Error::InvalidWorkflowName { asked: name.to_owned(), why })?;
        let folder = definitions::folder(&self.project);
        let path = folder.join(format!("{name}.toml"));
        fs::create_dir_all(&folder)
            .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
        if write_new(&path, &layouts::definition::template(&name))? {
            Ok(path)
        } else {
            Err(Error::AlreadyThere { path })
        }
    }
}

/// Writes a file that is not there yet; tells whether it did.
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
