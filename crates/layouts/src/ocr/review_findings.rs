//! Reads review documents: the number of findings of a reviewer, and the verdict of a final review.

use crate::tree::Entry;

/// The number of findings in a reviewer's file, counted by the headings that start one.
pub(super) fn findings(entry: Option<&Entry>) -> Option<usize> {
    let Some(Entry::File(content)) = entry else { return None };
    let text = String::from_utf8_lossy(content);
    let is_finding = |line: &&str| {
        line.strip_prefix("##").is_some_and(|rest| {
            let word = rest.trim_start();
            rest.len() > word.len()
                && ["Finding", "Issue", "Suggestion"].iter().any(|kind| word.starts_with(kind))
        })
    };
    Some(text.lines().filter(is_finding).count())
}

/// The verdict in a final review: the text after `Verdict:`, or the first line below a heading of that name.
pub(super) fn verdict(entry: Option<&Entry>) -> Option<String> {
    let Some(Entry::File(content)) = entry else { return None };
    let text = String::from_utf8_lossy(content);
    let is_markup = |letter: char| letter.is_whitespace() || "#*_:-`".contains(letter);
    let mut lines = text.lines().map(|line| line.trim_matches(is_markup));
    let of_line = |line: &str| {
        line.get(..7)
            .filter(|word| word.eq_ignore_ascii_case("verdict"))
            .map(|_| line[7..].trim_start_matches(is_markup).to_owned())
    };
    let said = lines.by_ref().find_map(of_line)?;
    if !said.is_empty() {
        return Some(said);
    }
    lines.find(|line| !line.is_empty()).map(ToOwned::to_owned)
}
