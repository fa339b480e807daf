//! The store of a team on a server: its URL, the project's id in that store, and this machine's id. Opens the store
//! only on request.

use crate::checks::trust;
use crate::config::Config;
use crate::engine::{Engine, Intent, Options};
use crate::error::{Error, FileMistake, Result};
use crate::policy::Restricted;
use crate::project::Project;
#[cfg(feature = "postgres")]
use crate::project_registry;
use model::hint::Hint;
use model::words;
use rustix::fs::{FlockOperation, flock};
#[cfg(feature = "postgres")]
use sha2::{Digest, Sha256};
use std::fs;
#[cfg(feature = "postgres")]
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Access, Store};

/// The store of a project that has its sessions on a server.
#[derive(Debug, Clone)]
pub(crate) struct Team {
    url: String,
    /// The project's id, which all clones share. `None` before the first session was started.
    pub(crate) project: Option<String>,
    /// The folder for data that stays on this machine: the journal of files, and the queue of hooks.
    pub(crate) local: PathBuf,
}

impl Team {
    /// Returns the project's store on a server; `None` if the store is a file.
    pub(crate) fn of(project: &Project, config: &Config) -> Result<Option<Self>> {
        if project.is_outside {
            return Ok(None);
        }
        let Some(url) = setting(project, config)? else { return Ok(None) };
        Self::at(project, config, &url).map(Some)
    }

    /// Returns the project's part of the store with this URL.
    pub(crate) fn at(project: &Project, config: &Config, url: &str) -> Result<Self> {
        check(url)?;
        let database = project.database()?;
        let local = database.parent().map(Path::to_owned).unwrap_or_default().join("server");
        let project = config.project.clone().or_else(|| recorded_id(&local));
        Ok(Self { url: url.to_owned(), project, local })
    }

    pub(crate) fn open(
        &self,
        access: Access,
        budget: Option<Duration>,
    ) -> store::Result<Box<dyn Store + Send>> {
        let Some(project) = &self.project else {
            return Err(store::Error::Missing {
                path: "the server (this project has no id there yet)".into(),
            });
        };
        open(&self.url, project, &self.local, access, budget)
    }

    /// Gives the project an id, which is written into `.leftoff/config.toml` and recorded on this machine. Adds the
    /// project to the server.
    pub(crate) fn make(&self, root: &Project) -> store::Result<Box<dyn Store + Send>> {
        let project = match &self.project {
            Some(project) => project.clone(),
            None => give_id(root, &self.local).map_err(|error| store::Error::Engine {
                doing: "giving the project an id".to_owned(),
                why: error.to_string(),
            })?,
        };
        open(&self.url, &project, &self.local, Access::Create, None)
    }
}

/// Returns the URL from `LEFTOFF_STORE`, or else from the project's configuration. `sqlite` means a store in a file, so
/// `None` is returned.
fn setting(project: &Project, config: &Config) -> Result<Option<String>> {
    let named = std::env::var("LEFTOFF_STORE").ok().filter(|value| !value.is_empty());
    let is_of_file = named.is_none();
    let Some(value) = named.or_else(|| config.store.clone()) else { return Ok(None) };
    if value == "sqlite" {
        return Ok(None);
    }
    if is_of_file && store_has_password(&value) {
        let mistake = FileMistake {
            path: Config::path(project).display().to_string(),
            line: Config::line_of(project, "store"),
            message: "a password does not belong in a committed file".to_owned(),
            hint: Some(
                "remove the password from the URL; use PGPASSWORD, PGPASSFILE or a service file".to_owned(),
            ),
        };
        return Err(Error::BadConfig { mistake });
    }
    // A cloned repository must not send anybody's work to a server of its choice. So a person must accept the server
    // first.
    if is_of_file && trust::accepted_store(&project.root).as_ref() != Some(&value) {
        return Err(Error::NeedsAnswer {
            question: format!(
                ".leftoff/config.toml sends the sessions of this project to {value}; accept that?"
            ),
            hint: Hint::new("a person can accept the server on this machine: ")
                .run(words!["trust", "--store"]),
        });
    }
    Ok(Some(value))
}

/// Accepts the server that the project's configuration names, and returns its URL. Only a person may do this.
pub fn accept_store(options: Options) -> Result<String> {
    let engine = Engine::open(options, Intent::WithoutStore)?;
    engine.require_person(Restricted::Trust)?;
    let url = Config::read(&engine.project)?.store.filter(|url| url != "sqlite");
    let Some(url) = url else {
        return Err(Error::WrongUsage {
            message: "this project names no server: store is not set in .leftoff/config.toml".to_owned(),
            hint: "write store = \"postgres://host/database\" in .leftoff/config.toml first".into(),
        });
    };
    trust::accept_store(&engine.project.root, &url)?;
    Ok(url)
}

#[cfg(feature = "postgres")]
fn check(value: &str) -> Result<()> {
    if store::is_postgres(value) {
        return Ok(());
    }
    Err(Error::NotSupported {
        what: "a store other than SQLite and PostgreSQL".to_owned(),
        hint: "write store = \"postgres://host/database\" in .leftoff/config.toml, or remove that line and LEFTOFF_STORE for a store in a file".into(),
    })
}

#[cfg(not(feature = "postgres"))]
fn check(_: &str) -> Result<()> {
    Err(Error::NotSupported {
        what: "a store on a server".to_owned(),
        hint: "build leftoff with its feature 'postgres', which is on by default".into(),
    })
}

