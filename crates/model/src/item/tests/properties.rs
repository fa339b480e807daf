//! Random commands by several actors over a few items, some of them nonsense.

use super::*;

const IDS: [&str; 8] = ["a", "b", "c", "a.1", "a.2", "b.1", "a.1.1", "d"];

fn any_id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(IDS.to_vec())
}

fn any_command() -> impl Strategy<Value = ItemCommand> {
    let some_ids = || prop::collection::vec(any_id(), 0..3);
    prop_oneof![
        4 => (any_id(), some_ids()).prop_map(|(id, needs)| add_needing(id, &needs)),
        2 => (any_id(), any_id(), some_ids()).prop_map(|(id, parent, needs)| add_part(id, parent, &needs)),
        3 => any_id().prop_map(start),
        4 => any_id().prop_map(done),
        1 => any_id().prop_map(block),
        1 => any_id().prop_map(|text| ItemCommand::Unblock { id: id(text) }),
        2 => any_id().prop_map(|text| ItemCommand::Drop { id: id(text), reason: "late".to_owned() }),
        3 => any_id().prop_map(claim),
        1 => any_id().prop_map(release),
        2 => (any_id(), 1..3_usize).prop_map(|(id, parts)| split(id, parts)),
        2 => (any_id(), some_ids()).prop_map(|(id, some)| needs(id, &some)),
        1 => (any_id(), 0..99_u64).prop_map(|(text, order)| ItemCommand::Set {
            id: id(text),
            edit: ItemEdit { order: Some(order), ..ItemEdit::default() }
        }),
    ]
}

fn any_actor() -> impl Strategy<Value = Actor> {
    prop::sample::select(vec![agent("one"), agent("two"), anna()])
}

/// Checks the invariants after every command.
fn check(work: &Work) {
    for item in work.book.iter() {
        let parts: Vec<&Item> = work.book.parts_of(&item.id).collect();
        assert_eq!(item.parts as usize, parts.len(), "{} knows its parts", item.id);
        assert_eq!(item.open_parts as usize, parts.iter().filter(|part| part.is_open()).count());
        assert!((1..=DEEPEST_LEVEL).contains(&item.level()));
        if item.is_container() {
            assert_eq!(item.is_open(), item.open_parts > 0, "container {}", item.id);
            assert_eq!(item.lease, None, "nobody holds a container");
        }
        for need in &item.depends_on {
            let need = work.book.get(need).expect("a dependency exists");
            let waits = item.waits_for.iter().any(|other| other.is(&need.id));
            assert_eq!(waits, need.is_open() && item.is_open(), "{} for {}", item.id, need.id);
        }
        for need in &item.waits_for {
            assert_eq!(work.book.waiting_path(need, &item.id), None, "{} is in a cycle", item.id);
        }
        if let Some(parent) = item.parent.as_ref().and_then(|parent| work.book.get(parent)) {
            assert_eq!(item.place[..parent.level()], parent.place[..]);
            assert_eq!((&item.phase, &item.run), (&parent.phase, &parent.run));
        }
    }
    let counted = work.book.iter().filter(|item| item.is_done()).count();
    let kept = work.book.iter().filter(|item| !item.is_dropped()).count();
    assert_eq!(work.counts(), (u32::try_from(counted).expect("few"), u32::try_from(kept).expect("few")));
}

/// A book with exactly those items that a decision and its events may need.
fn part_of(book: &ItemBook, command: &ItemCommand) -> ItemBook {
    let (ItemCommand::Complete { id } | ItemCommand::Drop { id, .. }) = command else { return book.clone() };
    let mut part = ItemBook::default();
    let mut at = book.get(id);
    while let Some(item) = at {
        part.insert(item.clone());
        for dependent in book.iter().filter(|other| other.depends_on.iter().any(|need| need.is(&item.id))) {
            part.insert(dependent.clone());
        }
        at = item.parent.as_ref().and_then(|parent| book.get(parent));
    }
    part
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_the_rules_hold_and_a_replay_gives_the_same(
        steps in prop::collection::vec((any_actor(), any_command(), 0..400_i64), 1..60)
    ) {
        let mut work = Work::new();
        for (actor, command, seconds) in steps {
            work.later(seconds);
            let mut part = part_of(&work.book, &command);
            if let Ok(events) = work.try_to(&actor, command) {
                for event in &events {
                    part.apply(event, work.now, &actor);
                }
                for item in part.touched() {
                    prop_assert_eq!(Some(item), work.book.get(&item.id), "a part of the items is enough");
                }
            }
            check(&work);
        }
        let replayed = ItemBook::fold(&work.log);
        prop_assert!(replayed.iter().eq(work.book.iter()));
        prop_assert_eq!(Session::fold(&work.log).expect("a session"), work.session);
    }
}
