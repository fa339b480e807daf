//! Reads durations such as "30s", "10m", "24h" and "7d": a whole number and one unit.

use super::mistake::{Found, Report, quoted};
use super::section::Section;

/// The longest accepted duration, ten years. A longer one is certainly a mistake, and could exceed the range
/// of dates.
const LONGEST_SECONDS: u64 = 3650 * 24 * 60 * 60;

/// The duration at a key, in seconds; never 0. `None` if the key is missing.
pub(super) fn read(report: &mut Report, section: &Section, key: &str) -> Found<Option<u64>> {
    let Some(text) = section.string(report, key)? else {
        return Ok(None);
    };
    match seconds(text.text) {
        Some(0) => Err(report.add(text.offset, format!("'{key}' must be longer than 0"))),
        Some(seconds) if seconds > LONGEST_SECONDS => {
            let message = format!("'{key}' must be at most 3650d, not {}", quoted(text.text));
            Err(report.add(text.offset, message))
        }
        Some(seconds) => Ok(Some(seconds)),
        None => {
            let message = format!("'{key}' must be a duration, not {}", quoted(text.text));
            let hint = "a whole number and one of s, m, h, d: \"30s\", \"10m\", \"24h\", \"7d\"";
            Err(report.add_with_hint(text.offset, message, hint))
        }
    }
}

/// The number of seconds in a duration such as "30s", "10m", "24h" or "7d". A number that is too large
/// becomes the largest possible one, which is then reported as too long.
pub fn seconds(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let seconds_of_unit = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let digits = text.strip_suffix(unit)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().unwrap_or(u64::MAX);
    Some(count.saturating_mul(seconds_of_unit))
}
