//! Names of phases, versions, reasons and counted things in sentences.

use model::id::Name;

/// Returns a phase by its number, and by its id if that says more: `phase 3 (build)` or `phase 3`.
pub fn phase_called(number: u32, id: &Name) -> String {
    let number = number.to_string();
    if id.as_str() == number { format!("phase {number}") } else { format!("phase {number} ({id})") }
}

/// Returns a phase by its number and title, as in `Phase 3, Build`. If the title says no more than the number, returns
/// `Phase 3`.
pub fn phase_titled(number: u32, title: &str) -> String {
    if repeats(number, title) { format!("Phase {number}") } else { format!("Phase {number}, {title}") }
}

/// Returns a name for a phase that says more than its number: its title, or else its id. `None` if neither does.
pub fn phase_named<'a>(number: u32, title: &'a str, id: &'a Name) -> Option<&'a str> {
    if !repeats(number, title) {
        return Some(title);
    }
    (id.as_str() != number.to_string()).then_some(id.as_str())
}

/// Returns the title of a phase, for use beside its number.
pub fn title_beside(number: u32, title: &str) -> &str {
    if repeats(number, title) { "unnamed" } else { title }
}

fn repeats(number: u32, title: &str) -> bool {
    title.strip_prefix("Phase ").is_some_and(|rest| rest == number.to_string())
}

/// Returns a version with exactly one `v` at its beginning.
pub fn version(text: &str) -> String {
    let is_marked =
        text.strip_prefix(['v', 'V']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if is_marked { text.to_owned() } else { format!("v{text}") }
}

/// Returns the reason of a pause in plain words. Some other tools' formats prescribe words of their own for it.
pub fn pause_reason(reason: &str) -> &str {
    match reason {
        "user_request" => "on request",
        "checkpoint_failed" => "a gate failed",
        "system_error" => "an error",
        "switched" => "for another session",
        other => other,
    }
}

/// Returns the text with a capital letter at its beginning. The help in a definition may begin with a small one.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns a count with what is counted, as in `1 event` or `2 events`.
pub fn counted<N: std::fmt::Display + PartialEq + From<u8> + Copy>(count: N, what: &str) -> String {
    if count == N::from(1) { format!("1 {what}") } else { format!("{count} {what}s") }
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
