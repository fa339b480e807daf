//! Writes about other agents: the last messages of agents that stopped, and the work of agents that are here now.

use super::{Detail, when};
use crate::brief::{Brief, Neighbour};
use crate::words::{defused, moment, quoted};
use std::fmt::Write;

/// Returns the section with the last messages of agents that stopped, newest first.
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

/// Returns the section about other live agents and their work.
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

/// Returns, for example, ` on impl-3`, ` on this session` or ` on session cookies`.
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
