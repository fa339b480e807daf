#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
use super::*;
use jiff::Timestamp;
use model::event::Rewritten;
use proptest::prelude::*;
use store::chain::SALT_BYTES;

fn author(name: &str) -> Author {
    Author { replica: name.to_owned(), is_certain: true }
}

fn row(version: u64, event: &Event) -> EventRow {
    EventRow {
        version,
        at: Timestamp::from_second(1_767_225_600).unwrap(),
        actor: r#"{"person":"ada"}"#.to_owned(),
        kind: event.kind().to_owned(),
        body: serde_json::to_string(event).unwrap(),
        command: None,
    }
}

fn note(text: &str) -> Event {
    let kind = model::note::NoteKind::Note;
    Event::NoteAdded { id: 1, kind, text: text.to_owned(), fields: BTreeMap::new(), origin: None }
}

/// Adds events after a link; returns the new links.
fn grow(tree: &mut Tree, before: Option<Hash>, by: &str, events: &[Event]) -> Vec<Hash> {
    let first = before.map_or(1, |link| tree.get(&link).unwrap().row.version + 1);
    let rows: Vec<_> = events
        .iter()
        .zip(first..)
        .map(|(event, version)| (row(version, event), Given::Salt([7; SALT_BYTES])))
        .collect();
    let added: Vec<Node> = nodes(before, &rows, &author(by)).collect();
    let links = added.iter().map(|node| node.link).collect();
    for node in added {
        tree.add(node);
    }
    links
}

fn texts(tree: &Tree, head: &Hash) -> Vec<String> {
    tree.way(head).iter().map(|node| node.row.body.clone()).collect()
}

#[test]
fn of_two_histories_the_one_with_more_events_counts() {
    let mut tree = Tree::default();
    let root = grow(&mut tree, None, "aa", &[note("1"), note("2")]);
    let short = grow(&mut tree, Some(root[1]), "aa", &[note("a")]);
    let long = grow(&mut tree, Some(root[1]), "bb", &[note("b"), note("c")]);
    assert_eq!(tree.winner(), Some(long[1]));
    assert_eq!(tree.leaves().len(), 2);
    assert!(tree.is_on_the_way(&root[0], &short[0]));
    assert!(tree.broken(&long[1]).is_empty());
}

#[test]
fn an_agent_that_only_waits_does_not_outweigh_one_that_works() {
    let mut tree = Tree::default();
    let root = grow(&mut tree, None, "aa", &[note("1")]);
    let item = model::id::ItemId::parse("one").unwrap();
    let renewed = Event::Item(model::event::ItemEvent::ItemLeaseRenewed {
        id: item,
        until: Timestamp::UNIX_EPOCH,
        seconds: 60,
    });
    grow(&mut tree, Some(root[0]), "aa", &[renewed.clone(), renewed]);
    let works = grow(&mut tree, Some(root[0]), "bb", &[note("b")]);
    assert_eq!(tree.winner(), Some(works[0]));
}

#[test]
fn a_history_that_resolves_another_counts_however_short_it_is() {
    let mut tree = Tree::default();
    let root = grow(&mut tree, None, "aa", &[note("1")]);
    let long = grow(&mut tree, Some(root[0]), "bb", &[note("b"), note("c"), note("d")]);
    let resolved = Event::ForkResolved { head: crate::hex(&long[2]) };
    let short = grow(&mut tree, Some(root[0]), "aa", &[resolved]);
    assert_eq!(tree.winner(), Some(short[0]));
    assert!(tree.is_resolved_by(&long[2], &short[0]));

    let more = grow(&mut tree, Some(long[2]), "bb", &[note("e")]);
    assert_eq!(tree.winner(), Some(short[0]), "it stays resolved");
    assert!(!tree.is_resolved_by(&more[0], &short[0]), "and what came later is a fork again");
}

