//! A session of Open Code Review as that tool's own screen shows it.

use crate::ui::{Out, Tone};
use engine::ocr::{Beside, Kind, MapRun, OcrSession, Round, Row, SESSIONS};
use engine::words::one_line;
use jiff::Timestamp;

const CELLS: usize = 24;
const BETWEEN: usize = 4;

/// A line, and how many columns it takes: what colours it takes none.
struct Line {
    text: String,
    width: usize,
}

/// One workflow of a session, as it is to be shown.
struct Shown {
    kind: Kind,
    ordinal: u32,
    phase: usize,
    is_finished: bool,
    elapsed: String,
}

impl Line {
    fn plain(text: String) -> Self {
        Self { width: text.chars().count(), text }
    }
}

/// The session's workflows, or the `only` one that is asked for. None when it has no round or run of that.
pub fn screen(session: &OcrSession, only: Option<Kind>, now: Timestamp, out: &Out) -> Option<String> {
    let own = Shown {
        kind: session.kind,
        ordinal: session.ordinal(),
        phase: session.phase,
        is_finished: session.is_finished,
        elapsed: elapsed(session, now),
    };
    let other = session.beside.as_ref().map(|other| Shown {
        kind: other.kind,
        ordinal: other.ordinal,
        phase: other.phase,
        is_finished: other.is_finished,
        elapsed: elapsed_beside(session, other, now),
    });
    let shown: Vec<Shown> = [Some(own), other]
        .into_iter()
        .flatten()
        .filter(|shown| only.is_none_or(|only| only == shown.kind))
        .collect();
    let mut columns = shown.iter().map(|shown| workflow(session, shown, out));
    let (left, right) = (columns.next()?, columns.next().unwrap_or_default());
    let mut text = format!("{}\n", out.paint(Tone::Heading, &one_line(&session.folder, out.width)));
    text.push_str(&side_by_side(left, right, out.width));
    for Shown { kind, ordinal, .. } in &shown {
        if let Some(path) = session.result(*kind, *ordinal) {
            text.push_str(&format!("{SESSIONS}/{}/{path}\n", session.folder));
        }
    }
    Some(text)
}

/// Both workflows of a session beside each other; one below the other where there is no room.
fn side_by_side(left: Vec<Line>, right: Vec<Line>, width: usize) -> String {
    let widest = |lines: &[Line]| lines.iter().map(|line| line.width).max().unwrap_or(0);
    let column = widest(&left) + BETWEEN;
    if right.is_empty() || column + widest(&right) > width {
        let all = left.into_iter().chain(right);
        return all.map(|line| format!("{}\n", line.text)).collect();
    }
    let mut text = String::new();
    let mut left = left.into_iter();
    let mut right = right.into_iter();
    loop {
        match (left.next(), right.next()) {
            (Some(one), Some(other)) => {
                let gap = " ".repeat(column - one.width);
                text.push_str(&format!("{}{gap}{}\n", one.text, other.text));
            }
            (Some(one), None) => text.push_str(&format!("{}\n", one.text)),
            (None, Some(other)) => text.push_str(&format!("{}{}\n", " ".repeat(column), other.text)),
            (None, None) => return text,
        }
    }
}

/// How long the round or run goes on; of one that is over or closed, how long it went.
fn elapsed(session: &OcrSession, now: Timestamp) -> String {
    // A time that was written by hand may lie ahead.
    let closed_at = session.state.updated_at.filter(|_| session.is_closed);
    let until = session.ended_at.or(closed_at).unwrap_or(now).min(now);
    session.since().map(|since| format!("  {}", clock(passed(since, until)))).unwrap_or_default()
}

/// The same of what stands beside it, where the state tells when that began.
fn elapsed_beside(session: &OcrSession, other: &Beside, now: Timestamp) -> String {
    let since = match other.kind {
        Kind::Review => session.state.round_started_at,
        Kind::Map => session.state.map_started_at,
    };
    let goes_on = !session.is_closed && !other.is_finished;
    let since = since.filter(|_| goes_on);
    since.map(|since| format!("  {}", clock(passed(since, now)))).unwrap_or_default()
}

