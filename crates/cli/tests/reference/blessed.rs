//! Compares a page with its expected content, or writes it.

use crate::root;

/// Expects that a page has this content; with `LEFTOFF_BLESS` it is rewritten.
#[track_caller]
pub fn check(relative: &str, expected: &str) {
    let path = root().join(relative);
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found == expected {
        return;
    }
    if is_blessing() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expected).unwrap();
        return;
    }
    panic!(
        "{relative} is not what the program says now, first at line {}.\nMake it again: LEFTOFF_BLESS=1 cargo test -p leftoff --test reference\n{}",
        first_difference(&found, expected),
        difference(&found, expected)
    );
}

pub fn is_blessing() -> bool {
    std::env::var_os("LEFTOFF_BLESS").is_some_and(|value| !value.is_empty())
}

fn first_difference(found: &str, expected: &str) -> usize {
    let same = found.lines().zip(expected.lines()).take_while(|(found, expected)| found == expected);
    same.count() + 1
}

fn difference(found: &str, expected: &str) -> String {
    let line = first_difference(found, expected);
    let from = |text: &str| text.lines().nth(line - 1).unwrap_or("(the end)").to_owned();
    format!("  page:    {}\n  program: {}", from(found), from(expected))
}
