//! A session in the view of its own tool: workflows side by side, with their phases, runs and results.

use super::passed;
use crate::text::{Look, Row, Tone};
use engine::screen::{Count, Mark, Row as ScreenRow, RowState, Screen, Track, TrackEnd};
use engine::words::one_line;
use jiff::Timestamp;

const CELLS: usize = 24;
const BETWEEN: usize = 4;

/// The rows of all workflows, or of the requested one. `None` if the session does not have that workflow.
pub fn rows(
    screen: &Screen,
    only: Option<&str>,
    now: Timestamp,
    width: usize,
    look: Look,
) -> Option<Vec<Row>> {
    let is_shown = |track: &&Track| only.is_none_or(|only| only == track.workflow);
    let shown: Vec<&Track> = screen.tracks.iter().filter(is_shown).collect();
    let mut columns = shown.iter().map(|shown| column(shown, now, look));
    let (left, right) = (columns.next()?, columns.next().unwrap_or_default());
    let mut rows = vec![Row::new(Tone::Heading, one_line(&screen.heading, width))];
    rows.extend(side_by_side(left, right, width));
    rows.extend(shown.iter().filter_map(|track| track.result.as_ref()).map(|path| Row::plain(path.clone())));
    Some(rows)
}

/// Two blocks side by side. If the width does not suffice, the second is below the first.
fn side_by_side(left: Vec<Row>, right: Vec<Row>, width: usize) -> Vec<Row> {
    let widest = |rows: &[Row]| rows.iter().map(Row::width).max().unwrap_or(0);
    let column = widest(&left) + BETWEEN;
    if right.is_empty() || column + widest(&right) > width {
        return left.into_iter().chain(right).collect();
    }
    let height = left.len().max(right.len());
    let mut right = right.into_iter();
    let beside = |mut row: Row| {
        if let Some(other) = right.next() {
            row.0.push((Tone::Plain, " ".repeat(column - row.width())));
            row.0.extend(other.0);
        }
        row
    };
    left.into_iter().chain(std::iter::repeat_with(Row::default)).take(height).map(beside).collect()
}

/// The duration of a run until now, or until its end.
fn elapsed(track: &Track, now: Timestamp) -> String {
    // Somebody may have written a time by hand that is in the future.
    let until = track.until.unwrap_or(now).min(now);
    track.since.map(|since| format!("  {}", clock(passed(since, until)))).unwrap_or_default()
}

fn column(track: &Track, now: Timestamp, look: Look) -> Vec<Row> {
    let Track { title, run, number, total, .. } = track;
    let bar = look.bar((number * CELLS * 2 + total) / (total * 2), CELLS);
    let end = match track.end {
        Some(TrackEnd::Done) => "  Done",
        Some(TrackEnd::GivenUp) => "  Abandoned",
        Some(TrackEnd::ClosedUnfinished) => "  Closed unfinished",
        None => "",
    };
    let mut rows = vec![
        Row::plain(format!("{title}  {run}{}", elapsed(track, now))),
        Row::plain(format!("{bar} {} %{end}", percent(*number, *total))),
    ];
    for cell in &track.cells {
        let (mark, tone) = match cell.mark {
            Mark::Done => (look.tick(), Tone::Good),
            Mark::Claimed => ("?", Tone::Warning),
            Mark::Skipped => (look.dash(), Tone::Faint),
            Mark::Current => (look.arrow(), Tone::Heading),
            Mark::Open => (look.dot(), Tone::Faint),
        };
        rows.push(Row::plain("  ").then(tone, format!("{mark} {}", cell.title)));
    }
    if track.cells.iter().any(|cell| cell.mark == Mark::Claimed) {
        rows.push(Row::plain("? claimed: no file proves it"));
    }
    for run in &track.rows {
        rows.push(Row::plain(row(run)));
        rows.extend(run.below.iter().map(|below| Row::plain(format!("  {}", row(below)))));
    }
    rows
}

fn row(row: &ScreenRow) -> String {
    let state = row.state.map(|state| match state {
        RowState::Final => "final",
        RowState::LeftUnfinished => "left unfinished",
        RowState::GoingOn => "in progress",
    });
    let count = row.count.as_ref().map(|Count { what, number }| {
        number.map_or("not readable".to_owned(), |number| counted(number, what))
    });
    let said: Vec<String> = state.map(ToOwned::to_owned).into_iter().chain(count).collect();
    format!("{}: {}", one_line(&row.title, 60), said.join(", "))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
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
