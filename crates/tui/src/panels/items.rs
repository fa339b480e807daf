//! The Items tab: items as a tree, with their holders. It is fast enough for ten thousand items.

use crate::snapshot::Shown;
use crate::text::{Row, Tone, cut, outside};
use engine::ItemView;
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr;

const SHORTEST_TITLE: usize = 12;

pub fn rows(shown: &Shown, now: Timestamp, width: usize) -> Vec<Row> {
    let Some(listing) = shown.items.as_ref().filter(|listing| !listing.items.is_empty()) else {
        return vec![
            Row::new(Tone::Faint, "No items. Split the work of a phase into items:"),
            Row::new(Tone::Command, "  leftoff item add '<title>'"),
        ];
    };
    let mut rows = Vec::with_capacity(listing.items.len() + listing.phases.len());
    for phase in &listing.phases {
        let counts = &phase.counts;
        let head = format!("{}: {} of {} done", phase.phase, counts.done, counts.total);
        rows.push(Row::new(Tone::Heading, head));
        let items = listing.items.iter().filter(|item| item.item.phase == phase.phase);
        rows.extend(items.map(|item| row(item, now, width)));
    }
    if listing.more {
        rows.push(Row::new(Tone::Faint, "and more: leftoff item list --all"));
    }
    rows
}

fn row(item: &ItemView, now: Timestamp, width: usize) -> Row {
    let before = format!("{}{} {} ", "  ".repeat(item.level), item.mark(), item.id());
    let standing = outside(&item.standing(now));
    let room = width.saturating_sub(before.width() + standing.width() + 2).max(SHORTEST_TITLE);
    let tone = match item.mark() {
        "[x]" => Tone::Good,
        "[!]" => Tone::Warning,
        "[~]" => Tone::Heading,
        _ => Tone::Plain,
    };
    let title = cut(&outside(&item.item.title), room);
    Row::new(tone, format!("{before}{title}")).then(Tone::Faint, format!(": {standing}"))
}
