//! Shares sessions through a git remote: fetches, takes, writes and pushes. Off by default. Adds no event, and never
//! changes the project's own repository.

mod arrivals;
mod background;
mod definitions_and_contents;
mod held_back;
mod histories;
mod identity;
mod incoming;
mod lock;
mod merge_fork;
mod outgoing;
mod remote;
#[cfg(test)]
mod schedules;
mod segment;
mod sent;
mod settings;
mod sidecar;
mod status;
mod switching;
mod taking;

pub use background::sync_in_background;
use background::{LONGEST_UNATTENDED, SECONDS_BETWEEN};
pub use merge_fork::Resolved;
pub(crate) use settings::{KnownSettings, Settings};
pub use status::{Fork, HeldBack, Replica, SyncStatus};
pub(crate) use taking::{fork_of, placed};

use crate::engine::Engine;
use crate::error::{Error, Result};
use arrivals::Witnesses;
use incoming::{Replicas, streams_in};
use model::hint::Hint;
use model::words;
use outgoing::ABOUT;
use sidecar::{Entries, Pushed, Refs, Sidecar};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::Store;
use taking::TakenIn;

/// The maximum number of refusals to list, even if somebody provokes more.
const MOST_REFUSED: usize = 50;

/// A request to sync, or to change the sharing settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncRequest {
    /// Syncs now: fetches, takes, writes and pushes.
    Now {
        /// True to take sessions from other replicas without sending any.
        fetch_only: bool,
        /// True if a hook started the sync. The sync then asks no questions, and does not run too often.
        unattended: bool,
    },
    /// Switches sharing on. The next sync sends this store's sessions to the remote.
    On { remote: Option<String>, branches: bool },
    /// Switches sharing off here. `erase` also removes this replica from the remote.
    Off { erase: bool },
    /// Removes a replica that is no longer used from the remote. It is named by the beginning of its id.
    Forget { replica: String },
}

/// The result of a sync.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Synced {
    /// The number of sessions that are new here or have new events.
    pub taken: usize,
    /// The number of sessions that were sent.
    pub sent: usize,
    /// The number of forks of sessions for which this sync took new data. `sync status` lists all forks.
    pub forks: usize,
    /// Messages: why sessions were not sent, and which data of other replicas was refused.
    pub said: Vec<String>,
    /// True if nothing was done, because a sync was tried a short time ago.
    pub too_soon: bool,
}

/// Everything about sharing that one command needs.
struct Shared {
    /// The folder of the database.
    folder: PathBuf,
    settings: Settings,
    witnesses: Witnesses,
    sidecar: Sidecar,
    refs: Refs,
    replicas: Replicas,
    refused: Vec<String>,
    /// The hashes of contents that were purged, which are not taken from any replica.
    purged_contents: BTreeSet<String>,
    /// The lock that allows one sync at a time.
    _lock: lock::Lock,
}

impl Shared {
    /// Returns the files at these paths with their content, if any replica has them and they have at most `most` bytes.
    fn files(&self, paths: &[String], most: u64) -> Result<Vec<(String, Vec<u8>)>> {
        let found = |path: &String| {
            let entry = self.replicas.find(path).filter(|entry| entry.bytes <= most)?;
            Some((path.clone(), entry.object.clone()))
        };
        let (paths, objects): (Vec<String>, Vec<String>) = paths.iter().filter_map(found).unzip();
        Ok(paths.into_iter().zip(self.sidecar.contents(&objects)?).collect())
    }

    fn keep_settings(&mut self) -> Result<()> {
        step();
        self.witnesses.keep(&self.folder)?;
        step();
        self.settings.write(&self.folder)
    }
}

