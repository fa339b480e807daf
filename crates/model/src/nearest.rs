//! Finds the name that a mistyped word most likely meant. Knows nothing of what is named.

/// The candidate nearest to the word, or none when nothing is near enough to be worth suggesting. Case is ignored;
/// a beginning counts as near ("rev" for "review"); of equally near ones the first is taken.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((closeness(&word, &letters(candidate))?, candidate)))
        .min_by_key(|(closeness, _)| *closeness)
        .map(|(_, candidate)| candidate)
}

/// Smaller is nearer. A beginning is as good as one typing mistake, and goes before one.
fn closeness(word: &[char], candidate: &[char]) -> Option<(usize, bool, usize)> {
    let longer = word.len().max(candidate.len());
    let shorter = word.len().min(candidate.len());
    let is_beginning = shorter >= 2 && (candidate.starts_with(word) || word.starts_with(candidate));
    let tolerated = (longer / 3).max(1);
    if is_beginning {
        let missing = longer - shorter;
        return Some((missing.min(1), false, missing));
    }
    // Cheap to know beforehand, and it keeps a long word from costing its square.
    if longer - shorter > tolerated {
        return None;
    }
    let distance = distance(word, candidate);
    // A distance of the whole length means that nothing at all agrees.
    (distance <= tolerated && distance < longer).then_some((distance, true, distance))
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, left_letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, right_letter) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(left_letter != right_letter);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && *left_letter == right[column - 1] && left[row - 1] == *right_letter;
            if swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

fn letters(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_finds_the_name_it_meant() {
        let cases: &[(&str, &[&str], Option<&str>)] = &[
            ("titel", &["id", "title", "needs"], Some("title")),
            ("TITLE", &["id", "title"], Some("title")),
            ("plan", &["planning", "plan"], Some("plan")),
            ("plann", &["planning", "plan"], Some("plan")),
            ("rev", &["map", "review"], Some("review")),
            ("re", &["be", "review"], Some("review")),
            ("reveiw", &["map", "review"], Some("review")),
            ("purpse", &["purpose", "produces"], Some("purpose")),
            ("überprüfng", &["überprüfung"], Some("überprüfung")),
            ("mop", &["map", "mob"], Some("map")),
            ("colour", &["id", "title", "needs", "when"], None),
            ("a", &["b"], None),
            ("x", &["xylophone"], None),
            ("", &["id"], None),
            ("id", &[], None),
        ];
        for (word, candidates, expected) in cases {
            let found = nearest(word, candidates.iter().copied());
            assert_eq!(found, *expected, "{word:?} among {candidates:?}");
        }
    }

    #[test]
    fn a_swap_of_neighbours_is_one_mistake() {
        assert_eq!(distance(&letters("hte"), &letters("the")), 1);
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(distance(&letters(""), &letters("abc")), 3);
        assert_eq!(distance(&letters("abc"), &letters("")), 3);
    }

    #[test]
    fn a_very_long_word_is_refused_before_it_is_compared() {
        let long = "x".repeat(1_000_000);
        assert_eq!(nearest(&long, ["review"]), None);
    }
}
