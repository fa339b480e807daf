//! The surroundings of the work: an earlier pause, warnings, last words, files, commands, other agents.

use super::{Detail, advice, is_over, when};
use crate::brief::{Brief, Neighbour, paths};
use crate::view::Warning;
use crate::words::{defused, moment, pause_reason, quoted};
use model::lifecycle::Lifecycle;
use std::fmt::Write;
use std::path::Path;
use store::{ActivityKind, ActivityRow};

/// Why work had stopped, and during what. Shown after a resume until the phase changes; the head reports that
/// a session is paused now.
pub(super) fn paused(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let Some(pause) = view.interrupted.as_ref().filter(|_| matches!(view.lifecycle, Lifecycle::Active))
    else {
        return String::new();
    };
    let context = view.in_the_middle_of(|text| quoted(text, detail.longest_text()));
    let context = context.map(|what| format!(", in the middle of {what}"));
    format!(
        "## Paused {}, resumed {}\n{}{}\n",
        when(pause.paused_at, brief.now),
        when(pause.resumed_at, brief.now),
        quoted(pause_reason(&pause.reason), detail.longest_text()),
        context.unwrap_or_default()
    )
}

pub(super) fn warnings(brief: &Brief, detail: Detail) -> String {
    // An edit that moved the session is reported with its claims.
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

/// The last messages of agents when they stopped, newest first.
pub(super) fn last_words(brief: &Brief, detail: Detail) -> String {
    let most = if detail == Detail::Full { 2 } else { 1 };
    let mut text = String::new();
    for said in brief.last_words().take(most) {
        let _ = writeln!(
            text,
            "## Last words of {}, {}\n> {}",
            defused(&said.who, 60),
            moment(said.at, brief.now),
            quoted(said.words, detail.longest_text() * 2)
        );
    }
    text
}

pub(super) fn touched(brief: &Brief, detail: Detail) -> String {
    let most = match detail {
        Detail::Full => 20,
        Detail::Short => 12,
        Detail::Line | Detail::Tight => 6,
        Detail::Least => 4,
    };
    // The session's own files come last. At the least detail they are omitted, because finished phases name
    // them.
    let is_own = |path: &&String| Path::new(path.as_str()).starts_with(&brief.folder);
    let others = brief.touched.iter().filter(|path| !is_own(path)).count();
    let most = if detail == Detail::Least { most.min(others.max(2)) } else { most };
    let files: Vec<String> = brief.touched.iter().take(most).map(|path| defused(path, 200)).collect();
    if files.is_empty() {
        return String::new();
    }
    let more = match brief.touched.len() - files.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("## Touched\n{}{more}\n", paths::folded(&files).join(", "))
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

/// Requirements for some tools, and how to satisfy them.
pub(super) fn required(brief: &Brief, detail: Detail) -> String {
    let open = brief.session.requirements.iter().filter(|requirement| !requirement.satisfied);
    let mut text = String::new();
    for requirement in open.take(detail.longest_list()) {
        let how = defused(&requirement.how.join("; or "), detail.longest_text());
        let _ = writeln!(text, "- {}: {how}", defused(&requirement.name, 80));
    }
    if text.is_empty() { text } else { format!("## Required before some tools may be used\n{text}") }
}

/// Other live agents, and their work.
pub(super) fn here_now(brief: &Brief) -> String {
    if brief.here_now.is_empty() {
        return String::new();
    }
    let mut text = "## Here now\n".to_owned();
    for other in &brief.here_now {
        let id: String = other.agent_session.chars().take(8).collect();
        let _ = write!(text, "- {} {}{}", defused(&other.agent, 30), defused(&id, 8), works_on(brief, other));
        if let Some(branch) = other.branch.as_ref().filter(|branch| brief.branch.as_ref() != Some(branch)) {
            let _ = write!(text, ", branch {}", defused(branch, 100));
        }
        if let Some(worktree) = &other.worktree {
            let _ = write!(text, ", in worktree {}", defused(worktree, 200));
        }
        let _ = writeln!(text, ", seen {}", when(other.last_seen, brief.now));
    }
    text
}

/// ` on impl-3`, ` on this session`, ` on session cookies`
fn works_on(brief: &Brief, other: &Neighbour) -> String {
    let held: Vec<String> = brief
        .session
        .items
        .iter()
        .filter(|item| other.holds(item))
        .map(|item| item.id().to_string())
        .collect();
    match &other.session_id {
        _ if !held.is_empty() => format!(" on {}", held.join(", ")),
        Some(session) if *session == brief.session.session_id => " on this session".to_owned(),
        Some(session) => format!(" on session {session}"),
        None => String::new(),
    }
}
