//! The phases of a specification, from the headings of its tasks.md. Reads nothing else of it.

/// Number and title of each phase, in order.
pub(super) fn phases(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut is_code = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        }
        let Some((number, title)) = heading(line).filter(|_| !is_code) else { continue };
        // A summary repeats the headings: the first one is the phase.
        if !found.iter().any(|(known, _)| *known == number) {
            found.push((number, title));
        }
    }
    found.sort_unstable();
    found
}

/// `## Phase 2: Title`, with whatever decoration before the word.
fn heading(line: &str) -> Option<(u32, String)> {
    let text = line.strip_prefix('#')?.trim_start_matches('#');
    let at = text.find(|c: char| c.is_alphanumeric())?;
    let rest = text[at..].strip_prefix("Phase").or_else(|| text[at..].strip_prefix("PHASE"))?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number: u32 = rest[..end].parse().ok().filter(|number| *number < super::MOST_PHASES)?;
    let title = rest[end..].trim_start().strip_prefix([':', '-', '\u{2013}', '\u{2014}', '|'])?;
    // "Phase 1-2: …" tells of several.
    if title.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((number, title.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '_')).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_with_a_number_and_a_separator_are_phases_and_phase_0_counts() {
        let text = "# Tasks\n\n## Phase 0: Research\n### Phase 1 - Setup (2 days)\n#### **Phase 2** — no\n\
                    ## 🚀 Phase 2 – Core **\n## **Phase 3: Tests**\n## Phase 10: Last\n\
                    ## Phase one: no\n## About Phase 7: no\n## Phase 8\n## Phase 1.2: no\n## Phase 4-6: no\nPhase 9: no\n";
        let titles: Vec<(u32, String)> = phases(text);
        let titles: Vec<(u32, &str)> =
            titles.iter().map(|(number, title)| (*number, title.as_str())).collect();
        assert_eq!(titles, [(0, "Research"), (1, "Setup (2 days)"), (2, "Core"), (3, "Tests"), (10, "Last")]);
    }

    #[test]
    fn a_heading_repeated_in_a_summary_is_not_a_second_phase() {
        let text = "## Phase 0: A\n## Phase 1: B\n## Summary\n### Phase 0: A, again\n### Phase 1: B\n";
        assert_eq!(phases(text), [(0, "A".to_owned()), (1, "B".to_owned())]);
    }

    #[test]
    fn a_mark_before_the_first_heading_hides_nothing() {
        assert_eq!(phases("\u{feff}## Phase 0: A\n## Phase 1: B\n").len(), 2);
    }

    #[test]
    fn headings_in_code_are_none() {
        let text = "## Phase 0: A\n```\n## Phase 1: no\n```\n## Phase 1: B\n";
        assert_eq!(phases(text), [(0, "A".to_owned()), (1, "B".to_owned())]);
    }
}
