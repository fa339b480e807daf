//! Times and lengths of time, as people read them.

use jiff::Timestamp;
use model::time::seconds_between;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns a length of time, such as `45 s`, `30 min`, `1 h 12 min` or `3 days 4 h`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "min"),
        _ => {
            let days = seconds / DAY;
            two(days, if days == 1 { "day" } else { "days" }, seconds % DAY / HOUR, "h")
        }
    }
}

/// Returns how long ago something was, such as `just now`, `5 minutes ago` or `3 days ago, on 14 Nov`. After a day, the
/// date is added.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = seconds_between(then, now);
    let counted = |count: u64, unit: &str| format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
    match seconds {
        0..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => counted(seconds / MINUTE, "minute"),
        HOUR..DAY => counted(seconds / HOUR, "hour"),
        _ => format!("{}, on {}", counted(seconds / DAY, "day"), day(then, seconds)),
    }
}

/// Returns a date such as `14 Nov`, in UTC like stored times.
pub fn date(at: Timestamp) -> String {
    at.strftime("%-d %b").to_string()
}

/// Returns the date of something this long ago. The year is added if the date would be ambiguous.
fn day(at: Timestamp, seconds_ago: u64) -> String {
    const ALMOST_A_YEAR: u64 = 300 * DAY;
    if seconds_ago < ALMOST_A_YEAR { date(at) } else { at.strftime("%-d %b %Y").to_string() }
}

/// Returns a time such as `14:10 UTC`. On another day than `now`, the date is added.
pub fn moment(at: Timestamp, now: Timestamp) -> String {
    let format = if date(at) == date(now) { "%H:%M UTC" } else { "%-d %b %H:%M UTC" };
    at.strftime(format).to_string()
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match (small, small_unit) {
        (0, _) => format!("{large} {large_unit}"),
        (_, "min") => format!("{large} {large_unit} {small:02} {small_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        for (seconds, words) in [
            (0, "0 s"),
            (59, "59 s"),
            (1800, "30 min"),
            (7500, "2 h 05 min"),
            (7200, "2 h"),
            (86_400, "1 day"),
            (273_600, "3 days 4 h"),
        ] {
            assert_eq!(duration(seconds), words);
        }
    }

    #[test]
    fn a_day_or_more_is_given_with_its_date() {
        let then: Timestamp = "2026-11-14T14:10:00Z".parse().expect("a time");
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert_eq!(ago(then, at("2026-11-14T14:10:30Z")), "just now");
        assert_eq!(ago(then, at("2026-11-14T15:10:30Z")), "1 hour ago");
        assert_eq!(ago(then, at("2026-11-17T15:00:00Z")), "3 days ago, on 14 Nov");
        assert_eq!(ago(then, at("2027-11-17T15:00:00Z")), "368 days ago, on 14 Nov 2026");
        assert_eq!(ago(then, at("2026-11-14T12:00:00Z")), "just now");
    }
}
