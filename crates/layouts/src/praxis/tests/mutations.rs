//! Tests with all kinds of damaged files: reading never panics, and unreadable content is never overwritten
//! without a report.

use super::*;

/// A copy of the text in which bytes are changed, removed, doubled or cut off. The same seed gives the same
/// changes.
fn mutated(text: &str, seed: &mut u64) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut random = |below: usize| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        usize::try_from(*seed % (below.max(1) as u64)).expect("in range")
    };
    for _ in 0..=random(4) {
        let at = random(bytes.len());
        match random(6) {
            0 if !bytes.is_empty() => bytes[at] = u8::try_from(random(256)).expect("a byte"),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, b"{}[]\",:0-9e\\"[random(12)]),
            3 => {
                let end = (at + random(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + random(40)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => {
                let values: [&[u8]; 8] =
                    [b"null", b"-1", b"1e400", b"\"x\"", b"[]", b"{}", b"999999999999", b"true"];
                bytes.splice(at..at, values[random(8)].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn mutated_sessions_never_make_it_panic_and_nothing_is_lost_when_nothing_changes() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut readable, mut unreadable) = (0, 0);
    for round in 0..6_000 {
        let (path, text) = match round % 3 {
            0 => (FIRST_PATH.to_owned(), FIRST_FILE),
            1 => (second(STATUSES[round % 2]), SECOND_FILE),
            _ => (FIRST_PATH.to_owned(), SEED_FILE),
        };
        let mut case = Case::new(&path, "");
        case.tree.insert(path.clone(), Entry::File(mutated(text, &mut seed)));
        let told = case.told().value;
        let session = told.fold(&actor()).expect("a session").1;
        assert!(session.run().is_some());
        if told.unreadable.is_empty() {
            readable += 1;
            // A write may correct odd values, but only once. It changes nothing else.
            if let Some(text) = case.written(&session) {
                let again = Case::new(&path, &text);
                assert_eq!(again.written(&again.session()), None, "{text}");
            }
        } else {
            unreadable += 1;
            assert_eq!(told.unreadable, [path]);
        }
    }
    assert!(readable > 500 && unreadable > 500, "{readable} and {unreadable}");
}

#[test]
fn mutated_definitions_never_make_it_panic() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..2_000 {
        let mut case = Case::first(FIRST_FILE);
        for (path, text) in definitions::FILES {
            case.tree.insert(*path, Entry::File(mutated(text, &mut seed)));
        }
        assert!(case.session().run().is_some());
        let asked = Asked { name: "ship_v1", target: Some("spec"), tree: &case.tree };
        let _ = Praxis.define(&asked);
    }
}
