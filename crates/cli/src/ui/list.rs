//! Sessions and agents, each on one line.

use crate::ui::{Out, Tone, cut};
use engine::AgentView;
use engine::view::ShortView;
use engine::words::{ago, one_line};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The maximum width of a column. The last column may be wider.
const LONGEST_CELL: usize = 36;
const LONGEST_ID: usize = 60;
const LONGEST_PHASES: usize = 60;
const SHORTEST_ID: usize = 12;
const SHORTEST_TITLE: usize = 12;

/// The maximum number of problems that are shown for one session. `doctor` shows all problems.
const MOST_COMPLAINTS: usize = 3;
const SET_IN: usize = 5;

/// Sessions in aligned columns; titles use the rest of the width. If a session is in another tool's files, a column
/// names the tool. A star marks the session that commands use by default. The problems of a session are below its line.
pub fn sessions(sessions: &[ShortView], now: Timestamp, out: &Out) -> String {
    let is_mixed = sessions.iter().any(|session| session.layout != "native");
    let has_current = sessions.iter().any(|session| session.current);
    let rows: Vec<[String; 7]> = sessions
        .iter()
        .map(|session| {
            [
                number(session),
                session.session_id.clone(),
                if is_mixed { session.layout.clone() } else { String::new() },
                match &session.machine {
                    Some(machine) => format!("{} on {}", standing(session), one_line(machine, 24)),
                    None => standing(session).to_owned(),
                },
                phases(session),
                ago(session.updated_at, now).split(", ").next().unwrap_or_default().to_owned(),
                // The title of another tool's session may be its id, which is not repeated.
                Some(&session.title)
                    .filter(|title| **title != session.session_id)
                    .map(|title| one_line(title, 200))
                    .unwrap_or_default(),
            ]
        })
        .collect();
    let columns: Vec<usize> = (0..6).filter(|column| is_mixed || *column != 2).collect();
    let mut widths: Vec<usize> = columns
        .iter()
        .map(|column| {
            let most = match column {
                1 => most_of_an_id(sessions),
                4 => LONGEST_PHASES,
                _ => LONGEST_CELL,
            };
            rows.iter().map(|row| row[*column].chars().count()).max().unwrap_or(0).min(most)
        })
        .collect();
    let taken =
        |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>() + usize::from(has_current) * 2;
    if out.is_terminal {
        let excess = (taken(&widths) + SHORTEST_TITLE).saturating_sub(out.width);
        widths[1] = widths[1].saturating_sub(excess).max(least_of_an_id(sessions)).min(widths[1]);
    }
    let taken = taken(&widths);
    let left = out.width.saturating_sub(taken).max(SHORTEST_TITLE);
    let mut text = String::new();
    for (row, session) in rows.iter().zip(sessions) {
        text.push_str(match (has_current, session.current) {
            (true, true) => "* ",
            (true, false) => "  ",
            (false, _) => "",
        });
        for (cell, width) in columns.iter().map(|column| &row[*column]).zip(&widths) {
            let cell = format!("{:<width$}  ", cut(cell, *width));
            let tone = match cell.trim() {
                "active" => Some(Tone::Good),
                "paused" | "failed" | "checkpoint_failed" | "possibly_stalled" => Some(Tone::Warning),
                _ => None,
            };
            text.push_str(&tone.map_or(cell.clone(), |tone| out.paint(tone, &cell)));
        }
        text.push_str(&cut(&row[6], left));
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
        text.push_str(&complaints(session, out));
    }
    text
}

fn standing(session: &ShortView) -> &str {
    match session.status {
        Some(status) => status.name(),
        None => &session.lifecycle,
    }
}

/// The smallest length to which ids can be shortened while all of them stay different. The first characters are enough
/// to name a session.
fn least_of_an_id(sessions: &[ShortView]) -> usize {
    (SHORTEST_ID..LONGEST_ID)
        .find(|width| {
            let cut: BTreeSet<String> =
                sessions.iter().map(|session| session.session_id.chars().take(width - 1).collect()).collect();
            cut.len() == sessions.len()
        })
        .unwrap_or(LONGEST_ID)
}

/// The lines with the problems of a session, so that a broken session is recognised. A broken session never hides
/// another session.
fn complaints(session: &ShortView, out: &Out) -> String {
    let mut text = String::new();
    for warning in session.warnings.iter().take(MOST_COMPLAINTS) {
        let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let said = format!("! {}{hint}", warning.message);
        // The line is not wrapped, because somebody may search for a path or a field in it.
        text.push_str(&format!("{:SET_IN$}{}\n", "", out.paint(Tone::Warning, &said)));
    }
    let more = session.warnings.len().saturating_sub(MOST_COMPLAINTS);
    if more > 0 {
        text.push_str(&format!("{:SET_IN$}! and {more} more: leftoff doctor\n", ""));
    }
    text
}

/// The length to which ids are shortened. It is longer than usual if ids would otherwise look the same.
fn most_of_an_id(sessions: &[ShortView]) -> usize {
    let mut seen = BTreeSet::new();
    let are_told_apart = sessions.iter().all(|session| seen.insert(cut(&session.session_id, LONGEST_CELL)));
    if are_told_apart { LONGEST_CELL } else { LONGEST_ID }
}

/// Sessions in the form in which their own tool lists them.
pub fn in_their_words(heading: &str, sessions: &[ShortView]) -> String {
    let mut text = format!("{heading}\n");
    for session in sessions {
        let line = session.own_words.as_ref().unwrap_or(&session.session_id);
        text.push_str(&format!("{}. {line}\n", number(session)));
    }
    text
}

/// How many phases are done. Outcomes are added, unless all phases are simply completed.
fn phases(session: &ShortView) -> String {
    let outcomes = session.outcomes.filter(|outcomes| !outcomes.is_plain());
    let outcomes = outcomes.map(|outcomes| format!(" ({outcomes})")).unwrap_or_default();
    format!("{} {}{outcomes}", session.how_far(), session.phase)
}

fn number(session: &ShortView) -> String {
    if session.number == 0 { "-".to_owned() } else { session.number.to_string() }
}

/// Agent sessions, each on one line.
pub fn agents(agents: &[AgentView], now: Timestamp) -> String {
    agents
        .iter()
        .map(|agent| {
            let id: String = agent.agent_session.chars().take(8).collect();
            let state = if agent.alive { "alive" } else { "gone" };
            let on = agent.session_id.as_ref().map(|id| format!(" on {id}")).unwrap_or_default();
            let branch = agent.branch.as_ref().map(|name| format!(", branch {}", one_line(name, 100)));
            format!(
                "{:<8} {id:<8}  {state:<5}{on} in {}{}{}, seen {}\n",
                one_line(&agent.agent, 20),
                one_line(&agent.worktree, 200),
                branch.unwrap_or_default(),
                if agent.pid == 0 { String::new() } else { format!(", process {}", agent.pid) },
                ago(agent.last_seen, now)
            )
        })
        .collect()
}
