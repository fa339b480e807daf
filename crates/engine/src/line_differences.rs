//! The differences between two texts by line, with some context. Limited in time and length.

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The number of unchanged lines shown around a change.
const AROUND: usize = 3;
/// The maximum number of lines of a diff. Of further lines, only the number is shown.
const LONGEST: usize = 200;
/// The maximum time to search for the smallest diff. After this time, a larger diff is accepted.
const LONGEST_SEARCH: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// Returns a readable diff; empty if the texts are equal.
pub(crate) fn between(old: &str, new: &str) -> String {
    let lines = compare(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>());
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(_)))
        .map(|(place, _)| place)
        .collect();
    let mut text = String::new();
    let mut shown_until = 0;
    let mut shown = 0;
    for (place, line) in lines.iter().enumerate() {
        let nearest = changed.partition_point(|change| *change + AROUND < place);
        if changed.get(nearest).is_none_or(|change| place + AROUND < *change) {
            continue;
        }
        if shown == LONGEST {
            let _ = writeln!(text, "… and more: {} lines differ", changed.len());
            break;
        }
        if place > shown_until || place == 0 {
            text.push_str("@@\n");
        }
        let _ = match line {
            Line::Same(words) => writeln!(text, " {words}"),
            Line::Removed(words) => writeln!(text, "-{words}"),
            Line::Added(words) => writeln!(text, "+{words}"),
        };
        shown += 1;
        shown_until = place + 1;
    }
    text
}

/// Returns the headings of a Markdown text, in order.
pub(crate) fn headings(text: &str) -> Vec<&str> {
    let mut in_code = false;
    text.lines()
        .filter(|line| {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            !in_code && line.starts_with('#')
        })
        .map(str::trim_end)
        .collect()
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let deadline = Instant::now() + LONGEST_SEARCH;
    let steps = capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline));
    let mut lines = Vec::with_capacity(old.len().max(new.len()));
    for step in steps {
        let (kind, before, after) = step.as_tag_tuple();
        if kind == DiffTag::Equal {
            lines.extend(old[before].iter().map(|line| Line::Same(line)));
            continue;
        }
        lines.extend(old[before].iter().map(|line| Line::Removed(line)));
        lines.extend(new[after].iter().map(|line| Line::Added(line)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_the_lines_around_them() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n";
        let expected = "@@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@\n 10\n 11\n 12\n+13\n";
        assert_eq!(between(old, new), expected);
        assert_eq!(between(old, old), "");
        assert_eq!(between("", "a\n"), "@@\n+a\n");
        assert_eq!(between("a\n", ""), "@@\n-a\n");
    }

    #[test]
    fn what_stayed_is_found_between_changes() {
        assert_eq!(between("a\nb\nc\n", "x\nb\ny\nc\n"), "@@\n-a\n+x\n b\n+y\n c\n");
    }

    #[test]
    fn large_differences_end() {
        let text = |word: &str| (0..5_000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let shown = between(&text("a"), &text("b"));
        assert!(shown.lines().count() <= LONGEST + 3, "{} lines", shown.lines().count());
        assert!(shown.ends_with("10000 lines differ\n"));
    }

    #[test]
    fn headings_are_those_outside_code() {
        assert_eq!(headings("# A\ntext\n```\n# no\n```\n## B  \n"), ["# A", "## B"]);
    }
}
