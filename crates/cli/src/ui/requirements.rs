//! Requirements, each on one line: how it was satisfied, or how to satisfy it.

use crate::ui::{Out, Tone, set_in};
use engine::words::{ago, duration, one_line};
use engine::{RecordView, RequirementList, RequirementView, SessionRecord};
use jiff::Timestamp;
use std::fmt::Write;

/// The agent session, and below it all requirements.
pub fn list(list: &RequirementList, now: Timestamp, out: &Out) -> String {
    let branch = list.branch.as_deref().unwrap_or("no branch");
    let agent = match &list.agent_session {
        Some(id) => format!("agent session {}", one_line(id, 60)),
        None => "no agent session".to_owned(),
    };
    let paused = if list.paused { ", paused: nothing is required of it" } else { "" };
    let heading = format!("{}, {agent}{paused}", one_line(branch, 100));
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    text.push_str(&lines(&list.requirements, now, out));
    text
}

pub fn lines(requirements: &[RequirementView], now: Timestamp, out: &Out) -> String {
    let mut text = String::new();
    for one in requirements {
        let mark = if one.satisfied { "[x]" } else { "[ ]" };
        let tone = if one.satisfied { Tone::Good } else { Tone::Warning };
        let line = format!("{mark} {} ({}) {}", one_line(&one.name, 80), one.scope.name(), state(one, now));
        let _ = write!(text, "{}", out.paint(tone, &set_in(2, &line, out)));
        if !one.satisfied {
            // Commands are not wrapped, so that they can be copied.
            for way in &one.how {
                let _ = writeln!(text, "      {}", out.paint(Tone::Command, &one_line(way, 400)));
            }
        }
    }
    text
}

/// The agent sessions with their records, and below them the records of the branch.
pub fn sessions(sessions: &[SessionRecord], branch: &[RecordView], now: Timestamp, out: &Out) -> String {
    let mut text = String::new();
    for one in sessions {
        let mut words = vec![if one.alive { "alive" } else { "gone" }.to_owned()];
        words.extend(one.agent.as_ref().map(|agent| one_line(agent, 20)));
        words.extend(one.branch.as_ref().map(|branch| format!("on {}", one_line(branch, 100))));
        words.extend(one.worktree.as_ref().map(|worktree| format!("in {}", one_line(worktree, 200))));
        words.extend(one.pid.map(|pid| format!("process {pid}")));
        words.extend(one.last_seen.map(|seen| format!("seen {}", ago(seen, now))));
        words.extend(one.paused.then(|| "paused".to_owned()));
        let heading = format!("{}  {}", one_line(&one.agent_session, 60), words.join(", "));
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, &heading));
        text.push_str(&records(&one.requirements, now));
    }
    if !branch.is_empty() {
        let _ = writeln!(text, "{}", out.paint(Tone::Heading, "for every agent session of this branch"));
        text.push_str(&records(branch, now));
    }
    text
}

fn records(records: &[RecordView], now: Timestamp) -> String {
    let line = |one: &RecordView| {
        let name = one_line(&one.requirement, 80);
        let at = one.satisfied_at.map(|at| format!(", {}", ago(at, now))).unwrap_or_default();
        match &one.satisfied_by {
            Some(by) => format!("  [x] {name} by {}{at}\n", one_line(by, 60)),
            None => format!("  [ ] {name} required\n"),
        }
    };
    records.iter().map(line).collect()
}

fn state(one: &RequirementView, now: Timestamp) -> String {
    if !one.satisfied {
        let found = one.found.as_ref().map(|found| format!(": {}", one_line(found, 200)));
        let triggered = if one.triggered_at.is_some() { ", required" } else { "" };
        let advisory = if one.advisory { ", a reminder" } else { "" };
        return format!("open{advisory}{triggered}{}", found.unwrap_or_default());
    }
    let Some(by) = &one.satisfied_by else {
        return one.found.as_ref().map_or("holds".to_owned(), |found| one_line(found, 200));
    };
    let at = one.satisfied_at.map(|at| format!(", {}", ago(at, now))).unwrap_or_default();
    let until = one.expires_at.map(|until| {
        let left = u64::try_from(until.as_second().saturating_sub(now.as_second())).unwrap_or(0);
        format!(", for {} more", duration(left))
    });
    format!("by {}{at}{}", one_line(by, 60), until.unwrap_or_default())
}