impl Engine {
    /// Syncs with the project's git remote, or changes the sharing settings.
    pub fn sync(&mut self, request: SyncRequest) -> Result<Synced> {
        let said = match request {
            SyncRequest::Now { fetch_only, unattended } => return self.sync_if_due(fetch_only, unattended),
            SyncRequest::On { remote, branches } => {
                self.share(remote.as_deref(), branches)?;
                Vec::new()
            }
            SyncRequest::Off { erase } => self.stop_sharing(erase)?,
            SyncRequest::Forget { replica } => vec![self.forget_replica(&replica)?],
        };
        Ok(Synced { said, ..Synced::default() })
    }

    fn sync_if_due(&mut self, fetch_only: bool, unattended: bool) -> Result<Synced> {
        let mut shared = self.shared(unattended)?;
        let now = self.clock.now();
        let last = shared.settings.tried.map(|tried| model::time::seconds_between(tried, now));
        if unattended && last.is_some_and(|seconds| seconds < SECONDS_BETWEEN) {
            return Ok(Synced { too_soon: true, ..Synced::default() });
        }
        shared.settings.tried = Some(now);
        shared.settings.address = Some(shared.sidecar.address());
        let synced = self.sync_now(&mut shared, fetch_only);
        match &synced {
            Ok(_) => {
                shared.settings.done = Some(now);
                shared.settings.error = None;
            }
            Err(error) => shared.settings.error = Some(with_hint(error)),
        }
        shared.keep_settings()?;
        synced
    }

    fn sync_now(&mut self, shared: &mut Shared, fetch_only: bool) -> Result<Synced> {
        shared.refs = shared.sidecar.fetched_refs(&self.project.root)?;
        let refused_refs = std::mem::take(&mut shared.refs.refused);
        self.agree_on_name(shared)?;
        if shared.refs.fetched.keys().any(|replica| !shared.settings.names.contains_key(replica)) {
            shared.settings.names.extend(status::names(&shared.sidecar, &shared.refs));
        }
        let mut done = TakenIn::default();
        let is_new = self.take_in_all(shared, &mut done)?;
        let mut synced = Synced { taken: done.sessions, forks: done.forks, ..Synced::default() };
        let sent = if fetch_only { Ok(0) } else { self.send(shared, is_new) };
        // Also if nothing can be sent, purged text is removed here.
        let erased = if self.is_erasing() { self.erase_purged(shared, sent.is_ok()) } else { Vec::new() };
        synced.sent = sent?;
        let held = shared.settings.held.iter();
        synced.said.extend(held.map(|(session, why)| {
            format!(
                "session {session} was not sent: {why}; remove the secret: leftoff purge '<text>' --session {session}"
            )
        }));
        synced.said.extend(self.keep_refused(shared, refused_refs, is_new));
        synced.said.extend(erased);
        Ok(synced)
    }

    /// Stores the refusals for `sync status`. Returns those that were not reported before.
    fn keep_refused(&self, shared: &mut Shared, of_refs: Vec<String>, has_read: bool) -> Vec<String> {
        let before = std::mem::take(&mut shared.settings.refused);
        let mut refused = of_refs;
        refused.append(&mut shared.refused);
        if !has_read {
            // Nothing was read again, so the earlier refusals still apply.
            refused.extend(before.iter().filter(|line| !refused.contains(line)).cloned().collect::<Vec<_>>());
        }
        let more = refused.len().saturating_sub(MOST_REFUSED);
        if more > 0 {
            refused.truncate(MOST_REFUSED);
            refused.push(format!("and {more} more"));
        }
        let new = refused.iter().filter(|line| !before.contains(line)).cloned().collect();
        shared.settings.refused = refused;
        new
    }

