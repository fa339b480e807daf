//! Events, each on one line of plain words.

use crate::ui::{Out, Tone};
use engine::event_text::words;
use engine::words::{moment, one_line};
use jiff::Timestamp;
use model::event::Recorded;

pub fn line(recorded: &Recorded, now: Timestamp, out: &Out) -> String {
    let when = format!(
        "{:>4}  {:>16}  {:<16}",
        recorded.version,
        moment(recorded.at, now),
        one_line(&recorded.actor.to_string(), 60)
    );
    format!("{}  {}\n", out.paint(Tone::Faint, &when), words(&recorded.event))
}
