//! leftoff's section in a text, between two marks. Adding the section and removing it again restores every byte.

/// How comments are written in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    Markdown,
    Hash,
}

impl Marks {
    fn begin(self) -> &'static str {
        match self {
            Self::Markdown => "<!-- BEGIN leftoff -->",
            Self::Hash => "# BEGIN leftoff",
        }
    }

    fn end(self) -> &'static str {
        match self {
            Self::Markdown => "<!-- END leftoff -->",
            Self::Hash => "# END leftoff",
        }
    }
}

/// The text with the section. An existing section is updated; a new section is added at the end.
pub fn with_section(text: Option<&str>, marks: Marks, body: &str) -> String {
    let section = format!("{}\n{}\n{}", marks.begin(), body.trim_end(), marks.end());
    let Some(text) = text else { return format!("{section}\n") };
    if let Some((start, end)) = place(text, marks) {
        return format!("{}{section}{}", &text[..start], &text[end..]);
    }
    // The separator before the section depends on how the text ended: it was empty, or had a final line ending, or had
    // none. Removing the section can thus restore the end.
    if text.is_empty() {
        format!("\n{section}\n")
    } else if text.ends_with('\n') {
        format!("{text}\n{section}\n")
    } else {
        format!("{text}\n\n{section}")
    }
}

/// The text without the section. `None` if there was only the section.
pub fn without_section(text: &str, marks: Marks) -> Option<String> {
    let Some((start, end)) = place(text, marks) else { return Some(text.to_owned()) };
    let (before, after) = (&text[..start], &text[end..]);
    if before.is_empty() && (after.is_empty() || after == "\n") {
        return None;
    }
    if before == "\n" && after == "\n" {
        return Some(String::new());
    }
    let had_no_end = after.is_empty();
    let after = after.strip_prefix('\n').unwrap_or(after);
    let before = match before.strip_suffix("\n\n") {
        Some(whole) if had_no_end => whole.to_owned(),
        Some(whole) => format!("{whole}\n"),
        None => before.to_owned(),
    };
    Some(format!("{before}{after}"))
}

/// True if the text contains the section.
pub fn has_section(text: &str, marks: Marks) -> bool {
    place(text, marks).is_some()
}

/// The range of the section in the text, including both marks. Each mark is on a line of its own.
fn place(text: &str, marks: Marks) -> Option<(usize, usize)> {
    let start = line_start(text, marks.begin(), 0)?;
    let end = line_start(text, marks.end(), start)?;
    Some((start, end + marks.end().len()))
}

fn line_start(text: &str, line: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text[at..].find(line) {
        let start = at + found;
        let end = start + line.len();
        let begins = start == 0 || text[..start].ends_with('\n');
        let ends = text[end..].is_empty() || text[end..].starts_with(['\n', '\r']);
        if begins && ends {
            return Some(start);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_and_out_again_is_byte_for_byte_the_same() {
        for text in
            ["", "\n", "a", "a\n", "a\n\n", "# Title\n\nwords", "a <!-- BEGIN leftoff --> b\n", "a\r\n"]
        {
            for marks in [Marks::Markdown, Marks::Hash] {
                let once = with_section(Some(text), marks, "ours\nand ours");
                assert!(once.contains("ours\nand ours") && once.starts_with(text), "{once:?}");
                assert_eq!(with_section(Some(&once), marks, "ours\nand ours"), once, "twice is once");
                assert_eq!(without_section(&once, marks).as_deref(), Some(text), "{once:?}");
                assert_eq!(without_section(text, marks).as_deref(), Some(text));
            }
        }
        let alone = with_section(None, Marks::Markdown, "ours");
        assert_eq!(without_section(&alone, Marks::Markdown), None);
    }

    #[test]
    fn old_words_of_ours_are_replaced_where_they_stand() {
        let text = with_section(Some("a\n"), Marks::Hash, "old") + "\nlater\n";
        let new = with_section(Some(&text), Marks::Hash, "new");
        assert_eq!(new, "a\n\n# BEGIN leftoff\nnew\n# END leftoff\n\nlater\n");
        assert_eq!(without_section(&new, Marks::Hash).as_deref(), Some("a\n\nlater\n"));
    }
}