    /// Takes the new data of other replicas. Returns false if there is none.
    fn take_in_all(&mut self, shared: &mut Shared, done: &mut TakenIn) -> Result<bool> {
        let own = shared.settings.replica.clone();
        let news: BTreeMap<String, String> = shared
            .refs
            .fetched
            .iter()
            .filter(|(replica, (commit, _))| {
                **replica != own && shared.settings.taken.get(*replica) != Some(commit)
            })
            .map(|(replica, (commit, _))| (replica.clone(), commit.clone()))
            .collect();
        if news.is_empty() && shared.settings.waiting.is_empty() {
            return Ok(false);
        }
        self.read_replicas(shared)?;
        let mut touched = BTreeSet::new();
        for replica in news.keys() {
            let before = match shared.settings.taken.get(replica) {
                Some(old) => shared.sidecar.entries(old).unwrap_or_default(),
                None => Entries::new(),
            };
            let Some(now) = shared.replicas.trees.get(replica) else { continue };
            if before.iter().any(|(path, entry)| path != ABOUT && now.get(path) != Some(entry)) {
                // The replica removed something from its history, such as purged text.
                self.begin_erasing()?;
            }
            let is_new = |path: &&String| before.get(*path) != now.get(*path);
            touched.extend(streams_in(now.keys().filter(is_new)));
        }
        touched.extend(self.waiting_streams(shared)?);
        for wanted in shared.replicas.in_parts(touched) {
            let mut refused = Vec::new();
            let streams = shared.replicas.read(&shared.sidecar, &wanted, &mut refused)?;
            shared.refused.append(&mut refused);
            step();
            self.take_in(shared, streams, done)?;
            step();
        }
        shared.settings.taken.extend(news);
        Ok(true)
    }

    fn read_replicas(&self, shared: &mut Shared) -> Result<()> {
        let mut trees = BTreeMap::new();
        for (replica, (commit, _)) in &shared.refs.fetched {
            if *replica == shared.settings.replica {
                continue;
            }
            match shared.sidecar.entries(commit) {
                Ok(entries) => drop(trees.insert(replica.clone(), entries)),
                Err(error) => shared.refused.push(format!("replica {replica} was refused: {error}")),
            }
        }
        if let Some(own) = &shared.refs.own {
            trees.insert(shared.settings.replica.clone(), shared.sidecar.entries(own)?);
        }
        shared.replicas = Replicas { trees };
        Ok(())
    }

    /// Returns the streams of sessions that are in use here and that another replica has continued.
    fn waiting_streams(&self, shared: &Shared) -> Result<BTreeSet<String>> {
        let mut streams = BTreeSet::new();
        for session in &shared.settings.waiting {
            let Ok(id) = model::id::SessionId::parse(session) else { continue };
            let first = self.store.chain(&id)?.seals.get(&1).map(|seal| crate::hex(&seal.link));
            streams.extend(first);
        }
        Ok(streams)
    }

    /// Writes and pushes the changes of this store. Returns the number of sessions that were sent.
    fn send(&mut self, shared: &mut Shared, has_read: bool) -> Result<usize> {
        let (mut changed, newest) = self.store.base().changed_sessions(shared.settings.mark.cursor)?;
        let held = shared.settings.held.keys();
        changed.extend(held.filter_map(|id| model::id::SessionId::parse(id).ok()));
        let mut sent = 0;
        if !changed.is_empty() || shared.refs.own.is_none() {
            if !has_read {
                self.read_replicas(shared)?;
            }
            let own = shared.replicas.trees.get(&shared.settings.replica).cloned().unwrap_or_default();
            sent = self.write_out(shared, &changed, &own)?;
            shared.refs = shared.sidecar.refs()?;
        }
        self.push(shared)?;
        shared.settings.mark = self.mark_at(newest)?;
        Ok(sent)
    }

    fn push(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(own) = shared.refs.own.clone() else { return Ok(()) };
        let at_remote = shared.refs.fetched.get(&shared.settings.replica).map(|(commit, _)| commit.clone());
        if at_remote.as_ref() == Some(&own) {
            shared.settings.pushed = Some(own);
            return Ok(());
        }
        match shared.sidecar.push(&shared.settings.replica, at_remote.as_deref())? {
            Pushed::Done => {
                shared.settings.pushed = Some(own);
                Ok(())
            }
            Pushed::Taken => Err(Error::Sharing {
                message: "another copy of this store has written under the same name".to_owned(),
                hint: Hint::new("nothing is lost; the next sync uses another name: ").run(words!["sync"]),
            }),
        }
    }

