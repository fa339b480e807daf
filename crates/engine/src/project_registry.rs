//! The user's registry of projects whose database is not in the default place. Each project has a small file of its
//! own, so that a lookup opens only one file.

use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Returns the database that is recorded for this project, if any.
pub(crate) fn database_of(key: &Path) -> Result<Option<PathBuf>> {
    let Some(entry) = entry_path(key) else { return Ok(None) };
    match fs::read_to_string(&entry) {
        Ok(text) => Ok(text.lines().next().map(PathBuf::from)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(format!("reading {}", entry.display()), error)),
    }
}

/// Chooses a place for a database in the user's state folder. The place is recorded before anything is written there.
pub(crate) fn choose_database(key: &Path, file_name: &str) -> Result<PathBuf> {
    let database = place_for(key, file_name)?;
    if let Some(entry) = entry_path(key) {
        write_entry(&entry, &database, key)
            .map_err(|source| Error::io(format!("recording the store in {}", entry.display()), source))?;
    }
    Ok(database)
}

/// Removes a project from the registry.
pub(crate) fn forget(key: &Path) -> Result<()> {
    let Some(entry) = entry_path(key) else { return Ok(()) };
    match fs::remove_file(&entry) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io(format!("removing {}", entry.display()), error)),
    }
}

/// Returns the keys of other existing projects that have their store in the state folder. Unreadable entries are
/// ignored.
pub(crate) fn others_in_state_folder(key: Option<&Path>) -> Vec<PathBuf> {
    let folder = state_folder().map(|state| state.join("projects"));
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut keys: Vec<PathBuf> = entries
        .filter_map(|entry| fs::read_to_string(entry.path()).ok())
        .filter_map(|text| text.lines().nth(1).map(PathBuf::from))
        .filter(|other| Some(other.as_path()) != key && other.exists())
        .collect();
    keys.sort();
    keys
}

/// Returns a project's place in the user's state folder, used or not.
pub(crate) fn place_for(key: &Path, file_name: &str) -> Result<PathBuf> {
    let Some(state) = state_folder() else {
        return Err(Error::NotSupported {
            what: "a store outside the project (neither HOME nor XDG_STATE_HOME is set)".to_owned(),
            hint: "set HOME, or make the project's folder writable".into(),
        });
    };
    let name = key
        .ancestors()
        .filter_map(Path::file_name)
        .map(|name| name.to_string_lossy())
        .find(|name| *name != ".git")
        .map(|name| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        .unwrap_or_default();
    Ok(state.join(format!("{name}-{}", &hash(key)[..8])).join(file_name))
}

/// Returns the path of the store for sessions outside projects.
pub(crate) fn users_database(file_name: &str) -> Result<PathBuf> {
    match state_folder() {
        Some(state) => Ok(state.join("user").join(file_name)),
        None => Err(Error::NotSupported {
            what: "a session outside projects (neither HOME nor XDG_STATE_HOME is set)".to_owned(),
            hint: "set HOME".into(),
        }),
    }
}

/// Returns `$XDG_STATE_HOME/leftoff`; without the variable, a folder below the home folder.
pub fn state_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    base.or_else(|| set("HOME").map(|home| home.join(".local/state"))).map(|base| base.join("leftoff"))
}

fn write_entry(entry: &Path, database: &Path, key: &Path) -> std::io::Result<()> {
    if let Some(folder) = entry.parent() {
        fs::create_dir_all(folder)?;
    }
    let temporary = entry.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = fs::File::create(&temporary)?;
    writeln!(file, "{}\n{}", database.display(), key.display())?;
    // Without fsync before the rename, a power cut can leave an empty file.
    file.sync_all()?;
    fs::rename(&temporary, entry)
}

fn entry_path(key: &Path) -> Option<PathBuf> {
    Some(state_folder()?.join("projects").join(hash(key)))
}

fn hash(key: &Path) -> String {
    crate::hex(&Sha256::digest(key.as_os_str().as_encoded_bytes())[..16])
}
