//! A session as the screen of its own tool shows it: tracks beside each other, with their phases, runs and results.

use crate::ui::{Out, Tone};
use engine::screen::{Count, Mark, Row, RowStanding, Screen, Track, TrackEnd};
use engine::words::one_line;
use jiff::Timestamp;

const CELLS: usize = 24;
const BETWEEN: usize = 4;

/// A line, and how many columns it takes: what colours it takes none.
struct Line {
    text: String,
    width: usize,
}

impl Line {
    fn plain(text: String) -> Self {
        Self { width: text.chars().count(), text }
    }
}

/// All tracks, or the `only` one that is asked for. None when there is no such track.
pub fn screen(screen: &Screen, only: Option<&str>, now: Timestamp, out: &Out) -> Option<String> {
    let is_shown = |track: &&Track| only.is_none_or(|only| only == track.workflow);
    let shown: Vec<&Track> = screen.tracks.iter().filter(is_shown).collect();
    let mut columns = shown.iter().map(|shown| column(shown, now, out));
    let (left, right) = (columns.next()?, columns.next().unwrap_or_default());
    let mut text = format!("{}\n", out.paint(Tone::Heading, &one_line(&screen.heading, out.width)));
    text.push_str(&side_by_side(left, right, out.width));
    for path in shown.iter().filter_map(|track| track.result.as_ref()) {
        text.push_str(&format!("{path}\n"));
    }
    Some(text)
}

/// Two tracks beside each other; one below the other where there is no room.
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

/// How long the run goes on; of one that is over or closed, how long it went.
fn elapsed(track: &Track, now: Timestamp) -> String {
    // A time that was written by hand may lie ahead.
    let until = track.until.unwrap_or(now).min(now);
    track.since.map(|since| format!("  {}", clock(passed(since, until)))).unwrap_or_default()
}

fn column(track: &Track, now: Timestamp, out: &Out) -> Vec<Line> {
    let Track { title, run, number, total, .. } = track;
    let filled = (number * CELLS * 2 + total) / (total * 2);
    let bar: String = (0..CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect();
    let end = match track.end {
        Some(TrackEnd::Done) => "  Done",
        Some(TrackEnd::GivenUp) => "  Given up",
        Some(TrackEnd::ClosedUnfinished) => "  Closed unfinished",
        None => "",
    };
    let mut lines = vec![
        Line::plain(format!("{title}  {run}{}", elapsed(track, now))),
        Line::plain(format!("{bar} {} %{end}", percent(*number, *total))),
    ];
    for cell in &track.cells {
        let (mark, tone) = match cell.mark {
            Mark::Done => ("✓", Tone::Good),
            Mark::Claimed => ("?", Tone::Warning),
            Mark::Skipped => ("–", Tone::Faint),
            Mark::Current => ("▸", Tone::Heading),
            Mark::Open => ("·", Tone::Faint),
        };
        let text = format!("{mark} {}", cell.title);
        let width = text.chars().count() + 2;
        lines.push(Line { text: format!("  {}", out.paint(tone, &text)), width });
    }
    if track.cells.iter().any(|cell| cell.mark == Mark::Claimed) {
        lines.push(Line::plain("? claimed: no file shows it".to_owned()));
    }
    for run in &track.rows {
        lines.push(Line::plain(row(run)));
        lines.extend(run.below.iter().map(|below| Line::plain(format!("  {}", row(below)))));
    }
    lines
}

fn row(row: &Row) -> String {
    let standing = row.standing.map(|standing| match standing {
        RowStanding::Final => "final",
        RowStanding::LeftUnfinished => "left unfinished",
        RowStanding::GoingOn => "going on",
    });
    let count = row.count.as_ref().map(|Count { what, number }| {
        number.map_or("not readable".to_owned(), |number| counted(number, what))
    });
    let said: Vec<String> = standing.map(ToOwned::to_owned).into_iter().chain(count).collect();
    format!("{}: {}", one_line(&row.title, 60), said.join(", "))
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
