//! What changed between two texts, line by line, for a person to look at.

/// Lines that a comparison takes the trouble for.
const MOST_LINES: usize = 3_000;

/// `+ new`, `- old`; lines that stay are left out.
pub fn lines(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > MOST_LINES || new.len() > MOST_LINES {
        return vec![format!("  {} lines, then {}", old.len(), new.len())];
    }
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[same..], &new[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    between(&old[..old.len() - end], &new[..new.len() - end])
}

fn between(old: &[&str], new: &[&str]) -> Vec<String> {
    let width = new.len() + 1;
    // The longest common lines of what is left, from each place on.
    let mut longest = vec![0_usize; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut told) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            told.push(format!("- {}", old[i]));
            i += 1;
        } else {
            told.push(format!("+ {}", new[j]));
            j += 1;
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
