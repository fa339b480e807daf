//! Switches sharing on and off, and removes replicas.

use super::lock::locked;
use super::remote::{remote_url, usual_remote, without_password};
use super::settings::Settings;
use super::sidecar::Sidecar;
use crate::doctor::Finding;
use crate::engine::Engine;
use crate::error::{Error, Result};
use model::hint::Hint;
use model::words;
use std::path::Path;
use std::time::Duration;

/// The maximum time that `doctor` waits for each answer of the remote.
const LONGEST_PROBE: Duration = Duration::from_secs(15);

impl Engine {
    /// True if sessions of this store are shared.
    pub(crate) fn is_shared(&self) -> bool {
        self.sharing_folder().is_ok_and(|folder| Settings::exist(&folder))
    }

    pub(super) fn share(&mut self, remote: Option<&str>, branches: bool) -> Result<()> {
        let folder = self.sharing_folder()?;
        if self.project.git.is_none() {
            return Err(not_shareable(&self.project.root));
        }
        let remote = match remote {
            Some(remote) => remote.to_owned(),
            None => usual_remote(&self.project.root, self.project.branch().as_deref())?,
        };
        std::fs::create_dir_all(&folder)
            .map_err(|source| Error::io(format!("creating {}", folder.display()), source))?;
        let place = self.project.database()?;
        let known = match Settings::read(&folder)? {
            Some(known) => Some(known),
            None => Settings::read_off(&folder)?,
        };
        let address_of = |remote: &str| Some(without_password(&remote_url(&self.project.root, remote).ok()?));
        let settings = match known {
            Some(known) if known.remote == remote && known.branches == branches => known,
            Some(known)
                if known.branches == branches
                    && known.address.is_some()
                    && known.address == address_of(&remote) =>
            {
                Settings { remote: remote.clone(), ..known }
            }
            // The new remote has no data of this replica. So the store becomes a new replica there.
            Some(known) => {
                let mut fresh = Settings::new(remote.clone(), branches, place)?;
                fresh.former = known.former;
                fresh.former.insert(known.replica);
                fresh.names = known.names;
                Sidecar::remove(&folder)?;
                fresh
            }
            None => Settings::new(remote.clone(), branches, place)?,
        };
        Sidecar::open(&folder, &self.project.root, &remote, branches, None)?;
        settings.write(&folder)?;
        Settings::remove_off(&folder);
        Ok(())
    }

    /// Switches sharing off, and returns messages for people.
    pub(super) fn stop_sharing(&mut self, erase: bool) -> Result<Vec<String>> {
        if !erase {
            // Switching off needs no remote. So sharing can be switched off even after the remote was removed.
            let folder = self.sharing_folder()?;
            if Settings::read(&folder)?.is_none() {
                return Ok(vec!["they were not shared before; nothing changed".to_owned()]);
            }
            let _lock = locked(&folder, self.patience.left())?;
            return switch_off(&folder);
        }
        let shared = self.shared(false)?;
        if self.is_copy(&shared.settings)? {
            let mut said = switch_off(&shared.folder)?;
            let original = shared.settings.place.display();
            said.push(format!(
                "nothing was removed: this copy has sent nothing yet, and the data at the remote belongs to {original}"
            ));
            return Ok(said);
        }
        shared.sidecar.forget(&shared.settings.replica)?;
        let mut said = switch_off(&shared.folder)?;
        said.push(
            "removed this replica from the remote; the remote's host may keep old objects for a while, and other \
             replicas keep copies"
                .to_owned(),
        );
        Ok(said)
    }

    /// Removes another replica from the remote. Returns a message for people.
    pub(super) fn forget_replica(&mut self, asked: &str) -> Result<String> {
        let mut shared = self.shared(false)?;
        shared.sidecar.fetch()?;
        let refs = shared.sidecar.refs()?;
        let replica = the_one_replica(asked, refs.fetched.keys())?;
        if replica == shared.settings.replica {
            return Err(Error::Sharing {
                message: "this is the id of this replica itself".to_owned(),
                hint: Hint::new("to stop sharing and erase this replica: ")
                    .run(words!["sync", "off", "--erase"]),
            });
        }
        shared.sidecar.forget(&replica)?;
        shared.settings.taken.remove(&replica);
        shared.keep_settings()?;
        Ok(format!("forgot replica {replica}"))
    }

