//! Filters sessions for a list. Compares text as SQLite does: ignores the case of ASCII letters only.

use super::{Kept, folded};
use crate::{EventRow, Filter};

pub(super) fn is_wanted(filter: &Filter, kept: &Kept) -> bool {
    let row = &kept.row;
    (filter.lifecycles.is_empty() || filter.lifecycles.contains(&row.lifecycle))
        && filter.worktree.as_ref().is_none_or(|worktree| *worktree == row.worktree && row.machine.is_none())
        && filter.layout.as_ref().is_none_or(|layout| *layout == row.layout)
        && filter.search.iter().flat_map(|text| text.split_whitespace()).all(|word| holds(kept, word))
}

fn holds(kept: &Kept, word: &str) -> bool {
    let word = folded(word);
    let row = &kept.row;
    let fields = [Some(row.id.as_str()), Some(&row.title), row.goal.as_deref(), row.target.as_deref()];
    let notes = kept.events.iter().filter(|event| event.kind == "note_added").filter_map(note_text);
    fields.into_iter().flatten().any(|text| folded(text).contains(&word))
        || notes.into_iter().any(|text| folded(&text).contains(&word))
}

fn note_text(event: &EventRow) -> Option<String> {
    let body: serde_json::Value = serde_json::from_str(&event.body).ok()?;
    Some(body.get("text")?.as_str()?.to_owned())
}
