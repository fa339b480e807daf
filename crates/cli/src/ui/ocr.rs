//! A session of Open Code Review as that tool's own screen shows it.

use crate::ui::{Out, Tone};
use engine::ocr::{Kind, OcrSession};
use engine::words::one_line;
use jiff::Timestamp;
use model::time::seconds_between;
use std::fmt::Write;

const CELLS: usize = 24;

pub fn screen(session: &OcrSession, now: Timestamp, out: &Out) -> String {
    let mut text = format!("{}\n", out.paint(Tone::Heading, &one_line(&session.folder, out.width)));
    text.push_str(&workflow(session, now, out));
    let other = match session.kind {
        Kind::Review => maps(session),
        Kind::Map => rounds(session),
    };
    if !other.is_empty() {
        let _ = write!(text, "\n{other}");
    }
    text
}

fn workflow(session: &OcrSession, now: Timestamp, out: &Out) -> String {
    let phases = session.kind.phases();
    let number = session.phase + 1;
    let is_done = number == phases.len();
    let (name, word) = match session.kind {
        Kind::Review => ("Review", "Round"),
        Kind::Map => ("Map", "Run"),
    };
    let elapsed = session.since().map(|since| format!("  {}", clock(seconds_between(since, now))));
    let mut text = format!("{name}  {word} {}{}\n", session.ordinal(), elapsed.unwrap_or_default());
    let filled = (number * CELLS * 2 + phases.len()) / (phases.len() * 2);
    let bar: String = (0..CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect();
    let _ =
        writeln!(text, "{bar} {} %{}", percent(number, phases.len()), if is_done { "  Done" } else { "" });
    for (position, phase) in phases.iter().enumerate() {
        if *phase == "requirements-mapping" && !session.has_requirements {
            continue;
        }
        let (mark, tone) = match position.cmp(&session.phase) {
            std::cmp::Ordering::Less => ("✓", Tone::Good),
            std::cmp::Ordering::Equal if is_done => ("✓", Tone::Good),
            std::cmp::Ordering::Equal => ("▸", Tone::Heading),
            std::cmp::Ordering::Greater => ("·", Tone::Faint),
        };
        let _ = writeln!(text, "  {}", out.paint(tone, &format!("{mark} {}", label(session.kind, phase))));
    }
    let own = match session.kind {
        Kind::Review => rounds(session),
        Kind::Map => maps(session),
    };
    text.push_str(&own);
    if is_done && session.kind == Kind::Review {
        let _ = writeln!(text, "rounds/round-{}/final.md", session.ordinal());
    }
    text
}

fn rounds(session: &OcrSession) -> String {
    let mut text = String::new();
    for round in &session.rounds {
        let state = if round.is_final { "final" } else { "going on" };
        let _ = writeln!(text, "Round {}: {state}, {} reviewers", round.number, round.reviewers.len());
        for reviewer in &round.reviewers {
            let _ = writeln!(text, "  {}: {} findings", one_line(&reviewer.name, 60), reviewer.findings);
        }
    }
    text
}

fn maps(session: &OcrSession) -> String {
    let mut text = String::new();
    for run in &session.map_runs {
        let state = if run.is_final { "final" } else { "going on" };
        let files = run.files.map(|count| format!(", {count} files")).unwrap_or_default();
        let _ = writeln!(text, "Map run {}: {state}{files}", run.number);
    }
    text
}

fn percent(number: usize, total: usize) -> usize {
    (number * 200 + total) / (total * 2)
}

fn clock(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m {rest}s"),
        _ => format!("{hours}h {minutes}m {rest}s"),
    }
}

fn label(kind: Kind, phase: &str) -> &str {
    match (kind, phase) {
        (_, "context" | "map-context") => "Context Discovery",
        (_, "change-context") => "Change Context",
        (_, "analysis") => "Tech Lead Analysis",
        (_, "reviews") => "Parallel Reviews",
        (_, "aggregation") => "Aggregate Findings",
        (_, "discourse") => "Reviewer Discourse",
        (_, "topology") => "Topology Analysis",
        (_, "flow-analysis") => "Flow Tracing",
        (_, "requirements-mapping") => "Requirements Mapping",
        (Kind::Review, "synthesis") => "Final Synthesis",
        (Kind::Map, "synthesis") => "Map Synthesis",
        (_, "complete") => "Complete",
        (_, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_tool() {
        let review: Vec<usize> = (1..=8).map(|number| percent(number, 8)).collect();
        assert_eq!(review, [13, 25, 38, 50, 63, 75, 88, 100]);
        let map: Vec<usize> = (1..=6).map(|number| percent(number, 6)).collect();
        assert_eq!(map, [17, 33, 50, 67, 83, 100]);
        assert_eq!(
            (clock(3), clock(62), clock(3723)),
            ("3s".to_owned(), "1m 2s".to_owned(), "1h 2m 3s".to_owned())
        );
    }
}