    /// Returns the folder of the database, which has the settings of sharing. It stays the same while the store is
    /// open.
    pub(crate) fn sharing_folder(&self) -> Result<PathBuf> {
        if let Some(known) = self.sharing_folder.get() {
            return Ok(known.clone());
        }
        let found = self.find_sharing_folder()?;
        Ok(self.sharing_folder.get_or_init(|| found).clone())
    }

    fn find_sharing_folder(&self) -> Result<PathBuf> {
        if self.team.is_some() {
            return Err(Error::Sharing {
                message: "the sessions of this project are on a server, which already shares them".to_owned(),
                hint: Hint::new("see the sessions: ").run(words!["list"]),
            });
        }
        let database = self.project.database()?;
        Ok(database.parent().map(Path::to_owned).unwrap_or_default())
    }

    /// Returns everything about sharing that a command needs. Fails if sharing is off. Other syncs are locked out until
    /// the value is dropped.
    fn shared(&self, unattended: bool) -> Result<Shared> {
        let folder = self.sharing_folder()?;
        let Some(settings) = Settings::read(&folder)? else { return Err(off()) };
        let lock = lock::locked(&folder, if unattended { Duration::ZERO } else { self.patience.left() })?;
        // While this process waited for the lock, another one may have changed the settings.
        let mut settings = Settings::read(&folder)?.unwrap_or(settings);
        let mut witnesses = Witnesses::read(&folder)?;
        witnesses.add_older(std::mem::take(&mut settings.arrived));
        let longest = unattended.then_some(LONGEST_UNATTENDED);
        let sidecar =
            Sidecar::open(&folder, &self.project.root, &settings.remote, settings.branches, longest)?;
        Ok(Shared {
            folder,
            settings,
            witnesses,
            sidecar,
            refs: Refs::default(),
            replicas: Replicas { trees: BTreeMap::new() },
            refused: Vec::new(),
            purged_contents: BTreeSet::new(),
            _lock: lock,
        })
    }
}

/// Moves the files of sharing after the database was moved to another folder. Data that cannot be moved is fetched
/// again.
pub(crate) fn move_along(from: &Path, to: &Path) -> Result<()> {
    let (Some(old), Some(new)) = (from.parent(), to.parent()) else { return Ok(()) };
    Settings::move_off_between(old, new);
    let Some(mut settings) = Settings::read(old)? else { return Ok(()) };
    to.clone_into(&mut settings.place);
    settings.write(new)?;
    Witnesses::move_between(old, new);
    Sidecar::move_between(old, new);
    Settings::remove(old)
}

/// Marks a point between two steps of a sync or a purge, at which tests can end it.
#[cfg(test)]
pub(crate) use schedules::step;
#[cfg(not(test))]
pub(crate) fn step() {}

/// Returns an error with its hint on one line.
fn with_hint(error: &Error) -> String {
    error.hint().map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})"))
}

fn off() -> Error {
    Error::Sharing {
        message: "sessions of this project are not shared".to_owned(),
        hint: Hint::new("enable sharing: ").run(words!["init", "--sync"]),
    }
}

#[cfg(feature = "fuzzing")]
pub(crate) fn read_segment(bytes: &[u8]) {
    let split = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (path, content) = bytes.split_at(split);
    let named = std::str::from_utf8(path).ok().and_then(segment::SegmentName::parse);
    // The content is read even if the path is not a valid name, because a fuzzer hardly ever generates a valid one.
    let name = named.unwrap_or_else(|| segment::SegmentName::new(&[1; 32], 1, 1, &[2; 32]));
    let _ = segment::Segment::read(&name, content.get(1..).unwrap_or_default());
}