#[cfg(feature = "postgres")]
fn store_has_password(value: &str) -> bool {
    store::has_password(value)
}

#[cfg(not(feature = "postgres"))]
fn store_has_password(_: &str) -> bool {
    false
}

/// Opens the store with this URL, for the project with this id.
#[cfg(feature = "postgres")]
pub(crate) fn open(
    url: &str,
    project: &str,
    local: &Path,
    access: Access,
    budget: Option<Duration>,
) -> store::Result<Box<dyn Store + Send>> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let machine = machine(access != Access::Read);
    let opening = store::Opening { url, project, machine: &machine, host: &host, local, access, budget };
    Ok(Box::new(store::PostgresStore::open(&opening)?))
}

#[cfg(not(feature = "postgres"))]
pub(crate) fn open(
    _: &str,
    _: &str,
    _: &Path,
    _: Access,
    _: Option<Duration>,
) -> store::Result<Box<dyn Store + Send>> {
    Err(store::Error::Engine {
        doing: "opening the store".to_owned(),
        why: "this build has no PostgreSQL".to_owned(),
    })
}

/// Returns an id of this machine and user, made from the system's id and a random id in the user's state folder.
/// Containers of one image have the same system id; machines with a common home folder have the same random id.
#[cfg(feature = "postgres")]
fn machine(makes: bool) -> String {
    let system = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let user = rustix::process::getuid().as_raw();
    let own = project_registry::state_folder()
        .map(|state| state.join("machine"))
        .and_then(|path| own_id(&path, makes));
    let whole = format!("{}\n{user}\n{}", system.trim(), own.unwrap_or_default());
    crate::hex(&Sha256::digest(whole.as_bytes())[..8])
}

#[cfg(feature = "postgres")]
fn own_id(path: &Path, makes: bool) -> Option<String> {
    id_in(path).or_else(|| if makes { make_own_id(path) } else { None })
}

/// Writes a new id, whole: another process must never read a part of it, and take this machine for another one.
#[cfg(feature = "postgres")]
fn make_own_id(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    fs::create_dir_all(folder).ok()?;
    let lock = fs::File::open(folder).ok()?;
    flock(&lock, FlockOperation::LockExclusive).ok()?;
    if let Some(id) = id_in(path) {
        return Some(id);
    }
    let (id, beside) = (random_id(), path.with_extension("new"));
    let mut file = fs::File::create(&beside).ok()?;
    file.write_all(format!("{id}\n").as_bytes()).and_then(|()| file.sync_all()).ok()?;
    fs::rename(&beside, path).ok()?;
    Some(id)
}

fn random_id() -> String {
    let mut bytes = [0_u8; 8];
    let _ = getrandom::fill(&mut bytes);
    crate::hex(&bytes)
}

/// Returns the project's id as recorded on this machine. The configuration on another branch may not have the id yet.
fn recorded_id(local: &Path) -> Option<String> {
    id_in(&local.join("project"))
}

/// The id in a file; `None` if there is none, or not yet.
fn id_in(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Gives the project an id. With a lock, commands that run at the same time use the same id.
fn give_id(project: &Project, local: &Path) -> Result<String> {
    let failed = |what: &Path| {
        let doing = format!("writing {}", what.display());
        move |source| Error::io(doing.clone(), source)
    };
    fs::create_dir_all(local).map_err(failed(local))?;
    fs::create_dir_all(project.folder()).map_err(failed(&project.folder()))?;
    let folder = fs::File::open(local).map_err(failed(local))?;
    flock(&folder, FlockOperation::LockExclusive).map_err(|error| failed(local)(error.into()))?;
    let id = Config::read(project)?.project.or_else(|| recorded_id(local)).unwrap_or_else(random_id);
    let record = local.join("project");
    fs::write(&record, format!("{id}\n")).map_err(failed(&record))?;
    Config::add_project(project, &id)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    #[test]
    fn an_id_is_given_once_and_written_before_everything_else() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::find_or_here(folder.path()).unwrap();
        fs::create_dir_all(project.folder()).unwrap();
        let path = Config::path(&project);
        fs::write(&path, "# ours\nworkflow = \"review\"\n[expiry]\npause_after = \"2h\"\n").unwrap();
        let local = folder.path().join("local");
        let id = give_id(&project, &local).unwrap();
        assert_eq!(give_id(&project, &local).unwrap(), id);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("project = \"{id}\"\n# ours\nworkflow")), "{text}");
        assert_eq!(text.matches("project =").count(), 1);
        assert_eq!(Config::read(&project).unwrap().project, Some(id.clone()));
        fs::remove_file(&path).unwrap();
        assert_eq!(recorded_id(&local), Some(id));
    }
    #[test]
    #[cfg(feature = "postgres")]
    fn processes_that_need_the_machines_id_at_once_agree_on_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/machine");
        assert_eq!(own_id(&path, false), None);
        // A process that ends between creating the file and writing to it leaves an empty file.
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        assert_eq!(own_id(&path, false), None);
        let ids: Vec<Option<String>> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..8).map(|_| scope.spawn(|| own_id(&path, true))).collect();
            asked.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(ids[0].as_ref().map(String::len), Some(16));
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(own_id(&path, false), ids[0]);
    }
}
