//! Writes the edited files, and the executed commands with their results.

use super::{Detail, when};
use crate::brief::{Brief, paths};
use crate::words::defused;
use std::fmt::Write;
use std::path::Path;
use store::{ActivityKind, ActivityRow};

pub(super) fn touched(brief: &Brief, detail: Detail) -> String {
    let most = match detail {
        Detail::Full => 20,
        Detail::Short => 12,
        Detail::Line | Detail::Tight => 6,
        Detail::Least => 4,
    };
    // The session's own files come last. With the least detail they are omitted, because finished phases already name
    // them.
    let is_own = |path: &&String| Path::new(path.as_str()).starts_with(&brief.folder);
    let others = brief.touched.iter().filter(|path| !is_own(path)).count();
    let most = if detail == Detail::Least { most.min(others.max(2)) } else { most };
    let shown: Vec<&String> = brief.touched.iter().take(most).collect();
    if shown.is_empty() {
        return String::new();
    }
    let more = match brief.touched.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let changed = brief.repository.as_ref().map(|git| git.uncommitted.as_slice()).unwrap_or_default();
    let (changed, others): (Vec<&String>, Vec<&String>) =
        shown.into_iter().partition(|path| changed.contains(path));
    let folded = |files: Vec<&String>| {
        paths::folded(&files.into_iter().map(|path| defused(path, 200)).collect::<Vec<_>>()).join(", ")
    };
    let changed =
        if changed.is_empty() { String::new() } else { format!("Not committed: {}", folded(changed)) };
    let lines = [folded(others), changed].into_iter().filter(|line| !line.is_empty());
    format!("## Touched\n{}{more}\n", lines.collect::<Vec<_>>().join("\n"))
}

pub(super) fn commands_run(brief: &Brief, detail: Detail) -> String {
    let rows: Vec<&ActivityRow> = brief.activity(ActivityKind::Command).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "## Commands run\n".to_owned();
    let shown = detail.longest_list().min(10);
    for row in rows.iter().take(shown) {
        let _ = write!(text, "- {}", defused(&row.what, detail.longest_text().min(200)));
        if let Some(outcome) = &row.detail {
            let _ = write!(text, ": {}", defused(outcome, 80));
        }
        if row.count > 1 {
            let _ = write!(text, ", {} times", row.count);
        }
        let _ = writeln!(text, ", {}", when(row.at, brief.now));
    }
    if let Some(more) = rows.len().checked_sub(shown).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} more");
    }
    text
}
