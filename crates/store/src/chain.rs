//! The hash chain of a session's log, which breaks if a row is changed, removed or inserted. Accesses no store.

use crate::{Error, EventRow, Result};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Length of a hash in bytes.
pub const HASH_BYTES: usize = 32;
pub const SALT_BYTES: usize = 16;

pub type Hash = [u8; HASH_BYTES];
pub type Salt = [u8; SALT_BYTES];

/// An event's place in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The random bytes that are hashed with the event; `None` after the event's content was purged. Without the salt,
    /// the hash reveals nothing about the old content.
    pub salt: Option<Salt>,
    /// Hash of the event as it was written.
    pub hash: Hash,
    /// Hash of this event's hash and the previous link.
    pub link: Hash,
}

/// The hash chain of a session, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    /// The link of the last event; `None` as long as only programs without chains have changed the session.
    pub head: Option<Hash>,
    /// The first event that was sealed when it was written. Earlier events were sealed later, with the content that
    /// they had at that time.
    pub since: Option<u64>,
    /// The seals by version. Events without a seal are missing.
    pub seals: BTreeMap<u64, Seal>,
}

impl Chain {
    /// Adds the seals of new events.
    pub(crate) fn extend(&mut self, events: &[EventRow], seals: Vec<Seal>) {
        self.since = self.since.or_else(|| events.first().map(|event| event.version));
        self.head = seals.last().map(|seal| seal.link).or(self.head);
        self.seals.extend(events.iter().map(|event| event.version).zip(seals));
    }

    /// Removes the salt of an event whose content was purged.
    pub(crate) fn forget_salt(&mut self, version: u64) {
        if let Some(seal) = self.seals.get_mut(&version) {
            seal.salt = None;
        }
    }
}

/// A break in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// The event has no seal, although the session has a hash chain.
    Unsealed { version: u64 },
    /// The event differs from its seal.
    Changed { version: u64 },
    /// The link does not follow from the previous one: an event was removed, inserted or moved.
    Unlinked { version: u64 },
    /// The last link differs from the session's head.
    Head,
}

/// The part of an event's seal that another replica sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    Salt(Salt),
    /// The hash of an event whose content another replica purged before it sent the event.
    Hash(Hash),
}

/// Returns the seals of events that follow the link `before`. For a session's first event, `before` is `None`.
pub fn seal(
    before: Option<Hash>,
    events: &[EventRow],
    mut given: impl FnMut(&EventRow) -> Given,
) -> Vec<Seal> {
    let mut link = before;
    let sealed = |event: &EventRow| {
        let (salt, hash) = match given(event) {
            Given::Salt(salt) => (Some(salt), content_hash(Some(&salt), event)),
            Given::Hash(hash) => (None, hash),
        };
        let next = next_link(link, &hash);
        link = Some(next);
        Seal { salt, hash, link: next }
    };
    events.iter().map(sealed).collect()
}

/// Returns random bytes from the operating system, one salt for each new event.
pub(crate) fn fresh_salts(count: usize) -> Result<Vec<Salt>> {
    let mut bytes = vec![0; count * SALT_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Engine { doing: "generating salts".to_owned(), why: error.to_string() })?;
    Ok(bytes.as_chunks::<SALT_BYTES>().0.to_vec())
}

/// Returns the seals of new events. Events from another replica keep their salts.
pub(crate) fn seal_new(
    before: Option<Hash>,
    events: &[EventRow],
    known: Option<&BTreeMap<u64, Given>>,
) -> Result<Vec<Seal>> {
    let mut fresh = fresh_salts(events.len())?.into_iter();
    Ok(seal(before, events, |event| {
        let salt = fresh.next().unwrap_or_default();
        known.and_then(|known| known.get(&event.version)).copied().unwrap_or(Given::Salt(salt))
    }))
}

/// Returns the hash of an event's stored bytes. Each part is preceded by its length, so that different events never
/// have the same input.
pub fn content_hash(salt: Option<&Salt>, event: &EventRow) -> Hash {
    let mut hasher = Sha256::new();
    let mut put = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    put(salt.map_or(&[], |salt| salt.as_slice()));
    put(&event.version.to_be_bytes());
    put(&nanoseconds(event.at).to_be_bytes());
    put(event.actor.as_bytes());
    put(event.kind.as_bytes());
    put(event.body.as_bytes());
    hasher.finalize().into()
}

/// Returns a short hash, by which damage to stored text on the disk is detected.
pub(crate) fn checksum(text: &str) -> [u8; 8] {
    let [start, ..] = *Sha256::digest(text.as_bytes()).as_chunks::<8>().0 else { return [0; 8] };
    start
}

/// Returns the time as it enters the chain's hashes, limited to the range of the integer.
fn nanoseconds(at: Timestamp) -> i64 {
    let exact = at.as_nanosecond();
    i64::try_from(exact).unwrap_or(if exact < 0 { i64::MIN } else { i64::MAX })
}

/// Returns the link that follows the link `before` and covers the given hash.
pub fn next_link(before: Option<Hash>, hash: &Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(before.unwrap_or_default());
    hasher.update(hash);
    hasher.finalize().into()
}

