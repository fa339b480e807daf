//! Names of phases, versions and reasons in sentences.

use model::id::Name;

/// A phase by number, with its id if informative: `phase 3 (build)`, `phase 3`.
pub fn phase_called(number: u32, id: &Name) -> String {
    let number = number.to_string();
    if id.as_str() == number { format!("phase {number}") } else { format!("phase {number} ({id})") }
}

/// A phase by number and title: `Phase 3, Build`; `Phase 3` if the title says no more.
pub fn phase_titled(number: u32, title: &str) -> String {
    if repeats(number, title) { format!("Phase {number}") } else { format!("Phase {number}, {title}") }
}

/// A phase's name besides its number: its title, or else its id; `None` if both say no more than the number.
pub fn phase_named<'a>(number: u32, title: &'a str, id: &'a Name) -> Option<&'a str> {
    if !repeats(number, title) {
        return Some(title);
    }
    (id.as_str() != number.to_string()).then_some(id.as_str())
}

/// The title of a phase next to its number.
pub fn title_beside(number: u32, title: &str) -> &str {
    if repeats(number, title) { "unnamed" } else { title }
}

fn repeats(number: u32, title: &str) -> bool {
    title.strip_prefix("Phase ").is_some_and(|rest| rest == number.to_string())
}

/// A version with exactly one leading `v`.
pub fn version(text: &str) -> String {
    let is_marked =
        text.strip_prefix(['v', 'V']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if is_marked { text.to_owned() } else { format!("v{text}") }
}

/// The reason of a pause in plain words, because some formats of other tools prescribe words of their own.
pub fn pause_reason(reason: &str) -> &str {
    match reason {
        "user_request" => "on request",
        "checkpoint_failed" => "a gate failed",
        "system_error" => "an error",
        "switched" => "for another session",
        other => other,
    }
}

/// The text with a capital letter at its beginning, which a definition's help may lack.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_that_is_called_by_its_number_is_not_named_twice() {
        let name = |text| Name::parse(text).expect("a name");
        assert_eq!(phase_called(3, &name("build")), "phase 3 (build)");
        assert_eq!(phase_called(3, &name("3")), "phase 3");
    }
}