fn workflow(session: &OcrSession, shown: &Shown, out: &Out) -> Vec<Line> {
    let Shown { kind, ordinal, phase, is_finished, elapsed } = shown;
    let (kind, phase, is_finished) = (*kind, *phase, *is_finished);
    let total = kind.phases().len();
    let number = phase + 1;
    let (name, word) = match kind {
        Kind::Review => ("Review", "Round"),
        Kind::Map => ("Map", "Run"),
    };
    let filled = (number * CELLS * 2 + total) / (total * 2);
    let bar: String = (0..CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect();
    let is_given_up = session.is_given_up && kind == session.kind;
    let done = match (is_finished, is_given_up) {
        (true, _) => "  Done",
        (false, true) => "  Given up",
        (false, false) => "",
    };
    let mut lines = vec![
        Line::plain(format!("{name}  {word} {ordinal}{elapsed}")),
        Line::plain(format!("{bar} {} %{done}", percent(number, total))),
    ];
    let mut is_claimed = false;
    for (position, name) in kind.phases().iter().enumerate() {
        if *name == "requirements-mapping" && !session.has_requirements {
            continue;
        }
        let row = session.row(kind, *ordinal, (phase, is_finished), position);
        is_claimed |= row == Row::Claimed;
        let (mark, tone) = match row {
            Row::Done => ("✓", Tone::Good),
            Row::Claimed => ("?", Tone::Warning),
            Row::Skipped => ("–", Tone::Faint),
            Row::Current => ("▸", Tone::Heading),
            Row::Open => ("·", Tone::Faint),
        };
        let text = format!("{mark} {}", label(kind, name));
        let width = text.chars().count() + 2;
        lines.push(Line { text: format!("  {}", out.paint(tone, &text)), width });
    }
    if is_claimed {
        lines.push(Line::plain("? claimed: no file shows it".to_owned()));
    }
    // Nothing goes on in a closed session.
    let is_left = |number: u32| session.is_closed || number < *ordinal;
    match kind {
        Kind::Review => {
            session.rounds.iter().for_each(|found| lines.extend(round(found, is_left(found.number))));
        }
        Kind::Map => {
            lines.extend(session.map_runs.iter().map(|found| map_run(found, is_left(found.number))));
        }
    }
    lines
}

fn round(round: &Round, is_left: bool) -> Vec<Line> {
    let reviewers = counted(round.reviewers.len(), "reviewer");
    let standing = standing(round.is_final, is_left);
    let mut lines = vec![Line::plain(format!("Round {}: {standing}, {reviewers}", round.number))];
    lines.extend(round.reviewers.iter().map(|reviewer| {
        let findings = reviewer.findings.map_or("not readable".to_owned(), |count| counted(count, "finding"));
        Line::plain(format!("  {}: {findings}", one_line(&reviewer.name, 60)))
    }));
    lines
}

fn map_run(run: &MapRun, is_left: bool) -> Line {
    let standing = standing(run.is_final, is_left);
    let files = run.files.map(|count| format!(", {}", counted(count, "file"))).unwrap_or_default();
    Line::plain(format!("Map run {}: {standing}{files}", run.number))
}

fn standing(is_final: bool, is_left: bool) -> &'static str {
    match (is_final, is_left) {
        (true, _) => "final",
        (false, true) => "left unfinished",
        (false, false) => "going on",
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn percent(number: usize, total: usize) -> usize {
    (number * 200 + total) / (total * 2)
}

/// Whole seconds; none where a time lies ahead.
fn passed(since: Timestamp, until: Timestamp) -> u64 {
    u64::try_from(until.duration_since(since).as_secs()).unwrap_or(0)
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
