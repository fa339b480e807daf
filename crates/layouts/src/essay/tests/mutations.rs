//! Tests with random changes to files: reading never panics, and a write never replaces unreadable content or
//! values of others.

use super::*;
use serde_json::Value;

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).expect("small")
    }
}

fn mutated(text: &str, random: &mut Random) -> Vec<u8> {
    const PIECES: [&str; 18] = [
        "\t",
        "\"",
        "'",
        ": ",
        "- ",
        "#",
        "&a ",
        "*a",
        "!x ",
        "[",
        "{",
        "}",
        "|",
        "\n",
        "  ",
        "9999999999",
        "null",
        "-1",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1));
        match random.below(6) {
            0 if bytes.len() > 1 => bytes.truncate(at),
            1 if bytes.len() > 1 => drop(bytes.remove(at)),
            2 if !bytes.is_empty() => bytes[at] = u8::try_from(random.below(256)).expect("a byte"),
            3 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
            4 => {
                // The change repeats or removes a whole line.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                let (from, to) = (random.below(lines.len().max(1)), random.below(lines.len().max(1)));
                if let Some(line) = lines.get(from).copied() {
                    if to % 2 == 0 {
                        lines.remove(from);
                    } else {
                        lines.insert(to, line);
                    }
                }
                bytes = lines.concat().into_bytes();
            }
            _ => {
                let end = (at + random.below(40)).min(bytes.len());
                drop(bytes.drain(at.min(end)..end));
            }
        }
    }
    bytes
}

#[test]
fn a_mutated_state_is_read_or_recovered_and_writing_back_changes_nothing() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut readable, mut recovered) = (0, 0);
    for round in 0..800 {
        let text = if round % 2 == 0 { LATE } else { EARLY };
        let bytes = mutated(text, &mut random);
        let mut tree = whole("");
        tree.insert(STATE, Entry::File(bytes.clone()));
        let read = read(tree);
        if read.unreadable.is_empty() {
            readable += 1;
            let written = read.written_after(Vec::new());
            // A write adds only values that are required, and removes no value.
            if let Some(written) = written {
                let (before, _) = yaml::object(&bytes).expect("it was read");
                let (after, _) = yaml::object(written.as_bytes()).expect("it can be read");
                keeps(&Value::Object(before), &Value::Object(after), "");
            }
        } else {
            recovered += 1;
            assert!(read.warnings.iter().any(|warning| warning == RECONSTRUCTED), "{:?}", read.warnings);
        }
    }
    assert!(readable > 200 && recovered > 100, "{readable} {recovered}");
}

/// Expects that every value of `before` is in `after`.
#[track_caller]
fn keeps(before: &Value, after: &Value, path: &str) {
    match (before, after) {
        (Value::Null, _) => {}
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in before {
                let path = format!("{path}.{key}");
                keeps(value, after.get(key).unwrap_or_else(|| panic!("{path} is gone")), &path);
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            assert!(after.len() >= before.len(), "{path}");
            before.iter().zip(after).for_each(|(before, after)| keeps(before, after, path));
        }
        (before, after) => {
            assert!(before == after || path == ".last_activity", "{path}: {before} became {after}");
        }
    }
}

#[test]
fn mutated_artifacts_never_panic() {
    let mut random = Random(77);
    for _ in 0..150 {
        let files: Vec<(String, Vec<u8>)> =
            ARTIFACTS.iter().map(|(name, text)| ((*name).to_owned(), mutated(text, &mut random))).collect();
        let mut tree = Tree::default();
        for (name, bytes) in files {
            tree.insert(name, Entry::File(bytes));
        }
        let read = read(tree);
        for moment in [Moment::Paused, Moment::Resumed, Moment::Completed, Moment::Shown, Moment::Listed] {
            assert!(!read.says(moment).is_empty());
        }
        assert!(read.written_after(Vec::new()).is_some(), "there was no state");
    }
}
