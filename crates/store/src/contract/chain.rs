//! Contract: the hash chain. Every event is sealed when appended, and nothing else changes the seals.

use super::Factory;
use super::rows::{batch, begin, event, go_on, id, line, paused, snapshot_at, with};
use crate::chain::{Broken, Given, Hash, SALT_BYTES, check, content_hash};
use crate::{Batch, EventRow, Rewrite, SessionRow, Store};
use std::collections::BTreeMap;

fn checked(store: &dyn Store, name: &str, rewritten: &BTreeMap<u64, Hash>) -> Vec<Broken> {
    let events = store.events(&id(name), 0, None).unwrap();
    check(&store.chain(&id(name)).unwrap(), &events, rewritten)
}

pub(super) fn every_event_is_sealed_when_it_is_kept(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first"), paused("second")]);
    store.append(&batch([go_on(line("first"), 3), go_on(paused("second"), 1)])).unwrap();
    let chain = store.chain(&id("first")).unwrap();
    assert_eq!(chain.seals.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!((chain.since, chain.head), (Some(1), Some(chain.seals[&4].link)));
    let salts: std::collections::BTreeSet<_> = chain.seals.values().map(|seal| seal.salt).collect();
    assert_eq!(salts.len(), 4, "each has a salt of its own");
    for name in ["first", "second"] {
        assert_eq!(checked(&*store, name, &BTreeMap::new()), []);
    }
    let before = store.chain(&id("first")).unwrap();
    store.append(&batch([go_on(line("first"), 1)])).unwrap_err();
    assert_eq!(store.chain(&id("first")).unwrap(), before);
    assert_eq!(store.chain(&id("FIRST")).unwrap().head, None);
    assert_eq!(store.chain(&id("nobody")).unwrap().head, None);
}

pub(super) fn what_is_rewritten_loses_its_salt_and_keeps_its_link(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    store.append(&batch([go_on(line("first"), 2)])).unwrap();
    let before = store.chain(&id("first")).unwrap();
    let other = EventRow { actor: "{}".to_owned(), ..event(2, "phase_started", r#"{"of":"[purged]"}"#) };
    let rewritten = BTreeMap::from([(2, content_hash(None, &other))]);
    let rewrite = Rewrite {
        stream: go_on(SessionRow { version: 3, ..line("first") }, 1),
        events: vec![other],
        activity: Vec::new(),
        contents: Vec::new(),
        items: Vec::new(),
    };
    store.rewrite(&rewrite, &|_| None).unwrap();
    let after = store.chain(&id("first")).unwrap();
    assert_eq!(after.seals[&2].salt, None);
    assert_eq!((after.seals[&2].hash, after.seals[&2].link), (before.seals[&2].hash, before.seals[&2].link));
    assert_eq!((after.seals[&1], after.seals[&3]), (before.seals[&1], before.seals[&3]));
    assert_eq!(checked(&*store, "first", &rewritten), []);
    assert_eq!(checked(&*store, "first", &BTreeMap::new()), [Broken::Changed { version: 2 }]);
}

/// A history from another replica keeps its chain in this store.
pub(super) fn a_history_from_elsewhere_keeps_its_links(make: &mut Factory<'_>) {
    let (mut here, mut there) = (make(), make());
    with(&mut *there, [line("first")]);
    there.append(&batch([go_on(line("first"), 2)])).unwrap();
    let theirs = there.chain(&id("first")).unwrap();
    let given = |(version, seal): (&u64, &crate::chain::Seal)| match seal.salt {
        // The second event is sent as if its content had been purged.
        Some(salt) if *version != 2 => (*version, Given::Salt(salt)),
        Some(_) | None => (*version, Given::Hash(seal.hash)),
    };
    let seals = BTreeMap::from([(id("first"), theirs.seals.iter().map(given).collect())]);
    let events = there.events(&id("first"), 0, None).unwrap();
    let mut stream = begin(line("first"));
    stream.row.version = 3;
    stream.snapshot = snapshot_at(3);
    stream.events = events;
    here.append(&Batch { seals, ..batch([stream]) }).unwrap();
    let ours = here.chain(&id("first")).unwrap();
    assert_eq!(ours.head, theirs.head);
    assert_eq!(ours.seals[&1], theirs.seals[&1]);
    assert_eq!(ours.seals[&2].salt, None);
    assert_ne!(ours.seals[&3].salt, Some([0; SALT_BYTES]));
}
