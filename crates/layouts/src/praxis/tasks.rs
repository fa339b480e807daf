//! Reads the phases of a specification from the headings of its tasks.md. Ignores the rest of that file.

use std::collections::BTreeMap;

/// A phase of a specification, with its number in the specification.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) number: u32,
    pub(super) title: String,
}

/// Phases by their numbers in the workflow. If the workflow and the specification both have a phase 0, the
/// numbers of the specification's phases are increased by one, as the tool does.
pub(super) fn in_workflow(text: &str, has_phase_0: bool) -> BTreeMap<u32, Named> {
    let phases = phases(text);
    let begins_with_0 = phases.first().is_some_and(|(number, _)| *number == 0);
    let later = u32::from(begins_with_0 && has_phase_0);
    phases.into_iter().map(|(number, title)| (number + later, Named { number, title })).collect()
}

/// The number and title of each phase, in the order of the headings.
fn phases(text: &str) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    let mut code: Option<Fence> = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim();
        if let Some(fence) = fence(line) {
            code = match code {
                None => Some(fence),
                // A code block is closed only by a fence of the same characters, which is at least as long as
                // the opening one and has nothing after it.
                Some(open) => {
                    (fence.mark != open.mark || fence.length < open.length || !fence.is_bare).then_some(open)
                }
            };
        }
        let Some((number, title)) = heading(line).filter(|_| code.is_none()) else { continue };
        // A summary may repeat the headings, so only the first heading with a number is used.
        if !found.iter().any(|(known, _)| *known == number) {
            found.push((number, title));
        }
    }
    found.sort_unstable();
    found
}

/// A line that starts or ends a code block.
struct Fence {
    mark: char,
    length: usize,
    is_bare: bool,
}

fn fence(line: &str) -> Option<Fence> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let is_inline = mark == '`' && rest.contains('`');
    (length >= 3 && !is_inline).then(|| Fence { mark, length, is_bare: rest.trim().is_empty() })
}

/// The number and title in a heading such as `## Phase 2: Title`. The word may have any decoration before it.
fn heading(line: &str) -> Option<(u32, String)> {
    let text = line.strip_prefix('#')?.trim_start_matches('#');
    let at = text.find(|c: char| c.is_alphanumeric())?;
    let rest = text[at..].strip_prefix("Phase").or_else(|| text[at..].strip_prefix("PHASE"))?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number: u32 = rest[..end].parse().ok().filter(|number| *number < super::MOST_PHASES)?;
    let title = rest[end..]
        .trim_start_matches(['*', '_'])
        .trim_start()
        .strip_prefix([':', '-', '\u{2013}', '\u{2014}', '|'])?;
    // A heading such as "Phase 1-2: …" describes several phases, and is ignored.
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
        let text = "# Tasks\n\n## Phase 0: Research\n### Phase 1 - Setup (2 days)\n#### **Phase 2**\n\
                    ## 🚀 Phase 2 – Core **\n## **Phase 3: Tests**\n## **Phase 4**: Docs\n## __Phase 5__ — Talk\n## Phase 10: Last\n\
                    ## Phase one: no\n## About Phase 7: no\n## Phase 8\n## Phase 1.2: no\n## Phase 6-7: no\nPhase 9: no\n";
        let titles: Vec<(u32, String)> = phases(text);
        let titles: Vec<(u32, &str)> =
            titles.iter().map(|(number, title)| (*number, title.as_str())).collect();
        assert_eq!(
            titles,
            [
                (0, "Research"),
                (1, "Setup (2 days)"),
                (2, "Core"),
                (3, "Tests"),
                (4, "Docs"),
                (5, "Talk"),
                (10, "Last")
            ]
        );
    }

    #[test]
    fn a_heading_repeated_in_a_summary_is_not_a_second_phase() {
        let text = "## Phase 0: A\n## Phase 1: B\n## Summary\n### Phase 0: A, again\n### Phase 1: B\n";
        assert_eq!(phases(text), [(0, "A".to_owned()), (1, "B".to_owned())]);
    }

    #[test]
    fn a_phase_0_of_the_workflow_is_not_taken_for_that_of_the_specification() {
        let numbers = |text: &str, has_phase_0: bool| -> Vec<(u32, u32)> {
            in_workflow(text, has_phase_0).into_iter().map(|(number, named)| (number, named.number)).collect()
        };
        assert_eq!(numbers("## Phase 0: A\n## Phase 1: B\n", true), [(1, 0), (2, 1)]);
        assert_eq!(numbers("## Phase 0: A\n## Phase 1: B\n", false), [(0, 0), (1, 1)]);
        assert_eq!(numbers("## Phase 1: A\n## Phase 2: B\n", true), [(1, 1), (2, 2)]);
    }

    #[test]
    fn a_mark_before_the_first_heading_hides_nothing() {
        assert_eq!(phases("\u{feff}## Phase 0: A\n## Phase 1: B\n").len(), 2);
    }

    #[test]
    fn headings_in_code_are_none() {
        let text = "## Phase 0: A\n```\n## Phase 1: no\n```\n## Phase 1: B\n";
        assert_eq!(phases(text), [(0, "A".to_owned()), (1, "B".to_owned())]);
        let text = "## Phase 0: A\n````md\n```\n## Phase 1: no\n```\n## Phase 2: no\n~~~~\n````\n## Phase 1: B\n\
                    ```one line``` of code\n## Phase 2: C\n~~~ text\n```\n## Phase 3: no\n~~~\n";
        let titles: Vec<String> = phases(text).into_iter().map(|(_, title)| title).collect();
        assert_eq!(titles, ["A", "B", "C"]);
    }
}