/// Returns the breaks in a session's chain. `rewritten` has the unsalted hashes of purged events, as recorded by purge
/// events in the chain. A session that no program with chains has changed has no chain, and so no breaks.
pub fn check(chain: &Chain, events: &[EventRow], rewritten: &BTreeMap<u64, Hash>) -> Vec<Broken> {
    let Some(head) = chain.head else { return Vec::new() };
    let mut broken = Vec::new();
    let mut link = None;
    for event in events {
        let version = event.version;
        let Some(seal) = chain.seals.get(&version) else {
            broken.push(Broken::Unsealed { version });
            continue;
        };
        if !is_as_sealed(seal, event, rewritten) {
            broken.push(Broken::Changed { version });
        }
        if next_link(link, &seal.hash) != seal.link {
            broken.push(Broken::Unlinked { version });
        }
        link = Some(seal.link);
    }
    if link != Some(head) {
        broken.push(Broken::Head);
    }
    broken
}

/// Returns those of consecutive events that differ from their seals. Purged events have no salt and are skipped;
/// [`check`] compares them.
pub fn changed_events(chain: &Chain, events: &[EventRow]) -> Vec<Broken> {
    let is_changed = |event: &&EventRow| {
        let seal = chain.seals.get(&event.version).filter(|seal| seal.salt.is_some());
        seal.is_some_and(|seal| !is_as_sealed(seal, event, &BTreeMap::new()))
    };
    events.iter().filter(is_changed).map(|event| Broken::Changed { version: event.version }).collect()
}

fn is_as_sealed(seal: &Seal, event: &EventRow, rewritten: &BTreeMap<u64, Hash>) -> bool {
    match &seal.salt {
        Some(salt) => content_hash(Some(salt), event) == seal.hash,
        None => rewritten.get(&event.version).is_some_and(|hash| content_hash(None, event) == *hash),
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsealed { version } => write!(f, "event {version} was inserted without leftoff"),
            Self::Changed { version } => write!(f, "event {version} was changed after it was written"),
            Self::Unlinked { version } => write!(f, "event {version} does not follow the previous one"),
            Self::Head => f.write_str("events at the end are missing or were replaced"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;
    use crate::contract::rows::event;

    fn events() -> Vec<EventRow> {
        (1..=4).map(|version| event(version, "note_added", &format!(r#"{{"text":"{version}"}}"#))).collect()
    }

    fn salted(event: &EventRow) -> Given {
        Given::Salt([u8::try_from(event.version).unwrap(); SALT_BYTES])
    }

    fn chain(events: &[EventRow]) -> Chain {
        let seals = seal(None, events, salted);
        Chain {
            head: seals.last().map(|seal| seal.link),
            since: Some(1),
            seals: events.iter().map(|event| event.version).zip(seals).collect(),
        }
    }

    #[test]
    fn sealed_in_two_steps_is_sealed_in_one() {
        let events = events();
        let whole = chain(&events);
        let first = seal(None, &events[..2], salted);
        let rest = seal(Some(first[1].link), &events[2..], salted);
        assert_eq!([first, rest].concat(), whole.seals.values().copied().collect::<Vec<_>>());
        assert_eq!(check(&whole, &events, &BTreeMap::new()), []);
    }

    #[test]
    fn every_way_to_tamper_is_told() {
        let kept = events();
        let whole = chain(&kept);
        let check = |events: &[EventRow], chain: &Chain| super::check(chain, events, &BTreeMap::new());
        for change in [
            |event: &mut EventRow| event.body.push(' '),
            |event: &mut EventRow| event.kind.push('x'),
            |event: &mut EventRow| event.actor.push(' '),
            |event: &mut EventRow| event.at += jiff::SignedDuration::from_nanos(1),
        ] {
            let mut events = kept.clone();
            change(&mut events[1]);
            assert_eq!(check(&events, &whole), [Broken::Changed { version: 2 }]);
        }
        let without_last = &kept[..3];
        assert_eq!(check(without_last, &whole), [Broken::Head]);
        let mut without_second = kept.clone();
        without_second.remove(1);
        assert_eq!(check(&without_second, &whole), [Broken::Unlinked { version: 3 }]);
        let more = [kept.clone(), vec![event(5, "note_added", "{}")]].concat();
        assert_eq!(check(&more, &whole), [Broken::Unsealed { version: 5 }]);
        let mut resealed = whole.clone();
        let forged = seal(None, &[event(4, "note_added", "{}")], salted)[0];
        resealed.seals.insert(4, forged);
        let swapped = [&kept[..3], &[event(4, "note_added", "{}")]].concat();
        assert_eq!(check(&swapped, &resealed), [Broken::Unlinked { version: 4 }, Broken::Head]);
    }

    #[test]
    fn purged_content_is_told_by_the_event_that_purged_it_and_by_no_other() {
        let mut events = events();
        let mut whole = chain(&events);
        events[1].body = "[purged]".to_owned();
        whole.seals.get_mut(&2).unwrap().salt = None;
        assert_eq!(check(&whole, &events, &BTreeMap::new()), [Broken::Changed { version: 2 }]);
        let told = BTreeMap::from([(2, content_hash(None, &events[1]))]);
        assert_eq!(check(&whole, &events, &told), []);
        events[1].body = "[forged]".to_owned();
        assert_eq!(check(&whole, &events, &told), [Broken::Changed { version: 2 }]);
    }
}
