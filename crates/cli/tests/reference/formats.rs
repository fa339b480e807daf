//! Links each rule of another tool's format to its tests: everything that a page of `docs/formats` names must
//! exist, and run as a test.
//!
//! The last cell of a row names paths below `crates/`, each followed by functions of that file, all in
//! backticks.

use crate::guides::markdown_in;
use crate::root;
use std::path::{Path, PathBuf};

const FOLDER: &str = "docs/formats";
const PAGES: [&str; 5] = ["ccw.md", "essay.md", "ocr.md", "praxis.md", "requirements.md"];
const HEAD: [&str; 2] = ["| what the format asks | tested by |", "|---|---|"];
/// The minimum number of rows. Every page has more than twice as many, and a page that lost its rows must not
/// pass.
const FEWEST_ROWS: usize = 40;

#[test]
fn every_rule_of_a_format_leads_to_its_tests() {
    let pages = markdown_in(FOLDER);
    let expected: Vec<PathBuf> = PAGES.iter().map(|name| Path::new(FOLDER).join(name)).collect();
    assert_eq!(pages, expected);
    let mut mistakes = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(root().join(&page)).unwrap();
        let found = mistakes_in(&text, FEWEST_ROWS, &source).into_iter();
        mistakes.extend(found.map(|mistake| format!("{}: {mistake}", page.display())));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// Pages of invariants, promises and threats: a row of a table whose last column is `tested by` names tests.
#[test]
fn every_invariant_promise_and_threat_leads_to_its_tests() {
    for (page, fewest) in [("docs/invariants.md", 16), ("docs/reliability.md", 12), ("docs/security.md", 25)]
    {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        let mut is_tested = false;
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| {
                if line.ends_with("| tested by |") {
                    is_tested = true;
                    return false;
                }
                is_tested &= line.starts_with('|');
                is_tested && !line.starts_with("|---")
            })
            .collect();
        assert_eq!(mistakes_in(&rows.join("\n"), fewest, &source), [""; 0], "{page}");
    }
}

fn source(path: &str) -> Option<String> {
    std::fs::read_to_string(root().join("crates").join(path)).ok()
}

/// The mistakes in a page; `read` returns the text of a file below `crates/`.
fn mistakes_in(page: &str, fewest: usize, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut mistakes = Vec::new();
    let mut count = 0;
    for (number, line) in (1..).zip(page.lines()) {
        if !line.starts_with('|') || HEAD.contains(&line) {
            continue;
        }
        count += 1;
        let (asked, tests) = line.trim_matches('|').rsplit_once(" | ").unwrap_or((line, ""));
        let found = mistakes_of(tests, read).into_iter();
        mistakes.extend(found.map(|mistake| format!("line {number}, '{}': {mistake}", asked.trim())));
    }
    if count < fewest {
        mistakes.push(format!("it has {count} rows, and {fewest} are the fewest"));
    }
    mistakes
}

/// The mistakes of one row.
fn mistakes_of(tests: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut mistakes = Vec::new();
    let (mut path, mut text, mut named) = ("", None, 0);
    for name in tests.split('`').skip(1).step_by(2) {
        if name.contains('/') {
            (path, text) = (name, read(name));
            if text.is_none() {
                mistakes.push(format!("there is no crates/{path}"));
            }
        } else {
            named += 1;
            if !text.as_deref().is_some_and(|text| is_test(text, name)) {
                mistakes.push(format!("crates/{path} has no test {name}"));
            }
        }
    }
    if named == 0 {
        mistakes.push("it names no test".to_owned());
    }
    mistakes
}

/// True if a function of that name exists and runs with all other tests.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = format!("fn {name}(");
    let Some(at) = lines.iter().position(|line| line.starts_with(&begins)) else { return false };
    let is_above = |line: &&&str| line.starts_with("#[") || line.starts_with("//");
    let above: Vec<&str> = lines[..at].iter().rev().take_while(is_above).copied().collect();
    above.contains(&"#[test]") && !above.iter().any(|line| line.starts_with("#[ignore"))
}

const SOURCE: &str = "\
/// The cases.
#[test]
#[allow(clippy::print_stderr, reason = \"a word\")]
fn it_holds() {}

fn no_test() {}

#[test]
#[ignore = \"another starts it\"]
fn not_by_itself() {}
";

fn read(path: &str) -> Option<String> {
    (path == "a/b.rs").then(|| SOURCE.to_owned())
}

#[test]
fn what_a_row_names_is_there_and_runs_as_a_test() {
    for good in ["`a/b.rs` `it_holds`", "`a/b.rs` `it_holds` `it_holds`, `a/b.rs` `it_holds`"] {
        assert_eq!(mistakes_of(good, &read), [""; 0], "{good}");
    }
    for (tests, said) in [
        ("`a/c.rs` `it_holds`", "there is no crates/a/c.rs"),
        ("`a/b.rs` `it_holds`, `a/c.rs`", "there is no crates/a/c.rs"),
        ("`a/b.rs` `it_hold`", "crates/a/b.rs has no test it_hold"),
        ("`a/b.rs` `it_holds` `holds`", "crates/a/b.rs has no test holds"),
        ("`a/b.rs` `no_test`", "crates/a/b.rs has no test no_test"),
        ("`a/b.rs` `not_by_itself`", "crates/a/b.rs has no test not_by_itself"),
        ("`it_holds`", "crates/ has no test it_holds"),
        ("`a/b.rs`", "it names no test"),
        ("somebody", "it names no test"),
        ("", "it names no test"),
    ] {
        let found = mistakes_of(tests, &read);
        assert!(found.iter().any(|mistake| mistake == said), "{tests}: {found:?}");
    }
}

#[test]
fn a_row_is_named_with_its_line_and_a_page_has_enough_of_them() {
    let page = |rows: &[&str]| format!("# Title\n\n{}\n{}\n{}\n", HEAD[0], HEAD[1], rows.join("\n"));
    let good = "| `a` or b | `a/b.rs` `it_holds` |";
    assert_eq!(mistakes_in(&page(&[good; FEWEST_ROWS]), FEWEST_ROWS, &read), [""; 0]);
    let mut rows = vec![good; FEWEST_ROWS];
    rows[1] = "| nothing is there | |";
    rows[2] = "| half a row |";
    let expected =
        ["line 6, 'nothing is there': it names no test", "line 7, '| half a row |': it names no test"];
    assert_eq!(mistakes_in(&page(&rows), FEWEST_ROWS, &read), expected);
    let few = mistakes_in(&page(&[good; FEWEST_ROWS - 1]), FEWEST_ROWS, &read);
    assert_eq!(few, ["it has 39 rows, and 40 are the fewest"]);
    assert_eq!(mistakes_in("", FEWEST_ROWS, &read).len(), 1);
}
