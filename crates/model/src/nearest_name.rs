//! Suggests the name that a mistyped word most likely meant. Does not know what the names stand for.

/// Returns the candidate nearest to the word; `None` if no candidate is near enough. Case is ignored, and a prefix
/// counts as near ("rev" for "review"). Of equally near candidates, the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = lowercase(word);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((closeness(&word, &lowercase(candidate))?, candidate)))
        .min_by_key(|(closeness, _)| *closeness)
        .map(|(_, candidate)| candidate)
}

/// Returns the distance of a word from a candidate; smaller is nearer. A prefix counts as one typing mistake, but ranks
/// before other candidates with one mistake.
fn closeness(word: &str, candidate: &str) -> Option<(usize, bool, usize)> {
    let (length, candidates_length) = (word.chars().count(), candidate.chars().count());
    let longer = length.max(candidates_length);
    let shorter = length.min(candidates_length);
    let is_beginning = shorter >= 2 && (candidate.starts_with(word) || word.starts_with(candidate));
    let tolerated = (longer / 3).max(1);
    if is_beginning {
        let missing = longer - shorter;
        return Some((missing.min(1), false, missing));
    }
    // Avoids the quadratic cost of comparing long words.
    if longer - shorter > tolerated {
        return None;
    }
    // Counts insertions, deletions, replacements and swaps of neighbouring letters.
    let distance = strsim::osa_distance(word, candidate);
    // If every letter differs, the words do not match.
    (distance <= tolerated && distance < longer).then_some((distance, true, distance))
}

fn lowercase(text: &str) -> String {
    text.to_lowercase()
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
        assert_eq!(closeness("hte", "the"), Some((1, true, 1)));
        assert_eq!(closeness("", "abc"), None);
    }

    #[test]
    fn a_very_long_word_is_refused_before_it_is_compared() {
        let long = "x".repeat(1_000_000);
        assert_eq!(nearest(&long, ["review"]), None);
    }
}