    /// Returns findings about sharing: the remote is unreachable, or its host refuses the refs. The remote is contacted
    /// only if the last sync did not reach it.
    pub(crate) fn sharing_findings(&self) -> Vec<Finding> {
        // With a store on a server, sessions are shared already.
        if self.team.is_some() {
            return Vec::new();
        }
        let found = self.sharing_folder().and_then(|folder| {
            let settings = Settings::read(&folder)?;
            let Some(settings) = settings.filter(|known| known.pushed.is_none() || known.error.is_some())
            else {
                return Ok(None);
            };
            let sidecar = Sidecar::open(
                &folder,
                &self.project.root,
                &settings.remote,
                settings.branches,
                Some(LONGEST_PROBE),
            )?;
            probed(&sidecar, &settings)
        });
        match found {
            Ok(finding) => finding.into_iter().collect(),
            Err(error) => {
                let hint = error.hint().unwrap_or_else(|| Hint::new("see: ").run(words!["sync", "status"]));
                vec![Finding::new("sharing", error.to_string(), hint)]
            }
        }
    }
}

fn not_shareable(root: &Path) -> Error {
    let is_bare = ["HEAD", "objects", "refs"].iter().all(|part| root.join(part).exists());
    let what = if is_bare { "a bare repository, which nobody works in" } else { "not a git repository" };
    let hint = Hint::new(if is_bare { "share from a clone of it; " } else { "" });
    Error::Sharing {
        message: format!("{} is {what}", root.display()),
        hint: hint.then("sessions can travel as files: ").run(words!["bundle", "create", "FILE"]),
    }
}

/// Switches sharing off. Returns a message if the sidecar could not be removed.
fn switch_off(folder: &Path) -> Result<Vec<String>> {
    Settings::switch_off(folder)?;
    let left = Sidecar::remove(folder).err();
    Ok(left
        .map(|error| format!("{error}; nothing needs it any more, so you can delete it"))
        .into_iter()
        .collect())
}

/// The replica whose id begins with the asked text.
fn the_one_replica<'a>(asked: &str, all: impl Iterator<Item = &'a String>) -> Result<String> {
    let found: Vec<&str> = all.map(String::as_str).filter(|replica| replica.starts_with(asked)).collect();
    let message = match found.as_slice() {
        _ if asked.is_empty() => "no replica is named".to_owned(),
        [one] => return Ok((*one).to_owned()),
        [] => format!("no replica's id begins with '{asked}'"),
        several => format!("the ids of {} replicas begin with '{asked}': give more of the id", several.len()),
    };
    Err(Error::Sharing { message, hint: Hint::new("see the replicas: ").run(words!["sync", "status"]) })
}

/// Returns a finding if the host does not accept the refs in use; `None` if it does.
fn probed(sidecar: &Sidecar, settings: &Settings) -> Result<Option<Finding>> {
    const REFS: &str = "refs/leftoff/probe/";
    const BRANCHES: &str = "refs/heads/leftoff-probe/";
    let (used, other) = if settings.branches { (BRANCHES, REFS) } else { (REFS, BRANCHES) };
    if sidecar.is_accepted(used, &settings.replica)? {
        return Ok(None);
    }
    let address = sidecar.address();
    let takes_other = sidecar.is_accepted(other, &settings.replica)?;
    Ok(Some(match (takes_other, settings.branches) {
        (true, false) => Finding::new(
            "sharing",
            format!("{address} refuses refs/leftoff/* and accepts branches"),
            Hint::new("share through branches: ").run(words!["init", "--sync", "--branches"]),
        ),
        (true, true) => Finding::new(
            "sharing",
            format!("{address} refuses branches and accepts refs/leftoff/*"),
            Hint::new("share through refs/leftoff/*: ").run(words!["init", "--sync"]),
        ),
        (false, _) => Finding::new(
            "sharing",
            format!("{address} refuses both refs/leftoff/* and branches"),
            Hint::new("share through another remote: ").run(words!["init", "--sync", "--remote", "NAME"]),
        ),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_replica_and_several_replicas_are_told_apart() {
        let all = ["aa11", "aa22", "bb33"].map(ToOwned::to_owned);
        let found = |asked: &str| the_one_replica(asked, all.iter()).map_err(|error| error.to_string());
        assert_eq!(found("b"), Ok("bb33".to_owned()));
        assert_eq!(found("").unwrap_err(), "no replica is named");
        assert_eq!(found("c").unwrap_err(), "no replica's id begins with 'c'");
        assert_eq!(found("aa").unwrap_err(), "the ids of 2 replicas begin with 'aa': give more of the id");
    }
}
