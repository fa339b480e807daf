//! Sessions and agents, a line each.

use crate::ui::{Out, Tone, cut};
use engine::AgentView;
use engine::view::ShortView;
use engine::words::{ago, one_line};
use jiff::Timestamp;

/// Sessions in aligned columns; titles take what is left of the width.
pub fn sessions(sessions: &[ShortView], now: Timestamp, out: &Out) -> String {
    let rows: Vec<[String; 6]> = sessions
        .iter()
        .map(|session| {
            [
                if session.number == 0 { "-".to_owned() } else { session.number.to_string() },
                session.session_id.clone(),
                session.lifecycle.clone(),
                format!("{}/{} {}", session.phases_done, session.total_phases, session.phase),
                ago(session.updated_at, now).split(", ").next().unwrap_or_default().to_owned(),
                one_line(&session.title, 200),
            ]
        })
        .collect();
    let widths: Vec<usize> = (0..5)
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(36))
        .collect();
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let left = out.width.saturating_sub(taken).max(12);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(&widths) {
            let cell = format!("{:<width$}  ", cut(cell, *width));
            let tone = match cell.trim() {
                "active" => Some(Tone::Good),
                "paused" | "failed" => Some(Tone::Warning),
                _ => None,
            };
            text.push_str(&tone.map_or(cell.clone(), |tone| out.paint(tone, &cell)));
        }
        text.push_str(&cut(&row[5], left));
        text.push('\n');
    }
    text
}

/// Sessions as the tool that they come from lists them.
pub fn in_their_words(heading: &str, sessions: &[ShortView]) -> String {
    let mut text = format!("{heading}\n");
    for (session, number) in sessions.iter().zip(1..) {
        let line = session.own_words.as_ref().unwrap_or(&session.session_id);
        text.push_str(&format!("{number}. {line}\n"));
    }
    text
}

/// Agent sessions, a line each.
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
