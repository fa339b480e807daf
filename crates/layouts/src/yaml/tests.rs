use super::*;
use serde_json::json;

const COMMENTED: &str = "\
# What this is: é
id: \"x\"  # quoted
status: in_progress  # a word
single: 'it''s'
ratio: 1.50   # as written
stages:
  one:
    status: \"not_started\"  # a | b
    sections:
      # Filled in later
      # - index: 1
    approved: false

  two: {a: 1, b: }
deferred: []  # none yet
  # - claim: \"[text]\"
  #   section: N

text: |
  several
  lines

last: ~
";

use Step::{At, Key};

#[track_caller]
fn check(before: &str, edit: impl FnOnce(&mut Document) -> Result<(), String>, after: &str) {
    let mut document = Document::parse(before.as_bytes()).expect("a mapping");
    edit(&mut document).expect("an edit");
    assert_eq!(String::from_utf8(document.into_bytes()).expect("text"), after);
}

#[track_caller]
fn changed(edit: impl FnOnce(&mut Document) -> Result<(), String>, old: &str, new: &str) {
    assert!(COMMENTED.contains(old), "{old:?} is not in the text");
    check(COMMENTED, edit, &COMMENTED.replacen(old, new, 1));
}

#[test]
fn what_is_not_set_keeps_every_byte() {
    check(COMMENTED, |_| Ok(()), COMMENTED);
    check(COMMENTED, |d| d.set(&[Key("ratio")], &json!(1.5)), COMMENTED);
    let windows = COMMENTED.replace('\n', "\r\n");
    check(&windows, |_| Ok(()), &windows);
}

#[test]
fn a_value_is_replaced_in_the_manner_of_the_one_that_was_there() {
    let one = |key| [Key("stages"), Key("one"), Key(key)];
    changed(|d| d.set(&[Key("id")], &json!("y: z")), "\"x\"  # quoted", "\"y: z\"  # quoted");
    changed(|d| d.set(&[Key("status")], &json!("paused")), "in_progress  #", "paused  #");
    changed(|d| d.set(&[Key("status")], &json!("yes")), "in_progress  #", "\"yes\"  #");
    changed(|d| d.set(&[Key("single")], &json!("that's")), "'it''s'", "'that''s'");
    changed(|d| d.set(&one("status"), &json!("completed")), "\"not_started\"", "\"completed\"");
    changed(|d| d.set(&one("approved"), &json!(true)), "approved: false", "approved: true");
    changed(|d| d.set(&[Key("last")], &json!(3)), "last: ~", "last: 3");
    changed(|d| d.set(&[Key("text")], &json!("one")), "text: |\n  several\n  lines\n", "text: \"one\"\n");
    changed(|d| d.set(&[Key("stages"), Key("two"), Key("b")], &json!(2)), "b: }", "b: 2 }");
    changed(|d| d.set(&[Key("stages"), Key("two"), Key("c")], &json!("x")), "b: }", "b:, c: \"x\" }");
}