#[test]
fn two_that_resolve_each_other_are_told_apart_by_their_length() {
    let mut tree = Tree::default();
    let root = grow(&mut tree, None, "aa", &[note("1")]);
    let one = grow(&mut tree, Some(root[0]), "aa", &[note("a")]);
    let other = grow(&mut tree, Some(root[0]), "bb", &[note("b")]);
    let one = grow(
        &mut tree,
        Some(one[0]),
        "aa",
        &[Event::ForkResolved { head: crate::hex(&other[0]) }, note("x")],
    );
    let named = crate::hex(&tree.way(&one[0])[1].link);
    grow(&mut tree, Some(other[0]), "bb", &[Event::ForkResolved { head: named }]);
    assert_eq!(tree.winner(), Some(one[1]));
}

/// Returns a tree in which this replica purged the second event, and the replacement of that event.
fn purged_by(by: &str) -> (Tree, Hash, BTreeMap<Hash, EventRow>) {
    let mut tree = Tree::default();
    let root = grow(&mut tree, None, "aa", &[note("1"), note("secret")]);
    let clean = row(2, &note("[purged]"));
    let hash = crate::hex(&content_hash(None, &clean));
    let purged =
        Event::Purged { replaced: 1, rewritten: vec![Rewritten { version: 2, hash }], contents: Vec::new() };
    let head = grow(&mut tree, Some(root[1]), by, &[purged])[0];
    (tree, head, BTreeMap::from([(root[1], clean)]))
}

#[test]
fn what_its_own_author_purged_goes() {
    let (mut tree, head, copies) = purged_by("aa");
    tree.purge(&copies, &Allowed::default());
    assert!(!texts(&tree, &head).concat().contains("secret"));
    assert!(tree.broken(&head).is_empty(), "and the chain holds");
}

#[test]
fn what_somebody_else_purged_stays() {
    let (mut tree, head, copies) = purged_by("bb");
    tree.purge(&copies, &Allowed::default());
    assert!(texts(&tree, &head).concat().contains("secret"));
    assert!(tree.broken(&head).is_empty());
}

#[test]
fn a_broken_leaf_is_cut_back_to_what_others_share() {
    let mut tree = Tree::default();
    let root = grow(&mut tree, None, "aa", &[note("1")]);
    let good = grow(&mut tree, Some(root[0]), "aa", &[note("a")]);
    let bad = grow(&mut tree, Some(root[0]), "bb", &[note("b"), note("c")]);
    tree.cut(&bad[1]);
    assert_eq!(tree.leaves(), good);
    let orphan = grow(&mut Tree::default(), None, "cc", &[note("x")])[0];
    let rows = [(row(9, &note("y")), Given::Salt([1; SALT_BYTES]))];
    nodes(Some(orphan), &rows, &author("cc")).for_each(|node| tree.add(node));
    let lost = tree.leaves().into_iter().find(|leaf| tree.way(leaf).is_empty()).unwrap();
    tree.cut(&lost);
    assert_eq!(tree.leaves(), good);
}

proptest! {
    /// Replicas agree on the winner, in whichever order they receive events.
    #[test]
    fn the_winner_does_not_depend_on_the_order(
        steps in proptest::collection::vec((0_usize..6, 0_u8..4), 1..24),
        seed in any::<u64>(),
    ) {
        let mut tree = Tree::default();
        let mut links = grow(&mut tree, None, "aa", &[note("1")]);
        for (number, (place, replica)) in steps.iter().enumerate() {
            let before = links[place % links.len()];
            let by = ["aa", "bb", "cc", "dd"][usize::from(*replica)];
            links.extend(grow(&mut tree, Some(before), by, &[note(&number.to_string())]));
        }
        let mut all: Vec<Node> = links.iter().map(|link| tree.get(link).unwrap().clone()).collect();
        let mut state = seed;
        for place in (1..all.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            all.swap(place, usize::try_from(state >> 33).unwrap() % (place + 1));
        }
        let mut other = Tree::default();
        for node in all {
            other.add(node);
        }
        prop_assert_eq!(other.winner(), tree.winner());
        prop_assert_eq!(other.leaves(), tree.leaves());
    }
}
