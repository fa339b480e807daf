//! Items: the reader's own first, then open ones, finished ones by name, and open items of earlier phases.

use super::Detail;
use crate::brief::Brief;
use crate::items::ItemView;
use crate::words::{defused, defused_around_quotes, quoted};
use jiff::Timestamp;
use std::fmt::Write;

pub(super) fn items(brief: &Brief, detail: Detail) -> String {
    let counts = brief.session.item_counts;
    if counts.is_empty() && brief.left_open.is_empty() {
        return String::new();
    }
    let mut text = "## Items\n".to_owned();
    let shown = brief.items(detail.longest_list());
    for item in &shown {
        let _ = writeln!(text, "- {}", line(item, brief.now, detail));
        for (name, value) in item.details().filter(|_| item.is_begun()) {
            let value = quoted(&value, detail.longest_text());
            let _ = writeln!(text, "  - {}: {value}", defused(name, 60));
        }
    }
    let naming = brief.session.naming();
    let more = (counts.open() as usize).saturating_sub(shown.len());
    if more > 0 {
        let _ = writeln!(text, "- and {more} more: `leftoff item list{naming}`");
    }
    text.push_str(&done(brief, detail));
    for open in brief.left_open.iter().take(detail.longest_list()) {
        let phase = defused(&open.phase, 80);
        let _ = writeln!(text, "- Left open in {phase}: {}", line(&open.item, brief.now, detail));
    }
    if let Some(more) = brief.left_open.len().checked_sub(detail.longest_list()).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} more of earlier phases: `leftoff item list --all{naming}`");
    }
    text
}

fn line(item: &ItemView, now: Timestamp, detail: Detail) -> String {
    let title = defused(&item.item.title, detail.longest_text());
    let standing = defused_around_quotes(&item.standing(now), detail.longest_text());
    format!("{} {} {title}: {standing}", item.mark(), item.id())
}

/// Finished items by name; with titles if there is room.
fn done(brief: &Brief, detail: Detail) -> String {
    let count = brief.done_items.len().max(brief.session.item_counts.done as usize);
    if count == 0 {
        return String::new();
    }
    let most = if detail == Detail::Tight { 5 } else { 30 };
    let named = brief.done_items.iter().take(most).map(|(id, title)| match detail {
        Detail::Full => format!("{id} {}", defused(title, 60)),
        Detail::Short | Detail::Line | Detail::Tight => id.clone(),
    });
    let mut named: Vec<String> = named.collect();
    if count > named.len() {
        named.push(format!("{} more", count - named.len()));
    }
    format!("- Done: {}\n", named.join(", "))
}
