//! Tests of damaged files: reading never panics, and a write never replaces unreadable content.

use super::*;
use crate::json;

fn step(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn place(seed: &mut u64, length: usize) -> usize {
    usize::try_from(step(seed) % length.max(1) as u64).expect("in range")
}

/// A copy of the file in which bytes are changed, removed or doubled, or words of the format are in wrong
/// places.
fn mutated(text: &[u8], seed: &mut u64) -> Vec<u8> {
    const WORDS: [&str; 8] = ["null", "{}", "[]", "\"impl-1\"", "-1e999", "\"PLAN\"", "}", "\\u0000"];
    let mut bytes = text.to_vec();
    for _ in 0..=place(seed, 4) {
        let at = place(seed, bytes.len());
        match step(seed) % 5 {
            0 if !bytes.is_empty() => bytes[at] = u8::try_from(step(seed) >> 56).expect("a byte"),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..(at + 20).min(bytes.len()))),
            3 => bytes.extend_from_slice(&bytes.clone()[at..]),
            _ => {
                let word = WORDS[place(seed, WORDS.len())];
                bytes.splice(at..at, word.bytes());
            }
        }
    }
    bytes
}

#[test]
fn mutated_files_never_panic_and_what_cannot_be_read_is_not_written_over() {
    let whole = seed();
    let files: Vec<String> = whole.files().map(ToOwned::to_owned).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut broken = 0;
    for _ in 0..1_500 {
        let mut tree = whole.clone();
        for file in &files {
            if step(&mut seed).is_multiple_of(2) {
                let bytes = mutated(whole.content(file).expect("a file"), &mut seed);
                tree.insert(file.clone(), Entry::File(bytes));
            }
        }
        let reading = told(&tree);
        let (_, session, _) = reading.value.fold(&actor()).expect("a session, whatever the files hold");
        assert!(session.run().is_some());
        let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
        for change in written(&tree, &[paused]) {
            let before = tree.content(&change.path);
            let is_broken = before.is_some_and(|bytes| json::object(bytes).is_err());
            broken += usize::from(is_broken);
            // The engine quarantines a broken session file before the layout's write replaces it; no other
            // file is touched.
            let may =
                !is_broken || change.path == REGISTRY || reading.value.unreadable.contains(&change.path);
            assert!(may, "{} was written over", change.path);
            if change.path == REGISTRY {
                let kept = |line: &&[u8]| {
                    json::object(line).is_err()
                        || !line.windows(NAME.len()).any(|word| word == NAME.as_bytes())
                };
                for line in before.unwrap_or_default().split(|byte| *byte == b'\n').filter(kept) {
                    let is_there = change.content.split(|byte| *byte == b'\n').any(|after| after == line);
                    assert!(is_there, "a line of others is gone: {:?}", String::from_utf8_lossy(line));
                }
            }
        }
    }
    assert!(broken > 100, "the damage was too light to show anything: {broken}");
}

#[test]
fn files_that_hold_no_object_say_why() {
    let deep = format!("{{\"a\":{}", "[".repeat(500_000));
    for (content, why) in [
        ("", "it is empty"),
        ("null", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{\"a\":", "not JSON"),
        (deep.as_str(), "not JSON"),
    ] {
        let tree = with_state(content);
        assert!(warnings(&tree)[0].contains(why), "{why}");
        assert_eq!(told(&tree).value.unreadable, ["WFS-login/workflow-session.json"]);
        assert_eq!(folded(&tree).0.title, "OAuth");
    }
    let mut tree = seed();
    tree.insert("WFS-login/workflow-session.json", Entry::Unusable("it is a link".to_owned()));
    assert!(warnings(&tree)[0].contains("it is a link"));
}

#[test]
fn what_we_wrote_survives_ten_rounds_of_a_writer_that_keeps_only_what_it_knows() {
    let ours = after(&seed(), &[Event::SessionFailed { error: "e".to_owned() }]);
    let path = "WFS-login/workflow-session.json";
    let mut content = ours.content(path).expect("a file").to_vec();
    for _ in 0..10 {
        let mut theirs = json::object(&content).expect("an object");
        theirs.retain(|key, _| ["session_id", "current_phase", "status"].contains(&key.as_str()));
        let theirs = serde_json::Value::Object(theirs).to_string();
        content = Ccw.merge(path, Merge::Dropped { base: &content, theirs: theirs.as_bytes() });
    }
    let kept = json::object(&content).expect("an object");
    assert_eq!(serde_json::Value::Object(kept), json_at(&ours, path));
}
