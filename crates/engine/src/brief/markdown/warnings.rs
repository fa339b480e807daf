//! Writes the warnings about the session, and the requirements that must be satisfied before some tools may be used.

use super::{Detail, advice, is_over};
use crate::brief::Brief;
use crate::view::Warning;
use crate::words::{defused, quoted};
use std::fmt::Write;

pub(super) fn warnings(brief: &Brief, detail: Detail) -> String {
    // An edit that moved the session is already reported with the session's claims.
    let is_told = |warning: &&Warning| brief.moved.is_some() && warning.kind == "edited_outside";
    let warnings = brief.session.warnings.iter().filter(|warning| !is_told(warning));
    let unwell = brief.session.health.iter().filter(|health| !health.ok);
    let longest = detail.longest_text();
    let line = |warning: &Warning| {
        let hint = warning.hint.as_ref().filter(|_| !detail.is_brief() && !is_over(brief));
        let hint = hint.map(|hint| format!(" ({})", advice(hint, longest)));
        format!("- {}{}\n", defused(&warning.message, longest), hint.unwrap_or_default())
    };
    let unwell = unwell
        .map(|health| format!("- {}: {}\n", defused(&health.check, 80), defused(&health.found, longest)));
    let lines: String = warnings.map(line).chain(unwell).take(detail.longest_list()).collect();
    if lines.is_empty() { lines } else { format!("## Warnings\n{lines}") }
}

/// Returns the section about requirements for some tools, and how to satisfy them.
pub(super) fn required(brief: &Brief, detail: Detail) -> String {
    let open = brief.session.requirements.iter().filter(|requirement| !requirement.satisfied);
    let mut text = String::new();
    for requirement in open.take(detail.longest_list()) {
        let longest = detail.longest_text();
        let how = defused(&requirement.how.join("; or "), longest);
        let tools = defused(&requirement.tools.join(", "), longest);
        let tools = if tools.is_empty() { tools } else { format!(" ({tools})") };
        let message = requirement.message.as_ref().map(|message| format!("{} ", quoted(message, longest)));
        let message = message.unwrap_or_default();
        let _ = writeln!(text, "- {}{tools}: {message}{how}", defused(&requirement.name, 80));
    }
    if text.is_empty() { text } else { format!("## Required before some tools may be used\n{text}") }
}
