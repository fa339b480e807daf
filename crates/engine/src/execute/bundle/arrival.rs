//! Stores a session from a bundle. The worktree into which the session was imported is a local record, not an
//! event of its log.

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

/// The prefix of an arrival's replica if the session came in a bundle. The rest is the worktree into which it
/// was imported.
const BUNDLE: &str = "bundle:";

/// The replica of an arrival whose bundle was imported into this worktree.
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

/// The events that a bundle adds to a session, which may already exist here.
pub(super) struct Addition {
    /// The events that exist here.
    pub(super) known: Vec<Recorded>,
    /// The new events, with their versions here.
    pub(super) new: Vec<Recorded>,
    /// The commands of new events, by version.
    pub(super) commands: BTreeMap<u64, CommandMark>,
    /// The hash chain's input for the new events. An event that gets another version here is sealed again.
    pub(super) seals: BTreeMap<u64, Given>,
}

impl Engine {
    /// Where a session from a bundle waits until somebody resumes it: this worktree.
    pub(super) fn place_of_a_taken_one(&self, whole: &[Recorded]) -> Taken {
        let version = whole.last().map_or(0, |recorded| recorded.version);
        Taken { version, worktree: self.project.worktree(), at: self.clock.now() }
    }

    /// The rows of a session from a bundle: the local events unchanged, followed by the bundle's new ones.
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
        self.store.take_histories(arrived)?;
        crate::failpoint::reached("after-append");
        self.remember_arrivals(arrived);
        Ok(())
    }

    /// The worktree into which a session was imported, if it came in a bundle.
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
