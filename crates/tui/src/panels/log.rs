//! The Log tab: the events, with the newest first.

use crate::snapshot::Shown;
use crate::text::{Row, Tone, cut, fit};

/// The width of the column for the actor.
const WHO: usize = 14;
const WHEN: usize = 16;
const WIDE: usize = 60;

pub fn rows(shown: &Shown, width: usize) -> Vec<Row> {
    let first = shown.log.first().map_or(1, |line| line.version);
    let mut rows: Vec<Row> = shown
        .log
        .iter()
        .rev()
        .map(|line| {
            let when = if width < WIDE {
                format!("{} ", fit(&line.when, line.when.chars().count()))
            } else {
                format!("{:>5} {:>WHEN$}  {} ", line.version, line.when, fit(&line.who, WHO))
            };
            let room = width.saturating_sub(when.chars().count());
            Row::new(Tone::Faint, when).then(Tone::Plain, cut(&line.what, room))
        })
        .collect();
    if first > 1 {
        rows.push(Row::new(Tone::Faint, format!("older events: leftoff log {}", shown.view.session_id)));
    }
    rows
}
