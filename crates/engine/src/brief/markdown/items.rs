//! Items in this order: the reader's own, other open items, finished items by name, and items of other phases.

use super::done::numbered;
use super::{Detail, is_over};
use crate::brief::{Brief, ItemsAhead};
use crate::items::ItemView;
use crate::words::{defused, defused_around_quotes, quoted};
use model::session::RevisionMade;
use std::fmt::Write;

pub(super) fn items(brief: &Brief, detail: Detail) -> String {
    let counts = brief.session.item_counts;
    if counts.is_empty() && brief.left_open.is_empty() && brief.items_ahead.is_empty() {
        return String::new();
    }
    let mut text = "## Items\n".to_owned();
    let shown = brief.items(if detail == Detail::Least { 2 } else { detail.longest_list() });
    for item in &shown {
        if detail == Detail::Least && is_told(item, brief) {
            continue;
        }
        let _ = writeln!(text, "- {}", line(item, brief, detail));
        for (name, value) in item.details().filter(|_| item.is_started() && detail != Detail::Least) {
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
        let _ = writeln!(text, "- Left open in {phase}: {}", line(&open.item, brief, detail));
    }
    if let Some(more) = brief.left_open.len().checked_sub(detail.longest_list()).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} more of earlier phases: `leftoff item list --all{naming}`");
    }
    for ahead in &brief.items_ahead {
        let _ = writeln!(text, "- {}", of_later_phase(ahead, brief, detail));
        for item in ahead.begun.iter().take(detail.longest_list()) {
            let _ = writeln!(text, "  - {}", line(item, brief, detail));
        }
    }
    text
}

/// Returns, for example, `4 Paragraph Writing (interrupted): 1 of 5 done (draft-1.1)`.
fn of_later_phase(ahead: &ItemsAhead, brief: &Brief, detail: Detail) -> String {
    let phase = brief.session.phases.iter().find(|phase| phase.id == ahead.phase);
    let title = phase.map_or_else(|| ahead.phase.to_string(), numbered);
    let is_restarted = |made: &RevisionMade| made.revision.restarted.contains(&ahead.phase);
    let is_interrupted = brief.session.revisions.iter().any(is_restarted)
        || brief.went_back.as_ref().is_some_and(|back| back.from.id == ahead.phase);
    let how = if is_interrupted { " (interrupted)" } else { "" };
    let mut done: Vec<&str> = ahead.done.iter().map(String::as_str).collect();
    done.truncate(most_done(detail));
    let named = match (ahead.counts.done as usize).saturating_sub(done.len()) {
        _ if done.is_empty() => String::new(),
        0 => format!(" ({})", done.join(", ")),
        more => format!(" ({}, {more} more)", done.join(", ")),
    };
    format!("{title}{how}: {} of {} done{named}", ahead.counts.done, ahead.counts.total)
}

fn line(item: &ItemView, brief: &Brief, detail: Detail) -> String {
    let title = defused(&item.item.title, if detail == Detail::Least { 40 } else { detail.longest_text() });
    // In a session that is over, nobody can claim an item, so a ready item is only called open.
    let standing = if item.ready && is_over(brief) { "open".to_owned() } else { item.standing(brief.now) };
    let standing = defused_around_quotes(&standing, detail.longest_text());
    format!("{} {} {title}: {standing}", item.mark(), item.id())
}

/// True if this is the reader's own item and the next step describes it too.
fn is_told(item: &ItemView, brief: &Brief) -> bool {
    let Some(command) = brief.session.next.command.as_ref().filter(|_| item.mine) else { return false };
    let names = |word: &String| *word == item.id().to_string();
    command.words().first().is_some_and(|word| word == "item") && command.words().iter().any(names)
}

/// Returns a line with the names of finished items, and with their titles if there is room.
fn done(brief: &Brief, detail: Detail) -> String {
    let count = brief.done_items.len().max(brief.session.item_counts.done as usize);
    if count == 0 {
        return String::new();
    }
    let named = brief.done_items.iter().take(most_done(detail)).map(|(id, title)| match detail {
        Detail::Full => format!("{id} {}", defused(title, 60)),
        Detail::Short | Detail::Line | Detail::Tight | Detail::Least => id.clone(),
    });
    let mut named: Vec<String> = named.collect();
    if count > named.len() {
        named.push(format!("{} more", count - named.len()));
    }
    format!("- Done: {}\n", named.join(", "))
}

/// How many finished items a brief names.
fn most_done(detail: Detail) -> usize {
    match detail {
        Detail::Full | Detail::Short | Detail::Line => 30,
        Detail::Tight => 5,
        Detail::Least => 3,
    }
}