#[test]
fn a_list_that_was_empty_begins_below_the_comments_that_show_its_form() {
    let entry = json!({"index": 1, "status": "not_started", "files": ["a", "b"]});
    changed(
        |d| d.push(&[Key("stages"), Key("one"), Key("sections")], &entry),
        "      # - index: 1\n",
        "      # - index: 1\n      - index: 1\n        status: \"not_started\"\n        files: [\"a\", \"b\"]\n",
    );
    let mut document = Document::parse(COMMENTED.as_bytes()).expect("a mapping");
    for number in [1, 2] {
        document.push(&[Key("deferred")], &json!({"claim": "c", "section": number})).expect("pushed");
    }
    document.set(&[Key("deferred"), At(1), Key("resolved")], &json!(true)).expect("set");
    let text = String::from_utf8(document.into_bytes()).expect("text");
    let expected = "deferred:  # none yet\n  # - claim: \"[text]\"\n  #   section: N\n  - claim: \"c\"\n    section: 1\n  - claim: \"c\"\n    section: 2\n    resolved: true\n\ntext: |";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn an_entry_is_taken_out_of_its_list_and_nothing_else_changes() {
    let list = [Key("list")];
    let text = "list:  # why\n  # form\n  - a: 1  # one\n    b: 2\n  # between\n  - a: 2\n    # of two\n    b:\n      c: 3\n\nlast: 1\n";
    check(
        text,
        |d| d.remove(&list, 0),
        "list:  # why\n  # form\n  # between\n  - a: 2\n    # of two\n    b:\n      c: 3\n\nlast: 1\n",
    );
    check(
        text,
        |d| d.remove(&list, 1),
        "list:  # why\n  # form\n  - a: 1  # one\n    b: 2\n  # between\n\nlast: 1\n",
    );
    check("list:\n  - a: 1\n    b: null\nlast: 1\n", |d| d.remove(&list, 0), "list: []\nlast: 1\n");
    check("list: [1, 2, 3]  # why\n", |d| d.remove(&list, 1), "list: [1, 3]  # why\n");
    let mut document = Document::parse(text.as_bytes()).expect("a mapping");
    assert!(document.remove(&list, 2).is_err_and(|why| why.contains("no entry 3")));
    assert!(document.remove(&[Key("last")], 0).is_err());
    assert_eq!(document.into_bytes(), text.as_bytes());
}

#[test]
fn new_keys_come_last_in_their_mapping() {
    changed(|d| d.set(&[Key("new")], &json!("n")), "last: ~\n", "last: ~\nnew: \"n\"\n");
    changed(
        |d| d.set(&[Key("stages"), Key("one"), Key("by")], &json!({"who": "me", "all": []})),
        "    approved: false\n",
        "    approved: false\n    by:\n      who: \"me\"\n      all: []\n",
    );
    changed(|d| d.set(&[Key("deep"), Key("er")], &json!(1)), "last: ~\n", "last: ~\ndeep:\n  er: 1\n");
    check(
        "a:\n  b: >\n    c\n\n  \nd: 1\n",
        |d| d.set(&[Key("a"), Key("e")], &json!(2)),
        "a:\n  b: >\n    c\n  e: 2\n\n  \nd: 1\n",
    );
    check("a: 1", |d| d.set(&[Key("b")], &json!(2)), "a: 1\nb: 2");
    check("a: 1\r\n", |d| d.set(&[Key("b")], &json!(2)), "a: 1\r\nb: 2\r\n");
    check("\u{feff}a: 1\n", |d| d.set(&[Key("a")], &json!(2)), "\u{feff}a: 2\n");
    check("l:\n- a\n- b\nm: 1\n", |d| d.push(&[Key("l")], &json!("c")), "l:\n- a\n- b\n- \"c\"\nm: 1\n");
    check("l: [1, 2]\n", |d| d.push(&[Key("l")], &json!(3)), "l: [1, 2, 3]\n");
}

#[test]
fn text_of_any_kind_comes_back_as_it_was() {
    for text in [
        "",
        " ",
        "null",
        "~",
        "1e3",
        "a: b",
        "# c",
        "- x",
        "\"",
        "\\",
        "a\nb\r\n",
        "\t",
        "\u{7f}\u{85}",
        "\u{2028}",
        "\u{feff}",
        "é😀",
        "*a",
        "&a",
        "!t",
        "%",
        "@",
        "`",
        "{}",
        "'",
    ] {
        for before in ["a: x\n", "a: 'x'\n", "a: \"x\"\n", "a:\n", "a: |\n  x\n", "b: 1\n", "{a: x}\n"] {
            let mut document = Document::parse(before.as_bytes()).expect("a mapping");
            document
                .set(&[Key("a")], &json!(text))
                .unwrap_or_else(|why| panic!("{text:?} in {before:?}: {why}"));
            assert_eq!(object(&document.into_bytes()).expect("a mapping").0["a"], json!(text));
        }
    }
}

#[test]
fn numbers_and_words_mean_what_they_mean_in_yaml() {
    for (text, value) in [
        ("12", json!(12)),
        ("-3", json!(-3)),
        ("+5", json!(5)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("1.50", json!(1.5)),
        ("007", json!(7)),
        ("1_000", json!("1_000")),
        ("yes", json!("yes")),
        ("2026-02-14T14:30:22Z", json!("2026-02-14T14:30:22Z")),
        (".5", json!(0.5)),
        (".inf", json!(".inf")),
        ("99999999999999999999999", json!("99999999999999999999999")),
        ("1.2.3", json!("1.2.3")),
        ("Null", json!(null)),
    ] {
        assert_eq!(object(format!("a: {text}\n").as_bytes()).expect("a mapping").0["a"], value, "{text}");
    }
}

#[test]
fn what_another_reader_may_see_otherwise_is_told_with_its_line_and_key() {
    for (text, key, value, what) in [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "b", json!({"c": 2}), "line 4: 'b.c' is set more than once"),
        ("a: !secret x\n", "a", json!("x"), "line 1: 'a' has the tag"),
        ("a: &one 1\nb: *one\n", "b", json!(1), "line 2: 'b' is an alias"),
        ("a: &one 1\nb: *one\n", "a", json!(1), "line 1: 'a' has an anchor"),
        ("a: 1\n---\na: 2\n", "a", json!(1), "a second document"),
    ] {
        let (fields, warnings) = object(text.as_bytes()).expect("a mapping");
        assert_eq!(fields[key], value, "{text}");
        assert!(warnings.iter().any(|warning| warning.contains(what)), "{warnings:?}");
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let bomb = format!(
        "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n{}",
        (1..9)
            .map(|n| {
                let of = format!("*a{},", n - 1).repeat(10);
                format!("a{n}: &a{n} [{}]\n", of.trim_end_matches(','))
            })
            .collect::<String>()
    );
    let deep = format!("a: {}", "[".repeat(100_000));
    let block: String = (0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    for (text, why) in [
        ("", "empty"),
        (" \n", "empty"),
        ("- a\n", "not a YAML mapping"),
        ("text\n", "not a YAML mapping"),
        ("a:\n\tb: 1\n", "line 2"),
        ("a: [1\n", "line"),
        ("a: *no\n", "line 1"),
        ("? {a: 1}\n: 2\n", "not a string"),
        (&bomb, "values"),
        (&deep, "line 1"),
        (&block, "line"),
        ("a: \"x\nb: 1\n", "line"),
    ] {
        let found = Document::parse(text.as_bytes()).err().unwrap_or_default();
        assert!(found.contains(why), "{found:?} of {:?}", &text[..text.len().min(40)]);
    }
    assert!(Document::parse(b"\xff").is_err_and(|why| why.contains("UTF-8")));
}

#[test]
fn an_edit_that_would_change_something_else_is_refused_and_changes_nothing() {
    for (text, path, value) in [
        ("a: &one 1\nb: *one\n", &[Key("a")][..], json!(2)),
        ("a: &one {x: 1}\nb: *one\n", &[Key("b"), Key("x")], json!(2)),
        ("a:\n  b: 1\n", &[Key("a")], json!("text")),
        ("a: text\n", &[Key("a"), Key("b")], json!(1)),
        ("a: [1]\n", &[Key("a"), At(3)], json!(1)),
    ] {
        let mut document = Document::parse(text.as_bytes()).expect("a mapping");
        assert!(document.set(path, &value).is_err(), "{text}");
        assert_eq!(document.into_bytes(), text.as_bytes());
    }
}

#[test]
fn what_another_writer_dropped_comes_back() {
    let base = b"a: 1 # c\nown:\n  x: 1\n  z: 2\ngone: [1]\nlist:\n  - k: 1\n";
    let theirs = b"# mine\nown:\n  x: 5 # five\na: 2\nnew: true\n";
    let merged = String::from_utf8(with_missing_of(base, theirs)).expect("text");
    assert_eq!(merged, "# mine\nown:\n  x: 5 # five\n  z: 2\na: 2\nnew: true\ngone: [1]\nlist:\n  - k: 1\n");
}

#[test]
fn an_edit_that_came_while_we_wrote_is_laid_over_what_we_wrote() {
    let base = b"a: 1\nb: {c: 1, d: 1}\nl:\n  - k: 1\n";
    let theirs = b"a: 2\nb: {c: 1, d: 2}\nl:\n  - k: 3\n  - k: 4\n";
    let onto = b"# ours\na: 1\nb: {c: 9, d: 1} # b\nl:\n  - k: 1 # k\n";
    let merged = String::from_utf8(with_changes(base, theirs, onto)).expect("text");
    assert_eq!(merged, "# ours\na: 2\nb: {c: 9, d: 2} # b\nl:\n  - k: 3 # k\n  - k: 4\n");
}

/// The bytes of documents are changed at random. Reading never panics. An edit either gives the expected
/// content or is refused.
#[test]
fn mutated_documents_are_read_or_refused_and_never_damaged() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).expect("small")
    };
    let pieces = [
        "\t", "\"", "'", ":", "- ", "#", "&a ", "*a", "!x ", "[", "]", "{", "}", "|", "\n", "  ", "\r\n",
        "é", "---\n", "? ",
    ];
    let (mut readable, mut edited) = (0, 0);
    for _ in 0..4000 {
        let mut bytes = COMMENTED.as_bytes().to_vec();
        for _ in 0..=next(3) {
            let at = next(bytes.len());
            match next(4) {
                0 => bytes.truncate(at),
                1 => drop(bytes.remove(at)),
                2 => bytes[at] = u8::try_from(next(256)).expect("a byte"),
                _ => drop(bytes.splice(at..at, pieces[next(pieces.len())].bytes())),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let Ok(mut document) = Document::parse(&bytes) else { continue };
        readable += 1;
        assert_eq!(document.clone().into_bytes(), bytes);
        let mut meant = Value::Object(document.fields());
        let path = [Key("stages"), Key("one"), Key("status")];
        if document.set(&path, &json!("done: \"x\"")).is_ok() {
            edited += 1;
            put(&mut meant, &path, &json!("done: \"x\""), false);
        }
        assert_eq!(Value::Object(object(&document.into_bytes()).expect("still a mapping").0), meant);
    }
    assert!(readable > 500 && edited > 400, "{readable} {edited}");
}
