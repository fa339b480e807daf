//! Items as a tree.

use crate::ui::{Out, Tone, cut};
use engine::words::one_line;
use engine::{ItemListing, ItemView};
use jiff::Timestamp;
use std::fmt::Write;

const LONGEST: usize = 300;
const SHORTEST_TITLE: usize = 12;

/// A heading for each phase, with the items of the phase below it.
pub fn tree(listing: &ItemListing, out: &Out) -> String {
    let mut text = String::new();
    for phase in &listing.phases {
        let counts = phase.counts;
        let dropped = (counts.dropped > 0).then(|| format!(", {} dropped", counts.dropped));
        let done = format!("{} of {} done{}", counts.done, counts.total, dropped.unwrap_or_default());
        let heading = format!("{}: {done}", phase.phase);
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, &heading));
        for item in listing.items.iter().filter(|item| item.item.phase == phase.phase) {
            text.push_str(&line(item, listing.now, out));
        }
    }
    if listing.more {
        let _ = writeln!(text, "... and more: leftoff item list --limit {}", listing.items.len() * 10);
    }
    text
}

/// The line for one item, indented by its depth.
pub fn line(item: &ItemView, now: Timestamp, out: &Out) -> String {
    let before = format!("{}{} {} ", "  ".repeat(item.level), item.mark(), item.id());
    let standing = one_line(&item.standing(now), LONGEST);
    let room = out.width.saturating_sub(before.len() + standing.chars().count() + 2).max(SHORTEST_TITLE);
    let line = format!("{before}{}: {standing}", cut(&one_line(&item.item.title, LONGEST), room));
    let tone = match item.mark() {
        "[x]" => Tone::Good,
        "[!]" => Tone::Warning,
        "[~]" => Tone::Heading,
        _ => return line + "\n",
    };
    out.paint(tone, &line) + "\n"
}
