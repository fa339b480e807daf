//! Reads and writes times in the files: with a zone, or in local time without one. The caller supplies the
//! local zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// How times are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Local times such as `2025-10-23T07:40:50.690543`. praxis OS compares such times with each other.
    Local,
    /// Times such as `2025-10-23T07:40:50Z`.
    Utc,
}

pub(super) fn read(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let local: DateTime = text.parse().ok()?;
    zone.to_ambiguous_timestamp(local).compatible().ok()
}

pub(super) fn is_local(text: &str) -> bool {
    text.parse::<Timestamp>().is_err() && text.parse::<DateTime>().is_ok()
}

pub(super) fn write(at: Timestamp, writing: Writing, zone: &TimeZone) -> String {
    match writing {
        Writing::Utc => to_micros(at).to_string(),
        Writing::Local => {
            let local = zone.to_datetime(at);
            let whole = local.strftime("%Y-%m-%dT%H:%M:%S");
            let micros = local.subsec_nanosecond() / 1_000;
            // Python leaves out a fraction of zero.
            if micros == 0 { whole.to_string() } else { format!("{whole}.{micros:06}") }
        }
    }
}

/// True if two times may be the same moment written in different zones. Their difference must be a multiple
/// of 15 minutes, and at most 26 hours.
pub(super) fn is_another_zone(one: Timestamp, other: Timestamp) -> bool {
    const QUARTER: u64 = 15 * 60 * 1_000_000;
    let apart = one.as_microsecond().abs_diff(other.as_microsecond());
    apart > 0 && apart.is_multiple_of(QUARTER) && apart / QUARTER <= 26 * 4
}

/// A time rounded to the precision that the files use.
pub(super) fn to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_time_is_read_and_written_in_the_zone_that_is_given() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        for (text, utc) in [
            ("2025-10-23T07:40:50.690543", "2025-10-23T05:40:50.690543Z"),
            ("2025-12-01T00:00:00", "2025-11-30T23:00:00Z"),
            ("2025-12-01T00:00:00.000100", "2025-11-30T23:00:00.0001Z"),
        ] {
            let at = read(text, &zone).expect("a time");
            assert_eq!(at.to_string(), utc);
            assert_eq!(write(at, Writing::Local, &zone), text);
            assert!(is_local(text) && !is_local(utc));
            assert_eq!(read(utc, &zone), Some(at));
            assert_eq!(write(at, Writing::Utc, &zone), utc);
        }
    }

    #[test]
    fn what_happens_when_clocks_are_changed_is_some_time_and_what_is_none_is_none() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        assert!(read("2025-03-30T02:30:00", &zone).is_some());
        assert!(read("2025-10-26T02:30:00", &zone).is_some());
        for text in ["", "yesterday", "2025-13-01T00:00:00", "99999-01-01T00:00:00"] {
            assert_eq!(read(text, &zone), None, "{text}");
        }
    }
}
