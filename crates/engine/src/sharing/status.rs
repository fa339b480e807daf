//! Shows the state of sharing. Does not contact the remote, and changes nothing.

use super::outgoing::{ABOUT, About};
use super::settings::Settings;
use super::sidecar::{Refs, Sidecar};
use super::taking::{fork_of, is_fork};
use crate::engine::{Engine, read_event};
use crate::error::Result;
use crate::execute::is_bundle;
use crate::facades::ProjectStore;
use crate::view::{SharedView, Warning};
use crate::words::{ago, counted, date};
use jiff::Timestamp;
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use store::chain::Seal;
use store::{Arrival, Filter, Store};

/// The state of sharing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncStatus {
    pub on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The remote's URL without a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica: Option<String>,
    /// The number of sessions that were changed here since the last sync.
    pub ahead: usize,
    /// The number of replicas whose data was fetched but not taken into the store yet.
    pub behind: usize,
    pub replicas: Vec<Replica>,
    pub forks: Vec<Fork>,
    pub held: Vec<HeldBack>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sync: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The data that the last sync refused, with the reasons.
    pub refused: Vec<String>,
}

/// A store that shares sessions through the same remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replica {
    pub id: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sent: Option<Timestamp>,
    pub is_this: bool,
}

/// Another history of a session, beside the main one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fork {
    pub id: String,
    pub session: String,
    /// The version of the first event that differs from the main history.
    pub differs_from: u64,
    /// The number of events that the main history does not have.
    pub events: u64,
}

/// A session that is not sent, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldBack {
    pub session: String,
    pub why: String,
}

impl ProjectStore<'_> {
    /// Returns the state of sharing. Does not contact the remote.
    pub fn sync_status(&self) -> Result<SyncStatus> {
        let engine = self.engine;
        let folder = engine.sharing_folder()?;
        let Some(settings) = Settings::read(&folder)? else { return Ok(SyncStatus::off()) };
        let sidecar = Sidecar::open(&folder, &engine.project.root, &settings.remote, settings.branches, None);
        let (address, refs, names) = match &sidecar {
            Ok(sidecar) => {
                let refs = sidecar.refs()?;
                let names = names(sidecar, &refs);
                (Some(sidecar.address()), refs, names)
            }
            Err(_) => (None, Refs::default(), BTreeMap::new()),
        };
        let (changed, _) = engine.store.base().changed_sessions(settings.mark.cursor)?;
        let is_behind = |(replica, (commit, _)): &(&String, &(String, i64))| {
            **replica != settings.replica && settings.taken.get(*replica) != Some(commit)
        };
        Ok(SyncStatus {
            on: true,
            remote: Some(settings.remote.clone()),
            address,
            replica: Some(settings.replica.clone()),
            ahead: engine.worked_on_here(changed)?,
            behind: refs.fetched.iter().filter(is_behind).count(),
            replicas: refs
                .fetched
                .iter()
                .map(|(id, (_, seconds))| Replica {
                    name: names.get(id).cloned().unwrap_or_default(),
                    last_sent: Timestamp::from_second(*seconds).ok(),
                    is_this: *id == settings.replica,
                    id: id.clone(),
                })
                .collect(),
            forks: engine.forks()?,
            held: settings.held.into_iter().map(|(session, why)| HeldBack { session, why }).collect(),
            last_sync: settings.done,
            last_error: sidecar.err().map(|error| super::with_hint(&error)).or(settings.error),
            refused: settings.refused,
        })
    }
}

impl Engine {
    /// Returns how many of these sessions have a newest event that was written here.
    fn worked_on_here(&self, changed: BTreeSet<SessionId>) -> Result<usize> {
        let mut count = 0;
        for id in changed {
            let arrived = self.store.base().arrival(&id)?.map(|arrival| arrival.head);
            count += usize::from(arrived.is_none() || arrived != self.store.chain(&id)?.head);
        }
        Ok(count)
    }

    /// Returns the forks of all sessions.
    pub(crate) fn forks(&self) -> Result<Vec<Fork>> {
        let mut forks = Vec::new();
        for listed in self.store.list(&Filter::default())? {
            if is_fork(&listed.row.id) {
                forks.extend(self.fork(&listed.row.id)?);
            }
        }
        Ok(forks)
    }

    /// Returns the forks of this session.
    pub(crate) fn forks_of(&self, id: &SessionId) -> Result<Vec<Fork>> {
        let mut forks = Vec::new();
        for found in self.store.with_prefix(&format!("{id}.fork-"), 50)? {
            forks.extend(self.fork(&found)?);
        }
        Ok(forks)
    }

    fn fork(&self, id: &SessionId) -> Result<Option<Fork>> {
        let Some(of) = fork_of(id) else { return Ok(None) };
        let shared = self.events_shared(id, &of)?;
        let all = self.store.chain(id)?.seals.len() as u64;
        Ok(Some(Fork {
            id: id.to_string(),
            session: of.to_string(),
            differs_from: shared + 1,
            events: all - shared,
        }))
    }

    /// Returns the number of events that two histories share, counted from the first event.
    pub(super) fn events_shared(&self, one: &SessionId, other: &SessionId) -> Result<u64> {
        let (one, other) = (self.store.chain(one)?, self.store.chain(other)?);
        let is_shared = |(version, seal): &(&u64, &Seal)| {
            other.seals.get(version).is_some_and(|same| same.link == seal.link)
        };
        Ok(one.seals.iter().take_while(is_shared).count() as u64)
    }

