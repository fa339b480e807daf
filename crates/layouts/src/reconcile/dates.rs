//! When each thing of an edit happened: as its files say, where that can be so. Never before what was known already,
//! never after the files were read, and never in another order than that of the events.

use jiff::Timestamp;

/// When something happened, as the files say it or as their readers made it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Whatever has no time of its own is read as having ended when the last thing before it did: not a time to go by.
    Ended(Timestamp),
    /// Begins with the end of what was before it, where nothing else is said.
    Began(Timestamp),
}

/// The times of events in their order. `known` is the last time before all of them, `read` when the files were read;
/// `otherwise` is when each of them happened as far as the files' own times tell.
pub(super) fn in_order(
    known: Timestamp,
    read: Timestamp,
    said: &[Option<Said>],
    otherwise: &[Timestamp],
) -> Vec<Timestamp> {
    let told = told(known, read, said);
    let Some(last) = told.iter().rposition(Option::is_some) else { return otherwise.to_vec() };
    // What comes before the first of them belongs to the same edit, and cannot be later.
    let mut at = told.iter().flatten().next().copied().unwrap_or(known);
    let mut times = Vec::with_capacity(otherwise.len());
    for (place, (told, otherwise)) in told.iter().zip(otherwise).enumerate() {
        at = told.unwrap_or(if place < last { at } else { at.max(*otherwise) });
        times.push(at);
    }
    times
}

/// The times that count. One that is not later than all before it is what a reader made out, or cannot be; one that is
/// not before the reading is what a reader put where nothing is said.
fn told(known: Timestamp, read: Timestamp, said: &[Option<Said>]) -> Vec<Option<Timestamp>> {
    let (mut last, mut is_end_told) = (known, false);
    let counts = |said: &Option<Said>| {
        let (at, is_later) = match (*said)? {
            Said::Ended(at) => {
                is_end_told = at > last && at < read;
                (at, is_end_told)
            }
            Said::Began(at) => (at, at > last || (at == last && is_end_told)),
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

    /// Known until minute 0, written at 110, read at 120.
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
        // A reader's own time for what has none: that of what was before it.
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
