//! Chooses the times of the events of an edit. The times in the files are used if they are plausible. No time
//! is before the last known event or after the files were read, and the times have the order of the events.

use jiff::Timestamp;

/// A time for an event that is in the files, or that was inferred when they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The event ends something. If the files contain no end, the reader takes the end of the previous event,
    /// which is unreliable.
    Ended(Timestamp),
    /// The event starts something. If the files contain no start, the reader takes the end of the previous
    /// event.
    Began(Timestamp),
}

/// The times of the events, in order. `known` is the time of the last event before them. `read` is when the
/// files were read. `otherwise` contains the time of each event according to modification times.
pub(super) fn in_order(
    known: Timestamp,
    read: Timestamp,
    said: &[Option<Said>],
    otherwise: &[Timestamp],
) -> Vec<Timestamp> {
    let dated = dated(known, read, said);
    let Some(last) = dated.iter().rposition(Option::is_some) else { return otherwise.to_vec() };
    // Events before the first reliable time belong to the same edit, so they cannot be later than that time.
    let mut at = dated.iter().flatten().next().copied().unwrap_or(known);
    let mut times = Vec::with_capacity(otherwise.len());
    for (place, (dated, otherwise)) in dated.iter().zip(otherwise).enumerate() {
        at = dated.unwrap_or(if place < last { at } else { at.max(*otherwise) });
        times.push(at);
    }
    times
}

/// Each time that is reliable; `None` in place of each other time. A time that is not later than all earlier
/// ones was inferred or is impossible. A time at or after `read` is a default.
fn dated(known: Timestamp, read: Timestamp, said: &[Option<Said>]) -> Vec<Option<Timestamp>> {
    let (mut last, mut has_end) = (known, false);
    let counts = |said: &Option<Said>| {
        let (at, is_later) = match (*said)? {
            Said::Ended(at) => {
                has_end = at > last && at < read;
                (at, has_end)
            }
            Said::Began(at) => (at, at > last || (at == last && has_end)),
        };
        let at = Some(at).filter(|at| is_later && *at < read)?;
        last = at;
        Some(at)
    };
    said.iter().map(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Said::{Began, Ended};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).expect("a time")
    }

    /// The times of events in minutes. The last known event was at minute 0; the files were written at minute
    /// 110, and read at minute 120.
    fn minutes(said: &[Option<Said>]) -> Vec<i64> {
        let times = in_order(at(0), at(120), said, &vec![at(110); said.len()]);
        times.iter().map(|time| (time.as_second() - 1_800_000_000) / 60).collect()
    }

    #[test]
    fn what_the_files_date_happened_then_and_all_else_of_the_edit_in_its_order() {
        let said = [None, Some(Ended(at(20))), None, Some(Ended(at(100))), Some(Began(at(100))), None];
        assert_eq!(minutes(&said), [20, 20, 20, 100, 100, 110]);
    }

    #[test]
    fn what_they_do_not_date_happened_when_they_were_written() {
        assert_eq!(minutes(&[None, None]), [110, 110]);
        // Each time equals the time of the previous event, so it is a default.
        assert_eq!(minutes(&[Some(Ended(at(0))), Some(Began(at(0)))]), [110, 110]);
        let said = [Some(Ended(at(20))), Some(Ended(at(20))), Some(Began(at(20)))];
        assert_eq!(minutes(&said), [20, 110, 110]);
    }

    #[test]
    fn a_time_that_cannot_be_is_none() {
        for wrong in [-50, 120, 5_000] {
            assert_eq!(minutes(&[None, Some(Ended(at(wrong)))]), [110, 110], "{wrong}");
            assert_eq!(minutes(&[None, Some(Began(at(wrong)))]), [110, 110], "{wrong}");
        }
        assert_eq!(minutes(&[Some(Ended(at(50))), Some(Ended(at(30))), Some(Ended(at(60)))]), [50, 50, 60]);
    }

    #[test]
    fn what_was_written_with_an_older_file_time_stays_in_order() {
        assert_eq!(minutes(&[None, Some(Ended(at(115))), None]), [115, 115, 115]);
    }
}