    /// Returns the name that a replica gives itself. Without a name, returns the beginning of its id.
    pub(crate) fn name_of_replica(&self, replica: &str) -> String {
        if let Ok(Some(host)) = self.store.base().machine_name(replica) {
            return host;
        }
        let named = self.sharing_settings().and_then(|settings| settings.names.get(replica).cloned());
        named
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("replica {}", replica.get(..8).unwrap_or(replica)))
    }

    /// Returns where a session came from, and when this clone last synced; `None` if neither is known.
    pub(crate) fn shared_view(
        &self,
        settings: Option<&Settings>,
        arrival: Option<&Arrival>,
    ) -> Option<SharedView> {
        let is_own = |replica: &str| settings.is_some_and(|settings| settings.is_own(replica));
        let from = arrival.filter(|arrival| !is_own(&arrival.replica));
        let name = |arrival: &Arrival| {
            if is_bundle(arrival) { "a bundle".to_owned() } else { self.name_of_replica(&arrival.replica) }
        };
        let from_name = from.map(name);
        let from_whom = from.filter(|arrival| is_bundle(arrival)).and_then(|arrival| self.packed_by(arrival));
        let from_whom = from_whom.unwrap_or_default();
        let received_at = from.map(|arrival| arrival.at);
        let last_sync = settings.and_then(|settings| settings.done);
        let now = self.clock.now();
        let synced = settings.map(|_| {
            last_sync.map_or("; not synced yet".to_owned(), |at| format!("; last sync {}", ago(at, now)))
        });
        let synced = synced.unwrap_or_default();
        let told = match (&from_name, received_at) {
            (Some(name), Some(at)) => {
                format!("Came from {name}, received {}{from_whom}{synced}.", ago(at, now))
            }
            _ => format!("Shared through {}{synced}.", settings?.remote),
        };
        Some(SharedView { from: from_name, received_at, last_sync, told })
    }

    /// ` (last change there by claude a4326893 on desk, 12 Nov)`
    fn packed_by(&self, arrival: &Arrival) -> Option<String> {
        let before = arrival.version.saturating_sub(1);
        let rows = self.store.events(&arrival.session, before, Some(1)).ok()?;
        let last = read_event(&arrival.session, rows.first()?).ok()?;
        let (actor, host) = (&last.actor, last.actor.host());
        Some(format!(" (last change there by {actor} on {host}, {})", date(last.at)))
    }

    /// Returns warnings about a session that other machines may also have.
    pub(crate) fn sharing_warnings(&self, session: &Session) -> Vec<Warning> {
        if self.sharing_settings().is_none() {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        if let Some(machine) = &session.machine {
            let place = self.name_of_replica(machine);
            warnings.push(warning(
                "on_another_machine",
                format!(
                    "the session is on another machine: {place}, in {}; last change by {}, {}",
                    session.worktree,
                    session.last_actor,
                    ago(session.updated_at, self.clock.now())
                ),
                Hint::new("continue the session here: ").run(words!["resume", session.id]),
            ));
        }
        if let Some(why) = self.held_back(&session.id) {
            let hint =
                Hint::new("remove the secret: ").run(words!["purge", "<text>", "--session", session.id]);
            warnings.push(warning(
                "held_back",
                format!("the session is not sent to other clones: {why}"),
                hint,
            ));
        }
        let (more, other) = if fork_of(&session.id).is_some() {
            (self.fork(&session.id).ok().flatten().into_iter().collect(), true)
        } else {
            (self.forks_of(&session.id).unwrap_or_default(), false)
        };
        warnings.extend(more.iter().map(|fork| {
            let events = counted(fork.events, "event");
            let (message, how) = if other {
                let of = &fork.session;
                (
                    format!("this session is a fork of {of}, which lacks {events} of it"),
                    format!("merge the histories where {of} is: "),
                )
            } else {
                (
                    format!("the session's fork {} has {events} that this history lacks", fork.id),
                    "merge the histories: ".to_owned(),
                )
            };
            warning("fork", message, Hint::new(how).run(words!["sync", "resolve", fork.id]))
        }));
        warnings
    }
}

fn warning(kind: &str, message: String, hint: Hint) -> Warning {
    Warning { kind: kind.to_owned(), message, hint: Some(hint), path: None, problem: None }
}

pub(super) fn names(sidecar: &Sidecar, refs: &Refs) -> BTreeMap<String, String> {
    const LONGEST: usize = 80;
    const LARGEST: u64 = 4096;
    let asked: Vec<String> = refs.fetched.values().map(|(commit, _)| format!("{commit}:{ABOUT}")).collect();
    let found = sidecar.small_contents(&asked, LARGEST).unwrap_or_default();
    let name = |bytes: &Vec<u8>| -> String {
        let about = serde_json::from_slice::<About>(bytes).map(|about| about.name).unwrap_or_default();
        crate::words::one_line(&about, LONGEST)
    };
    refs.fetched.keys().cloned().zip(found.iter().map(name)).collect()
}

impl SyncStatus {
    fn off() -> Self {
        Self {
            on: false,
            remote: None,
            address: None,
            replica: None,
            ahead: 0,
            behind: 0,
            replicas: Vec::new(),
            forks: Vec::new(),
            held: Vec::new(),
            last_sync: None,
            last_error: None,
            refused: Vec::new(),
        }
    }
}
