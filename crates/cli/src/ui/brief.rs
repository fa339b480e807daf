//! The brief at a terminal. It is the text that agents get, with colours instead of markup.

use crate::ui::{Out, Tone, line, wrapped};
use engine::brief::{Brief, fitting};
use engine::view::Warning;

/// The brief, with at most `budget` tokens. Colours are not counted.
pub fn text(brief: &Brief, budget: usize, out: &Out) -> String {
    let plain = Out { width: out.width, ..Out::plain() };
    rendered(&fitting(brief, budget, |markdown| rendered(markdown, &plain).len()), out)
}

fn rendered(markdown: &str, out: &Out) -> String {
    let lines: Vec<String> = markdown.lines().map(|line| rendered_line(line, out)).collect();
    lines.join("\n") + "\n"
}

fn rendered_line(line: &str, out: &Out) -> String {
    if let Some(title) = line.strip_prefix("# ") {
        return out.paint(Tone::Heading, &wrapped(title, out.width, 2));
    }
    if let Some(title) = line.strip_prefix("## ") {
        let colon = if title.contains(": ") { "" } else { ":" };
        return out.paint(tone_of(title), &wrapped(&format!("{title}{colon}"), out.width, 2));
    }
    if let Some(command) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        return format!("  {}", out.paint(Tone::Command, command));
    }
    let words = line.strip_prefix("> ").unwrap_or(line);
    let marker = words.len() - words.trim_start_matches([' ', '-']).len();
    wrapped(&without_bold(words), out.width, marker)
}

/// The tone of a section. Sections about failures and doubts stand out.
fn tone_of(title: &str) -> Tone {
    match title.split([' ', ':']).next() {
        Some("Failed") => Tone::Bad,
        Some("Unverified" | "Waits" | "Warnings" | "Blocked") => Tone::Warning,
        _ => Tone::Heading,
    }
}

/// The line without the marks of bold text that leftoff added. Asterisks in quoted text stay.
fn without_bold(line: &str) -> String {
    let parts = line.split('"').enumerate();
    let parts: Vec<String> =
        parts.map(|(at, part)| if at % 2 == 0 { part.replace("**", "") } else { part.to_owned() }).collect();
    parts.join("\"")
}

/// The text for a place in which no session is active. It names the sessions that are active in other places.
pub fn nothing(elsewhere: &[Warning], out: &Out) -> String {
    let mut text = line("", "No active session. Start one: leftoff start", out);
    for warning in elsewhere {
        let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        text.push('\n');
        text.push_str(&line("", &format!("{}{hint}", warning.message), out));
    }
    text
}
