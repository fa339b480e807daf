//! The lines in which two texts differ, for people.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// The maximum number of lines that are compared.
const MOST_LINES: usize = 3_000;

/// The changed lines, as `+ new` and `- old`. Unchanged lines are left out.
pub fn lines(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > MOST_LINES || new.len() > MOST_LINES {
        return vec![format!("  {} lines, then {}", old.len(), new.len())];
    }
    let mut told = Vec::new();
    for step in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (kind, before, after) = step.as_tag_tuple();
        if kind != DiffTag::Equal {
            told.extend(old[before].iter().map(|line| format!("- {line}")));
            told.extend(new[after].iter().map(|line| format!("+ {line}")));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_told() {
        assert_eq!(lines("a\nb\nc\n", "a\nb,\nx\nc\n"), ["- b", "+ b,", "+ x"]);
        assert_eq!(lines("", "a\nb\n"), ["+ a", "+ b"]);
        assert_eq!(lines("a\nb\n", "b\n"), ["- a"]);
        assert!(lines("a\n", "a\n").is_empty());
    }
}
