//! Stores a session from a bundle. The worktree into which the session was imported is recorded only in this store, not
//! in the session's log.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::plan::{snapshot_of, stream_of};
use crate::items::item_rows;
use jiff::Timestamp;
use model::event::Recorded;
use model::id::SessionId;
use model::session::{Session, Taken};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use store::chain::{Given, SALT_BYTES, Salt, seal};
use store::{Arrival, Arrived, CommandMark, EventRow, Store, TakenHistory};

/// If a session came in a bundle, its arrival has this prefix in place of a replica's id. The rest is the worktree into
/// which the session was imported.
const BUNDLE: &str = "bundle:";

/// Returns the text that an arrival from a bundle has in place of a replica's id: the prefix and the worktree to which
/// the bundle was brought.
fn put_into(worktree: &str) -> String {
    format!("{BUNDLE}{worktree}")
}

/// True if the session arrived in a bundle.
pub(crate) fn is_bundle(arrival: &Arrival) -> bool {
    arrival.replica.starts_with(BUNDLE)
}

pub(crate) fn taken(arrival: &Arrival) -> Option<Taken> {
    let worktree = arrival.replica.strip_prefix(BUNDLE)?.to_owned();
    Some(Taken { version: arrival.version, worktree, at: arrival.at })
}

/// The difference between a bundle and this store: the events that an import adds to the session.
pub(super) struct Addition {
    /// The events that are already in this store.
    pub(super) known: Vec<Recorded>,
    /// The new events, with the versions that they get here.
    pub(super) new: Vec<Recorded>,
    /// The commands of the new events, by version.
    pub(super) commands: BTreeMap<u64, CommandMark>,
    /// The salts or hashes of the new events for the hash chain. They are missing for an event that gets another
    /// version here; such an event is sealed again.
    pub(super) seals: BTreeMap<u64, Given>,
}

impl Engine {
    /// Returns the place where a session from a bundle is paused until somebody resumes it: this worktree.
    pub(super) fn place_of_a_taken_one(&self, whole: &[Recorded]) -> Taken {
        let version = whole.last().map_or(0, |recorded| recorded.version);
        Taken { version, worktree: self.project.worktree(), at: self.clock.now() }
    }

    /// Returns the rows of a session from a bundle: first the unchanged events of this store, then the bundle's new
    /// events.
    pub(super) fn history_taken(
        &self,
        session: &Session,
        local: Vec<EventRow>,
        addition: &Addition,
        at: Timestamp,
    ) -> Result<TakenHistory> {
        let expected = local.len() as u64;
        let mut stream = stream_of("bundle take", session, expected, &addition.new)?;
        for event in &mut stream.events {
            event.command = addition.commands.get(&event.version).cloned();
        }
        let events: Vec<EventRow> = local.into_iter().chain(stream.events).collect();
        let kept = self.store.chain(&session.id)?.seals.into_iter();
        let mut seals: BTreeMap<u64, Given> = kept
            .map(|(version, seal)| (version, seal.salt.map_or(Given::Hash(seal.hash), Given::Salt)))
            .collect();
        seals.extend(&addition.seals);
        for event in &events {
            if let Entry::Vacant(place) = seals.entry(event.version) {
                place.insert(Given::Salt(new_salt()?));
            }
        }
        let links = seal(None, &events, |event| seals[&event.version]);
        let (Some(first), Some(last)) = (links.first(), links.last()) else {
            let (session, why) = (session.id.to_string(), "it has no events".to_owned());
            return Err(Error::BrokenLog { session, why });
        };
        let whole = [addition.known.as_slice(), &addition.new].concat();
        Ok(TakenHistory {
            expected,
            shared: expected,
            row: stream.row,
            snapshot: snapshot_of(session)?,
            items: item_rows(&session.id, &whole)?,
            arrival: Some(Arrival {
                session: session.id.clone(),
                replica: put_into(&session.worktree),
                stream: first.link,
                version: session.version,
                head: last.link,
                at,
            }),
            events,
            seals,
        })
    }

    pub(super) fn keep_taken(&mut self, arrived: &Arrived) -> Result<()> {
        crate::failpoint::reached("before-append");
        // Recorded first, so that a kill cannot leave a history without its second record.
        self.remember_arrivals(arrived);
        self.store.take_histories(arrived)?;
        // A project's first history creates the store's folder, without which nothing could be recorded before.
        self.remember_arrivals(arrived);
        crate::failpoint::reached("after-append");
        Ok(())
    }

    /// Returns the worktree into which a session was imported, if the session came in a bundle.
    pub(crate) fn taken_here(&self, id: &SessionId) -> Result<Option<Taken>> {
        Ok(self.store.base().arrival(id)?.as_ref().and_then(taken))
    }
}

fn new_salt() -> Result<Salt> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt)
        .map_err(|error| Error::io("generating a salt", std::io::Error::other(error.to_string())))?;
    Ok(salt)
}
